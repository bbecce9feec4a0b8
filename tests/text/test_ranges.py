"""Ranges of places: unfolded, and what they cover together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.text.strings import covered, places, unfold

RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=8)


def arrays(ranges):
    first = np.array([begin for begin, _ in ranges], dtype=np.int64)
    return first, first + np.array([size for _, size in ranges], dtype=np.int64)


@given(RANGES)
def test_places_of_ranges_stand_one_behind_the_other(ranges):
    expected = [place for begin, size in ranges for place in range(begin, begin + size)]
    assert places(*arrays(ranges)).tolist() == expected
    rows, unfolded = unfold(*arrays(ranges))
    assert unfolded.tolist() == expected
    assert rows.tolist() == [row for row, (_, size) in enumerate(ranges) for _ in range(size)]


@given(RANGES, RANGES)
def test_what_ranges_cover_is_there_once_and_sorted(one, other):
    expected = {place for begin, size in [*one, *other] for place in range(begin, begin + size)}
    assert covered(arrays(one), arrays(other)).tolist() == sorted(expected)


def test_a_range_that_ends_before_it_begins_is_empty():
    assert places(np.array([4, 8]), np.array([2, 10])).tolist() == [8, 9]
