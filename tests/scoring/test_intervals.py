"""Intervals of rates in clustered samples: cases worked by hand, and how often they cover the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, t

from clueval_xlsx.scoring.scores import RATES, RatesByDocument, difference_interval
from tests.simulation.intervals import CONCENTRATION, cells
from tests.support.ci import some_of

RECALL = RATES.index("recall")


def clustered(gold: list[int], found: list[int], pred: list[int] | None = None) -> RatesByDocument:
    columns = [np.array(values, dtype=float)[:, None] for values in (gold, found, pred or gold, found)]
    return RatesByDocument.of(columns, 2.0)


def test_all_right_is_not_certainly_all_right() -> None:
    # 30 of 30 in 3 documents: the size is 30 × (t29 / t2)², and the lower bound that of all right among so many.
    low, high = clustered([10, 10, 10], [10, 10, 10]).rates.interval()
    worth = 30 * (t.ppf(0.975, 29) / t.ppf(0.975, 2)) ** 2
    assert high[0, RECALL] == 1
    assert low[0, RECALL] == pytest.approx(beta.ppf(0.025, worth, 1))
    assert low[0, RECALL] < 0.7


def test_the_spread_between_documents_tells_what_the_sample_is_worth() -> None:
    # Recall 20/40; the documents' deviations are +5 and −5 twice: variance 4/3 · 4 · 25 / 1600 = 1/12.
    rates = clustered([10] * 4, [10, 10, 0, 0]).rates
    assert rates.value[0, RECALL] == 0.5
    assert rates.variance[0, RECALL] == pytest.approx(1 / 12)
    worth = 0.25 / (1 / 12) * (t.ppf(0.975, 39) / t.ppf(0.975, 3)) ** 2
    low, high = rates.interval()
    assert low[0, RECALL] == pytest.approx(beta.ppf(0.025, worth / 2, worth / 2 + 1))
    assert high[0, RECALL] == pytest.approx(beta.ppf(0.975, worth / 2 + 1, worth / 2))


def test_one_document_has_no_interval_and_empty_ones_do_not_count() -> None:
    for gold, found in (([10], [9]), ([10, 0, 0], [9, 0, 0])):
        low, high = clustered(gold, found).rates.interval()
        assert np.isnan(low).all()
        assert np.isnan(high).all()


def test_nothing_found_has_an_upper_bound() -> None:
    low, high = clustered([5, 5], [0, 0], [0, 0]).rates.interval()
    assert low[0, RECALL] == 0
    assert 0.3 < high[0, RECALL] < 1
    assert np.isnan(low[0, RATES.index("precision")])
    assert low[0, RATES.index("f1")] == 0


def test_two_systems_that_differ_alike_everywhere_differ_for_certain() -> None:
    gold = [20, 20, 20, 20, 20, 20]
    better, worse = clustered(gold, [19, 18, 19, 18, 19, 18]), clustered(gold, [11, 10, 11, 10, 11, 10])
    low, high = difference_interval(worse, better)
    assert 0 < low[0, RECALL] < 0.4 < high[0, RECALL] < 1
    turned_low, turned_high = difference_interval(better, worse)
    assert (-turned_high[0, RECALL], -turned_low[0, RECALL]) == pytest.approx((low[0, RECALL], high[0, RECALL]))


@pytest.mark.sweep
@pytest.mark.parametrize("rate", CONCENTRATION)
@pytest.mark.parametrize("documents", some_of([5, 10, 20, 50], 3))
def test_precision_and_recall_cover_in_93_of_100_samples(documents: int, rate: float) -> None:
    found = {cell.quantity: cell.coverage for cell in cells(documents, rate, CONCENTRATION[rate], runs=2000)}
    assert found["recall"] >= 0.93
    assert found["precision"] >= 0.93
