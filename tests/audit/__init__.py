"""Excel's own rules, looked up in the XML of workbooks: what breaks one is "damaged" to Excel or shown wrong."""
