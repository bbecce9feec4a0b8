"""Handing out a run: linked cases together, shares that are even, agreed spans, one workbook for each judge."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from clueval_xlsx.cases.samples import draw_agreed
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.assignment import agreed_rows, evaluation_units, select
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.teams import all_cases, cases_of, manifest
from tests.support.workbooks import example

TEAM = ["anna", "ben", "cara"]


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return example(replicates=0)


def links(evaluation: Evaluation) -> list[tuple[str, str]]:
    return [
        (case, other)
        for table in evaluation.bare_cases
        for case, others in zip(table["case_id"], table["related"], strict=True)
        for other in (others if isinstance(others, list | tuple) else str(others).split())
        if other
    ]


@pytest.mark.parametrize("size", [None, 1, 2, 7, 20, 33, 1000])
def test_linked_cases_always_go_together(evaluation: Evaluation, size):
    pairs = links(evaluation)
    assert pairs
    chosen = select(evaluation, judges=TEAM, double=0.3, sample=size, seed=4)
    for tables in (chosen.cases, *chosen.hands.values()):
        own = {case for table in tables.values() for case in table["case_id"]}
        assert all((case in own) == (other in own) for case, other in pairs)
    if size is None or size == 1000:
        everything = {case for table in evaluation.bare_cases for case in table["case_id"]}
        assert {case for hand in chosen.hands.values() for t in hand.values() for case in t["case_id"]} == everything


def exact_rows(evaluation: Evaluation) -> set[int]:
    gold, pred = (side.spans for side in (evaluation.pair.gold, evaluation.pair.pred))
    labels = [evaluation.options.labelled] if evaluation.options.labelled else []
    found = set(map(tuple, pred[["start", "end", *labels]].astype(str).to_numpy().tolist()))
    own = gold[["start", "end", *labels]].astype(str).to_numpy().tolist()
    return {row for row, span in enumerate(own) if tuple(span) in found}


@pytest.mark.parametrize("labelled", [None, "category", "risk"])
def test_agreed_spans_are_drawn_from_exact_matches_that_are_no_cases(labelled):
    evaluation = example(replicates=0, labelled=labelled)
    exact = exact_rows(evaluation)
    rows = draw_agreed(agreed_rows(evaluation), 9, 3).tolist()
    assert len(rows) == len(set(rows)) == 9
    assert set(rows) <= exact
    assert set(draw_agreed(agreed_rows(evaluation), 10_000, 3).tolist()) == exact


# ---- the command ------------------------------------------------------------------------------------------------


def test_each_workbook_knows_its_judge_its_part_and_the_team(examples: Path, tmp_path: Path):
    names = "Anna Müller,b/e:n,čara"
    target = tmp_path / "out" / "review.xlsx"
    sides = (examples / "gold.vrt", examples / "pred.vrt")
    done = run(
        "evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target, "--judges", names, "--double", "20%", "--agreed", "6",
        "--without-text",
    )  # fmt: skip
    assert done.code == 0, done.err
    paths = [target.with_stem(f"review-{name}") for name in ("Anna Müller", "b_e_n", "čara")]
    assert sorted(target.parent.iterdir()) == sorted([*paths, target.with_stem("review-without-text")])
    team = tuple(names.split(","))
    for number, (path, name) in enumerate(zip(paths, team, strict=True), 1):
        known = manifest(path)
        assert (known.judge, known.part, known.team) == (name, f"{number}/3", team)
        assert known.cases == {
            sheet: len(cases) for sheet, cases in zip(("FN", "FP", "AG"), cases_of(path).values(), strict=True)
        }
    times = Counter(case for path in paths for case in all_cases(path))
    found = example(replicates=0)
    assert {case for case in times if case[:2] != "AG"} == {case for t in found.bare_cases for case in t["case_id"]}
    units = evaluation_units(found)
    twice = {unit for case, unit in zip(units.cases["case_id"], units.cases["unit"], strict=True) if times[case] == 2}
    assert len(twice) == round(0.2 * len(units))
    said = ", ".join(f"{len(all_cases(path))} to {name}" for path, name in zip(paths, team, strict=True))
    twice_cases = sum(number == 2 for number in times.values())
    assert f"Cases handed out: {said}; {twice_cases} of them to two people." in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--judges", "anna,Anna"], ["twice"]),
        (["--judges", "a/b,a:b"], ["a/b", "a:b", "review-a_b.xlsx"]),
        (["--judges", "without-text", "--without-text"], ["edition without text"]),
        (["--double", "20%"], ["--judges"]),
        (["--judges", "anna", "--double", "20%"], ["two people"]),
        (["--judges", "anna,ben", "--double", "120%"], ["120%", "more than 0 up to 1"]),
        (["--judges", "anna,ben", "--double", "some"], ["'some'"]),
        (["--sample", "0"], ["--sample"]),
    ],
)
def test_what_cannot_be_handed_out_is_refused_and_nothing_is_written(examples, tmp_path, arguments, words):
    target = tmp_path / "out" / "review.xlsx"
    sides = (examples / "gold.vrt", examples / "pred.vrt")
    refused(run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target, *arguments), *words)
    assert not target.parent.exists()
