"""Finds of one detector that overlap: the longest stays, or they are merged, or they are an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.text.strings import IntArray

LONGEST, MERGE, ERROR = "longest", "merge", "error"
MODES = (LONGEST, MERGE, ERROR)
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Finds:
    """Half-open stretches, labels and scores, sorted by place; places count over all documents."""

    start: IntArray
    end: IntArray
    labels: list[str]
    scores: list[float | None]


@dataclass(frozen=True, eq=False)
class Resolved:
    """Finds free of overlap, and what became of the others."""

    finds: Finds
    repeats: int = 0  # the same stretch and label more than once
    dropped: tuple[tuple[int, int], ...] = ()  # (find that went, find that it gave way to): rows of the input
    merged: int = 0  # groups that became one

    def notes(self, name: str, describe: Callable[[int], str]) -> list[str]:
        """What a person should know; `describe(row)` says what a find is."""
        notes = []
        if self.dropped:
            shown = "; ".join(f"{describe(row)} under {describe(holder)}" for row, holder in self.dropped[:_SHOWN])
            more = f"; and {len(self.dropped) - _SHOWN} more" if len(self.dropped) > _SHOWN else ""
            notes.append(
                f"{name}: {len(self.dropped)} overlapping prediction{'s' if len(self.dropped) != 1 else ''} gave way "
                f"to longer or surer ones (--nested longest): {shown}{more}"
            )
        if self.merged:
            notes.append(f"{name}: {self.merged} groups of overlapping predictions were merged (--nested merge)")
        return notes


def resolve(finds: Finds, mode: str, describe: Callable[[int], str]) -> Resolved:
    """Make finds free of overlap.

    Under `longest` the longer of two stays; of equals the surer, then the left one, then the first by label.
    `merge` joins whatever overlaps, under the label with most characters.
    """
    if mode not in MODES:
        raise OptionError(f"--nested {mode}: unknown. Allowed: {', '.join(MODES)}.")
    groups = _groups(finds)
    if not groups:
        return Resolved(finds)
    if mode == ERROR:
        raise InputError(problems=_problems(groups, finds, describe))
    keep = np.ones(len(finds.start), dtype=bool)
    start, end, labels = finds.start.copy(), finds.end.copy(), list(finds.labels)
    dropped: list[tuple[int, int]] = []
    repeats = merged = 0
    for members in groups:
        if mode == MERGE:
            head = members[0]
            keep[members[1:]] = False
            end[head] = max(int(finds.end[row]) for row in members)
            labels[head] = _heaviest(members, finds)
            merged += 1
            continue
        chosen: list[int] = []
        for row in sorted(members, key=lambda row: _rank(finds, row)):
            holder = next((other for other in chosen if _overlap(finds, row, other)), None)
            if holder is None:
                chosen.append(row)
                continue
            keep[row] = False
            if _same(finds, row, holder):
                repeats += 1
            else:
                dropped.append((row, holder))
    rows = np.flatnonzero(keep)
    left = Finds(start[rows], end[rows], [labels[row] for row in rows], [finds.scores[row] for row in rows])
    return Resolved(left, repeats, tuple(dropped), merged)


def _groups(finds: Finds) -> list[list[int]]:
    """Rows that hang together by overlaps, for every group of two or more."""
    if len(finds.start) < 2:
        return []
    new = np.ones(len(finds.start), dtype=bool)
    new[1:] = finds.start[1:] >= np.maximum.accumulate(finds.end)[:-1]
    first = np.flatnonzero(new)
    stop = np.append(first[1:], len(new))
    crowded = np.flatnonzero(stop - first > 1)
    return [list(range(int(first[index]), int(stop[index]))) for index in crowded]


def _rank(finds: Finds, row: int) -> tuple[float, float, int, str]:
    score = finds.scores[row]
    return (
        -int(finds.end[row] - finds.start[row]),
        -(score if score is not None else 0.0),
        int(finds.start[row]),
        finds.labels[row],
    )


def _overlap(finds: Finds, left: int, right: int) -> bool:
    return bool(finds.start[left] < finds.end[right] and finds.start[right] < finds.end[left])


def _same(finds: Finds, left: int, right: int) -> bool:
    return bool(
        finds.start[left] == finds.start[right]
        and finds.end[left] == finds.end[right]
        and finds.labels[left] == finds.labels[right]
    )


def _heaviest(members: Sequence[int], finds: Finds) -> str:
    votes: dict[str, int] = {}
    for row in members:
        votes[finds.labels[row]] = votes.get(finds.labels[row], 0) + int(finds.end[row] - finds.start[row])
    return max(votes, key=lambda label: votes[label])  # the first of equals, and so the leftmost


def _problems(groups: Sequence[Sequence[int]], finds: Finds, describe: Callable[[int], str]) -> list[Problem]:
    problems = []
    for members in groups:
        reach = members[0]
        for row in members[1:]:
            if _overlap(finds, reach, row):
                problems.append(
                    Problem(
                        "the detector's predictions",
                        f"{describe(row)} overlaps {describe(reach)}",
                        remedy="Choose what happens to them (--nested longest|merge)",
                    )
                )
            if finds.end[row] > finds.end[reach]:
                reach = row
    return problems
