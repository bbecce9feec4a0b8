"""The Confusion sheet: reference labels against model labels, one table a layer."""

from __future__ import annotations

from clueval_xlsx.outputs.xlsx.book import Worksheet
from clueval_xlsx.outputs.xlsx.measure import width_for
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.views.confusion import Matrix, matrices

_NARROW, _WIDE = 7, 13  # of columns: many labels need narrow ones


def write_confusion(sheet: Worksheet, content: ReviewContent) -> None:
    """Reference labels down, labels of the prediction that shares most tokens across."""
    words = content.words
    sheet.row(0, 30)
    sheet.text((0, 0), words["confusion.title"], "title")
    sheet.text((1, 0), words["confusion.explanation"], "subtitle")
    sheet.column(0, 28)
    row = 3
    widths: dict[int, float] = {}
    for matrix in matrices(content.evaluation, words):
        row = _write_matrix(sheet, row, matrix) + 1
        for column, name in enumerate(matrix.columns, 1):
            widths[column] = max(widths.get(column, 0), width_for([name], _NARROW, _WIDE))
    for column, width in widths.items():
        sheet.column(column, width)
    sheet.freeze(0, 1)
    sheet.print_setup(landscape=True, footer=words["confusion.title"])


def _write_matrix(sheet: Worksheet, row: int, matrix: Matrix) -> int:
    """One table; returns the row behind it."""
    sheet.row(row, 20)
    sheet.across((row, 0), len(matrix.columns), matrix.title, "section")
    row += 1
    sheet.row(row, 15 * max(-(-len(name) // 11) for name in matrix.columns) + 6)
    sheet.text((row, 0), matrix.corner, "header")
    for column, name in enumerate(matrix.columns, 1):
        sheet.text((row, column), name, "header_centre")
    for line, (name, counts, heat) in enumerate(zip(matrix.rows, matrix.counts, matrix.heat, strict=True)):
        row += 1
        sheet.text((row, 0), name, "row_name_bold")
        for column, (count, step) in enumerate(zip(counts, heat, strict=True)):
            if line == column == len(matrix.rows) - 1:  # nothing on either side
                sheet.text((row, column + 1), "", "matrix")
            else:
                style = "matrix_diagonal" if line == column else f"matrix_{step}" if step else "matrix"
                sheet.number((row, column + 1), count, style)
    return row + 1
