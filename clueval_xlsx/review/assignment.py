"""What goes out: the cases that are to be judged and whose they are; and the edition of a result without its text."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from pathlib import PurePath

import msgspec
import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP, UM
from clueval_xlsx.cases.samples import (
    Units,
    deal,
    draw,
    draw_agreed,
    make_units,
    select_cases,
    span_components,
    twin_bundles,
    units_of_words,
)
from clueval_xlsx.cases.table import ID_LENGTH, agreed_table
from clueval_xlsx.cases.twins import add_twins
from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.figures import InputFacts, signature
from clueval_xlsx.scoring.names import MatchClass
from clueval_xlsx.text.strings import IntArray, Strings

_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_TEXT = ("surface", "other_surface", "context")
_READING = ("nested", "offsets")  # options of reading that name nothing
_NAMES = ("start_id", "end_id", "other_start_id", "other_end_id", "sentence")
Tables = Mapping[str, pd.DataFrame]  # sheet -> cases


class AgreedSample(msgspec.Struct, frozen=True):
    """How many of the agreed spans were asked for, drawn, and there."""

    seed: int
    size: int
    drawn: int
    there: int


class CaseSample(msgspec.Struct, frozen=True, omit_defaults=True):
    """The sample of cases and that of agreed spans, each if there is one."""

    seed: int | None = None
    size: int | None = None  # units that were asked for; None: all cases are handed out
    strata: Mapping[str, tuple[int, int]] = {}  # stratum -> (units drawn, units there are)
    agreed: AgreedSample | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether anything was drawn at all."""
        return self.size is not None or self.agreed is not None


@dataclass(frozen=True, eq=False)
class Selection:
    """The cases that are to be judged, whose they are, and how they were drawn."""

    cases: Tables
    hands: Mapping[str, Tables]  # by judge; empty: one workbook for all
    sample: CaseSample

    @property
    def team(self) -> tuple[str, ...]:
        """Everybody who gets a workbook."""
        return tuple(self.hands)


def select(
    evaluation: Evaluation,
    *,
    judges: Sequence[str] = (),
    double: float = 0.0,
    sample: int | None = None,
    agreed: int = 0,
    seed: int = 0,
) -> Selection:
    """Choose the cases to judge and deal them out; linked cases of both sheets always go together.

    `double` is the share that two people judge. Contexts are made for the cases that were chosen, and no others.
    """
    tables: dict[str, pd.DataFrame] = dict(zip((FN, FP), evaluation.bare_cases, strict=True))
    units = evaluation_units(evaluation)
    drawn = draw(units, len(units) if sample is None else sample, seed)
    note = CaseSample()
    if sample is None:
        tables = dict(zip((FN, FP), evaluation.case_tables, strict=True))
    else:
        note = CaseSample(seed, sample, drawn.strata)
        chosen = set(np.flatnonzero(drawn.chosen).tolist())
        tables = {sheet: evaluation.with_contexts(select_cases(tables[sheet], units, chosen)) for sheet in tables}
    if evaluation.unmarked_cases is not None:
        tables[UM] = evaluation.with_contexts(evaluation.unmarked_cases)
    if agreed:
        there = agreed_cases(evaluation)
        drawn_rows = draw_agreed(np.arange(len(there)), agreed, seed)
        tables[AG] = evaluation.with_contexts(there.iloc[drawn_rows].reset_index(drop=True))
        note = CaseSample(note.seed, note.size, note.strata, AgreedSample(seed, agreed, len(drawn_rows), len(there)))
    if not judges:
        return Selection(tables, {}, note)
    bundles = twin_bundles(units, evaluation.bare_cases)
    dealt = deal(units, drawn.chosen, judges, double=double, seed=seed, bundles=bundles)
    hands: dict[str, dict[str, pd.DataFrame]] = {
        name: {sheet: select_cases(tables[sheet], units, dealt[name]) for sheet in (FN, FP)} for name in judges
    }
    if UM in tables:
        alike = units_of_words(tables[UM], evaluation.pair.layers[0])
        for name, own in deal(alike, np.ones(len(alike), dtype=bool), judges, double=double, seed=seed).items():
            hands[name][UM] = select_cases(tables[UM], alike, own)
    if agreed:
        for name, table in zip(judges, _dealt_by_group(tables[AG], len(judges)), strict=True):
            hands[name][AG] = table
    return Selection(tables, hands, note)


def _dealt_by_group(cases: pd.DataFrame, people: int) -> list[pd.DataFrame]:
    """Shares of cases that are as even as groups of twins allow, each group in one hand."""
    shares: list[list[int]] = [[] for _ in range(people)]
    groups = cases.groupby("twin_group", sort=False).indices.values()
    for rows in sorted((rows.tolist() for rows in groups), key=len, reverse=True):
        min(shares, key=len).extend(rows)
    return [cases.iloc[sorted(rows)].reset_index(drop=True) for rows in shares]


def evaluation_units(evaluation: Evaluation) -> Units:
    """The units of a run's cases."""
    pair = evaluation.pair
    components = span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start)
    return make_units(
        dict(zip((FN, FP), evaluation.bare_cases, strict=True)),
        dict(zip((FN, FP), components, strict=True)),
        pair.layers[0],
    )


def agreed_cases(evaluation: Evaluation) -> pd.DataFrame:
    """All agreed spans as cases with their twins, without contexts: what the agreed sample is drawn from."""
    rows, by = agreed_rows(evaluation), evaluation.options.by
    return add_twins(agreed_table(rows, evaluation.strict.gold, evaluation.pair.corpus, metadata=by))


def agreed_rows(evaluation: Evaluation) -> IntArray:
    """Rows of the gold spans that the model marks exactly alike and that are no cases (for their label, say)."""
    return np.flatnonzero((evaluation.strict.gold.classes == MatchClass.EXACT) & ~evaluation.errors[0])


# The edition without text: metrics, positions and case IDs, but no word of the corpus


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
