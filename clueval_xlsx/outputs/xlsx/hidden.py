"""The hidden sheets: the values of the dropdowns, and the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.xlsx.book import Book, Cell
from clueval_xlsx.review.manifest import Manifest, encode
from clueval_xlsx.review.vocabulary import (
    LISTS_SHEET,
    MANIFEST_SHEET,
    SEVERITIES,
    SPAN_CHOICES,
    Judgement,
    chunks,
    words_of,
)
from clueval_xlsx.words import Words


@dataclass
class Lists:
    """Where the dropdown values are: ranges for validation, cells for counting."""

    ranges: dict[str, str] = field(default_factory=dict)
    cells: dict[tuple[str, str], str] = field(default_factory=dict)  # (list, code) -> address


def judgement_words(judgement: Judgement, words: Words) -> str:
    """The words of a judgement in the workbook's language."""
    return words_of(judgement, words.language, words.section("judgement"))


def write_lists(book: Book, words: Words, judgements: Sequence[Judgement], evaluation: Evaluation) -> Lists:
    """One column for each dropdown."""
    sheet = book.sheet(LISTS_SHEET)
    sheet.hide()
    columns: list[tuple[str, list[tuple[str, str]]]] = [
        (
            f"judgement_{name}",
            [(each.code, judgement_words(each, words)) for each in judgements if name in each.sheets],
        )
        for name in (FN, FP, AG)
    ]
    columns.append(("span_choice", [(code, words[f"span_choice.{code}"]) for code in SPAN_CHOICES]))
    columns.append(("severity", [(code, words[f"severity.{code}"]) for code in SEVERITIES]))
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
