"""Annotations of one sequence that overlap: refused, the longest kept, or merged; nothing goes without a word."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.mentions import Mentions, ResolvedMentions, Wording, resolve
from clueval_xlsx.corpus.spans import label_column
from clueval_xlsx.text.tokenise import Ranges

WORDING = Wording(lambda row: f"find {row}", lambda _: "here")


def mentions(*rows: tuple[int, int, str, float | None]) -> Mentions:
    """Annotations of one document, in the order of place and label, with their scores."""
    rows = tuple(sorted(rows, key=lambda row: row[:3]))
    start, end = (np.array([row[side] for row in rows], dtype=np.int64) for side in (0, 1))
    scores = np.array([np.nan if row[3] is None else row[3] for row in rows])
    ranges = Ranges(np.zeros(len(rows), dtype=np.int64), start, end)
    return Mentions(ranges, {"span": label_column([row[2] for row in rows])}, scores=scores)


def kept(resolution: ResolvedMentions) -> list[tuple[int, int, str]]:
    left = resolution.mentions
    return list(zip(left.ranges.start.tolist(), left.ranges.end.tolist(), left.labels["span"], strict=True))


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        ([(0, 5, "A", 0.1), (3, 9, "B", 0.0)], [(3, 9, "B")]),  # the longest
        ([(0, 5, "A", 0.1), (3, 8, "B", 0.9)], [(3, 8, "B")]),  # as long: the surer
        ([(0, 5, "A", 0.5), (3, 8, "B", 0.5)], [(0, 5, "A")]),  # as sure: the left one
        ([(0, 5, "B", None), (0, 5, "A", None)], [(0, 5, "A")]),
        ([(0, 4, "A", 1), (3, 9, "B", 1), (8, 11, "C", 1)], [(3, 9, "B")]),
        ([(0, 4, "A", 1), (3, 6, "B", 1), (5, 9, "C", 1)], [(0, 4, "A"), (5, 9, "C")]),  # what both leave free stays
        ([(0, 4, "A", 1), (4, 6, "B", 1)], [(0, 4, "A"), (4, 6, "B")]),  # neighbours do not overlap
    ],
)
def test_the_longest_stays(rows: list[tuple[int, int, str, float]], left: list[tuple[int, int, str]]) -> None:
    assert kept(resolve(mentions(*rows), "longest", WORDING)) == left


def test_merged_annotations_take_the_label_with_most_characters() -> None:
    resolution = resolve(mentions((0, 4, "A", 1), (3, 9, "B", 1), (10, 12, "C", 1)), "merge", WORDING)
    assert kept(resolution) == [(0, 9, "B"), (10, 12, "C")]
    assert resolution.merged == ((0, 1),)
    assert resolution.group.tolist() == [0, 0, 1]
    assert resolution.lines(WORDING) == ("here: merged find 0 + find 1",)


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(1, 8), st.sampled_from("AB"), st.sampled_from([None, 0.2, 0.9])),
        max_size=12,
    )
)
def test_what_stays_is_free_of_overlap_and_what_goes_gave_way_to_something(
    rows: list[tuple[int, int, str, float | None]],
) -> None:
    listed = mentions(*[(start, start + length, label, score) for start, length, label, score in rows])
    ranges = listed.ranges
    resolution = resolve(listed, "longest", WORDING)
    left = kept(resolution)
    assert all(a[1] <= b[0] for a, b in pairwise(left))
    assert len(left) + len(resolution.dropped) == len(rows)
    for row, holder, _ in resolution.dropped:
        assert ranges.start[row] < ranges.end[holder]
        assert ranges.start[holder] < ranges.end[row]
        length, other = (ranges.end[one] - ranges.start[one] for one in (row, holder))
        assert length <= other
