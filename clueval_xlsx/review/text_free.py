"""An edition of a result that can be shared: metrics, positions and case IDs, but no word of the corpus."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from pathlib import PurePath

import numpy as np
import pandas as pd

from clueval_xlsx.cases.table import ID_LENGTH
from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.figures import InputFacts, signature
from clueval_xlsx.text.strings import Strings

_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_TEXT = ("surface", "other_surface", "context")
_READING = ("nested", "offsets")  # options of reading that name nothing
_NAMES = ("start_id", "end_id", "other_start_id", "other_end_id", "sentence")


@dataclass(frozen=True, eq=False, kw_only=True)
class TextFreeEvaluation(Evaluation):
    """The same result without words: documents are numbered, token and sentence IDs are left out."""

    original: Evaluation

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The score table of the original, its documents numbered."""
        scores = self.original.scores.copy()
        numbers = _numbers(self.original.pair.corpus.doc_ids)
        by_document = (scores["group_key"] == "document").to_numpy(bool)
        scores.loc[by_document, "group"] = [numbers[group] for group in scores.loc[by_document, "group"]]
        return scores

    @cached_property
    def bare_cases(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The cases of the original without their words."""
        missed, unsupported = (cases_without_text(table, self.original) for table in self.original.bare_cases)
        return missed, unsupported

    @cached_property
    def unmarked_cases(self) -> pd.DataFrame | None:
        """The unmarked passages of the original without their words."""
        cases = self.original.unmarked_cases
        return None if cases is None else cases_without_text(cases, self.original)

    def with_contexts(self, cases: pd.DataFrame) -> pd.DataFrame:
        """Cases as they are: what they have around them is not shown."""
        return cases


def without_text(evaluation: Evaluation) -> TextFreeEvaluation:
    """An edition of a result that can be shared: no word, no name of a file, a document or a person, no note."""
    pair, alignment = evaluation.pair, evaluation.alignment
    numbers = _numbers(pair.corpus.doc_ids)
    bare = replace(
        pair,
        corpus=_empty(pair.corpus, tuple(numbers.values())),
        gold=replace(pair.gold, source=_unnamed(pair.gold.source, "gold")),
        pred=replace(pair.pred, source=_unnamed(pair.pred.source, "pred")),
    )
    inputs = InputFacts.of(bare)
    kept = {field.name: getattr(evaluation, field.name) for field in fields(Evaluation)}
    kept |= {
        "pair": bare,
        "inputs": inputs,
        "signature": signature(inputs, evaluation.options),
        "alignment": replace(alignment, reasons={numbers[doc]: why for doc, why in alignment.reasons.items()}),
        "notes": (),
    }
    return TextFreeEvaluation(**kept, original=evaluation)


def _empty(corpus: Corpus, doc_ids: tuple[str, ...]) -> Corpus:
    """The corpus with its borders and without its content."""
    nothing = Strings(bytes(8), np.zeros(len(corpus), dtype=np.int64), np.zeros(len(corpus), dtype=np.int32))
    documents = Regions(corpus.documents.start, corpus.documents.stop, rows=[{} for _ in doc_ids])
    return replace(corpus, tokens=nothing, doc_ids=doc_ids, documents=documents, regions={}, columns={}, token_ids=None)


def _unnamed(source: Source, name: str) -> Source:
    """Where a side comes from, without the names of files and people, which often are those of cases.

    The hash of a file gives the file away to whoever has it or guesses it: it is hashed again, with the secret.
    """
    return replace(
        source,
        name=name + PurePath(source.name).suffix,
        sha256=hmac.new(_secret(), source.sha256.encode(), "sha256").hexdigest(),
        reading={key: value for key, value in source.reading.items() if key in _READING},
        detector="command" if source.detector.startswith("command:") else source.detector,
    )


@cache
def _secret() -> bytes:
    """The key of the hashes of this run, which nobody keeps: what a run writes belongs together by them."""
    return secrets.token_bytes(32)


def _numbers(doc_ids: Sequence[str]) -> dict[str, str]:
    """Document IDs often are file numbers, which name a case: documents are counted instead."""
    return {doc_id: f"#{number}" for number, doc_id in enumerate(doc_ids, 1)}


def cases_without_text(cases: pd.DataFrame, original: Evaluation) -> pd.DataFrame:
    """Cases without words; their contexts are empty, and their IDs are numbers.

    A plain hash of document, place and words gives the words back to whoever guesses them.
    """
    numbers, names = _numbers(original.pair.corpus.doc_ids), _case_names(original)
    bare = cases.drop(columns=[column for column in cases.columns if column.startswith("meta_")])
    bare = bare.assign(**dict.fromkeys((*_TEXT, *_NAMES), ""))
    return bare.assign(
        document=[numbers[doc_id] for doc_id in cases["document"]],
        case_id=[names[case] for case in cases["case_id"]],
        related=pd.Series([[names[each] for each in own] for own in cases["related"]], index=bare.index, dtype=object),
        segments=pd.Series([[] for _ in range(len(bare))], index=bare.index, dtype=object),
    )


def _case_names(original: Evaluation) -> dict[str, str]:
    """An ID for each case that says no more than its number, in the form that all IDs have."""
    unmarked = original.unmarked_cases
    tables = (*original.bare_cases, *(() if unmarked is None else (unmarked,)))
    return {
        case: f"{case.partition('-')[0]}-{_letters(number)}"
        for table in tables
        for case, number in zip(table["case_id"].tolist(), table["number"].tolist(), strict=True)
    }


def _letters(number: int) -> str:
    """A number in the letters and digits of case IDs.

    >>> _letters(1), _letters(33)
    ('AAAAAAAAAAAB', 'AAAAAAAAAABB')
    """
    return "".join(_SIGNS[number >> shift & 31] for shift in range(5 * (ID_LENGTH - 1), -1, -5))
