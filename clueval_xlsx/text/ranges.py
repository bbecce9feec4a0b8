"""Ranges of rows or places: unfolded into what they hold, and what lies inside of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def unfold(first: IntArray, stop: IntArray, rows: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Unfold ranges into pairs (row of a, row of b), in order."""
    rows = np.arange(len(first), dtype=np.int64) if rows is None else rows
    counts = stop[rows] - first[rows]
    left = np.repeat(rows, counts)
    offsets = np.arange(counts.sum(), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    return left, np.repeat(first[rows], counts) + offsets


def inside(places: IntArray, start: IntArray, end: IntArray) -> BoolArray:
    """Which places lie behind the start and before the end of a range; ranges are sorted by start, may overlap."""
    if not start.size:
        return np.zeros(len(places), dtype=bool)
    reach = np.maximum.accumulate(end)
    before = np.searchsorted(start, places, side="left") - 1  # the last range that starts before the place
    found: BoolArray = (before >= 0) & (reach[before] > places)
    return found
