"""Bringing together: who is missing, who has judged how much, the second round, and the log over two rounds."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.files.workbooks import encrypt
from clueval_xlsx.review.adjudication import adjudicate
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.manifest import from_evaluation
from clueval_xlsx.review.reimport import reimport
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.judging import LINKED, case, judged, records, spans
from tests.support.teams import all_cases, cases_of, everything_in, fill, manifest
from tests.support.workbooks import example

pytestmark = pytest.mark.slow

NAMES = ("Zwetlana", "Quirin")


@pytest.fixture(scope="module")
def handed_out(sides, tmp_path_factory):
    """A function that hands out the example, once for each way of doing so; returns the folder of the workbooks."""

    @cache
    def made(*options: object) -> Path:
        target = tmp_path_factory.mktemp("books") / "r.xlsx"
        done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target, *options)
        assert done.code == 0, done.err
        return target.parent

    return made


@pytest.fixture
def hand_out(handed_out, tmp_path):
    """A function that hands out the example; returns the workbooks by name, to be filled in."""

    def made(names=NAMES, *options: object) -> dict[str, Path]:
        folder = handed_out("--judges", ",".join(names), *options)
        shutil.copytree(folder, tmp_path / "books")
        return {name: tmp_path / "books" / f"r-{name}.xlsx" for name in names}

    return made


# ---- status ------------------------------------------------------------------------------------------------------


def test_status_says_who_has_judged_how_much_and_who_is_missing(hand_out, tmp_path):
    books = hand_out(("anna", "ben", "cara", "dora"), "--double", "20%")
    fill(books["anna"], dict.fromkeys(all_cases(books["anna"]), "model_error"))
    half = sorted(all_cases(books["ben"]))[::2]
    fill(books["ben"], {**dict.fromkeys(half, "unclear"), half[0]: Judgement(comment="only a comment")})
    broken = cases_of(books["cara"])["FN"][0]
    fill(books["cara"], {broken: "nonsense"})
    books["cara"].write_bytes(encrypt(books["cara"].read_bytes(), "secret"))
    password = tmp_path / "password"
    password.write_text("secret")
    given = [books[name] for name in ("anna", "ben", "cara")]
    done = run("status", *given, "--json", "-", "--password-file", password)
    assert done.code == 3, done.err  # a row of cara's cannot be used
    content = json.loads(done.out)
    assert content["missing"] == ["dora"]
    assert [
        (row["judge"], *(row["account"][name] for name in ("judged", "cases", "unusable")))
        for row in content["workbooks"]
    ] == [
        ("anna", len(all_cases(books["anna"])), len(all_cases(books["anna"])), 0),
        ("ben", len(half) - 1, len(all_cases(books["ben"])), 0),
        ("cara", 0, len(all_cases(books["cara"], "secret")), 1),
    ]
    shown = run("status", *given, "--password-file", password)
    assert "Missing: no workbook of dora is among these." in shown.err
    assert "100" in shown.out
    assert str(len(half) - 1) in shown.out


def test_status_refuses_what_is_no_review_workbook(tmp_path, sides):
    book = openpyxl.Workbook()
    book.save(tmp_path / "other.xlsx")
    refused(run("status", tmp_path / "other.xlsx"), "other.xlsx", "no row with a case ID")
    refused(run("status", tmp_path / "absent.xlsx"), "absent.xlsx", "cannot be read")
    refused(run("status", sides[0]), "gold.vrt")


# ---- the second round --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged_by_two(handed_out, tmp_path_factory) -> tuple[Path, list[str]]:
    """Two people have judged everything and disagree about four cases: the folder of their workbooks, the cases."""
    folder = tmp_path_factory.mktemp("judged") / "books"
    shutil.copytree(handed_out("--judges", ",".join(NAMES), "--double", "100%", "--sample", "1000"), folder)
    books = [folder / f"r-{name}.xlsx" for name in NAMES]
    missed = [case for case, other in zip(*example_missed(), strict=True) if not other]
    first = dict.fromkeys(all_cases(books[0]), "model_error")
    second = {**first, **dict.fromkeys(missed[:4], "gold_wrong")}
    fill(books[0], {**first, missed[0]: Judgement("model_error", comment="it is a name")})
    fill(books[1], second)
    return folder, missed[:4]


@pytest.fixture
def disagreement(judged_by_two, tmp_path):
    """The workbooks of the two by name, and the cases about which they disagree."""
    folder, open_cases = judged_by_two
    shutil.copytree(folder, tmp_path / "books")
    return {name: tmp_path / "books" / f"r-{name}.xlsx" for name in NAMES}, open_cases


def example_missed() -> tuple[list[str], list[list[str]]]:
    table = example(replicates=0).bare_cases[0]
    return table["case_id"].tolist(), table["related"].tolist()


@pytest.mark.parametrize("blind", [True, False])
def test_disagreements_go_to_a_third_person_and_come_back(disagreement, sides, tmp_path, blind):
    books, open_cases = disagreement
    conflicts, corrected = tmp_path / "second.xlsx", tmp_path / "corrected.vrt"
    first = run(
        "reimport", *books.values(), "--gold", sides[0], "-o", corrected, "--conflicts", conflicts,
        *(["--blind"] if blind else []),
    )  # fmt: skip
    assert first.code == 3, first.err
    assert corrected.read_bytes() == sides[0].read_bytes()
    assert all_cases(conflicts) == set(open_cases)
    content = everything_in(conflicts.read_bytes())
    for name in NAMES:
        assert (name.casefold() in content.casefold()) is not blind
    assert "it is a name" in content
    assert "Should not be marked" in content
    assert ("Judge A" in content) is blind
    assert manifest(conflicts).role == "conflicts"
    assert "this workbook has no such case" in content  # not: the reference supports every span

    fill(conflicts, {**dict.fromkeys(open_cases[:3], "gold_wrong"), open_cases[3]: "model_error"})
    for order in ([conflicts, *books.values()], [*books.values(), conflicts]):
        second = run("reimport", *order, "--gold", sides[0], "-o", corrected)
        assert second.code == 0, second.err
        assert "of 21 misses that are settled, 3 were the reference's errors" in " ".join(second.out.split())
        assert "Missing" not in second.err
        assert "Estimated from the sample: Recall" in second.out  # the conflict workbook knows of the sample, too
        assert corrected.read_bytes() != sides[0].read_bytes()
    (adjudicated,) = reimport([conflicts, *books.values()], sides[0]).runs
    deleted = {case for case, decision in adjudicated.decisions.items() if decision.effect == "delete"}
    assert deleted == set(open_cases[:3])
    raw = adjudicated.agreement.query("measure == 'raw' and sheet.isna() and label.isna()")["value"].iloc[0]
    judged = len({record.case_id for record in adjudicated.records})
    assert raw == pytest.approx(1 - len(open_cases) / judged)  # the third person is no judge


def test_a_conflict_workbook_goes_back_to_whom_the_judges_sent_theirs(sides, tmp_path):
    book, conflicts = tmp_path / "r.xlsx", tmp_path / "second.xlsx"
    run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", book, "--contact", "Dr. Post, post@example.org")
    case = cases_of(book)["FN"][0]
    books = [fill(book, {case: code}, tmp_path / f"{code}.xlsx") for code in ("gold_wrong", "model_error")]
    for given, wanted in ((), "Dr. Post, post@example.org"), (("--contact", "Ms Other"), "Ms Other"):
        run("reimport", *books, "--gold", sides[0], "--conflicts", conflicts, *given)
        assert manifest(conflicts).contact == wanted
        assert wanted in everything_in(conflicts.read_bytes())


# ---- history -----------------------------------------------------------------------------------------------------


# ---- two states of one workbook ------------------------------------------------------------------------------------


def state_of(evaluation, answers, saved: str, who: str = "Anna"):
    """What a judge's workbook said when it was saved."""
    cases = [case for table in evaluation.bare_cases for case in table["case_id"]]
    book = records(answers, who)
    return replace(book, manifest=from_evaluation(evaluation), saved=saved, present=frozenset(cases))


EARLY, LATE = "2026-03-01T10:00:00Z", "2026-03-02T09:00:00Z"


@pytest.mark.parametrize(
    ("saved", "who", "conflicts"),
    [
        ((EARLY, LATE), "Anna", 0),
        ((LATE, EARLY), "Anna", 0),
        ((EARLY, EARLY), "Anna", 1),  # where no time tells, both are compared
        (("", LATE), "Anna", 1),
        ((EARLY.removesuffix("Z"), LATE), "Anna", 1),
        ((EARLY, LATE), "Ben", 1),  # somebody else's is no newer state
    ],
)
def test_of_two_states_of_a_workbook_the_newer_one_counts_case_by_case(saved, who, conflicts):
    evaluation = judged(LINKED)
    missed, single = case(evaluation, "FN", "Petra Weidmann und Partner"), case(evaluation, "FN", "Marlene")
    old = {missed: Judgement("model_error"), single: Judgement("gold_wrong")}
    new = {missed: Judgement("boundary", "common")}
    books = [state_of(evaluation, old, saved[0]), state_of(evaluation, new, saved[1], who)]
    found = adjudicate(evaluation.raw, evaluation.options, books)
    assert len(found.conflicts) == conflicts
    if saved == (EARLY, LATE) and who == "Anna":
        assert spans(found) == [("Petra Weidmann", "PER")]  # what only the older one has counts, too
        assert [note.partition(": ")[2] for note in found.notes] == [
            "replaced by the newer judgement in anna.xlsx!FN!M5"
        ]
        assert [problem.value for problem in found.left_over] == [single]
        assert found.needs_a_person
    elif not conflicts:
        assert found.decisions[missed].effect == "none"
        assert not found.left_over
