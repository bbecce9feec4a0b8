"""The review workbook: one module a kind of sheet; `book` alone talks to XlsxWriter."""

from clueval_xlsx.outputs.xlsx.options import Handout
from clueval_xlsx.outputs.xlsx.review import write_workbook

__all__ = ["Handout", "write_workbook"]
