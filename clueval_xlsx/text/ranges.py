"""Ranges of rows, unfolded into the rows they hold."""

from __future__ import annotations

import numpy as np

from clueval_xlsx.text.strings import IntArray


def unfold(first: IntArray, stop: IntArray, rows: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Unfold ranges into pairs (row of a, row of b), in order."""
    rows = np.arange(len(first), dtype=np.int64) if rows is None else rows
    counts = stop[rows] - first[rows]
    left = np.repeat(rows, counts)
    offsets = np.arange(counts.sum(), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    return left, np.repeat(first[rows], counts) + offsets
