"""Four people with known error rates on real data: what is measured is what the simulation knows."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from clueval_xlsx.evaluation import Options, evaluate
from clueval_xlsx.formats.loading import read_pair
from clueval_xlsx.formats.options import ReadOptions
from clueval_xlsx.review.adjudication import Adjudication, adjudicate
from clueval_xlsx.review.assignment import select
from clueval_xlsx.review.log import JudgementRecord
from clueval_xlsx.review.manifest import from_evaluation
from clueval_xlsx.review.reading import JudgedWorkbook, ReviewRow

ERROR_RATES = {"anna": 0.02, "ben": 0.1, "cara": 0.2, "dora": 0.3}
CODES = {"FN": ("model_error", "gold_wrong", "acceptable"), "FP": ("model_error", "gold_missing", "acceptable")}
EFFECTS = {"model_error": "none", "gold_wrong": "delete", "gold_missing": "add", "acceptable": "accept"}


@pytest.fixture(scope="module")
def project(shared_data: Path) -> tuple[Adjudication, dict[str, dict[str, str]], dict[str, str]]:
    """The hand-out of ler-dev with half of the cases judged twice, and what everybody said."""
    sides = (shared_data / "ler-dev.gold.vrt", shared_data / "ler-dev.pred.vrt")
    evaluation = evaluate(read_pair(*sides, ReadOptions(layers={"fine": 2})), Options(replicates=0))
    generator = np.random.default_rng(1)
    hands = select(evaluation, judges=list(ERROR_RATES), double=0.5, seed=1).hands
    truth = {case: str(generator.choice(CODES[case[:2]])) for t in evaluation.bare_cases for case in t["case_id"]}
    answers, books = {}, []
    for name, rate in ERROR_RATES.items():
        cases = [case for table in hands[name].values() for case in table["case_id"]]
        answers[name] = {
            case: str(generator.choice([code for code in CODES[case[:2]] if code != truth[case]]))
            if generator.random() < rate
            else truth[case]
            for case in cases
        }
        rows = tuple(
            ReviewRow(JudgementRecord(case, code, EFFECTS[code], annotator=name, place=case), {})
            for case, code in answers[name].items()
        )
        manifest = from_evaluation(evaluation, team=tuple(ERROR_RATES), annotator=name)
        books.append(JudgedWorkbook(f"{name}.xlsx", name, manifest, (), rows, (), (), {}))
    run = adjudicate(evaluation.pair, evaluation.options, books, manifest=books[0].manifest)
    return run, answers, truth


def test_agreement_is_what_the_error_rates_foretell(project):
    run, answers, _ = project
    overall = run.agreement[run.agreement["sheet"].isna() & run.agreement["label"].isna()]
    raw = overall[overall["measure"] == "raw"].set_index("annotators")
    for one, other in combinations(ERROR_RATES, 2):
        shared = set(answers[one]) & set(answers[other])
        row = raw.loc[f"{one}, {other}"]
        assert row["cases"] == len(shared) > 50
        assert row["value"] == pytest.approx(np.mean([answers[one][case] == answers[other][case] for case in shared]))
        first, second = ERROR_RATES[one], ERROR_RATES[other]
        foretold = (1 - first) * (1 - second) + first * second / 2  # both right, or both wrong in the same way
        assert abs(row["value"] - foretold) < 4 * np.sqrt(foretold * (1 - foretold) / len(shared))


def test_open_are_exactly_the_cases_about_which_two_people_differ(project):
    run, answers, truth = project
    said: dict[str, set[str]] = {}
    for own in answers.values():
        for case, code in own.items():
            said.setdefault(case, set()).add(code)
    assert set(said) == set(truth)
    assert run.missing_people == ()
    disputed = {case for case, codes in said.items() if len(codes) > 1}
    unresolved = {case for case, resolution in run.resolutions.items() if resolution.decision is None}
    assert len(disputed) > 100
    assert unresolved == disputed
    decided = {case: resolution.decision.effect for case, resolution in run.resolutions.items() if resolution.decision}
    assert decided == {case: EFFECTS[next(iter(codes))] for case, codes in said.items() if len(codes) == 1}
    wrong = np.mean([effect != EFFECTS[truth[case]] for case, effect in decided.items()])
    assert 0.05 < wrong < 0.25  # judged once, an error stays; that is what overlap is for
