"""The comparison workbook: systems side by side, and the errors each makes alone or shares with others."""

from __future__ import annotations

import math
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import pandas as pd

from clueval_xlsx.cases.contexts import emoji_pieces
from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.comparison import IDENTITY, Comparison
from clueval_xlsx.outputs.xlsx.book import MOST_ROWS, Book, Sheet
from clueval_xlsx.outputs.xlsx.measure import height, lines
from clueval_xlsx.outputs.xlsx.tables import write_rate
from clueval_xlsx.views.scheme_words import row_name, scheme_name, scheme_sentence
from clueval_xlsx.words import Words

_RATES = ("recall", "precision", "f_beta")
_NAME_WIDTH, _NUMBER_WIDTH, _CONTEXT_WIDTH = 44, 13, 70
_HEADER_ROW = 3


def write_comparison(comparison: Comparison, target: Path | BinaryIO, language: str = "en") -> None:
    """Write the workbook: one sheet of figures, one of missed and one of unsupported spans."""
    words = Words(language)
    with Book(target, title=words["compare.title"]) as book:
        _figures(book.sheet(words["compare.sheet_metrics"]), comparison, words)
        for name in (FN, FP):
            cases = comparison.errors[comparison.errors["sheet"] == name]
            size = MOST_ROWS - _HEADER_ROW - 1
            for begin in range(0, max(len(cases), 1), size):
                sheet = book.sheet(words[f"sheet.{name.lower()}"])
                _cases(sheet, cases.iloc[begin : begin + size], name, comparison, words)


def _figures(sheet: Sheet, comparison: Comparison, words: Words) -> None:
    first = comparison.systems[0].evaluation
    names = comparison.names
    last = 1 + 4 * (len(names) - 1)
    sheet.column(0, _NAME_WIDTH)
    for column in range(1, last + 1):
        sheet.column(column, _NUMBER_WIDTH)
    sheet.row(0, 30)
    sheet.text((0, 0), words["compare.title"], "title")
    gold = PurePath(first.pair.gold.source.name).name
    sheet.text((1, 0), words("compare.subtitle", gold=gold, systems="   ·   ".join(names)), "subtitle")
    row = 3
    for key in _RATES:
        title = words(f"metrics.{key}", beta=f"{first.options.beta:g}")
        row = _rate_table(sheet, row, key, title, comparison, words, last) + 1
    row = _shared_errors(sheet, row, comparison, words, last) + 1
    schemes = list(dict.fromkeys(comparison.metrics["scheme"]))
    for scheme in schemes:
        sheet.row(row, 28)
        sentence = f"{scheme_name(scheme, words)}: {scheme_sentence(scheme, words)}"
        sheet.across((row, 0), last, sentence, "muted_wrap")
        row += 1
    for line in (comparison.signature, *comparison.notes):
        row += 1
        sheet.row(row, 40)
        sheet.across((row, 0), last, line, "muted_wrap")
    sheet.freeze(0, 1)
    sheet.print_area((row, last))
    sheet.print_setup(landscape=True, footer=words["compare.title"])


def _rate_table(sheet: Sheet, row: int, key: str, title: str, comparison: Comparison, words: Words, last: int) -> int:
    """One rate of all systems, what distinguishes each from the first beside it; returns the row behind."""
    names = comparison.names
    sheet.row(row, 22)
    sheet.across((row, 0), last, title, "section")
    documents = len(comparison.documents)
    sheet.row(row + 1, 40)
    explanation = words("compare.differences", first=names[0], documents=documents)
    sheet.across((row + 1, 0), last, explanation, "muted_wrap")
    row += 2
    sheet.row(row, 30)
    headers = [words["compare.metric"], names[0]]
    for name in names[1:]:
        headers += [name, words["compare.difference"], words["compare.interval"], words["compare.p"]]
    for column, header in enumerate(headers):
        sheet.text((row, column), header, "header" if column == 0 else "header_right")
    differences = comparison.differences
    chosen = differences[(differences["rate"] == key) & (differences["first"] == names[0])]
    by_row: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for record in chosen.to_dict("records"):
        by_row.setdefault(tuple(record[name] for name in IDENTITY), []).append(record)
    for identity, records in by_row.items():
        if all(math.isnan(record["first_value"]) and math.isnan(record["second_value"]) for record in records):
            continue
        row += 1
        fields = dict(zip(IDENTITY, identity, strict=True))
        sheet.text((row, 0), f"{scheme_name(fields['scheme'], words)}: {row_name(fields, words)}", "row_name")
        write_rate(sheet, (row, 1), records[0]["first_value"], words)
        for column, record in zip(range(2, last + 1, 4), records, strict=True):
            write_rate(sheet, (row, column), record["second_value"], words)
            write_rate(sheet, (row, column + 1), record["difference"], words, "rate_difference")
            sheet.text((row, column + 2), _interval(record["low"], record["high"]), "interval")
            sheet.number((row, column + 3), record["p"], "chance")
    return row + 1


def _shared_errors(sheet: Sheet, row: int, comparison: Comparison, words: Words, last: int) -> int:
    sheet.row(row, 22)
    sheet.across((row, 0), last, words["compare.errors_title"], "section")
    sheet.row(row + 1, 28)
    sheet.across((row + 1, 0), last, words["compare.errors"], "muted_wrap")
    row += 2
    for column, header in enumerate((words["compare.made_by"], words["metrics.fn"], words["metrics.fp"])):
        sheet.text((row, column), header, "header" if column == 0 else "header_right")
    shared = comparison.shared
    for systems in dict.fromkeys(shared["systems"]):
        row += 1
        name = words("compare.alone", name=systems[0]) if len(systems) == 1 else " + ".join(systems)
        sheet.text((row, 0), name, "row_name")
        for column, kind in enumerate((FN, FP), 1):
            found = shared[(shared["sheet"] == kind) & (shared["systems"] == systems)]["count"]
            sheet.number((row, column), int(found.sum()), "count")
    return row + 1


def _cases(sheet: Sheet, cases: pd.DataFrame, name: str, comparison: Comparison, words: Words) -> None:
    layers = comparison.systems[0].evaluation.pair.layers
    columns: list[tuple[str, str, float]] = [
        ("case_id", words["column.case"], 14),
        ("document", words["column.document"], 16),
        ("surface", words["column.span"], 24),
    ]
    one = len(layers) == 1
    for layer in layers:
        header = words["column.label"] if one else f"{words['column.label']} ({layer})"
        columns.append((f"label_{layer}", header, 14))
    columns += [(f"class_{number}", system, 14) for number, system in enumerate(comparison.names)]
    columns.append(("context", words["column.context"], _CONTEXT_WIDTH))
    sheet.row(0, 28)
    sheet.text((0, 0), words[f"compare.title_{name.lower()}"], "title")
    sheet.text((1, 0), words["compare.cases"], "subtitle")
    sheet.row(_HEADER_ROW, 34)
    for column, (_, header, width) in enumerate(columns):
        sheet.column(column, width)
        sheet.text((_HEADER_ROW, column), header, "header_filter")
    for row, case in enumerate(cases.to_dict("records"), _HEADER_ROW + 1):
        most = 1
        for column, (key, _, width) in enumerate(columns):
            if key == "context":
                sheet.rich((row, column), emoji_pieces(case["segments"]), "cell_context")
                most = max(most, lines(case["context"], width))
                continue
            value = str(case[key])
            if key.startswith("class_") and value:
                value = words[f"class.{value}"]
            most = max(most, lines(value, width)) if value else most
            sheet.text((row, column), value, "cell")
        sheet.row(row, height(most))
    sheet.filter((_HEADER_ROW, 0), (_HEADER_ROW + max(len(cases), 1), len(columns) - 1))
    sheet.freeze(_HEADER_ROW + 1, 1)
    sheet.print_setup(landscape=True, header_row=_HEADER_ROW, footer=words["compare.title"])


def _interval(low: float, high: float) -> str:
    """An interval of a difference, in percentage points."""
    return "" if math.isnan(low) or math.isnan(high) else f"{100 * low:+.1f} … {100 * high:+.1f}"
