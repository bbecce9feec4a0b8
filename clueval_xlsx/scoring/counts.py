"""What is summed over documents: whole numbers by scheme, layer, label and group, which add up over any batches.

A scheme says of each unit (span, token, character, document) where it stands, what it weighs and how much of it is
right. Here units become integers, in halves, because a match may be half right:

    4 sums       gold, tp_gold, pred, tp_pred
    10 products  of each two of these four, document by document, summed: what intervals need of the spread
    3 numbers    of documents that have something in gold, in pred, in either

and the named outcomes. Nothing else is kept of a document, so memory grows with labels and not with documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.text.strings import BoolArray, IntArray

FloatArray = npt.NDArray[np.float64]

SUMS = ("gold", "tp_gold", "pred", "tp_pred")
PRODUCTS = tuple(combinations_with_replacement(range(4), 2))  # of which two sums
FIGURES = len(SUMS) + len(PRODUCTS) + 3
DOCUMENT = "document"
RELAXED = "relaxed"
_DENSE = 1000  # cells that are always counted one by one, used or not


@dataclass(frozen=True, eq=False)
class Side:
    """The units that one side contributes: spans, tokens, documents, or stretches of characters.

    `position` (a token) tells document and metadata, `labels[layer]` the unit's label as a code (-1: none) in
    the pair's shared vocabulary of that layer (of all that is listed, if the tally counts it `as_listed`), `credit`
    how much of it counts as right, `weight` how many units the row stands for (0: it is not counted). `outcome`
    indexes the tally's names of what can happen to a unit; `relaxed` marks the units that are right only because
    labels were declared equivalent.
    """

    position: IntArray
    labels: Mapping[str, IntArray]
    credit: FloatArray
    weight: FloatArray
    outcome: IntArray | None = None
    relaxed: BoolArray | None = None

    @classmethod
    def of(
        cls,
        position: IntArray,
        labels: Mapping[str, IntArray],
        credit: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        *,
        outcome: IntArray | None = None,
        relaxed: BoolArray | None = None,
    ) -> Side:
        """Build a side; without weights every unit counts once."""
        credit_array = np.asarray(credit, dtype=np.float64)
        weights = np.ones(len(credit_array)) if weight is None else np.asarray(weight, dtype=np.float64)
        return cls(position, labels, credit_array, weights, outcome=outcome, relaxed=relaxed)

    @classmethod
    def empty(cls) -> Side:
        """A side that contributes nothing."""
        return cls.of(np.empty(0, dtype=np.int64), {}, np.empty(0))


Sides = tuple[Side, Side]  # gold, pred


@dataclass(frozen=True, eq=False)
class Tally:
    """One way of counting: recall comes from `gold`, precision from `pred`.

    `label_sides` and `group_sides` replace the sides where rows of labels, or of a group key, count other
    units than the overall row does. `one_sided` says that there is nothing to count on the pred side, so that
    precision is not defined; its interval is then an exact binomial one. A tally that is not `available` still
    gets its row, with nothing defined.
    """

    scheme: str
    gold: Side
    pred: Side
    variant: str | None = None
    level: str | None = None
    labelled: str | None = None
    by_layers: tuple[str, ...] = ()  # layers whose labels this tally is broken down by
    outcomes: tuple[str, ...] = ()
    outcomes_of_pred: tuple[str, ...] = ()  # those counted on the pred side; all others on the gold side
    label_sides: Sides | None = None
    group_sides: Mapping[str, Sides] = field(default_factory=dict)
    one_sided: bool = False
    available: bool = True
    optional: bool = False  # has a row only if it counts anything
    as_listed: bool = False  # counts the annotations as they are listed, which may have more labels than the spans

    @property
    def sides(self) -> Sides:
        """Gold and pred."""
        return self.gold, self.pred


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


def groupings(pair: Pair, keys: Sequence[str], discarded: Sequence[int] = ()) -> list[Grouping]:
    """What rows are grouped by: the documents always, then the chosen metadata."""
    corpus = pair.corpus
    kept = np.ones(len(corpus.doc_ids), dtype=bool)
    kept[list(discarded)] = False
    names = [doc_id for doc_id, keep in zip(corpus.doc_ids, kept.tolist(), strict=True) if keep]
    found = [Grouping(DOCUMENT, names, np.where(kept, np.cumsum(kept) - 1, -1), per_document=True)]
    everywhere = np.arange(len(corpus), dtype=np.int64)
    for key in keys:
        values = corpus.metadata(key, everywhere)
        names = [str(value) for value in values.categories]
        found.append(Grouping(key, names, values.codes.astype(np.int64), per_document=False))
    return found


@dataclass(frozen=True, eq=False)
class Breakdown:
    """What the units of a corpus are broken down by: documents, labels, groups.

    Intervals of labels and groups cost most and are looked at least: the headline alone has them.
    """

    documents: IntArray  # first position of each
    kept: BoolArray  # the documents that count
    vocabulary: Mapping[str, Sequence[str]] = field(default_factory=dict)
    listed_vocabulary: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of annotations as they are listed
    groupings: Sequence[Grouping] = ()
    headline: tuple[str, str | None] | None = None  # level, labelled layer

    @classmethod
    def whole(cls, pair: Pair, discarded: Sequence[int] = ()) -> Breakdown:
        """Of nothing but documents."""
        documents = pair.corpus.documents.start
        kept = np.ones(len(documents), dtype=bool)
        kept[list(discarded)] = False
        return cls(documents, kept)

    def document_of(self, position: IntArray) -> IntArray:
        """The index of the document of each position."""
        return np.searchsorted(self.documents, position, side="right") - 1

    def by_document(self) -> Breakdown:
        """By documents alone, which are called by their numbers."""
        return replace(self, groupings=[each for each in self.groupings if each.per_document])

    def by_metadata(self) -> Breakdown:
        """By everything but documents."""
        return replace(self, groupings=[each for each in self.groupings if not each.per_document])


class RowKind(NamedTuple):
    """Which rows these are: one for all, one for each label of a layer, or one for each value of a group key."""

    scheme: str
    variant: str | None
    level: str | None
    labelled: str | None
    layer: str | None = None
    group_key: str | None = None
    one_sided: bool = False  # there is no precision
    optional: bool = False  # a row is there only if it counts anything
    bounded: bool = False  # rates get an interval from products
    outcomes: tuple[str, ...] = ()


@dataclass(eq=False)
class Rows:
    """The rows of a kind: names (labels, values), and for each name the figures and the outcomes."""

    names: list[str]
    figures: IntArray
    outcomes: IntArray
    available: bool = True

    def add(self, other: Rows) -> None:
        """Add up; names that are new come last."""
        known = {name: place for place, name in enumerate(self.names)}
        new = [name for name in other.names if name not in known]
        if new:
            known |= {name: place for place, name in enumerate(new, len(known))}
            self.names = [*self.names, *new]
            self.figures = np.pad(self.figures, ((0, len(new)), (0, 0)))
            self.outcomes = np.pad(self.outcomes, ((0, len(new)), (0, 0)))
        place = [known[name] for name in other.names]
        self.figures[place] += other.figures
        self.outcomes[place] += other.outcomes
        self.available &= other.available

    def only(self, places: Sequence[int] | IntArray) -> Rows:
        """Some of the rows."""
        return Rows(
            [self.names[place] for place in places], self.figures[places], self.outcomes[places], self.available
        )


@dataclass(eq=False)
class Counts:
    """The rows of all kinds, and how many documents they come from."""

    documents: int = 0
    kinds: dict[RowKind, Rows] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Add what another batch has counted, which is not used afterwards."""
        self.documents += other.documents
        for kind, rows in other.kinds.items():
            if kind in self.kinds:
                self.kinds[kind].add(rows)
            else:
                self.kinds[kind] = rows


def count(tallies: Sequence[Tally], breakdown: Breakdown) -> Counts:
    """The integers of what schemes have counted."""
    kinds = {kind: rows for tally in tallies for kind, rows in _rows_of(tally, breakdown)}
    return Counts(int(breakdown.kept.sum()), kinds)


def _rows_of(tally: Tally, breakdown: Breakdown) -> Iterator[tuple[RowKind, Rows]]:
    """All breakdowns of one way to count."""
    whole = RowKind(
        tally.scheme,
        tally.variant,
        tally.level,
        tally.labelled,
        one_sided=tally.one_sided,
        optional=tally.optional,
        bounded=not tally.one_sided,
        outcomes=tally.outcomes if tally.gold.relaxed is None else (*tally.outcomes, RELAXED),
    )
    everything = [np.zeros(len(side.position), dtype=np.int64) for side in tally.sides]
    yield whole, _summed(tally, tally.sides, everything, [""], whole, breakdown)
    if not tally.available:
        return
    chosen = tally.scheme == "clueval" and (tally.level, tally.labelled) == breakdown.headline
    vocabulary = breakdown.listed_vocabulary if tally.as_listed else breakdown.vocabulary
    for layer in tally.by_layers:
        sides = tally.label_sides or tally.sides
        codes = [side.labels.get(layer, np.full(len(side.position), -1)) for side in sides]
        kind = whole._replace(layer=layer, bounded=chosen)
        yield kind, _summed(tally, sides, codes, vocabulary[layer], kind, breakdown)
    for grouping in breakdown.groupings:
        sides = tally.group_sides.get(grouping.key, tally.sides)
        codes = [grouping.of(side.position, breakdown.document_of(side.position)) for side in sides]
        kind = whole._replace(group_key=grouping.key, bounded=chosen and not grouping.per_document)
        yield kind, _summed(tally, sides, codes, grouping.values, kind, breakdown)


def _summed(
    tally: Tally, sides: Sides, codes: Sequence[IntArray], names: Sequence[str], kind: RowKind, breakdown: Breakdown
) -> Rows:
    """The rows of one kind; `codes` are the row of each unit of both sides, -1 being none."""
    size = len(names)
    outcomes = np.zeros((size, len(kind.outcomes)), dtype=np.int64)
    figures = _spread(sides, codes, size, breakdown) if kind.bounded else np.stack(_sums(sides, codes, size), axis=1)
    for number, name in enumerate(kind.outcomes):
        index = 1 if name in tally.outcomes_of_pred else 0
        side = sides[index]
        happened = side.relaxed if name == RELAXED else side.outcome == number
        if happened is not None:
            outcomes[:, number] = _total(np.where(happened, codes[index], -1), side.weight, size)
    return Rows(list(names), figures, outcomes, tally.available)


def _sums(sides: Sides, codes: Sequence[IntArray], size: int) -> list[IntArray]:
    """Supports and true positives of every row, in halves."""
    found = []
    for side, code in zip(sides, codes, strict=True):
        found.append(_total(code, 2 * side.weight, size))
        found.append(_total(code, 2 * side.weight * side.credit, size))
    return found


def _total(codes: IntArray, weights: FloatArray, size: int) -> IntArray:
    """The weights by code; whole numbers in floats are exact below 2**53."""
    # Code -1 (none) is counted in a place of its own and cut off: cheaper than picking out the others.
    return np.bincount(codes + 1, weights=weights, minlength=size + 1)[1:].astype(np.int64)


def _spread(sides: Sides, codes: Sequence[IntArray], size: int, breakdown: Breakdown) -> IntArray:
    """Sums, products and numbers of documents of every row."""
    cells = [_cells(side, code, size, breakdown) for side, code in zip(sides, codes, strict=True)]
    number = np.arange(len(breakdown.documents) * size)
    if len(number) > 4 * sum(map(len, cells)) + _DENSE:  # few labels occur in each document
        number, place = np.unique(np.concatenate([[-1], *cells]), return_inverse=True)
        number, place = number[1:], place.reshape(-1)[1:] - 1
        cells = [place[: len(cells[0])], place[len(cells[0]) :]]
    columns = spread_columns(_sums(sides, cells, len(number)))
    if size == 1:
        return np.array([[column.sum() for column in columns]], dtype=np.int64)
    figures = np.zeros((size, FIGURES), dtype=np.int64)
    for figure, column in enumerate(columns):
        np.add.at(figures[:, figure], number % size, column)
    return figures


def _cells(side: Side, code: IntArray, size: int, breakdown: Breakdown) -> IntArray:
    """The number of the document and row of each unit; -1 where it has none."""
    document = breakdown.document_of(side.position)
    counted = (code >= 0) & breakdown.kept[document]
    return np.where(counted, document * size + code, -1)


def spread_columns(sums: Sequence[IntArray]) -> list[IntArray | BoolArray]:
    """The figures of single documents, from gold, tp_gold, pred and tp_pred in halves."""
    products = [sums[one] * sums[other] for one, other in PRODUCTS]
    in_gold = sums[0] > 0
    in_pred = sums[2] > 0
    return [*sums, *products, in_gold, in_pred, in_gold | in_pred]
