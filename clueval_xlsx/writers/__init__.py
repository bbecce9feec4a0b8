"""Writers: one module a format; each returns what is to be written."""
