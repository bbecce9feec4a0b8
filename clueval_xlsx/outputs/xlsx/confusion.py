"""The Confusion sheet: reference labels against model labels, one table a layer."""

from __future__ import annotations

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.xlsx.book import Sheet
from clueval_xlsx.outputs.xlsx.measure import width_for
from clueval_xlsx.scoring.confusion import NOTHING
from clueval_xlsx.words import Words


def write_confusion(sheet: Sheet, evaluation: Evaluation, words: Words) -> None:
    """Gold labels down, labels of the prediction that shares most tokens across."""
    sheet.row(0, 30)
    sheet.text((0, 0), words["confusion.title"], "title")
    sheet.text((1, 0), words["confusion.explanation"], "subtitle")
    sheet.column(0, 28)
    row = 3
    widths: dict[int, float] = {}
    for layer in evaluation.pair.layers:
        table = evaluation.confusion(layer)
        names = [str(name) for name in table.columns]
        sheet.row(row, 20)
        sheet.across((row, 0), len(names), words("confusion.layer", layer=layer), "section")
        row += 1
        sheet.row(row, 15 * max(-(-len(name) // 11) for name in [*names, words["confusion.no_pred"]]) + 6)
        sheet.text((row, 0), words["confusion.corner"], "header")
        for column, name in enumerate(names, 1):
            sheet.text((row, column), words["confusion.no_pred"] if name == NOTHING else name, "header_centre")
        for line, (name, values) in enumerate(zip(names, table.to_numpy().tolist(), strict=True), row + 1):
            sheet.text((line, 0), words["confusion.no_gold"] if name == NOTHING else name, "row_name_bold")
            for column, value in enumerate(values, 1):
                cell = (line, column)
                if name == NOTHING and column == len(names):
                    sheet.text(cell, "", "matrix")
                else:
                    sheet.number(cell, value, "matrix_diagonal" if column == line - row else "matrix")
        scale = {
            "type": "2_color_scale",
            "min_color": "#FFFFFF",
            "max_color": "#8FB4D9",
            "min_type": "num",
            "min_value": 0,
        }
        sheet.highlight((row + 1, 1), (row + len(names), len(names)), scale)
        row += len(names) + 2
        for column, name in enumerate(names, 1):  # many labels need narrow columns
            shown = words["confusion.no_pred"] if name == NOTHING else name
            widths[column] = max(widths.get(column, 0), width_for([shown], 7, 13))
    for column, width in widths.items():
        sheet.column(column, width)
    sheet.freeze(0, 1)
    sheet.print_setup(landscape=True, footer=words["confusion.title"])
