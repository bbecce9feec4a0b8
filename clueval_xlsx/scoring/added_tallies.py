"""Tallies of parts of a corpus, summed by document, so that they add up to those of the whole.

A unit of a tally matters by its document, its groups, its labels and what became of it: units that agree in all of
these are one row that weighs as much as they do together. Documents then take the place of tokens: each has one
position for every combination of group values that occurs in it, so that the score table is made from added tallies
as from any others. Counts are whole numbers, so that nothing depends on the order in which parts are added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clueval_xlsx.scoring.counts import Breakdown, FloatArray, Grouping, Side, Sides, Tally
from clueval_xlsx.text.strings import IntArray

_Vocabulary = Mapping[str, Sequence[str]]
_Key = tuple[str, str | None, str | None, str | None]
_EXACT = 2**24  # whole numbers below this, and their halves, are exact in four bytes


@dataclass(frozen=True, eq=False)
class AddedTallies:
    """Tallies over `size` positions that stand for documents, and the settings that scores are made with from them.

    Their groupings are those by metadata: documents get their names from whoever knows all of them.
    """

    tallies: Sequence[Tally]
    settings: Breakdown
    size: int

    @classmethod
    def of(cls, tallies: Sequence[Tally], settings: Breakdown, tokens: int) -> AddedTallies:
        """Sum the tallies of a corpus of so many tokens by document."""
        others = [grouping for grouping in settings.groupings if not grouping.per_document]
        document = settings.document_of(np.arange(tokens, dtype=np.int64))
        places, place_of = _distinct(np.stack([document, *(grouping.codes for grouping in others)], axis=1))
        by_place = replace(
            settings,
            documents=np.searchsorted(places[:, 0], np.arange(len(settings.documents))),
            groupings=[replace(grouping, codes=places[:, index]) for index, grouping in enumerate(others, 1)],
        )
        return cls([_summed(tally, place_of) for tally in tallies], by_place, len(places))

    @classmethod
    def join(cls, parts: Sequence[AddedTallies]) -> AddedTallies:
        """Add up parts, whose documents follow each other."""
        vocabulary, renamed = _joined_vocabulary([part.settings.vocabulary for part in parts])
        listed_vocabulary, listed_renamed = _joined_vocabulary([part.settings.listed_vocabulary for part in parts])
        first = np.cumsum([0, *(part.size for part in parts)])
        found: dict[_Key, list[tuple[Tally, int]]] = {}
        for number, part in enumerate(parts):
            for tally in part.tallies:
                same = (tally.scheme, tally.variant, tally.level, tally.labelled)
                found.setdefault(same, []).append((tally, number))
        settings = replace(
            parts[0].settings,
            documents=np.concatenate([part.settings.documents + first[number] for number, part in enumerate(parts)]),
            kept=np.concatenate([part.settings.kept for part in parts]),
            vocabulary=vocabulary,
            listed_vocabulary=listed_vocabulary,
            groupings=_joined_groupings(parts),
        )
        tallies = [_joined(each, listed_renamed if each[0][0].as_listed else renamed, first) for each in found.values()]
        return cls(tallies, settings, int(first[-1]))


def _joined_vocabulary(own: Sequence[_Vocabulary]) -> tuple[_Vocabulary, list[dict[str, IntArray]]]:
    """The labels of all parts by layer, and for each part the codes that its own labels have among them."""
    layers = dict.fromkeys(layer for each in own for layer in each)
    joined = {layer: sorted({label for each in own for label in each.get(layer, ())}) for layer in layers}
    return joined, [{layer: _codes(names, joined[layer]) for layer, names in each.items()} for each in own]


def _joined_groupings(parts: Sequence[AddedTallies]) -> list[Grouping]:
    """The groupings that any part knows; where a part does not, its positions are in no group."""
    known = [{grouping.key: grouping for grouping in part.settings.groupings} for part in parts]
    found = []
    for key in dict.fromkeys(key for each in known for key in each):
        own = [
            each.get(key) or Grouping(key, (), np.full(part.size, -1), per_document=False)
            for each, part in zip(known, parts, strict=True)
        ]
        values = list(dict.fromkeys(value for grouping in own for value in grouping.values))
        codes = np.concatenate([_codes(grouping.values, values)[grouping.codes] for grouping in own])
        found.append(Grouping(key, values, codes, per_document=False))
    return found


def _distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows in order, and the number of each row among them."""
    if not len(rows):
        return rows, np.empty(0, dtype=np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    number = np.empty(len(rows), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return ordered[new], number


def _codes(names: Sequence[str], among: Sequence[str]) -> IntArray:
    """The place of each name among others, and -1 at the end, where code -1 finds it."""
    place = {name: number for number, name in enumerate(among)}
    return np.array([*(place[name] for name in names), -1], dtype=np.int64)


def _summed(tally: Tally, place_of: IntArray) -> Tally:
    layers = tally.by_layers

    def summed(sides: Sides, layers: Sequence[str]) -> Sides:
        return _summed_side(sides[0], layers, place_of), _summed_side(sides[1], layers, place_of)

    gold, pred = summed(tally.sides, () if tally.label_sides else layers)
    return replace(
        tally,
        gold=gold,
        pred=pred,
        label_sides=tally.label_sides and summed(tally.label_sides, layers),
        group_sides={key: summed(sides, ()) for key, sides in tally.group_sides.items()},
    )


def _summed_side(side: Side, layers: Sequence[str], place_of: IntArray) -> Side:
    nothing = np.full(len(side.position), -1, dtype=np.int64)
    halves = np.rint(side.credit * 2).astype(np.int64)  # credit is none, half or whole
    columns = [place_of[side.position], halves, *(side.labels.get(layer, nothing) for layer in layers)]
    columns += [nothing if side.outcome is None else side.outcome]
    columns += [nothing if side.relaxed is None else side.relaxed.astype(np.int64)]
    counted = np.flatnonzero(side.weight)
    rows, row_of = _distinct(np.stack(columns, axis=1)[counted])
    weight: FloatArray = np.bincount(row_of, weights=side.weight[counted], minlength=len(rows)).astype(np.float64)
    place, credit, *labels = rows.T
    *labels, outcome, relaxed = labels
    return Side(
        _narrow(place),
        {layer: _narrow(codes) for layer, codes in zip(layers, labels, strict=True)},
        _short(credit / 2),
        _short(weight),
        outcome=None if side.outcome is None else _narrow(outcome),
        relaxed=None if side.relaxed is None else relaxed.astype(bool),
    )


def _short(values: FloatArray) -> Any:
    """The same numbers in half the bytes, if they stay exact."""
    return values if values.max(initial=0) >= _EXACT else values.astype(np.float32)


def _narrow(values: IntArray) -> Any:
    """The same whole numbers in as few bytes as they need."""
    largest = int(values.max(initial=0))  # there is room for one more, because tables count from -1
    return values.astype(
        next((kind for kind in (np.int8, np.int16, np.int32) if largest < np.iinfo(kind).max), np.int64)
    )


def _joined(same: Sequence[tuple[Tally, int]], renamed: Sequence[Mapping[str, IntArray]], first: IntArray) -> Tally:
    """One tally of the same kind from several parts; what one part could not count, nobody has counted."""
    tallies, numbers = zip(*same, strict=True)
    model: Tally = tallies[0]
    if not all(tally.available for tally in tallies):
        return replace(model, gold=Side.empty(), pred=Side.empty(), available=False)

    def joined(sides: Sequence[Sides | None]) -> Sides:
        known = [(own, number) for own, number in zip(sides, numbers, strict=True) if own is not None]
        codes, begin = [renamed[number] for _, number in known], first[[number for _, number in known]]
        gold, pred = (_joined_side([own[index] for own, _ in known], codes, begin) for index in range(2))
        return gold, pred

    gold, pred = joined([tally.sides for tally in tallies])
    keys = dict.fromkeys(key for tally in tallies for key in tally.group_sides)
    return replace(
        model,
        gold=gold,
        pred=pred,
        label_sides=model.label_sides and joined([tally.label_sides for tally in tallies]),
        group_sides={key: joined([tally.group_sides.get(key) for tally in tallies]) for key in keys},
    )


def _joined_side(sides: Sequence[Side], renamed: Sequence[Mapping[str, IntArray]], first: IntArray) -> Side:
    def together(columns: Sequence[Any]) -> Any:
        return None if columns[0] is None else np.concatenate(columns)

    positions = [side.position.astype(np.int64) + begin for side, begin in zip(sides, first.tolist(), strict=True)]
    labels = {}
    for layer in sides[0].labels:
        codes = [codes[layer][side.labels[layer]] for side, codes in zip(sides, renamed, strict=True)]
        labels[layer] = _narrow(np.concatenate(codes))
    return Side(
        _narrow(np.concatenate(positions)),
        labels,
        np.concatenate([side.credit for side in sides]),
        np.concatenate([side.weight for side in sides]),
        outcome=together([side.outcome for side in sides]),
        relaxed=together([side.relaxed for side in sides]),
    )
