"""Gold damaged in a known way: spans deleted, invented, moved and relabelled, from a seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.spans import label_list, make_spans, positions
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions

LAYER = "fine"
_TRIES = 50


@dataclass(frozen=True, eq=False)
class Damaged:
    """A pair whose gold was damaged, and where: from the first to the last token that changed."""

    pair: Pair
    start: np.ndarray
    end: np.ndarray

    def hits(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """For each place how many of the damages it touches, and which: the number of the first, -1 for none."""
        order = np.argsort(self.start)
        begin, reach = self.start[order], self.end[order]
        first = np.searchsorted(np.maximum.accumulate(reach), start)
        touched = (first < len(begin)) & (np.append(begin, np.iinfo(np.int64).max)[first] <= end)
        return np.where(touched, np.append(order, -1)[first], -1)


def read_ler(folder: Path, layer: str = LAYER, column: int = 2) -> Pair:
    """The ler-dev data, one layer."""
    options = ReadOptions(layers={layer: column})
    return make_pair(*(read(folder / f"ler-dev.{side}.vrt", options) for side in ("gold", "pred")))


def damage(pair: Pair, share: float, seed: int) -> Damaged:
    """Damage a share of the gold spans: a quarter each is deleted, moved, relabelled; as many again are invented."""
    dice = np.random.default_rng(seed)
    spans, corpus = pair.gold.spans, pair.corpus
    start, end = (column.copy() for column in positions(spans))
    labels = np.array(label_list(spans[LAYER]), dtype=object)
    known = sorted(set(labels))
    chosen = dice.permutation(len(spans))[: round(share * len(spans))]
    deleted, moved, relabelled, model = np.array_split(chosen, 4)
    taken = np.zeros(len(corpus), dtype=bool)
    for first, last in zip(start, end, strict=True):
        taken[first : last + 1] = True
    places = [(start[row], end[row]) for row in deleted]
    for row in moved:
        before = start[row], end[row]
        if _move(row, start, end, taken, corpus, dice):
            places.append((min(before[0], start[row]), max(before[1], end[row])))
    for row in relabelled:
        labels[row] = dice.choice([label for label in known if label != labels[row]])
        places.append((start[row], end[row]))
    invented = []
    for row in model:
        place = _free_place(int(end[row] - start[row]), taken, corpus, dice)
        if place is not None:
            invented.append((*place, dice.choice(known)))
            places.append(place)
    kept = np.ones(len(spans), dtype=bool)
    kept[deleted] = False
    new = make_spans(
        np.append(start[kept], [first for first, _, _ in invented]),
        np.append(end[kept], [last for _, last, _ in invented]),
        {LAYER: [*labels[kept], *(label for _, _, label in invented)]},
    )
    where = np.array(places, dtype=np.int64).reshape(-1, 2)
    return Damaged(replace(pair, gold=_with(pair.gold, new)), where[:, 0], where[:, 1])


def delete_on_both_sides(pair: Pair, share: float, seed: int) -> tuple[Pair, pd.DataFrame]:
    """Delete a share of the gold spans, with all predictions that touch them; returns what was deleted, too."""
    dice = np.random.default_rng(seed)
    gold, pred = pair.gold.spans, pair.pred.spans
    gone = np.zeros(len(gold), dtype=bool)
    gone[dice.permutation(len(gold))[: round(share * len(gold))]] = True
    touched = np.zeros(len(pair.corpus) + 1, dtype=np.int64)
    for first, last in zip(*(column[gone] for column in positions(gold)), strict=True):
        touched[first : last + 1] = 1
    before = np.concatenate([[0], np.cumsum(touched)])
    first, last = positions(pred)
    kept = pred[before[last + 1] == before[first]].reset_index(drop=True)
    left = gold[~gone].reset_index(drop=True)
    return replace(pair, gold=_with(pair.gold, left), pred=_with(pair.pred, kept)), gold[gone]


def _with(side: Annotation, spans: pd.DataFrame) -> Annotation:
    return replace(side, spans=spans, layers={LAYER: spans}, tags={}, listed=None)


def _move(
    row: int, start: np.ndarray, end: np.ndarray, taken: np.ndarray, corpus: Corpus, dice: np.random.Generator
) -> bool:
    """Move one end of a span by one or two tokens, without leaving its sentence or touching another span."""
    for _ in range(_TRIES):
        first, last, by = int(start[row]), int(end[row]), int(dice.choice([-2, -1, 1, 2]))
        new = (first + by, last) if dice.random() < 0.5 else (first, last + by)
        if new[0] > new[1] or not _one_sentence(min(new[0], first), max(new[1], last), corpus):
            continue
        more = [place for place in range(new[0], new[1] + 1) if not first <= place <= last]
        if taken[more].any():
            continue
        start[row], end[row] = new
        taken[new[0] : new[1] + 1] = True
        return True
    return False


def _free_place(more: int, taken: np.ndarray, corpus: Corpus, dice: np.random.Generator) -> tuple[int, int] | None:
    """A place of so many tokens and one where nothing is marked."""
    for _ in range(_TRIES):
        first = int(dice.integers(0, len(corpus)))
        if _one_sentence(first, first + more, corpus) and not taken[first : first + more + 1].any():
            taken[first : first + more + 1] = True
            return first, first + more
    return None


def _one_sentence(first: int, last: int, corpus: Corpus) -> bool:
    if first < 0 or last >= len(corpus):
        return False
    one, other = corpus.sentence_of(np.array([first, last]))
    return bool(one == other)
