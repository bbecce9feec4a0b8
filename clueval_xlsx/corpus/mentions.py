"""Annotations by character, as sources of running text list them; and what becomes of those that overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.spans import label_column, label_list
from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mentions:
    """Annotations by character: half-open `[start, end)` in code points of a document, and their labels.

    `scores` say how sure whoever made them was; None where nobody said. `sequence` is the number of the sequence of
    each one where layers are annotated apart from each other, and `sequences` the number of each layer: annotations
    of different sequences may overlap, and a layer has those of its own sequence only.
    """

    ranges: Ranges
    labels: Mapping[str, pd.Categorical]
    attributes: Mapping[str, pd.Categorical] = field(default_factory=dict)  # known besides the layers
    scores: FloatArray | None = None
    sequence: IntArray | None = None
    sequences: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ranges.document)

    def take(self, rows: IntArray) -> Mentions:
        """Some of them."""
        ranges = self.ranges
        return Mentions(
            Ranges(ranges.document[rows], ranges.start[rows], ranges.end[rows]),
            {name: values[rows] for name, values in self.labels.items()},
            {name: values[rows] for name, values in self.attributes.items()},
            None if self.scores is None else self.scores[rows],
            None if self.sequence is None else self.sequence[rows],
            self.sequences,
        )

    def only_layers(self, names: Sequence[str]) -> Mentions:
        """The same with some of the layers."""
        return replace(self, labels={name: self.labels[name] for name in names})

    def moved(self, ranges: Ranges) -> Mentions:
        """The same elsewhere."""
        return replace(self, ranges=ranges)

    def rows_of(self, layer: str) -> IntArray:
        """The rows that are annotations of a layer."""
        if self.sequence is None:
            return np.arange(len(self))
        return np.flatnonzero(self.sequence == self.sequences[layer])

    def apart(self) -> list[tuple[IntArray, tuple[str, ...]]]:
        """Rows and layers of each sequence."""
        if self.sequence is None:
            return [(np.arange(len(self)), tuple(self.labels))]
        numbers = {layer: self.sequences[layer] for layer in self.labels}
        return [
            (np.flatnonzero(self.sequence == number), tuple(layer for layer in numbers if numbers[layer] == number))
            for number in sorted(set(numbers.values()))
        ]

    @classmethod
    def join(cls, parts: Sequence[Mentions]) -> Mentions:
        """All of them, one part behind the other."""
        first = parts[0]
        scored = any(part.scores is not None for part in parts)
        return cls(
            Ranges.join([part.ranges for part in parts]),
            {name: _joined([part.labels[name] for part in parts]) for name in first.labels},
            {name: _joined([part.attributes[name] for part in parts]) for name in first.attributes},
            np.concatenate([_scores(part) for part in parts]) if scored else None,
            None if first.sequence is None else np.concatenate([np.asarray(part.sequence) for part in parts]),
            first.sequences,
        )


def _joined(columns: Sequence[pd.Categorical]) -> pd.Categorical:
    return label_column(label for column in columns for label in label_list(column))


def _scores(mentions: Mentions) -> FloatArray:
    return np.full(len(mentions), np.nan) if mentions.scores is None else mentions.scores


def make_mentions(
    ranges: Ranges,
    values: Mapping[str, Iterable[str | None]],
    layers: Mapping[str, str],
    attributes: Sequence[str] = (),
    scores: Sequence[float | None] = (),
) -> Mentions:
    """Mentions of columns of labels: `layers` maps a layer to its column; scores, where one of them has any."""
    known = scores.count(None) < len(scores)
    columns = {name: label_column(column) for name, column in values.items()}
    return Mentions(
        ranges,
        {layer: columns[column] for layer, column in layers.items()},
        {name: columns[name] for name in attributes if name in columns},
        np.array([np.nan if score is None else score for score in scores]) if known else None,
    )


ERROR, LONGEST, MERGE = "error", "longest", "merge"
NESTED = (ERROR, LONGEST, MERGE)
SHOWN = 5


@dataclass(frozen=True)
class Wording:
    """What an annotation is, and where it stands, by its row; and what to do about those that overlap."""

    describe: Callable[[int], str]
    where: Callable[[int], str]
    remedy: str = (
        "Spans of one sequence must not overlap or nest: mend the annotations, or choose "
        "what happens to them (--nested longest|merge)"
    )

    def of_rows(self, rows: Sequence[int]) -> Wording:
        """The same for some of the rows, numbered anew."""
        return replace(self, describe=lambda row: self.describe(rows[row]), where=lambda row: self.where(rows[row]))


class Dropped(NamedTuple):
    """Rows: an annotation that went, the one that it gave way to, and the first of all that hang together with them."""

    row: int
    holder: int
    first: int


@dataclass(frozen=True, eq=False)
class ResolvedMentions:
    """Mentions free of overlap, and what became of the others.

    `group` gives the mention of each annotation (-1: dropped); `merged` are groups of rows that became one.
    """

    mentions: Mentions
    group: IntArray
    dropped: tuple[Dropped, ...] = ()
    merged: tuple[tuple[int, ...], ...] = ()

    def lines(self, wording: Wording) -> tuple[str, ...]:
        """What was done, one line for each annotation that was dropped and each group that was merged."""
        describe, where = wording.describe, wording.where
        dropped = [
            f"{where(first)}: dropped {describe(row)}, which overlaps the longer {describe(holder)}"
            for row, holder, first in self.dropped
        ]
        merged = [f"{where(rows[0])}: merged {' + '.join(map(describe, rows))}" for rows in self.merged]
        return (*dropped, *merged)


def check_mode(mode: str) -> None:
    """Refuse what is none of the three ways."""
    if mode not in NESTED:
        raise OptionError(f"--nested {mode}: unknown. Allowed: {', '.join(NESTED)}.")


def resolve_apart(listed: Mentions, mode: str, wording: Wording, *, forgive_repeats: bool = False) -> ResolvedMentions:
    """Make each sequence of annotations free of overlap; those of different sequences may overlap."""
    if listed.sequence is None:
        return resolve(listed, mode, wording, forgive_repeats=forgive_repeats)
    group = np.full(len(listed), -1, dtype=np.int64)
    parts: list[Mentions] = [listed.take(group[:0])]
    dropped: list[Dropped] = []
    merged: list[tuple[int, ...]] = []
    problems: list[Problem] = []
    for rows, _ in listed.apart():
        place = rows.tolist()
        own = wording.of_rows(place)
        try:
            found = resolve(listed.take(rows), mode, own, forgive_repeats=forgive_repeats)
        except InputError as error:
            problems += error.problems
            continue
        group[rows] = np.where(found.group >= 0, found.group + sum(map(len, parts)), -1)
        parts.append(found.mentions)
        dropped += [Dropped(*(place[row] for row in each)) for each in found.dropped]
        merged += [tuple(place[row] for row in each) for each in found.merged]
    if problems:
        raise InputError(problems=problems)
    return ResolvedMentions(Mentions.join(parts), group, tuple(dropped), tuple(merged))


def resolve(listed: Mentions, mode: str, wording: Wording, *, forgive_repeats: bool = False) -> ResolvedMentions:
    """Make a sequence of annotations free of overlap.

    Under `longest` the longer of two stays; of equals the surer, then the left one, then the first listed. `merge`
    joins whatever overlaps, under the label with most characters. With `forgive_repeats` annotations of the same
    extent and labels (several annotators who agree) become one without a word.
    """
    check_mode(mode)
    owner = _first_of_equals(listed) if forgive_repeats else np.arange(len(listed))  # who stands for each one
    ranges = listed.ranges
    order = np.lexsort((np.arange(len(listed)), ranges.end, ranges.start, ranges.document))
    rows = order[owner[order] == order]
    clusters = _clusters(rows, ranges)
    if clusters and mode == ERROR:
        raise InputError(problems=_problems(clusters, ranges, wording))
    kept = owner.copy()
    dropped: list[Dropped] = []
    for members in clusters:
        if mode == MERGE:
            kept[members] = members[0]
            continue
        chosen = _longest(members, listed)
        for row in members.tolist():
            if row not in chosen:
                kept[row] = -1
                holder = next(other for other in chosen if _overlap(ranges, row, other))
                dropped.append(Dropped(row, holder, int(members[0])))
    if forgive_repeats:
        kept = kept[owner]  # repeats follow the annotation that stands for them
    heads = rows[kept[rows] == rows]
    number = np.full(len(listed) + 1, -1, dtype=np.int64)
    number[heads] = np.arange(len(heads))
    merged = clusters if mode == MERGE else []
    mentions = _with_merged(listed.take(heads), listed, merged, number)
    return ResolvedMentions(mentions, number[kept], tuple(dropped), tuple(tuple(rows.tolist()) for rows in merged))


def _clusters(rows: IntArray, ranges: Ranges) -> list[IntArray]:
    """Rows (in the order of their places) that hang together by overlaps, for every group of two or more."""
    if len(rows) < 2:
        return []
    stride = int(ranges.end.max()) + 1
    start, end = (ranges.document[rows] * stride + value[rows] for value in (ranges.start, ranges.end))
    new = np.ones(len(rows), dtype=bool)
    new[1:] = start[1:] >= np.maximum.accumulate(end)[:-1]
    first = np.flatnonzero(new)
    stop = np.append(first[1:], len(rows))
    return [rows[first[index] : stop[index]] for index in np.flatnonzero(stop - first > 1).tolist()]


def _first_of_equals(listed: Mentions) -> IntArray:
    ranges = listed.ranges
    frame = pd.DataFrame({"document": ranges.document, "start": ranges.start, "end": ranges.end})
    for name, values in listed.labels.items():
        frame[f"label {name}"] = values.codes
    group = frame.groupby(list(frame.columns), sort=False).ngroup().to_numpy(np.int64)
    first = np.full(int(group.max()) + 1 if len(group) else 0, len(group), dtype=np.int64)
    np.minimum.at(first, group, np.arange(len(group)))
    return first[group]


def _longest(members: IntArray, listed: Mentions) -> list[int]:
    """The longest first; of equals the surest, the leftmost, the first listed; each that overlaps none before it."""
    ranges = listed.ranges
    length = ranges.end[members] - ranges.start[members]
    surety = np.zeros(len(members)) if listed.scores is None else np.nan_to_num(listed.scores[members])
    chosen: list[int] = []
    for row in members[np.lexsort((members, ranges.start[members], -surety, -length))].tolist():
        if not any(_overlap(ranges, row, other) for other in chosen):
            chosen.append(row)
    return chosen


def _overlap(ranges: Ranges, left: int, right: int) -> bool:
    return bool(ranges.start[left] < ranges.end[right] and ranges.start[right] < ranges.end[left])


def _problems(clusters: Sequence[IntArray], ranges: Ranges, wording: Wording) -> list[Problem]:
    problems = []
    describe = wording.describe
    for members in clusters:
        reach = int(members[0])
        for row in members[1:].tolist():
            if _overlap(ranges, reach, row):
                found = f"{describe(row)} overlaps {describe(reach)}"
                problems.append(Problem(wording.where(row), found, remedy=wording.remedy))
            if ranges.end[row] > ranges.end[reach]:
                reach = row
    return problems


def _with_merged(mentions: Mentions, listed: Mentions, merged: Sequence[IntArray], number: IntArray) -> Mentions:
    """Stretch merged mentions over their members; the label with most characters wins, a tie goes to the leftmost.

    A merged mention is as sure as the surest of its members.
    """
    if not merged:
        return mentions
    start, end = mentions.ranges.start.copy(), mentions.ranges.end.copy()
    labels = {layer: label_list(values) for layer, values in mentions.labels.items()}
    attributes = {name: label_list(values) for name, values in mentions.attributes.items()}
    scores = None if mentions.scores is None else mentions.scores.copy()
    for members in merged:
        row = int(number[members[0]])
        start[row] = listed.ranges.start[members].min()
        end[row] = listed.ranges.end[members].max()
        if scores is not None and listed.scores is not None:
            scores[row] = np.fmax.reduce(listed.scores[members])
        weights = (listed.ranges.end[members] - listed.ranges.start[members]).tolist()
        for own, source in ((labels, listed.labels), (attributes, listed.attributes)):
            for name in own:
                own[name][row] = _heaviest(label_list(source[name][members]), weights)
    return Mentions(
        Ranges(mentions.ranges.document, start, end),
        {layer: label_column(values) for layer, values in labels.items()},
        {name: label_column(values) for name, values in attributes.items()},
        scores,
        mentions.sequence,
        mentions.sequences,
    )


def _heaviest(labels: Sequence[str | None], weights: Sequence[int]) -> str | None:
    votes: dict[str | None, int] = {}
    for label, weight in zip(labels, weights, strict=True):
        votes[label] = votes.get(label, 0) + weight
    return max(votes, key=lambda label: votes[label])  # the first of equals: dicts keep order


def nested_note(name: str, lines: Sequence[str], mode: str) -> list[str]:
    """One note about what was dropped or merged, with the first few."""
    if not lines:
        return []
    what = (
        "overlapping annotations were dropped" if mode == LONGEST else "groups of overlapping annotations were merged"
    )
    more = f"; and {len(lines) - SHOWN} more, which `clueval-xlsx validate` lists" if len(lines) > SHOWN else ""
    return [f"{name}: {len(lines)} {what} (--nested {mode}): {'; '.join(lines[:SHOWN])}{more}"]
