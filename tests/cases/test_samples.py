"""Samples and shares: even ones, the share for two that was asked for, strata in proportion, reproducible draws."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.cases.kinds import FN
from clueval_xlsx.cases.samples import Units, deal, draw, parse_share


def made_units(labels: list[int], documents: list[int]) -> Units:
    count = len(labels)
    return Units(
        pd.DataFrame({"case_id": [f"FN-{n}" for n in range(count)], "sheet": FN, "unit": range(count)}),
        np.arange(count),
        tuple(f"FN L{label} FN" for label in labels),
        tuple(f"d{document}" for document in documents),
        tuple(f"L{label}" for label in labels),
    )


def gap(counts: list[int]) -> int:
    return max(counts) - min(counts)


marks = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), max_size=80)


@given(marks, st.integers(1, 6))
def test_shares_are_even_in_all_and_nearly_so_for_every_label(cells, people):
    units = made_units([label for label, _ in cells], [document for _, document in cells])
    names = [f"p{person}" for person in range(people)]
    hands = deal(units, np.ones(len(cells), dtype=bool), names, double=0, seed=1)
    assert gap([len(hand) for hand in hands.values()]) <= 1
    for label in set(units.label):
        assert gap([sum(units.label[unit] == label for unit in hand) for hand in hands.values()]) <= 2


@given(marks, st.integers(2, 5), st.floats(0, 1), st.integers(0, 99), st.data())
def test_every_chosen_unit_is_dealt_and_the_share_for_two_is_exact(cells, people, double, seed, data):
    units = made_units([label for label, _ in cells], [document for _, document in cells])
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))), dtype=bool)
    names = [f"p{person}" for person in range(people)]
    hands = deal(units, chosen, names, double=double, seed=seed)
    times = Counter(unit for hand in hands.values() for unit in hand)
    assert set(times) == set(np.flatnonzero(chosen).tolist())
    assert set(times.values()) <= {1, 2}
    assert sum(count == 2 for count in times.values()) == round(double * int(chosen.sum()))
    assert gap([len(hand) for hand in hands.values()]) <= 2
    shared = [len(hands[one] & hands[other]) for one, other in combinations(names, 2)]
    assert gap(shared) <= 1
    assert hands == deal(units, chosen, names, double=double, seed=seed)


@given(marks, st.integers(1, 100), st.integers(0, 99))
def test_a_sample_has_the_size_asked_for_and_knows_its_strata(cells, size, seed):
    units = made_units([label for label, _ in cells], [document for _, document in cells])
    drawn = draw(units, size, seed)
    assert int(drawn.chosen.sum()) == min(size, len(cells)) == sum(taken for taken, _ in drawn.strata.values())
    for name, (taken, there) in drawn.strata.items():
        members = np.array([stratum == name for stratum in drawn.stratum], dtype=bool)
        assert (int(drawn.chosen[members].sum()), int(members.sum())) == (taken, there)
        assert taken >= min(there, 2, size) or len(drawn.strata) == 1 or size < 2 * len(drawn.strata)
    assert (draw(units, size, seed).chosen == drawn.chosen).all()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(1, 200))
def test_a_sample_is_in_proportion(sizes, size):
    labels = [label for label, count in enumerate(sizes) for _ in range(count)]
    drawn = draw(made_units(labels, [0] * len(labels)), size, 1)
    least = sum(min(there, 2) for _, there in drawn.strata.values())
    for taken, there in drawn.strata.values():
        share = there * min(size, len(labels)) / len(labels)
        assert abs(taken - share) <= least + 1


def test_small_strata_are_pooled_when_the_sample_is_small():
    units = made_units([0] * 50 + list(range(1, 11)), [0] * 60)
    small = draw(units, 12, 0).strata
    assert small["rare"][1] == 8  # two of L0, two of these, and the two labels that are left are half of the sample
    assert small["rare"][0] >= 2
    assert len(small) == 4
    assert set(draw(units, 3, 0).strata) == {"rare"}
    assert len(draw(units, 60, 0).strata) == 11


def test_every_unit_is_as_likely_to_be_drawn_as_its_stratum_says():
    units = made_units([0] * 12 + [1] * 4, [0] * 16)
    times = sum(draw(units, 8, seed).chosen.astype(int) for seed in range(300))
    strata = draw(units, 8, 0)
    for stratum, (taken, there) in strata.strata.items():
        members = np.array([name == stratum for name in strata.stratum])
        assert times[members] / 300 == pytest.approx(taken / there, abs=0.12)


@pytest.mark.parametrize(("text", "share"), [("20%", 0.2), (" 20 % ", 0.2), ("0.2", 0.2), ("1", 1.0), ("0", 0.0)])
def test_shares_may_be_written_both_ways(text, share):
    assert parse_share(text) == pytest.approx(share)
