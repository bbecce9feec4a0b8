"""Layouts of views: workbook, HTML, terminal, JSON, CSV; nothing is computed here."""
