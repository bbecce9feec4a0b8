"""An edition of a result that can be shared: metrics, positions and case IDs, but no word of the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.reading import Source
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.text.strings import Strings

_TEXT = ("surface", "other_surface", "context")
_NAMES = ("start_id", "end_id", "other_start_id", "other_end_id", "sentence")


def without_text(evaluation: Evaluation) -> Evaluation:
    """The same result without words: documents are numbered, token and sentence IDs are left out."""
    doc_ids = evaluation.pair.corpus.doc_ids
    numbers = _numbers(doc_ids)
    scores = evaluation.scores.copy()
    by_document = (scores["group_key"] == "document").to_numpy(bool)
    scores.loc[by_document, "group"] = [numbers[group] for group in scores.loc[by_document, "group"]]
    pair = evaluation.pair
    bare = replace(
        evaluation,
        pair=replace(
            pair,
            corpus=_empty(pair.corpus, tuple(numbers.values())),
            gold=replace(pair.gold, source=_unnamed(pair.gold.source, "gold")),
            pred=replace(pair.pred, source=_unnamed(pair.pred.source, "pred")),
        ),
    )
    cases = tuple(bare_cases(table, doc_ids) for table in evaluation.cases)
    # What the cached properties would compute from the words:
    bare.__dict__.update(scores=scores, cases=cases, bare_cases=cases)
    return bare


def _empty(corpus: Corpus, doc_ids: tuple[str, ...]) -> Corpus:
    """The corpus with its borders and without its content."""
    nothing = Strings(bytes(8), np.zeros(len(corpus), dtype=np.int64), np.zeros(len(corpus), dtype=np.int32))
    documents = Regions(corpus.documents.start, corpus.documents.stop, rows=[{} for _ in doc_ids])
    return replace(corpus, tokens=nothing, doc_ids=doc_ids, documents=documents, regions={}, columns={}, token_ids=None)


def _unnamed(source: Source, name: str) -> Source:
    """Where a side comes from, without the names of files, which often are those of cases; their hashes stay."""
    reading = {key: value for key, value in source.reading.items() if key != "text"}
    return replace(source, name=name + PurePath(source.name).suffix, reading=reading)


def _numbers(doc_ids: Sequence[str]) -> dict[str, str]:
    """Document IDs often are file numbers, which name a case: documents are counted instead."""
    return {doc_id: f"#{number}" for number, doc_id in enumerate(doc_ids, 1)}


def bare_cases(cases: pd.DataFrame, doc_ids: Sequence[str]) -> pd.DataFrame:
    """Cases without words."""
    numbers = _numbers(doc_ids)
    bare = cases.copy()
    for column in (*_TEXT, *_NAMES):
        if column in bare.columns:
            bare[column] = ""
    bare["document"] = [numbers[doc_id] for doc_id in cases["document"]]
    bare["segments"] = pd.Series([[] for _ in range(len(bare))], dtype=object)
    return bare.drop(columns=[column for column in bare.columns if column.startswith("meta_")])
