"""Counts to rates: every row of the score table, its groups and its intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.schemes.tally import FloatArray, Tally
from clueval_xlsx.strings import IntArray

COUNTS = ("gold", "tp_gold", "fn", "pred", "tp_pred", "fp")
RATES = ("precision", "recall", "f1", "f_beta")
IDENTITY = ("scheme", "variant", "level", "labelled", "layer", "label", "average", "group_key", "group")
_DRAWN_AT_ONCE = 4_000_000  # documents drawn in one batch of replicates
_COLUMNS_AT_ONCE = 1000  # rows of the table whose intervals are computed together
_CONFIDENCE = (0.025, 0.975)

Columns = dict[str, Any]  # some rows of the table, column by column


@dataclass(frozen=True, eq=False)
class Grouping:
    """Values that rows are grouped by; `codes` maps a token position to an index into `values` (-1: none)."""

    key: str
    values: Sequence[str]
    codes: IntArray  # for each document, or for each token position
    per_document: bool

    def of(self, position: IntArray, document: IntArray) -> IntArray:
        """The group of each unit."""
        return self.codes[document] if self.per_document else self.codes[position]


@dataclass(frozen=True, eq=False)
class ScoreSettings:
    """How to turn counts into the score table."""

    documents: IntArray  # first position of each document
    vocabulary: Mapping[str, Sequence[str]]
    groupings: Sequence[Grouping] = ()
    beta: float = 2.0
    seed: int = 20240
    replicates: int = 1000
    headline: tuple[str | None, str | None] = ("overlap", None)  # level, labelled layer


def rates(counts: Mapping[str, npt.ArrayLike], beta: float) -> dict[str, FloatArray]:
    """Precision, recall, F1 and F-beta from counts; NaN where a rate is not defined.

    >>> {name: float(value) for name, value in rates(dict(gold=4, tp_gold=3, pred=0, tp_pred=0), 2).items()}
    {'precision': nan, 'recall': 0.75, 'f1': nan, 'f_beta': nan}
    """
    precision = _ratio(counts["tp_pred"], counts["pred"])
    recall = _ratio(counts["tp_gold"], counts["gold"])
    return {
        "precision": precision,
        "recall": recall,
        "f1": f_score(precision, recall, 1.0),
        "f_beta": f_score(precision, recall, beta),
    }


def f_score(precision: FloatArray, recall: FloatArray, beta: float) -> FloatArray:
    """The weighted harmonic mean; 0 where both rates are 0, NaN where one is not defined."""
    weight = beta * beta
    below = weight * precision + recall
    score = _ratio((1 + weight) * precision * recall, below)
    return np.asarray(np.where(below == 0, 0.0, score), dtype=np.float64)


def _ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> FloatArray:
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.divide(above, below, out=np.full(np.broadcast(above, below).shape, np.nan), where=below != 0)


def score_table(tallies: Sequence[Tally], settings: ScoreSettings) -> pd.DataFrame:
    """The table of all scores: one row for each tally, label, document and group, with counts and rates."""
    blocks: list[Columns] = []
    uncertain: list[_Uncertain] = []
    for tally in tallies:
        sides = (tally.gold, tally.pred)
        documents = [np.searchsorted(settings.documents, side.position, side="right") - 1 for side in sides]
        is_headline = (tally.level, tally.labelled) == settings.headline or tally.level is None

        def add(keys: _Keys, *, interval: bool, tally: Tally = tally, documents: list[IntArray] = documents) -> Columns:
            block = _block(tally, keys, settings)
            if interval:
                uncertain.append(_Uncertain(tally, keys, documents, len(blocks)))
            blocks.append(block)
            return block

        add(_Keys([np.zeros(len(side.position), np.int64) for side in sides], 1), interval=True)
        for layer in tally.by_layers:
            labels = list(settings.vocabulary[layer])
            keys = _Keys([side.labels[layer] for side in sides], len(labels))
            block = add(keys, interval=is_headline)
            block["layer"], block["label"] = [layer] * len(labels), labels
            blocks.append(_macro(tally, layer, block))
        for grouping in settings.groupings:
            codes = [grouping.of(side.position, document) for side, document in zip(sides, documents, strict=True)]
            values = list(grouping.values)
            block = add(_Keys(codes, len(values)), interval=is_headline and grouping.key != "document")
            block["group_key"], block["group"] = [grouping.key] * len(values), values
    _add_intervals(blocks, uncertain, settings)
    return _frame(blocks)


@dataclass(frozen=True, eq=False)
class _Keys:
    """A breakdown of the units of both sides into `size` rows."""

    codes: list[IntArray]
    size: int


@dataclass(frozen=True, eq=False)
class _Uncertain:
    """A block of rows that gets intervals."""

    tally: Tally
    keys: _Keys
    documents: list[IntArray]
    block: int


def _frame(blocks: list[Columns]) -> pd.DataFrame:
    """All blocks as one frame, made in one go: frames that are put together one by one cost more than the sums."""
    columns: Columns = {}
    for name in blocks[0] if blocks else ():
        parts = [block[name] for block in blocks]
        if isinstance(parts[0], np.ndarray):
            columns[name] = np.concatenate(parts)
        else:
            flat = [value for part in parts for value in part]
            columns[name] = pd.Series(flat, dtype=object)
    return pd.DataFrame(columns)


def _macro(tally: Tally, layer: str, labels: Columns) -> Columns:
    """The mean over the labels whose rate is defined."""
    macro = _identity(tally, 1)
    macro["layer"], macro["average"] = [layer], ["macro"]
    for name in RATES:
        defined = labels[name][~np.isnan(labels[name])]
        macro[name] = np.array([defined.mean() if len(defined) else np.nan])
    return macro


def _identity(tally: Tally, rows: int) -> Columns:
    fixed = {"scheme": tally.scheme, "variant": tally.variant, "level": tally.level, "labelled": tally.labelled}
    fixed["average"] = "micro"
    columns: Columns = {name: [fixed.get(name)] * rows for name in IDENTITY}
    columns.update({name: np.full(rows, np.nan) for name in COUNTS})
    for name in RATES:
        columns.update({key: np.full(rows, np.nan) for key in (name, f"{name}_low", f"{name}_high")})
    columns["counts"] = [None] * rows
    return columns


def _block(tally: Tally, keys: _Keys, settings: ScoreSettings) -> Columns:
    """The rows of one breakdown of a tally."""
    block = _identity(tally, keys.size)
    for name, side, code in zip(("gold", "pred"), (tally.gold, tally.pred), keys.codes, strict=True):
        block[name] = _sums(code, side.weight, keys.size)
        block[f"tp_{name}"] = _sums(code, side.weight * side.credit, keys.size)
    block["fn"] = block["gold"] - block["tp_gold"]
    block["fp"] = block["pred"] - block["tp_pred"]
    block.update(rates(block, settings.beta))
    block["counts"] = _named_counts(tally, keys.codes, keys.size)
    return block


def _sums(codes: IntArray, weights: FloatArray, size: int) -> FloatArray:
    known = codes >= 0
    return np.bincount(codes[known], weights=weights[known], minlength=size).astype(np.float64)


def _named_counts(tally: Tally, codes: list[IntArray], size: int) -> list[dict[str, int] | None]:
    """Outcomes by name; what both sides know is counted on the gold side."""
    if tally.gold.outcome is None and tally.pred.outcome is None:
        return [dict(tally.extra_counts) or None if size == 1 else None for _ in range(size)]
    found: list[dict[str, int] | None] = [{} for _ in range(size)]
    seen: set[str] = set()
    for side, code in ((tally.gold, codes[0]), (tally.pred, codes[1])):
        if side.outcome is None:
            continue
        names = sorted(set(side.outcome) - seen)
        for name in names:
            totals = _sums(np.where(side.outcome == name, code, -1), side.weight, size)
            for row, total in enumerate(totals.tolist()):
                found[row][name] = int(total)  # type: ignore[index]
        seen.update(names)
    if size == 1:
        found[0].update(tally.extra_counts)  # type: ignore[union-attr]
    return found


def _draws(settings: ScoreSettings) -> Iterator[FloatArray]:
    """Bootstrap weights: how often each document is drawn, a batch of replicates at a time, always the same."""
    documents, left = len(settings.documents), settings.replicates
    generator = np.random.default_rng(settings.seed)
    while left > 0:
        size = min(left, max(_DRAWN_AT_ONCE // documents, 1))
        drawn = generator.integers(documents, size=(size, documents)) + np.arange(size)[:, None] * documents
        yield np.bincount(drawn.ravel(), minlength=size * documents).reshape(size, documents).astype(np.float64)
        left -= size


def _add_intervals(blocks: list[Columns], uncertain: list[_Uncertain], settings: ScoreSettings) -> None:
    """95 % bootstrap intervals over documents, for all blocks that get them at once."""
    count = len(settings.documents)
    if count < 2 or not settings.replicates or not uncertain:
        return
    names = ("gold", "tp_gold", "pred", "tp_pred")
    tables = {name: _side_by_side([_by_document(part, name, count) for part in uncertain]) for name in names}
    # Drawing documents says nothing about rows whose units all lie in one document.
    spread = np.flatnonzero(np.asarray(((tables["gold"] + tables["pred"]) != 0).sum(axis=0)).ravel() > 1)
    found = {f"{name}_{end}": np.full(tables["gold"].shape[1], np.nan) for name in RATES for end in ("low", "high")}
    for begin in range(0, len(spread), _COLUMNS_AT_ONCE):
        rows = spread[begin : begin + _COLUMNS_AT_ONCE]
        some = {name: table[:, rows].T.tocsr() for name, table in tables.items()}
        drawn: dict[str, list[FloatArray]] = {name: [] for name in names}
        for batch in _draws(settings):
            for name, table in some.items():
                drawn[name].append(table @ batch.T)
        counts = {name: np.concatenate(parts, axis=1) for name, parts in drawn.items()}
        for name, sample in rates(counts, settings.beta).items():
            found[f"{name}_low"][rows], found[f"{name}_high"][rows] = _percentiles(sample)
    begin = 0
    for part in uncertain:
        for name, values in found.items():
            blocks[part.block][name] = values[begin : begin + part.keys.size]
        begin += part.keys.size


def _percentiles(sample: FloatArray) -> list[FloatArray]:
    """The bounds of each row, interpolated between neighbours, over the replicates whose rate is defined."""
    ordered = np.sort(sample, axis=1)  # NaN goes to the end
    last = (~np.isnan(ordered)).sum(axis=1) - 1
    row = np.arange(len(ordered))
    bounds = []
    for share in _CONFIDENCE:
        place = share * np.maximum(last, 0)
        below = np.floor(place).astype(np.int64)
        low, high = ordered[row, below], ordered[row, np.minimum(below + 1, np.maximum(last, 0))]
        bounds.append(low + (high - low) * (place - below))
    return bounds


def _by_document(part: _Uncertain, name: str, documents: int) -> Any:
    """Summed weights, documents by rows; sparse, because few labels occur in each document."""
    from scipy.sparse import csc_array

    which = 0 if name.endswith("gold") else 1
    side = (part.tally.gold, part.tally.pred)[which]
    document, code = part.documents[which], part.keys.codes[which]
    weight = side.weight * side.credit if name.startswith("tp_") else side.weight
    known = code >= 0
    return csc_array((weight[known], (document[known], code[known])), shape=(documents, part.keys.size))


def _side_by_side(tables: list[Any]) -> Any:
    from scipy.sparse import csc_array, hstack

    return csc_array(hstack(tables))
