"""Counts to rates: every row of the score table, its groups and its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.scoring.grouping import Grouping
from clueval_xlsx.scoring.intervals import ClusteredRates, DocumentTable, binomial_interval
from clueval_xlsx.scoring.schemes.tally import FloatArray, Side, Sides, Tally
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.threads import in_order

COUNTS = ("gold", "tp_gold", "fn", "pred", "tp_pred", "fp")
RATES = ("precision", "recall", "f1", "f_beta")
RIGHT_OR_WRONG = ("tp_gold", "fn", "tp_pred", "fp")  # of which half credits leave no whole numbers
IDENTITY = ("scheme", "variant", "level", "labelled", "layer", "label", "average", "group_key", "group")
MICRO, MACRO, WEIGHTED = "micro", "macro", "weighted"
_SUMS = ("gold", "tp_gold", "pred", "tp_pred")  # what rates are computed from
_CELLS_AT_ONCE = 2_000_000  # of a table documents × rows


@dataclass(frozen=True, eq=False)
class ScoreSettings:
    """How to turn counts into the score table."""

    documents: IntArray  # first position of each document
    vocabulary: Mapping[str, Sequence[str]]
    listed_vocabulary: Mapping[str, Sequence[str]]  # of tallies that count annotations as they are listed
    groupings: Sequence[Grouping] = ()
    beta: float = 2.0
    seed: int = 20240
    replicates: int = 1000
    headline: tuple[str | None, str | None] = ("overlap", None)  # level, labelled layer
    discarded: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # documents left out

    def vocabulary_of(self, tally: Tally) -> Mapping[str, Sequence[str]]:
        """What the labels of a tally are codes of, by layer."""
        return self.listed_vocabulary if tally.as_listed else self.vocabulary

    def document_of(self, position: IntArray) -> IntArray:
        """The index of the document of each position."""
        return np.searchsorted(self.documents, position, side="right") - 1


def rates(counts: Mapping[str, npt.ArrayLike], beta: float) -> dict[str, FloatArray]:
    """Precision, recall, F1 and F-beta from counts; NaN where a rate is not defined.

    F is 0 as soon as either side has something and nothing of it is right: what is never predicted has F 0.

    >>> {name: float(value) for name, value in rates(dict(gold=4, tp_gold=0, pred=0, tp_pred=0), 2).items()}
    {'precision': nan, 'recall': 0.0, 'f1': 0.0, 'f_beta': 0.0}
    """
    precision = _ratio(counts["tp_pred"], counts["pred"])
    recall = _ratio(counts["tp_gold"], counts["gold"])
    return {
        "precision": precision,
        "recall": recall,
        "f1": f_score(precision, recall, 1.0, counts),
        "f_beta": f_score(precision, recall, beta, counts),
    }


def f_score(precision: FloatArray, recall: FloatArray, beta: float, counts: Mapping[str, npt.ArrayLike]) -> FloatArray:
    """The weighted harmonic mean, a rate over nothing counting 0; NaN where no side has anything or is counted."""
    weight = beta * beta
    either = np.asarray(counts["gold"], dtype=np.float64) + np.asarray(counts["pred"], dtype=np.float64)
    found, right = np.nan_to_num(recall), np.nan_to_num(precision)
    below = weight * right + found
    score = np.where(below == 0, 0.0, _ratio((1 + weight) * right * found, below))
    return np.asarray(np.where(either > 0, score, np.nan), dtype=np.float64)


def _ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> FloatArray:
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.divide(above, below, out=np.full(np.broadcast(above, below).shape, np.nan), where=below != 0)


@dataclass(frozen=True, eq=False)
class _Block:
    """The rows of one breakdown of a tally: who they are, and the counts each of them has."""

    tally: Tally
    sides: Sides
    codes: Sequence[IntArray]  # for each side the row of each unit, -1: none
    size: int
    bounded: bool  # whether its rates get an interval
    identity: Mapping[str, Any] = field(default_factory=dict)  # scalars, or one value a row
    mean_of: slice | None = None  # this one row averages these rows, counted from itself


def score_table(tallies: Sequence[Tally], settings: ScoreSettings) -> pd.DataFrame:
    """The table of all scores: one row for each tally, label, document and group, with counts and rates."""
    blocks = [block for tally in tallies for block in _blocks(tally, settings)]
    sizes = [block.size for block in blocks]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    columns: dict[str, Any] = {name: _identity_column(name, blocks, sizes) for name in IDENTITY}

    summed = [_counts(block) for block in blocks]
    counts = {name: np.concatenate([each[name] for each in summed]) for name in _SUMS}
    columns["gold"], columns["tp_gold"] = counts["gold"], counts["tp_gold"]
    columns["fn"] = counts["gold"] - counts["tp_gold"]
    columns["pred"], columns["tp_pred"] = counts["pred"], counts["tp_pred"]
    columns["fp"] = counts["pred"] - counts["tp_pred"]
    found = rates(counts, settings.beta)
    for row, block in zip(starts.tolist(), blocks, strict=False):
        if block.mean_of is not None:
            averaged = slice(row + block.mean_of.start, row + block.mean_of.stop)
            for name, mean in _means(
                block, {name: value[averaged] for name, value in (counts | found).items()}
            ).items():
                found[name][row] = mean

    intervals = _intervals(blocks, starts, settings)
    for name in RATES:
        columns[name] = found[name]
        columns[f"{name}_low"], columns[f"{name}_high"] = intervals[name]
    columns["counts"] = _objects([named for block in blocks for named in _named_counts(block)])
    return pd.DataFrame(columns)


def _blocks(tally: Tally, settings: ScoreSettings) -> list[_Block]:
    """The overall row of a tally, and its breakdowns."""
    everything = [np.zeros(len(side.position), np.int64) for side in tally.sides]
    whole = tally.available and not tally.one_sided
    found = [_Block(tally, sides=tally.sides, codes=everything, size=1, bounded=whole)]
    if not tally.available:
        return found
    # Intervals of labels and groups cost most and are looked at least: the chosen row alone has them.
    chosen = tally.scheme == "clueval" and (tally.level, tally.labelled) == settings.headline
    for layer in tally.by_layers:
        labels = settings.vocabulary_of(tally)[layer]
        sides = tally.label_sides or tally.sides
        codes = [side.labels.get(layer, np.full(len(side.position), -1)) for side in sides]
        identity = {"layer": layer, "label": list(labels)}
        found.append(_Block(tally, sides=sides, codes=codes, size=len(labels), bounded=chosen, identity=identity))
        found += [
            _Block(
                tally,
                sides=(Side.empty(), Side.empty()),
                codes=[np.empty(0, np.int64) for _ in sides],
                size=1,
                bounded=False,
                identity={"layer": layer, "average": average},
                mean_of=slice(-len(labels) - place, -place),
            )
            for place, average in enumerate(_averages(tally))
        ]
    for grouping in settings.groupings:
        sides = tally.group_sides.get(grouping.key, tally.sides)
        codes = [grouping.of(side.position, settings.document_of(side.position)) for side in sides]
        identity = {"group_key": grouping.key, "group": list(grouping.values)}
        bounded = chosen and grouping.key != "document"
        found.append(
            _Block(tally, sides=sides, codes=codes, size=len(grouping.values), bounded=bounded, identity=identity)
        )
    return found


def _averages(tally: Tally) -> tuple[str, ...]:
    """The means over labels that a tally has; only seqeval's report knows the one weighted by the support."""
    return (MACRO, WEIGHTED) if tally.scheme == "seqeval" else (MACRO,)


def _means(block: _Block, labels: Mapping[str, FloatArray]) -> dict[str, float]:
    """The mean rates of the labels that occur on either side, a rate over nothing counting 0; NaN if none occurs."""
    sides = ("gold",) if block.tally.one_sided else ("gold", "pred")
    support = np.sum([labels[side] for side in sides], axis=0)
    rows = np.flatnonzero(support > 0)
    if not len(rows):
        return dict.fromkeys(RATES, np.nan)
    weights = labels["gold"][rows] if block.identity["average"] == WEIGHTED else np.ones(len(rows))
    whole = weights.sum()  # 0 where gold has nothing: then nothing can be right
    means = {name: float(np.nan_to_num(labels[name][rows]) @ weights / whole) if whole else 0.0 for name in RATES}
    return means if not block.tally.one_sided else {name: means[name] if name == "recall" else np.nan for name in RATES}


def _identity_column(name: str, blocks: Sequence[_Block], sizes: Sequence[int]) -> pd.Series:
    values: list[Any] = []
    for block, size in zip(blocks, sizes, strict=True):
        value = block.identity.get(name, getattr(block.tally, name, MICRO if name == "average" else None))
        values += value if isinstance(value, list) else [value] * size
    return _objects(values)


def _objects(values: Sequence[Any]) -> pd.Series:
    return pd.Series(values, dtype=object)  # pandas would guess a string type and turn None into NaN


def _counts(block: _Block) -> dict[str, FloatArray]:
    """Supports and true positives of every row; what is not counted at all is NaN, not 0."""
    found: dict[str, FloatArray] = {}
    undefined = np.full(block.size, np.nan)
    for name, side, code in zip(("gold", "pred"), block.sides, block.codes, strict=True):
        counted = block.mean_of is None and block.tally.available and not (name == "pred" and block.tally.one_sided)
        found[name] = _sums(code, side.weight, block.size) if counted else undefined
        found[f"tp_{name}"] = _sums(code, side.weight * side.credit, block.size) if counted else undefined
    return found


def _sums(codes: IntArray, weights: FloatArray, size: int) -> FloatArray:
    # Code -1 (none) is counted in a place of its own and cut off: cheaper than picking out the others.
    return np.bincount(codes + 1, weights=weights, minlength=size + 1)[1:].astype(np.float64)


def _named_counts(block: _Block) -> Sequence[dict[str, int] | None]:
    """Outcomes by name for every row, and how many units equivalent labels made right."""
    tally, nothing = block.tally, [None] * block.size
    columns: dict[str, list[int]] = {}
    for number, name in enumerate(tally.outcomes):
        index = 1 if name in tally.outcomes_of_pred else 0
        side, code = block.sides[index], block.codes[index]
        if side.outcome is None:
            return nothing
        totals = _sums(np.where(side.outcome == number, code, -1), side.weight, block.size)
        columns[name] = totals.astype(np.int64).tolist()
    gold = block.sides[0]
    if gold.relaxed is not None:
        totals = _sums(np.where(gold.relaxed, block.codes[0], -1), gold.weight, block.size)
        columns["relaxed"] = totals.astype(np.int64).tolist()
    if not columns:
        return nothing
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _intervals(
    blocks: Sequence[_Block], starts: IntArray, settings: ScoreSettings
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """95 % intervals: exact ones where documents are the units, else those of rates in clusters."""
    rows = int(starts[-1])
    found = {name: (np.full(rows, np.nan), np.full(rows, np.nan)) for name in RATES}
    for begin, block in zip(starts.tolist(), blocks, strict=False):
        if block.tally.one_sided and block.mean_of is None:
            counts = _counts(block)
            low, high = binomial_interval(counts["tp_gold"], counts["gold"])
            found["recall"][0][begin : begin + block.size] = low
            found["recall"][1][begin : begin + block.size] = high

    chosen = [(begin, block) for begin, block in zip(starts.tolist(), blocks, strict=False) if block.bounded]
    kept = np.ones(len(settings.documents), dtype=bool)
    kept[settings.discarded] = False
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    documents = int(kept.sum())
    if not chosen or documents < 2 or not settings.replicates:
        return found
    tables = _document_tables([block for _, block in chosen], number, documents, settings)
    places = np.concatenate([np.arange(begin, begin + block.size) for begin, block in chosen])
    at_once = max(1, _CELLS_AT_ONCE // documents)
    for first in range(0, len(places), at_once):
        some = slice(first, min(first + at_once, len(places)))
        dense = [tables[name].dense(some.start, some.stop) for name in _SUMS]
        low, high = ClusteredRates.of(dense, settings.beta).interval()
        for index, name in enumerate(RATES):
            found[name][0][places[some]], found[name][1][places[some]] = low[:, index], high[:, index]
    return found


def _document_tables(
    blocks: Sequence[_Block], number: IntArray, documents: int, settings: ScoreSettings
) -> dict[str, DocumentTable]:
    """Counts by document and column of the rows that get an interval, for each kind of count; sparse."""

    def tables(block: _Block) -> dict[str, DocumentTable]:
        found = {}
        for name, side, code in zip(("gold", "pred"), block.sides, block.codes, strict=True):
            document = number[settings.document_of(side.position)]
            found[name] = DocumentTable.of(document, code, side.weight, documents)
            found[f"tp_{name}"] = DocumentTable.of(document, code, side.weight * side.credit, documents)
        return found

    parts = list(in_order(tables, blocks))
    sizes = [block.size for block in blocks]
    return {name: DocumentTable.beside([part[name] for part in parts], sizes) for name in _SUMS}
