"""Four people with known error rates: what is measured is what is known, on real data and in LibreOffice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from clueval_xlsx.review.judgements import JUDGEMENTS
from clueval_xlsx.review.reimport import reimport
from clueval_xlsx.words import Words
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.office import Document, Office, case_rows, columns, letter
from tests.support.teams import all_cases
from tests.support.workbooks import FIRST, TABS, example

ERROR_RATES = {"anna": 0.0, "ben": 0.1, "cara": 0.25, "dora": 0.4}
OTHERS = {"FN": ("model_error", "gold_wrong", "acceptable"), "FP": ("model_error", "acceptable", "unclear")}


def invented_truth() -> dict[str, str]:
    """What is right about every case; no two answers contradict each other."""
    generator = np.random.default_rng(11)
    return {
        case: str(generator.choice(["model_error", "gold_wrong" if sheet == "FN" and not related else "acceptable"]))
        for table in example(replicates=0).bare_cases
        for case, sheet, related in zip(table["case_id"], table["sheet"], table["related"], strict=True)
    }


def simulated(truth: Mapping[str, str], cases: set[str], rate: float, seed: int) -> dict[str, str]:
    """What a person with this error rate answers."""
    generator = np.random.default_rng(seed)
    answers = {}
    for case in sorted(cases):
        wrong = [code for code in OTHERS[case[:2]] if code != truth[case]]
        answers[case] = str(generator.choice(wrong)) if generator.random() < rate else truth[case]
    return answers


def judge(book: Document, answers: Mapping[str, str]) -> None:
    """Pick the answers from the dropdowns."""
    words = Words("en")
    for sheet in map(TABS.get, ("FN", "FP")):
        place = columns(book, sheet)["Judgement"]
        cells = {
            f"{place}{row}": words[f"judgement.{answers[case]}"]
            for case, row in case_rows(book, sheet).items()
            if case in answers
        }
        if cells:
            first = next(iter(cells))
            assert any(cells[first] in choice for choice in book.validation(sheet, first)["choices"])
        book.set_many(sheet, cells)


def sort_sheets(book: Document) -> None:
    for sheet in map(TABS.get, ("FN", "FP")):
        rows, last = book.used(sheet)
        book.sort(sheet, f"A{FIRST}:{letter(last - 1)}{rows}", 3, ascending=False)


def raw_agreement(answers: Mapping[str, Mapping[str, str]]) -> tuple[float, int]:
    """The share of agreeing pairs, averaged over cases that two judged; and how many these are."""
    shares = []
    for case in {case for own in answers.values() for case in own}:
        given = [own[case] for own in answers.values() if case in own]
        pairs = list(combinations(given, 2))
        if pairs:
            shares.append(sum(one == other for one, other in pairs) / len(pairs))
    return float(np.mean(shares)), len(shares)


def kappa(one: Mapping[str, str], other: Mapping[str, str]) -> float:
    both = sorted(set(one) & set(other))
    agreeing = np.mean([one[case] == other[case] for case in both])
    left, right = (Counter(own[case] for case in both) for own in (one, other))
    chance = sum(left[code] * right[code] for code in left) / len(both) ** 2
    return float((agreeing - chance) / (1 - chance)) if chance < 1 else float("nan")


@pytest.mark.office
def test_a_project_of_four_people_and_two_rounds(office: Office, examples: Path, tmp_path: Path):
    gold, pred = examples / "gold.vrt", examples / "pred.vrt"
    target = tmp_path / "review.xlsx"
    made = run(
        "evaluate", gold, pred, *EXAMPLE_OPTIONS, "-o", target, "--judges", ",".join(ERROR_RATES),
        "--double", "100%", "--sample", "1000",
    )  # fmt: skip
    assert made.code == 0, made.err
    truth = invented_truth()
    answers: dict[str, dict[str, str]] = {}
    handed: dict[str, set[str]] = {}
    returned: list[Path] = []
    for seed, (name, rate) in enumerate(ERROR_RATES.items()):
        path = target.with_stem(f"review-{name}")
        handed[name] = all_cases(path)
        answers[name] = simulated(truth, handed[name], rate, seed)
        if name == "dora":  # leaves half open
            answers[name] = dict(sorted(answers[name].items())[::2])
        book = office.open(path)
        judge(book, answers[name])
        if name == "cara":
            sort_sheets(book)
        returned.append(book.save(tmp_path / f"back-{name}{'.ods' if name == 'ben' else '.xlsx'}"))
        book.close()
    assert set().union(*handed.values()) == set(truth)

    seen = run("status", *returned, "--json", "-")
    assert [
        (row["judge"], row["account"]["judged"], row["account"]["cases"]) for row in json.loads(seen.out)["workbooks"]
    ] == [(name, len(answers[name]), len(handed[name])) for name in ERROR_RATES]
    assert json.loads(run("status", *returned[1:], "--json", "-").out)["missing"] == ["anna"]

    conflicts, log = tmp_path / "conflicts.xlsx", tmp_path / "log.jsonl"
    first = run(
        "reimport", *returned, "--gold", gold, "--conflicts", conflicts, "--blind", "--judgements", log,
        "--report", tmp_path / "report.xlsx",
    )  # fmt: skip
    assert first.code == 3, first.err
    (adjudicated,) = reimport(returned, gold).runs
    assert not adjudicated.problems
    assert {(record.judge, record.case_id): record.code for record in adjudicated.records} == {
        (name, case): code for name, own in answers.items() for case, code in own.items()
    }
    check_agreement(adjudicated.agreement, answers)

    said: dict[str, list[str]] = {}
    for own in answers.values():
        for case, code in own.items():
            said.setdefault(case, []).append(code)
    open_cases = {case for case, codes in said.items() if len(set(codes) - {"unclear"}) > 1}
    assert open_cases
    assert set(adjudicated.cases_in_conflict) == open_cases == all_cases(conflicts)

    book = office.open(conflicts)  # the third person is always right
    judge(book, {case: truth[case] for case in open_cases})
    resolved = book.save(tmp_path / "resolved.ods")
    book.close()
    corrected = tmp_path / "corrected.vrt"
    second = run("reimport", *returned, resolved, "--gold", gold, "-o", corrected, "--judgements", log)
    assert second.code == 0, second.err
    (final,) = reimport([*returned, resolved], gold).runs
    assert not final.cases_in_conflict
    effects = {each.code: each.effect for each in JUDGEMENTS}
    expected = {}
    for case, codes in said.items():
        sure = set(codes) - {"unclear"}
        expected[case] = effects[truth[case] if case in open_cases else next(iter(sure), "unclear")]
    assert {case: decision.effect for case, decision in final.decisions.items()} == expected
    deleted = {case for case, effect in expected.items() if effect == "delete"}
    assert len(final.correction.changes) == len(deleted)
    assert corrected.read_bytes() != gold.read_bytes()
    check_estimates(final, expected)


def check_agreement(found, answers: Mapping[str, Mapping[str, str]]) -> None:
    """The measures are those that can be computed from what everybody was made to say."""
    overall = found[found["sheet"].isna() & found["label"].isna()]
    value, cases = raw_agreement(answers)
    everyone = overall[(overall["measure"] == "raw") & (overall["judges"] == ", ".join(sorted(answers)))].iloc[0]
    assert everyone["value"] == pytest.approx(value)
    assert everyone["cases"] == cases
    compared = 0
    for one, other in combinations(sorted(answers), 2):
        row = overall[(overall["measure"] == "cohen") & (overall["judges"] == f"{one}, {other}")]
        if not set(answers[one]) & set(answers[other]):
            assert not len(row)
            continue
        assert row["value"].iloc[0] == pytest.approx(kappa(answers[one], answers[other]), nan_ok=True)
        compared += 1
    assert compared >= 4


def check_estimates(final, expected: Mapping[str, str]) -> None:
    """Everything was drawn; what is still open or beyond decision is stood for by the rest of its stratum."""
    estimates = final.estimates.set_index("rate")
    accepted = final.scores.set_index("state").loc["accepted"]
    undecided = {case for case in invented_truth() if expected.get(case, "open") == "open"}
    for rate in ("recall", "precision"):
        row = estimates.loc[rate]
        assert row["low"] <= row["value"] <= row["high"]
        if not undecided:
            assert row["value"] == pytest.approx(accepted[rate])
        else:
            assert row["judged"] < row["drawn"]
