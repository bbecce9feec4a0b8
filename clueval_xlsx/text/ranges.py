"""Ranges of rows or places: unfolded into what they hold, and what lies inside of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def unfold(first: IntArray, stop: IntArray, rows: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Unfold ranges into pairs (row of a, row of b), in order."""
    rows = np.arange(len(first), dtype=np.int64) if rows is None else rows
    first, stop = first[rows], stop[rows]
    return np.repeat(rows, stop - first), places(first, stop)


def places(first: IntArray, stop: IntArray) -> IntArray:
    """Every place of ranges, one range behind the other.

    >>> places(np.array([5, 9, 2]), np.array([7, 9, 4]))
    array([5, 6, 2, 3])
    """
    some = stop > first
    first, stop = first[some], stop[some]
    begins = np.cumsum(stop - first)
    steps = np.ones(begins[-1] if len(begins) else 0, dtype=np.int64)
    steps[:1] = first[:1]
    steps[begins[:-1]] = first[1:] - stop[:-1] + 1  # from the last place of a range to the first of the next
    return np.cumsum(steps, out=steps)


def covered(*ranges: tuple[IntArray, IntArray]) -> IntArray:
    """The places that lie in one of the ranges from `first` up to `stop`, each once and sorted; ranges may overlap.

    >>> covered((np.array([5, 1]), np.array([7, 2])), (np.array([6]), np.array([8])))
    array([1, 5, 6, 7])
    """
    first, stop = (np.concatenate(side) for side in zip(*ranges, strict=True))
    order = np.argsort(first, kind="stable")
    first, reach = first[order], np.maximum.accumulate(stop[order])
    apart = np.flatnonzero(first[1:] > reach[:-1])  # the ranges behind which a gap follows
    return places(first[np.append(0, apart + 1)], reach[np.append(apart, -1)]) if len(first) else first


def inside(places: IntArray, start: IntArray, end: IntArray) -> BoolArray:
    """Which places lie behind the start and before the end of a range; ranges are sorted by start, may overlap."""
    if not start.size:
        return np.zeros(len(places), dtype=bool)
    reach = np.maximum.accumulate(end)
    before = np.searchsorted(start, places, side="left") - 1  # the last range that starts before the place
    found: BoolArray = (before >= 0) & (reach[before] > places)
    return found
