"""The review workbook: one module a kind of sheet; `book` alone talks to XlsxWriter."""

from clueval_xlsx.workbook.review import ReviewOptions, write_workbook

__all__ = ["ReviewOptions", "write_workbook"]
