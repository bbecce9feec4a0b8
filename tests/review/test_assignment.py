"""Handing out: fair shares, linked cases together, the overlap that was asked for, reproducible samples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.cases.even_shares import fair_shares
from clueval_xlsx.cases.kinds import AG
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.assignment import (
    FN,
    FP,
    Units,
    agreed_spans,
    deal,
    draw,
    draw_agreed,
    evaluation_units,
    parse_share,
    select,
)
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.folders import data_folder
from tests.support.teams import all_cases, cases_of, manifest
from tests.support.workbooks import evaluated, example

TEAM = ["anna", "ben", "cara"]


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return example(replicates=0)


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
def test_shares_are_even_to_within_one_for_every_label_every_document_and_in_all(cells, people):
    shares = fair_shares([label for label, _ in cells], [document for _, document in cells], people)
    assert len(shares) == len(cells)
    assert gap([shares.count(person) for person in range(people)]) <= 1
    for side in (0, 1):
        for name in {cell[side] for cell in cells}:
            own = [share for share, cell in zip(shares, cells, strict=True) if cell[side] == name]
            assert gap([own.count(person) for person in range(people)]) <= 1, (side, name)


@given(marks, st.integers(2, 5), st.floats(0, 1), st.integers(0, 99), st.data())
def test_every_chosen_unit_is_dealt_and_the_overlap_is_exact(cells, people, overlap, seed, data):
    units = made_units([label for label, _ in cells], [document for _, document in cells])
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))), dtype=bool)
    names = [f"p{person}" for person in range(people)]
    hands = deal(units, chosen, names, overlap, seed)
    times = Counter(unit for hand in hands.values() for unit in hand)
    assert set(times) == set(np.flatnonzero(chosen).tolist())
    assert set(times.values()) <= {1, 2}
    assert sum(count == 2 for count in times.values()) == round(overlap * int(chosen.sum()))
    assert gap([len(hand) for hand in hands.values()]) <= 2
    assert hands == deal(units, chosen, names, overlap, seed)


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


def test_another_seed_draws_others(evaluation: Evaluation):
    ids = [
        frozenset(case for table in select(evaluation, sample=12, seed=seed).cases.values() for case in table.case_id)
        for seed in range(4)
    ]
    assert len(set(ids)) > 1
    assert ids[2] == frozenset(
        case for table in select(evaluation, sample=12, seed=2).cases.values() for case in table.case_id
    )


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
    chosen = select(evaluation, annotators=TEAM, overlap=0.3, sample=size, seed=4)
    for tables in (chosen.cases, *chosen.hands.values()):
        own = {case for table in tables.values() for case in table["case_id"]}
        assert all((case in own) == (other in own) for case, other in pairs)
    if size is None or size == 1000:
        everything = {case for table in evaluation.bare_cases for case in table["case_id"]}
        assert {case for hand in chosen.hands.values() for t in hand.values() for case in t["case_id"]} == everything


@pytest.mark.skipif(data_folder() is None, reason="the ler-dev data are not there")
def test_real_data_are_shared_out_evenly(shared_data: Path):
    from clueval_xlsx.evaluation import Options, evaluate
    from clueval_xlsx.formats.loading import ReadOptions, read_pair

    pair = read_pair(
        shared_data / "ler-dev.gold.vrt", shared_data / "ler-dev.pred.vrt", ReadOptions(layers={"fine": 2})
    )
    found = evaluate(pair, Options(replicates=0))
    units = evaluation_units(found, dict(zip((FN, FP), found.bare_cases, strict=True)))
    assert len(units) > 1000
    hands = deal(units, np.ones(len(units), dtype=bool), TEAM, 0.0, 0)
    for names in (units.label, units.document):
        for name in set(names):
            assert gap([sum(names[unit] == name for unit in hand) for hand in hands.values()]) <= 1
    twice = deal(units, np.ones(len(units), dtype=bool), TEAM, 0.2, 0)
    assert sum(len(hand) for hand in twice.values()) - len(units) == round(0.2 * len(units))
    assert gap([len(hand) for hand in twice.values()]) <= 1


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
    rows = draw_agreed(agreed_spans(evaluation), 9, 3).tolist()
    assert len(rows) == len(set(rows)) == 9
    assert set(rows) <= exact
    assert set(draw_agreed(agreed_spans(evaluation), 10_000, 3).tolist()) == exact


def test_agreed_spans_are_dealt_out_too(evaluation: Evaluation):
    chosen = select(evaluation, annotators=TEAM, agreed=10)
    dealt = [case for hand in chosen.hands.values() for case in hand[AG]["case_id"]]
    assert len(dealt) == len(set(dealt)) == 10
    assert gap([len(hand[AG]) for hand in chosen.hands.values()]) == 1
    assert chosen.sample["agreed"]["drawn"] == 10
    assert chosen.sample["agreed"]["there"] == len(exact_rows(evaluation))


@pytest.mark.parametrize("size", [None, 1, 5])
def test_nothing_to_judge_is_no_trouble(size):
    perfect = evaluated("""
        token  gold   pred
        <s>
        Ann    B-PER  B-PER
        Lee    O      O
    """)
    chosen = select(perfect, annotators=TEAM, overlap=0.5, sample=size, agreed=5)
    assert [len(chosen.cases[name]) for name in (FN, FP, AG)] == [0, 0, 1]
    assert sum(len(hand[AG]) for hand in chosen.hands.values()) == 1


@pytest.mark.parametrize(("text", "share"), [("20%", 0.2), (" 20 % ", 0.2), ("0.2", 0.2), ("1", 1.0), ("0", 0.0)])
def test_shares_may_be_written_both_ways(text, share):
    assert parse_share(text) == pytest.approx(share)


# ---- the command ------------------------------------------------------------------------------------------------


def test_each_workbook_knows_its_annotator_its_part_and_the_team(examples: Path, tmp_path: Path):
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
        assert (known.annotator, known.part, known.team) == (name, f"{number}/3", team)
        assert known.cases == {
            sheet: len(cases) for sheet, cases in zip(("FN", "FP", "AG"), cases_of(path).values(), strict=True)
        }
    times = Counter(case for path in paths for case in all_cases(path))
    found = example(replicates=0)
    assert {case for case in times if case[:2] != "AG"} == {case for t in found.bare_cases for case in t["case_id"]}
    units = evaluation_units(found, dict(zip((FN, FP), found.bare_cases, strict=True)))
    twice = {unit for case, unit in zip(units.cases["case_id"], units.cases["unit"], strict=True) if times[case] == 2}
    assert len(twice) == round(0.2 * len(units))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--judges", "anna,Anna"], ["twice"]),
        (["--judges", "a/b,a:b"], ["a/b", "a:b", "review-a_b.xlsx"]),
        (["--judges", "without-text", "--without-text"], ["edition without text"]),
        (["--double", "20%"], ["--judges"]),
        (["--judges", "anna", "--double", "20%"], ["two people"]),
        (["--judges", "anna,ben", "--double", "120%"], ["120%", "0 % to 100 %"]),
        (["--judges", "anna,ben", "--double", "some"], ["'some'"]),
        (["--sample", "0"], ["--sample"]),
    ],
)
def test_what_cannot_be_handed_out_is_refused_and_nothing_is_written(examples, tmp_path, arguments, words):
    target = tmp_path / "out" / "review.xlsx"
    sides = (examples / "gold.vrt", examples / "pred.vrt")
    refused(run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target, *arguments), *words)
    assert not target.parent.exists()


def test_sampling_works_for_every_size(evaluation: Evaluation):
    units = evaluation_units(evaluation, dict(zip((FN, FP), evaluation.bare_cases, strict=True)))
    for size in range(1, len(units) + 3):
        assert int(draw(units, size, 0).chosen.sum()) == min(size, len(units))
