"""The hidden sheets: the values of the dropdowns, and the manifest."""

from __future__ import annotations

from dataclasses import dataclass, field

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.outputs.xlsx.book import Book, Cell
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.review.manifest import Manifest, chunks, encode
from clueval_xlsx.review.vocabulary import LISTS_SHEET, MANIFEST_SHEET, SEVERITIES, SPAN_CHOICES
from clueval_xlsx.views.judgement_words import judgement_name, severity_name, span_choice_name


@dataclass
class Lists:
    """Where the dropdown values are: ranges for validation, cells for counting."""

    ranges: dict[str, str] = field(default_factory=dict)
    cells: dict[tuple[str, str], str] = field(default_factory=dict)  # (list, code) -> address


def write_lists(book: Book, content: ReviewContent) -> Lists:
    """One column for each dropdown."""
    words, evaluation = content.words, content.evaluation
    sheet = book.sheet(LISTS_SHEET)
    sheet.hide()
    columns: list[tuple[str, list[tuple[str, str]]]] = [
        (
            f"judgement_{name}",
            [(each.code, judgement_name(each, words)) for each in content.options.judgements if name in each.sheets],
        )
        for name in (FN, FP, AG)
    ]
    columns.append(("span_choice", [(code, span_choice_name(code, words)) for code in SPAN_CHOICES]))
    columns.append(("severity", [(code, severity_name(code, words)) for code in SEVERITIES]))
    spans = (evaluation.pair.gold.spans, evaluation.pair.pred.spans)
    for layer in evaluation.pair.layers:
        columns.append((f"label_{layer}", [(label, label) for label in label_vocabulary(spans, layer)]))

    lists = Lists()
    for column, (name, entries) in enumerate(columns):
        sheet.text((0, column), name, "muted")
        for row, (code, text) in enumerate(entries, 1):
            cell: Cell = (row, column)
            sheet.text(cell, text)
            lists.cells[name, code] = sheet.range(cell, cell)
        lists.ranges[name] = "=" + sheet.range((1, column), (max(len(entries), 1), column))
    return lists


def write_manifest(book: Book, manifest: Manifest) -> None:
    """The manifest's text, one piece a cell."""
    sheet = book.sheet(MANIFEST_SHEET)
    sheet.hide()
    for row, chunk in enumerate(chunks(encode(manifest))):
        sheet.text((row, 0), chunk)
