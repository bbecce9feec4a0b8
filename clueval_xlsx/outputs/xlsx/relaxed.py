"""Strict against relaxed on the Metrics sheet: counts, rates, differences, and the matches that needed it."""

from __future__ import annotations

import pandas as pd

from clueval_xlsx.outputs.xlsx.book import Sheet
from clueval_xlsx.outputs.xlsx.tables import write_count, write_rate
from clueval_xlsx.views.scheme_words import row_name, scheme_name
from clueval_xlsx.words import Words

_RATES = ("recall", "precision", "f_beta")
_COUNTS = ("fn", "fp")


def write_strict_relaxed(sheet: Sheet, row: int, column: int, table: pd.DataFrame, words: Words, beta: float) -> int:
    """One line for each score that has a relaxed form; returns the row behind the table."""
    headers = [words["scheme.row.strict_relaxed"]]
    for name in _RATES:
        rate = words(f"metrics.{name}", beta=f"{beta:g}")
        headers += [rate, f"{rate}, {words['scheme.row.relaxed']}", words["compare.difference"]]
    headers += [f"{words[f'metrics.{name}']}, {words['scheme.row.relaxed']}" for name in _COUNTS]
    headers.append(words["scheme.row.relaxed_matches"])
    sheet.row(row, 44)
    for offset, header in enumerate(headers):
        sheet.text((row, column + offset), header, "header_right" if offset else "header")
    for record in table.to_dict("records"):
        row += 1
        sheet.text((row, column), f"{scheme_name(record['scheme'], words)}: {row_name(record, words)}", "row_name")
        place = column + 1
        for name in _RATES:
            write_rate(sheet, (row, place), record[f"{name}_strict"], words)
            write_rate(sheet, (row, place + 1), record[f"{name}_relaxed"], words)
            write_rate(sheet, (row, place + 2), record[f"{name}_difference"], words, "rate_difference")
            place += 3
        for name in _COUNTS:
            write_count(sheet, (row, place), record[f"{name}_relaxed"])
            place += 1
        write_count(sheet, (row, place), record["relaxed_matches"])
    return row + 1
