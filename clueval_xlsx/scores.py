"""Counts to rates: every row of the score table, its groups and its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
_REPLICATES_AT_ONCE = 100
_CONFIDENCE = (2.5, 97.5)


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
    draws = list(_draws(len(settings.documents), settings))
    blocks = []
    for tally in tallies:
        documents = [
            np.searchsorted(settings.documents, side.position, side="right") - 1 for side in (tally.gold, tally.pred)
        ]
        is_headline = (tally.level, tally.labelled) == settings.headline or tally.level is None
        blocks.append(_block(tally, documents, None, settings, draws))
        for layer in tally.by_layers:
            blocks += _label_blocks(tally, documents, layer, settings, draws if is_headline else [])
        for grouping in settings.groupings:
            codes = [
                grouping.of(side.position, document)
                for side, document in zip((tally.gold, tally.pred), documents, strict=True)
            ]
            wanted = draws if is_headline and grouping.key != "document" else []
            keys = _Keys(codes, len(grouping.values))
            block = _block(tally, documents, keys, settings, wanted)
            block["group_key"], block["group"] = grouping.key, list(grouping.values)
            blocks.append(block)
    return pd.concat(blocks, ignore_index=True)


@dataclass(frozen=True, eq=False)
class _Keys:
    """A breakdown of the units of both sides into `size` rows."""

    codes: list[IntArray]
    size: int


def _label_blocks(
    tally: Tally, documents: list[IntArray], layer: str, settings: ScoreSettings, draws: list[FloatArray]
) -> list[pd.DataFrame]:
    labels = settings.vocabulary[layer]
    keys = _Keys([tally.gold.labels[layer], tally.pred.labels[layer]], len(labels))
    block = _block(tally, documents, keys, settings, draws)
    block["layer"], block["label"] = layer, list(labels)
    macro = _identity(tally, 1)
    macro["layer"], macro["average"] = layer, "macro"
    for name in RATES:
        defined = block[name].dropna()
        macro[name] = defined.mean() if len(defined) else np.nan
    return [block, macro]


def _identity(tally: Tally, rows: int) -> pd.DataFrame:
    fixed = {"scheme": tally.scheme, "variant": tally.variant, "level": tally.level, "labelled": tally.labelled}
    frame = pd.DataFrame({name: pd.array([fixed.get(name)] * rows, dtype=object) for name in IDENTITY})
    frame["average"] = "micro"
    for name in COUNTS:
        frame[name] = np.nan
    for name in RATES:
        frame[name] = np.nan
        frame[f"{name}_low"] = np.nan
        frame[f"{name}_high"] = np.nan
    frame["counts"] = pd.array([None] * rows, dtype=object)
    return frame


def _block(
    tally: Tally, documents: list[IntArray], keys: _Keys | None, settings: ScoreSettings, draws: list[FloatArray]
) -> pd.DataFrame:
    """The rows of one breakdown of a tally (or its one overall row)."""
    size = 1 if keys is None else keys.size
    codes = (
        [np.zeros(len(side.position), np.int64) for side in (tally.gold, tally.pred)] if keys is None else keys.codes
    )
    counts: dict[str, FloatArray] = {}
    for name, side, code in zip(("gold", "pred"), (tally.gold, tally.pred), codes, strict=True):
        counts[name] = _sums(code, side.weight, size)
        counts[f"tp_{name}"] = _sums(code, side.weight * side.credit, size)
    counts["fn"] = counts["gold"] - counts["tp_gold"]
    counts["fp"] = counts["pred"] - counts["tp_pred"]

    frame = _identity(tally, size)
    for name in COUNTS:
        frame[name] = counts[name]
    for name, values in rates(counts, settings.beta).items():
        frame[name] = values
    if draws:
        for name, (low, high) in _intervals(tally, codes, documents, size, settings, draws).items():
            frame[f"{name}_low"], frame[f"{name}_high"] = low, high
    frame["counts"] = _named_counts(tally, codes, size)
    return frame


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


def _draws(documents: int, settings: ScoreSettings) -> list[FloatArray]:
    """Bootstrap weights: how often each document is drawn, a batch of replicates at a time."""
    if documents < 2 or not settings.replicates:
        return []
    generator = np.random.default_rng(settings.seed)
    share = np.full(documents, 1 / documents)
    batches = []
    left = settings.replicates
    while left > 0:
        size = min(left, _REPLICATES_AT_ONCE)
        batches.append(generator.multinomial(documents, share, size=size).astype(np.float64))
        left -= size
    return batches


def _intervals(
    tally: Tally,
    codes: list[IntArray],
    documents: list[IntArray],
    size: int,
    settings: ScoreSettings,
    draws: list[FloatArray],
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """95 % bootstrap intervals over documents of every rate of every row."""
    count = len(settings.documents)
    tables = {}
    for name, side, code, document in zip(("gold", "pred"), (tally.gold, tally.pred), codes, documents, strict=True):
        tables[name] = _by_document(document, code, side.weight, count, size)
        tables[f"tp_{name}"] = _by_document(document, code, side.weight * side.credit, count, size)
    samples: dict[str, list[FloatArray]] = {name: [] for name in RATES}
    for batch in draws:
        drawn = {name: np.asarray(batch @ table) for name, table in tables.items()}
        for name, values in rates(drawn, settings.beta).items():
            samples[name].append(values)
    # Drawing documents says nothing about rows whose units all lie in one document.
    spread = ((tables["gold"] + tables["pred"]) != 0).sum(axis=0) > 1
    found = {name: _percentiles(np.concatenate(parts)) for name, parts in samples.items()}
    return {
        name: (np.where(spread, low, np.nan), np.where(spread, high, np.nan)) for name, (low, high) in found.items()
    }


def _percentiles(sample: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, high = np.full(sample.shape[1], np.nan), np.full(sample.shape[1], np.nan)
    whole = ~np.isnan(sample).any(axis=0)
    if whole.any():
        low[whole], high[whole] = np.percentile(sample[:, whole], _CONFIDENCE, axis=0)
    for column in np.flatnonzero(~whole).tolist():
        defined = sample[~np.isnan(sample[:, column]), column]
        if defined.size:
            low[column], high[column] = np.percentile(defined, _CONFIDENCE)
    return low, high


def _by_document(document: IntArray, code: IntArray, weight: FloatArray, documents: int, size: int) -> Any:
    """Summed weights, documents by rows; sparse, because few labels occur in each document."""
    from scipy.sparse import csr_array

    known = code >= 0
    return csr_array((weight[known], (document[known], code[known])), shape=(documents, size))
