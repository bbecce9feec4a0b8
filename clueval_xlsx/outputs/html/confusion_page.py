"""The confusion matrix as one HTML page: a cell says what it counts and lists the spans behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

import numpy as np

from clueval_xlsx.cases.contexts import emoji_pieces
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.scoring.confusion import confusion_members
from clueval_xlsx.text.strings import BoolArray
from clueval_xlsx.views import numbers
from clueval_xlsx.views.confusion import Matrix, matrices
from clueval_xlsx.words import Words

MOST_LISTED = 200  # spans of one cell; more would make a large page and no better reading
_SCRIPT_WORDS = ("cell", "empty", "shown", "document", "reference", "model", "case", "context")
_Value = TypeVar("_Value")
# What the script lists of a span: document, reference, model, case, context.
_Listed = tuple[str, str, str, str, list[list[str]]]


@dataclass(frozen=True)
class ConfusionPage:
    """What the template lays out; `names` says what each cell of each matrix counts."""

    reference: str
    model: str
    matrices: tuple[Matrix, ...]
    names: tuple[tuple[tuple[str, ...], ...], ...]
    signature: str


def confusion_page(evaluation: Evaluation, language: str = "en") -> str:
    """The matrices of all layers; self-contained, nothing is loaded, only its own script may run."""
    words = Words(language)
    pair = evaluation.pair
    found = matrices(evaluation, words)
    page = ConfusionPage(
        PurePath(pair.gold.source.name).name,
        PurePath(pair.pred.source.name).name,
        found,
        tuple(_cell_names(matrix, words) for matrix in found),
        evaluation.signature,
    )
    data = {
        "layers": [
            {
                "rows": matrix.rows,
                "columns": matrix.columns,
                "cells": _listed_spans(evaluation, matrix.layer),
                "counts": matrix.counts,
            }
            for matrix in found
        ],
        "words": {key: words[f"matrix.{key}"] for key in _SCRIPT_WORDS},
    }
    return render_page("confusion.html", words, page, data, script="confusion.js")


def _cell_names(matrix: Matrix, words: Words) -> tuple[tuple[str, ...], ...]:
    """What each cell counts: the two labels, how many, and the shares of its row and its column."""
    return tuple(
        tuple(
            "{}: {}".format(
                words("matrix.cell", gold=name, pred=other),
                words(
                    "matrix.share",
                    count=numbers.count(count, words),
                    row=_share(count, whole, words),
                    column=_share(count, total, words),
                ),
            )
            for other, count, total in zip(matrix.columns, counts, matrix.column_totals, strict=True)
        )
        for name, counts, whole in zip(matrix.rows, matrix.counts, matrix.row_totals, strict=True)
    )


def _share(part: int, whole: int, words: Words) -> str:
    return numbers.per_cent(part / whole, words) if whole else "–"


def _listed_spans(evaluation: Evaluation, layer: str) -> dict[str, list[_Listed]]:
    """For each cell its first spans."""
    gold, pred = evaluation.pair.gold.spans, evaluation.pair.pred.spans
    _, members = confusion_members(*evaluation.strict.sides, layer)
    listed = members.groupby(["row", "column"], sort=True).head(MOST_LISTED)
    listed = listed.sort_values(["row", "column"], kind="stable")
    corpus = evaluation.pair.corpus
    surfaces, starts, cases = [], [], []
    for spans, rows, table in zip((gold, pred), (listed["gold"], listed["pred"]), evaluation.case_tables, strict=True):
        row = rows.to_numpy(np.int64)
        there = row >= 0
        start, end = (column[row[there]] for column in positions(spans))
        surfaces.append(_spread(corpus.texts(start, end), there, ""))
        starts.append(_spread(start.tolist(), there, -1))
        number = {own: index for index, own in enumerate(table["row"].tolist())}
        cases.append([number.get(own, -1) for own in row.tolist()])
    places = np.array([one if one >= 0 else other for one, other in zip(*starts, strict=True)], dtype=np.int64)
    documents = [corpus.doc_ids[index] for index in corpus.document_of(places).tolist()]
    cells: dict[str, list[_Listed]] = defaultdict(list)
    keys = zip(listed["row"].tolist(), listed["column"].tolist(), strict=True)
    for key, document, reference, model, fn, fp in zip(keys, documents, *surfaces, *cases, strict=True):
        cells["{}-{}".format(*key)].append((document, reference, model, *_case(evaluation, fn, fp)))
    return cells


def _case(evaluation: Evaluation, fn: int, fp: int) -> tuple[str, list[list[str]]]:
    """The ID and the context of the case that a span is, given its row among the FN or the FP cases."""
    for table, row in zip(evaluation.case_tables, (fn, fp), strict=True):
        if row >= 0:
            return table["case_id"].iloc[row], [list(piece) for piece in emoji_pieces(table["segments"].iloc[row])]
    return "", []


def _spread(values: Sequence[_Value], there: BoolArray, missing: _Value) -> list[_Value]:
    """Values in their places, and something else where there is none."""
    left = iter(values)
    return [next(left) if one else missing for one in there.tolist()]
