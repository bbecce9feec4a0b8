"""The order in which cases are judged, and what makes gold suspicious."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.order import order_by_suspicion, sample_size
from clueval_xlsx.cases.suspicion import Evidence
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.options import Options
from tests.support.tables import pair_of
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


def scores(result: Evaluation, evidence: Evidence | None = None) -> dict[str, float]:
    """How suspicious gold is in each case, by the words of the case, missed ones first."""
    from clueval_xlsx.cases.suspicion import suspicion

    rows = np.flatnonzero(result.errors[0]), np.flatnonzero(result.errors[1])
    both = suspicion(result.strict, rows, result.options.labelled, evidence or Evidence())
    words = [table["surface"].tolist() for table in result.bare_cases]
    return {
        f"{sheet} {word}": score
        for sheet, own, values in zip((FN, FP), words, both, strict=True)
        for word, score in zip(own, values.tolist(), strict=True)
    }


def test_a_missed_span_is_suspicious_if_gold_usually_leaves_its_words_unmarked():
    found = scores(evaluated(HABITS))
    assert found["FN Monday"] > 0 > found["FN Ann"]


def test_an_unsupported_span_is_suspicious_if_gold_usually_marks_its_words():
    found = scores(evaluated(HABITS))
    assert found["FP Ann"] > found["FP Zed"]
    assert found["FP Ann"] > 0


def test_a_label_is_suspicious_if_the_words_usually_have_the_one_of_the_model():
    table = """
        token gold  pred
        <s>
        Bonn  B-LOC B-LOC
        or    O     O
        Bonn  B-LOC B-LOC
        and   O     O
        Bonn  B-PER B-LOC
        or    O     O
        Ann   B-PER B-PER
        if    O     O
        Ann   B-PER B-LOC
        </s>
    """
    found = scores(evaluated(table, level="exact", labelled="span"))
    assert found["FN Bonn"] > 0 > found["FN Ann"]


def test_further_systems_that_side_with_the_model_raise_suspicion_and_those_with_gold_lower_it():
    result = evaluated(HABITS)
    gold, pred = result.pair.gold.spans, result.pair.pred.spans
    alone, with_model, with_gold = (scores(result, Evidence(also)) for also in ([], [pred], [gold]))
    for case in alone:
        assert with_model[case] > alone[case] > with_gold[case]


def test_a_score_above_the_usual_raises_suspicion_of_an_unsupported_span():
    result = evaluated(HABITS)
    pred = result.pair.pred.spans
    sure = pd.DataFrame({"start": pred["start"], "end": pred["end"], "score": [0.6] * (len(pred) - 2) + [0.99, 0.1]})
    before, after = scores(result), scores(result, Evidence(scores=sure))
    assert after["FP Zed"] > before["FP Zed"]
    assert after["FP Ann"] < before["FP Ann"]
    assert after["FN Ann"] == before["FN Ann"]


def test_scores_that_predictions_carry_change_the_order():
    table = "token gold pred\n<s>\n" + "\n".join(f"{name} O B-PER\nsaw{name} O O" for name in "XYZ") + "\n</s>"
    pair = pair_of(table)
    scored = pair.pred.spans[["start", "end"]].assign(score=[0.2, 0.99, 0.5])
    result = evaluate(replace(pair, pred=replace(pair.pred, scores=scored)), Options(replicates=0))
    assert result.with_order("suspicion").order.sheets[FP].ranked.tolist() == [1, 2, 0]


def test_words_that_occur_nowhere_else_say_nothing():
    found = scores(evaluated("token gold pred\n<s>\nQuux B-PER O\n</s>"))
    assert found["FN Quux"] == 0


def test_the_order_numbers_cases_as_they_are_shown_and_keeps_their_ids():
    result = evaluated(HABITS)
    for kind in ("suspicion", "label", "place"):
        ordered = result.with_order(kind)
        for before, after in zip(result.bare_cases, ordered.bare_cases, strict=True):
            assert after["number"].tolist() == list(range(1, len(before) + 1))
            assert sorted(after["case_id"]) == sorted(before["case_id"])


def test_by_label_cases_of_one_label_stand_together_in_the_order_of_the_text():
    table = "token gold pred\n<s>\n" + "\n".join(f"w{n} B-{label} O" for n, label in enumerate("BABA")) + "\n</s>"
    missed = evaluated(table).with_order("label").bare_cases[0]
    assert missed["surface"].tolist() == ["w1", "w3", "w0", "w2"]


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


@pytest.mark.parametrize("kind", ["suspicion", "label"])
def test_samples_and_units_are_the_same_in_every_order(kind):
    from clueval_xlsx.review.assignment import select

    result = evaluated(HABITS)
    plain, ordered = (select(each, sample=2, seed=5) for each in (result, result.with_order(kind)))
    for sheet in (FN, FP):
        assert sorted(plain.cases[sheet]["case_id"]) == sorted(ordered.cases[sheet]["case_id"])
