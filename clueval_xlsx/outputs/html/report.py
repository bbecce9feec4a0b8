"""The report on one evaluation: its page, and what is HTML's own, cases that can be filtered and whole documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd

from clueval_xlsx.cases.contexts import emoji_pieces
from clueval_xlsx.comparison import Comparison
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.outputs import Outputs
from clueval_xlsx.options.values import target_of
from clueval_xlsx.outputs.html.documents import is_text_free, payload, shown_text, stretches
from clueval_xlsx.outputs.html.page import page_html
from clueval_xlsx.pages.adjudication import adjudication_page
from clueval_xlsx.pages.comparison import comparison_page
from clueval_xlsx.pages.evaluation import confusion_page, evaluation_page
from clueval_xlsx.pages.numbers import Numbers
from clueval_xlsx.pages.page import Chapter, Heading, Matrix, Page, Table, TableRow, Text, TextStyle, marked
from clueval_xlsx.review.case_words import happened_lines
from clueval_xlsx.review.reimport import Reimport
from clueval_xlsx.scoring.matching import confusion_members
from clueval_xlsx.words import TERMINAL, Words

MOST_LISTED = 200  # spans of one cell of a matrix; more would make a large page and no better reading
_SCRIPT_WORDS = ("cell", "empty", "shown", "document", "reference", "model", "case", "context")
# What the script lists of a span: document, reference, model, case, context.
_ListedSpan = tuple[str, str, str, str, list[list[str]]]


# ---- the report ----


def report_html(evaluation: Evaluation, language: str = "en", labels: Mapping[str, str] | None = None) -> str:
    """The whole report as one HTML file.

    Every case and every document is in it; without JavaScript cases are not listed, but marked in their documents.
    `labels` says what labels mean.
    """
    words, meanings = Words(language), labels or {}
    pair, numbers = evaluation.pair, Numbers(words)
    shown = shown_text(pair.corpus)
    missed, unsupported = evaluation.bare_cases
    left_out = np.isin(np.arange(len(pair.corpus.doc_ids)), evaluation.alignment.discarded)
    pieces = stretches(pair.corpus, shown, pair.gold.spans, pair.pred.spans)
    # What the template lays out beside the page; of documents their names, whether they counted, their pieces.
    parts = {
        "missed": len(missed),
        "unsupported": len(unsupported),
        "documents": zip(pair.corpus.doc_ids, left_out.tolist(), pieces, strict=True),
        "anchors": _anchors(missed, unsupported),
        "count": lambda number: numbers.count(number).text,
        "running_text": bool(pair.corpus.running_text),
        "text_free": is_text_free(pair.corpus),
    }
    page = evaluation_page(evaluation, words)
    page = replace(page, chapters=(*page.chapters, *_unmarked(evaluation, words)))
    if language == TERMINAL:  # notes are written for the terminal
        page = _with_notes(page, evaluation.notes, words)
    data = payload(evaluation, shown, words, meanings)
    return page_html(page, "report.html", data, script="report.js", report=parts)


def _with_notes(page: Page, notes: Sequence[str], words: Words) -> Page:
    """The page with what people should know about the input behind its first chapter."""
    if not notes:
        return page
    first, *others = page.chapters
    text = Text(tuple(notes), TextStyle.STEPS, words["html.notes"])
    return replace(page, chapters=(replace(first, sections=(*first.sections, text)), *others))


def _unmarked(evaluation: Evaluation, words: Words) -> list[Chapter]:
    """The passages that both sides may have missed, with where their words are marked, if somebody asked."""
    if evaluation.unmarked_cases is None:
        return []
    cases = evaluation.with_contexts(evaluation.unmarked_cases)
    happened = happened_lines(cases, evaluation.pair.layers, words)
    rows = []
    for case_id, document, line, segments in zip(
        cases["case_id"], cases["document"], happened, cases["segments"], strict=True
    ):
        rows.append(TableRow((document, line, marked(segments), case_id)))
    titles = (words["column.document"], words["column.class"], words["column.context"], words["column.case"])
    title, notes = words["sheet.um"], (words["cases.title_um"],)
    table = Table(title, tuple(map(Heading, titles)), tuple(rows), notes, words["cases.empty_um"])
    return [Chapter(title, (table,), str(len(rows)))]


def _anchors(*tables: pd.DataFrame) -> dict[int, list[str]]:
    """The IDs of the cases that begin at each position."""
    anchors: dict[int, list[str]] = {}
    for cases in tables:
        for start, name in zip(cases["start"].tolist(), cases["case_id"].tolist(), strict=True):
            anchors.setdefault(start, []).append(name)
    return anchors


# ---- the confusion matrix on a page of its own ----


def confusion_html(evaluation: Evaluation, language: str = "en") -> str:
    """The matrices of all layers; a cell lists the spans behind it."""
    words = Words(language)
    page = confusion_page(evaluation, words)
    matrices = [section for section in page.chapters[0].sections if isinstance(section, Matrix)]
    layers = []
    for layer, matrix in zip(evaluation.pair.layers, matrices, strict=True):
        counts = [[int(count.value) for count in row] for row in matrix.counts]
        cells = _listed_spans(evaluation, layer)
        layers.append({"rows": matrix.names, "columns": matrix.names, "counts": counts, "cells": cells})
    data = {"layers": layers, "words": {key: words[f"matrix.{key}"] for key in _SCRIPT_WORDS}}
    return page_html(page, data=data, script="confusion.js")


def _listed_spans(evaluation: Evaluation, layer: str) -> dict[str, list[_ListedSpan]]:
    """For each cell its first spans, by the numbers of its row and its column."""
    corpus, sides = evaluation.pair.corpus, []
    for side, cases in zip((evaluation.pair.gold, evaluation.pair.pred), evaluation.case_tables, strict=True):
        start, end = positions(side.spans)
        known = dict(zip(cases["row"].tolist(), zip(cases["case_id"], cases["segments"], strict=True), strict=True))
        sides.append((corpus.texts(start, end), corpus.document_of(start).tolist(), known))
    _, members = confusion_members(*evaluation.strict.sides, layer)
    listed = members.groupby(["row", "column"]).head(MOST_LISTED)
    cells: dict[str, list[_ListedSpan]] = {}
    for row, column, *spans in zip(*(listed[name].tolist() for name in ("row", "column", "gold", "pred")), strict=True):
        words, document, case = ["", ""], "", ("", ())
        for place, (span, (texts, documents, known)) in enumerate(zip(spans, sides, strict=True)):
            if span >= 0:
                words[place] = texts[span]
                document = document or corpus.doc_ids[documents[span]]
                case = case if case[0] else known.get(span, case)
        context = [list(piece) for piece in emoji_pieces(case[1])]
        cells.setdefault(f"{row}-{column}", []).append((document, words[0], words[1], case[0], context))
    return cells


# ---- any result, for notebooks and scripts ----

Result = Evaluation | Comparison | Reimport


def write_html(result: Result, target: str | Path | BinaryIO, *, lang: str = "en") -> None:
    """Write the page of a result, which opens in any browser without a network.

    `result`  an `Evaluation`, a `Comparison` or a `Reimport`
    `target`  a path, or a file opened for writing bytes
    `lang`  the language of the page: `en`, `de`, or one of your own

    Gives nothing; a file that stood there is replaced when the new one is whole. Raises `OptionError` if there is no
    such language, `OutputError` if the file cannot be written.

    >>> import io
    >>> from clueval_xlsx import evaluate_tags
    >>> page = io.BytesIO()
    >>> write_html(evaluate_tags([["B-PER"]], [["O"]]), page, lang="de")
    >>> b'lang="de"' in page.getvalue()
    True
    """
    place = target_of(target)
    match result:
        case Evaluation():
            content = report_html(result, lang)
        case Comparison():
            content = page_html(comparison_page(result, Words(lang)))
        case Reimport(runs=(run,)):
            content = page_html(adjudication_page(run, Words(lang)))
        case Reimport():
            raise OptionError(
                f"the re-import has {len(result.runs)} runs, one a layer. Give one workbook's layers at a time, or "
                "write the pages with `clueval-xlsx reimport --html`."
            )
        case _:
            raise OptionError(f"found {type(result).__name__}. Allowed: an evaluation, a comparison or a re-import.")
    if not isinstance(place, Path):
        place.write(content.encode("utf-8", "replace"))
        return
    with Outputs() as outputs:
        outputs.write_text(place, content)
