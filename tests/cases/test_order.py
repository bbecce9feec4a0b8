"""The order in which cases are judged, and what makes gold suspicious."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.order import order_by_suspicion, sample_size, suspicion
from clueval_xlsx.evaluation import Evaluation
from tests.support.workbooks import evaluated

# Gold usually marks Ann and never Monday; the model misses a Monday and an Ann, and marks an Ann that gold lacks.
HABITS = """
    token   gold   pred
    <s>
    Ann     B-PER  B-PER
    met     O      O
    Ann     B-PER  B-PER
    on      O      O
    Monday  O      O
    </s>
    <s>
    Ann     B-PER  B-PER
    left    O      O
    Monday  O      O
    </s>
    <s>
    Ann     B-PER  O
    saw     O      O
    Monday  B-PER  O
    </s>
    <s>
    Zed     O      B-PER
    and     O      O
    Ann     O      B-PER
    </s>
"""


def ranks(
    result: Evaluation, also: Sequence[pd.DataFrame] = (), sure: Sequence[float] | None = None
) -> dict[str, float]:
    """How suspicious gold is in each case, by the sheet and the words of the case."""
    rows = np.flatnonzero(result.errors[0]), np.flatnonzero(result.errors[1])
    scores = None if sure is None else np.array(sure, dtype=float)
    both = suspicion(result.strict, rows, result.options.labelled, also, scores)
    words = [table["surface"].tolist() for table in result.bare_cases]
    return {
        f"{sheet} {word}": rank
        for sheet, own, values in zip((FN, FP), words, both, strict=True)
        for word, rank in zip(own, values.tolist(), strict=True)
    }


def test_among_equals_gold_is_suspicious_where_it_treats_the_same_words_otherwise_elsewhere():
    found = ranks(evaluated(HABITS))
    assert found["FN Monday"] > found["FP Zed"] > found["FN Ann"]
    assert found["FP Ann"] > found["FP Zed"]


def test_the_surer_the_model_is_the_more_suspicious_is_gold_whatever_its_habits():
    result = evaluated(HABITS)
    sure = [0.5] * len(result.pair.pred.spans)
    sure[-2] = 0.9  # Zed
    found = ranks(result, sure=sure)
    assert found["FP Zed"] == max(found.values())
    assert found["FN Monday"] > found["FN Ann"]


def test_votes_of_further_systems_come_first_and_more_of_them_count_more():
    result = evaluated(HABITS)
    gold, pred = result.pair.gold.spans, result.pair.pred.spans
    words = result.pair.pred.spans["start"].to_numpy()
    zed = pred[words == words[-2]]
    sure = [0.1] * len(pred)
    found = ranks(result, [pd.concat([gold, zed], ignore_index=True).sort_values("start", ignore_index=True)], sure)
    assert found["FP Zed"] == max(found.values())
    assert ranks(result, [pred])["FN Monday"] == ranks(result, [pred, pred])["FN Monday"]
    mixed = ranks(result, [pred, gold])
    assert mixed["FN Monday"] > mixed["FN Ann"]  # votes are equal: habits decide


def test_an_order_without_votes_and_scores_says_that_it_is_little_better_than_chance():
    result = evaluated(HABITS)
    assert any("little better than chance" in note for note in result.with_order("suspicion").notes)
    assert result.with_order("suspicion", [result.pair.pred.spans]).notes == result.notes


def test_the_order_numbers_cases_as_they_are_shown_and_keeps_their_ids():
    result = evaluated(HABITS)
    for kind in ("suspicion", "label", "place"):
        ordered = result.with_order(kind)
        for before, after in zip(result.bare_cases, ordered.bare_cases, strict=True):
            assert after["number"].tolist() == list(range(1, len(before) + 1))
            assert sorted(after["case_id"]) == sorted(before["case_id"])


@given(st.integers(1, 700), st.integers(0, 300), st.integers(0, 2**32))
def test_every_case_is_shown_once_and_the_random_ones_stand_in_the_first_fifth(missed, unsupported, seed):
    dice = np.random.default_rng(seed)
    units = {FN: np.arange(missed), FP: np.arange(missed // 2, missed // 2 + unsupported)}
    values = {FN: dice.random(missed), FP: dice.random(unsupported)}
    order = order_by_suspicion(values, units, seed)
    drawn: set[int] = set()
    for sheet, size in ((FN, missed), (FP, unsupported)):
        own = order.sheets[sheet]
        assert sorted(own.shown.tolist()) == sorted(own.ranked.tolist()) == list(range(size))
        places = np.flatnonzero(own.random[own.shown])
        assert (places < max(np.ceil(0.2 * size), 2 * own.random.sum())).all()
        rest = own.shown[~own.random[own.shown]]
        assert rest.tolist() == own.ranked[~own.random[own.ranked]].tolist()
        drawn |= set(units[sheet][own.random].tolist())
    assert len(drawn) == sample_size(len(set(units[FN]) | set(units[FP])))


def test_linked_cases_are_drawn_together_and_as_suspicious_as_the_most_suspicious_of_them():
    units = {FN: np.arange(1000), FP: np.arange(1000)}
    order = order_by_suspicion({FN: np.zeros(1000), FP: np.arange(1000.0)}, units, 3)
    assert order.sheets[FN].random.tolist() == order.sheets[FP].random.tolist()
    assert order.sheets[FN].ranked[:3].tolist() == [999, 998, 997]
