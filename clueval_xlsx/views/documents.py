"""The list of documents: what was found and missed in each, and whether it leaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.views.scores import ScoreRow, score_view


@dataclass(frozen=True)
class DocumentView:
    """One document: its metadata, its size, its scores (None: it was left out), and whether nothing leaks from it."""

    name: str
    attributes: Mapping[str, str]
    tokens: int
    scores: ScoreRow | None
    leak_free: bool
    first_case: str  # the ID of its first case, a missed one if there is any


@dataclass(frozen=True)
class DocumentList:
    """All documents in their order, and the metadata that they have."""

    keys: tuple[str, ...]
    rows: tuple[DocumentView, ...]


def document_list(evaluation: Evaluation, cases: Iterable[pd.DataFrame] | None = None) -> DocumentList:
    """Every document; `cases` are those that are shown, missed ones first, where they are not all."""
    corpus = evaluation.pair.corpus
    scores = {row["group"]: row for row in _rows(evaluation, evaluation.options.labelled).to_dict("records")}
    leaks = dict(zip(_rows(evaluation, None)["group"], leaks_by_document(evaluation), strict=True))
    first = _first_cases(evaluation.bare_cases if cases is None else cases)
    rows = []
    for index, name in enumerate(corpus.doc_ids):
        found = scores.get(name)
        rows.append(
            DocumentView(
                name,
                _attributes(evaluation, index),
                int(corpus.documents.stop[index] - corpus.documents.start[index]),
                None if found is None else score_view(name, found),
                not leaks.get(name, 0),
                first.get(name, ""),
            )
        )
    return DocumentList(tuple(dict.fromkeys(key for row in rows for key in row.attributes)), tuple(rows))


def _attributes(evaluation: Evaluation, index: int) -> dict[str, str]:
    """The metadata of a document, without what only repeats its name."""
    corpus = evaluation.pair.corpus
    found = corpus.documents.attributes(index)
    return {key: value for key, value in found.items() if key != "id" and value != corpus.doc_ids[index]}


def leaks_by_document(evaluation: Evaluation) -> list[int]:
    """How many reference spans were missed in each document at the chosen level, labels left aside."""
    return [int(missed) for missed in _rows(evaluation, None)["fn"]]


def _rows(evaluation: Evaluation, labelled: str | None) -> pd.DataFrame:
    level = evaluation.options.level
    return evaluation.select(scheme="clueval", level=level, labelled=labelled, group_key="document", layer=None)


def _first_cases(tables: Iterable[pd.DataFrame]) -> dict[str, str]:
    first: dict[str, str] = {}
    for cases in tables:
        for name, case_id in zip(cases["document"], cases["case_id"], strict=True):
            first.setdefault(name, case_id)
    return first
