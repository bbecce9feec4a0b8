"""Unmarked passages from the sheet to the corrected gold file and back."""

from __future__ import annotations

import io

import openpyxl
import pytest

from clueval_xlsx.cases.unmarked import UnmarkedOptions
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.reimport import reimport
from tests.support.commands import run
from tests.support.judging import judged, spans, workbook
from tests.support.tables import cut
from tests.support.teams import cases_of, fill, log_lines, manifest

pytestmark = pytest.mark.slow

TABLE = """
    token   gold   pred
    <text id="first">
    <s>
    Ann     B-PER  B-PER
    Lee     I-PER  I-PER
    met     O      O
    Bobrow  B-PER  B-PER
    </s>
    <s>
    Ann     B-PER  B-PER
    Lee     I-PER  I-PER
    saw     O      O
    Bobrow  B-PER  O
    </s>
    <s>
    Ann     O      O
    Lee     O      O
    left    O      O
    Bobrow  O      O
    </s>
    </text>
    <text id="second">
    <s>
    Bobrow  O      O
    slept   O      O
    </s>
    </text>
"""


@pytest.fixture(scope="module")
def result():
    return judged(TABLE).with_unmarked(UnmarkedOptions(least=0.3))


def unmarked(evaluation, surface, place=0):
    cases = evaluation.unmarked_cases
    return cases["case_id"][cases["surface"] == surface].tolist()[place]


@pytest.fixture
def sides(tmp_path):
    paths = tmp_path / "gold.vrt", tmp_path / "pred.vrt"
    for path, content in zip(paths, cut(TABLE), strict=True):
        path.write_bytes(content)
    return paths


def test_should_be_marked_adds_a_span_with_the_label_of_its_twins_and_counts_as_a_miss(result):
    answers = {unmarked(result, "Ann Lee"): Judgement("should_be_marked")}
    stream = workbook(result, answers)
    (run_,) = reimport([stream], io.BytesIO(cut(TABLE)[0])).runs
    assert spans(run_).count(("Ann Lee", "PER")) == 3
    before, after = run_.scores.set_index("state").loc[["raw", "corrected"]].to_dict("records")
    assert (before["gold"], before["fn"]) == (4, 1)
    assert (after["gold"], after["fn"]) == (5, 2)
    ledger = run_.ledger.set_index("entry")["UM"]
    assert ledger["missed_by_both"] == 1
    assert ledger["unjudged"] == len(result.unmarked_cases) - 1


def test_as_the_model_is_refused_where_nobody_marked_anything(result):
    answers = {unmarked(result, "Ann Lee"): Judgement("should_be_marked", "as_model")}
    (run_,) = reimport([workbook(result, answers)], io.BytesIO(cut(TABLE)[0])).runs
    assert "That side has marked nothing here" in str(run_.problems[0])
    assert not run_.correction.changes


def test_the_sheet_says_the_chance_it_is_cut_at(sides, tmp_path):
    for language, tab, words in (("en", "Unmarked", "30.0 %"), ("de", "Unmarkiert", "30,0 %")):
        book = tmp_path / f"{language}.xlsx"
        done = run(
            "evaluate", *sides, "--unmarked", "--set", "workbook.unmarked_from=30%", "--lang", language, "-o", book
        )
        assert done.code == 0, done.err
        sheet = openpyxl.load_workbook(book)[tab]
        top = " ".join(str(cell.value) for row in sheet["A1:Z3"] for cell in row if cell.value)
        assert words in top


def test_the_whole_round_from_the_command_line(sides, tmp_path):
    book, corrected, log = tmp_path / "r.xlsx", tmp_path / "corrected.vrt", tmp_path / "log.jsonl"
    page, figures, report = tmp_path / "r.html", tmp_path / "r.json", tmp_path / "report.xlsx"
    done = run("evaluate", *sides, "--unmarked", "-o", book)
    assert done.code == 0
    (first, *others) = cases_of(book)["UM"]
    assert done.err.count("unmarked") == 1
    assert f", {1 + len(others)} unmarked" in done.err
    assert f"r.xlsx: {2 + len(others)} cases: 0 judged" in run("status", book).err
    fill(book, {first: "2", **dict.fromkeys(others, "1")})
    done = run(
        "reimport", book, "--gold", sides[0], "-o", corrected, "--judgements", log,
        "--html", page, "--json", figures, "--report", report,
    )  # fmt: skip
    assert done.code == 0, done.err
    heard = " ".join(done.out.split())
    assert f"of {1 + len(others)} unmarked passages listed, 1 was missed by both" in heard
    assert corrected.read_text("utf-8").count("Ann\tB-PER") == 3
    assert "missed by both sides" in page.read_text("utf-8")
    assert '"missed_by_both"' in figures.read_text("utf-8")
    lines = {line["case"]: line for line in log_lines(log)}
    assert lines[first]["outcome"] == "applied"
    assert lines[others[0]]["judgement"] == "rightly_unmarked"

    again = tmp_path / "again.xlsx"
    done = run("evaluate", *sides, "--unmarked", "--previous", log, "-o", again)
    assert f"{1 + len(others)} of {2 + len(others)} cases were decided before" in done.err
    assert f"again.xlsx: {2 + len(others)} cases: {1 + len(others)} judged" in run("status", again).err


def test_hand_outs_give_alike_passages_to_one_person_and_lose_none(sides, tmp_path):
    book = tmp_path / "r.xlsx"
    done = run(
        "evaluate", *sides, "--unmarked", "--set", "workbook.unmarked_from=10%", "--judges", "anna,ben", "-o", book
    )
    assert done.code == 0, done.err
    hands = [cases_of(tmp_path / f"r-{name}.xlsx")["UM"] for name in ("anna", "ben")]
    result = judged(TABLE).with_unmarked(UnmarkedOptions(least=0.1))
    surfaces = dict(zip(result.unmarked_cases["case_id"], result.unmarked_cases["surface"], strict=True))
    assert sorted(case for hand in hands for case in hand) == sorted(surfaces)
    assert not {surfaces[case] for case in hands[0]} & {surfaces[case] for case in hands[1]}
    listed = [manifest(tmp_path / f"r-{name}.xlsx").unmarked for name in ("anna", "ben")]
    assert listed[0].spans.equals(listed[1].spans)
