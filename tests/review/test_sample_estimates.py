"""Estimates from a sample: by hand, against a census, and 200 seeded samples of a project whose truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from msgspec import structs
from scipy import stats

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.samples import draw
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.formats.loading import read_pair
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.review.adjudication import Adjudication, adjudicate
from clueval_xlsx.review.assignment import CaseSample, evaluation_units, select
from clueval_xlsx.review.estimates import Estimate, component_changes, estimate_rate
from clueval_xlsx.review.judged_figures import headline_tally
from clueval_xlsx.review.judgements import Effect, Judgement
from clueval_xlsx.review.manifest import from_evaluation
from clueval_xlsx.review.reading import JudgedWorkbook
from clueval_xlsx.review.review_rows import ReviewRow
from tests.simulation.samples import WAYS, coverage
from tests.support.folders import data_folder
from tests.support.tables import pair_of
from tests.support.workbooks import example


def judged(*rows: tuple[str, float, float]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["stratum", "above", "below"])


# ---- by hand ----------------------------------------------------------------------------------------------------


def test_a_table_worked_by_hand():
    # 80 of 100 found. Stratum a: 10 units, 4 judged, one gains a hit. Stratum b: 6 units, 2 judged, one is no error.
    rows = judged(("a", 1, 0), ("a", 0, 0), ("a", 0, 0), ("a", 0, 0), ("b", 0, -1), ("b", 0, 0))
    found = estimate_rate(80, 100, rows, {"a": (4, 10), "b": (2, 6)})
    value = (80 + 10 / 4) / (100 - 6 / 2)
    assert found.value == pytest.approx(value)
    spread_a = 0.25  # of 1, 0, 0, 0 with n - 1
    spread_b = value**2 / 2  # of value, 0
    variance = (10**2 * (1 / 4 - 1 / 10) * spread_a + 6**2 * (1 / 2 - 1 / 6) * spread_b) / 97**2
    parts = [10**2 * (1 / 4 - 1 / 10) * spread_a, 6**2 * (1 / 2 - 1 / 6) * spread_b]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 1)
    width = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert (found.low, found.high) == (pytest.approx(value - width), pytest.approx(value + width))
    assert (found.judged, found.drawn, found.population) == (6, 6, 16)


def test_a_stratum_nobody_judged_is_taken_to_be_like_the_rest_and_widens_the_interval():
    rows = judged(*[("a", 1, 0)] * 5, *[("a", 0, 0)] * 5)
    without = estimate_rate(50, 100, rows, {"a": (10, 20)})
    found = estimate_rate(50, 100, rows, {"a": (10, 20), "b": (2, 10)})
    assert found.value == pytest.approx(0.65)
    assert found.high - found.low > without.high - without.low
    assert found.population == 30


def test_all_alike_is_no_proof_that_the_others_are():
    found = estimate_rate(80, 100, judged(*[("a", 0, 0)] * 10), {"a": (10, 100)})
    assert found.value == pytest.approx(0.8)
    assert found.low < 0.8 < found.high


# ---- a project whose truth is known -----------------------------------------------------------------------------


def synthetic() -> Evaluation:
    """A made-up corpus of 1,500 sentences in which half of the spans differ somehow."""
    generator = np.random.default_rng(3)
    gold, pred = [], []
    for number in range(1500):
        label = ("PER", "LOC", "ORG", "DAT")[int(generator.integers(4))]
        kind = generator.random()
        gold_tags = ["O", f"B-{label}", f"I-{label}", "O", "O", "O"]
        pred_tags = list(gold_tags)
        if kind < 0.2:
            pred_tags = ["O"] * 6
        elif kind < 0.3:
            pred_tags[2:4] = ["O", "O"]
        elif kind < 0.4:
            pred_tags[4] = f"B-{label}"
        start = [f'<text id="d{number // 50}">'] if number % 50 == 0 else []
        end = ["</text>"] if number % 50 == 49 else []
        for lines, tags in ((gold, gold_tags), (pred, pred_tags)):
            tokens = [f"w{number}x{place}\t{tag}" for place, tag in enumerate(tags)]
            lines += [*start, "<s>", *tokens, "</s>", *end]
    sides = [("\n".join(lines) + "\n").encode() for lines in (gold, pred)]
    return evaluate(pair_of(sides, layers={"span": 2}), Options(replicates=0, level="exact"))  # type: ignore[arg-type]


@dataclass
class Project:
    """An evaluation, what everybody would say about every case, and what comes of it."""

    evaluation: Evaluation
    truth: dict[str, tuple[str, str, str]]

    def judge(self, cases, sample=None) -> Adjudication:
        manifest = structs.replace(from_evaluation(self.evaluation), sample=sample or CaseSample())
        rows = []
        for case in cases:
            code, effect, span = self.truth[case]
            judgement = Judgement(code, span, case_id=case, effect=effect, judge="x", place=case)
            rows.append(ReviewRow(judgement))
        book = JudgedWorkbook("w", "x", manifest, (), tuple(rows), ())
        return adjudicate(self.evaluation.pair, self.evaluation.options, [book], manifest=manifest)


@pytest.fixture(scope="module")
def project() -> Project:
    folder = data_folder()
    if folder is None:
        evaluation = synthetic()
    else:
        sides = (folder / "ler-dev.gold.vrt", folder / "ler-dev.pred.vrt")
        evaluation = evaluate(read_pair(*sides, ReadOptions(layers={"fine": 2})), Options(replicates=0))
    return consistent_project(evaluation)


def consistent_project(evaluation: Evaluation) -> Project:
    """A project with invented answers that do not contradict each other: nothing stays open."""
    project = Project(evaluation, invented_truth(evaluation))
    for case in project.judge(project.truth).cases_in_conflict:
        project.truth[case] = ("model_error", Effect.NONE, "")
    assert not project.judge(project.truth).cases_in_conflict
    return project


def invented_truth(evaluation: Evaluation) -> dict[str, tuple[str, Effect, str]]:
    generator = np.random.default_rng(7)
    truth = {}
    for table in evaluation.bare_cases:
        for case, sheet, kind in zip(table["case_id"], table["sheet"], table["class"], strict=True):
            luck = generator.random()
            answer = ("model_error", Effect.NONE, "")
            if luck < 0.1:
                answer = ("acceptable", Effect.ACCEPT, "")
            elif sheet == FN and luck < 0.25:
                answer = ("gold_wrong", Effect.DELETE, "")
            elif sheet == FN and luck < 0.4 and kind == "partial":
                answer = ("boundary", Effect.BOUNDARY, "as_model")
            elif sheet == FP and luck < 0.4 and kind == "FP":
                answer = ("gold_missing", Effect.ADD, "")
            truth[case] = answer
    return truth


@pytest.fixture(scope="module")
def census(project: Project) -> Adjudication:
    return project.judge(project.truth)


class Redraw:
    """Estimates of samples, without judging anew each time: what each unit changes is known from the census."""

    def __init__(self, project: Project, census: Adjudication) -> None:
        evaluation = project.evaluation
        self.units = evaluation_units(evaluation)
        changed = component_changes(census)
        tally = headline_tally(census.raw)
        self.rates = {}
        for rate, side in (("recall", tally.gold), ("precision", tally.pred)):
            own = pd.DataFrame(changed[rate][self.units.component], columns=["above", "below"])
            self.rates[rate] = (float((side.weight * side.credit).sum()), float(side.weight.sum()), own)

    def __call__(self, size: int, seed: int) -> dict[str, Estimate]:
        drawn = draw(self.units, size, seed)
        strata = np.array(drawn.stratum, dtype=object)[drawn.chosen]
        return {
            rate: estimate_rate(above, below, own[drawn.chosen].assign(stratum=strata), drawn.strata)
            for rate, (above, below, own) in self.rates.items()
        }


@pytest.fixture(scope="module")
def redraw(project: Project, census: Adjudication) -> Redraw:
    return Redraw(project, census)


def truth_of(census: Adjudication) -> dict[str, float]:
    row = census.scores.set_index("state").loc["accepted"]
    return {rate: float(row[rate]) for rate in ("recall", "precision")}


@pytest.mark.parametrize("size", [150])
def test_the_interval_covers_the_truth_in_95_of_100_samples_or_more(
    census: Adjudication, redraw: Redraw, size: int, record_property
):
    truth = truth_of(census)
    found = [redraw(size, seed) for seed in range(200)]
    for rate, value in truth.items():
        covered = np.mean([each[rate].low <= value <= each[rate].high for each in found])
        record_property(f"{rate}, {size} units", f"{covered:.1%}")
        assert covered >= 0.90, (rate, covered)  # covering more is no fault
        bias = np.mean([each[rate].value for each in found]) - value
        error = np.std([each[rate].value for each in found]) / math.sqrt(len(found))
        assert abs(bias) < 4 * error + 1e-4, (rate, bias)


# ---- the example: every unit judged, agreed spans, half a sample ------------------------------------------------


def test_wrong_agreed_spans_stand_for_those_that_were_not_drawn():
    project = consistent_project(example(replicates=0))
    chosen = select(project.evaluation, sample=1000, agreed=10, seed=1)
    agreed = chosen.cases["AG"]["case_id"].tolist()
    project.truth.update(dict.fromkeys(agreed[:3], ("gold_wrong", Effect.DELETE, "")))
    project.truth.update(dict.fromkeys(agreed[3:], ("confirmed", Effect.NONE, "")))
    run = project.judge(project.truth, chosen.sample)
    estimate = run.estimates.set_index("rate").loc["precision"]
    before = project.judge({case: 0 for case in project.truth if case[:2] != "AG"}, chosen.sample)
    there = chosen.sample.agreed.there
    right = before.scores.set_index("state").loc["accepted"]
    assert estimate["value"] == pytest.approx((right["tp_pred"] - 0.3 * there) / right["pred"])
    assert estimate["low"] < estimate["value"] < estimate["high"]
    assert estimate["population"] == there + len(evaluation_units(project.evaluation))


@pytest.mark.parametrize("way", WAYS)
def test_intervals_of_half_judged_samples_cover_also_where_a_stratum_is_empty(way: str) -> None:
    """Few runs of each way."""
    held, _ = coverage(way, 0.2, 10, runs=60)
    assert held >= 0.9
