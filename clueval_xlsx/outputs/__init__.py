"""Layouts of pages: workbook, HTML, terminal, JSON, CSV; nothing is computed here."""
