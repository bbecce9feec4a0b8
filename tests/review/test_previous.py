"""What was decided before: nothing that was taken back or overruled returns, and every judgement keeps its judge."""

from __future__ import annotations

import shutil
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.review.judgements import Effect, Judgement, Outcome
from clueval_xlsx.review.log import standing_decisions
from tests.support.commands import run
from tests.support.office import Office, case_rows, columns
from tests.support.tables import cut
from tests.support.teams import all_cases, cases_of, log_lines
from tests.support.workbooks import FIRST, TABS, headers

# Kay is missed four times, Bonn once; Lea is marked by the model alone, and with one word too few.
TABLE = """
    token  gold   pred
    <text id="d1">
    <s>
    Kay    B-PER  O
    rief   O      O
    Kay    B-PER  O
    an     O      O
    </s>
    <s>
    Lea    O      B-PER
    Ott    O      O
    in     O      O
    Bonn   B-LOC  O
    </s>
    </text>
    <text id="d2">
    <s>
    Kay    B-PER  O
    </s>
    </text>
"""
MORE = TABLE.rstrip().removesuffix("</text>").rstrip() + "\n    <s>\n    Kay    B-PER  O\n    </s>\n    </text>\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, side in zip(("gold.vrt", "pred.vrt"), cut(TABLE), strict=True):
        (tmp_path / name).write_bytes(side)
    return tmp_path


def evaluate(home: Path, name: str, *options: object, gold: str = "gold.vrt", pred: str = "pred.vrt") -> Path:
    done = run("evaluate", home / gold, home / pred, "-o", home / name, "--force", *options)
    assert done.code == 0, done.err
    return home / name


def reimport(home: Path, *books: Path, gold: str = "gold.vrt", out: str = "corrected.vrt", code: int = 0) -> bytes:
    log = home / "log.jsonl"
    done = run("reimport", *books, "--gold", home / gold, "-o", home / out, "--judgements", log, "--force")
    assert done.code == code, done.err + done.out
    return (home / out).read_bytes()


def enter(path: Path, target: Path, answers: dict[str, dict[str, str]]) -> Path:
    """Type into the row of each case, by header; an empty text clears the cell."""
    book = openpyxl.load_workbook(path)
    for sheet in book.worksheets:
        names = headers(sheet)
        if "Case ID" not in names or "Judgement" not in names:
            continue
        for row in sheet.iter_rows(min_row=FIRST):
            for header, text in answers.get(str(row[names.index("Case ID")].value), {}).items():
                row[names.index(header)].value = text or None
    book.save(target)
    return target


def row_of(path: Path, case: str) -> dict[str, object]:
    """What stands in the row of a case, by header."""
    for sheet in openpyxl.load_workbook(path).worksheets:
        names = headers(sheet)
        for row in sheet.iter_rows(min_row=FIRST, values_only=True) if "Case ID" in names else ():
            if row[names.index("Case ID")] == case:
                return dict(zip(names, row, strict=False))
    raise AssertionError(case)


def kays(path: Path) -> list[str]:
    return [case for case in cases_of(path)["FN"] if row_of(path, case)["Span"] == "Kay"]


def bonn_of(path: Path) -> str:
    return next(case for case in cases_of(path)["FN"] if row_of(path, case)["Span"] == "Bonn")


ALIKE = {"Judgement": "2", "Applies to": "1"}
NOTHING = {"Judgement": "", "Applies to": ""}


def test_what_a_third_person_overrules_does_not_return_for_the_twins_either(home):
    book = evaluate(home, "r.xlsx")
    first = kays(book)[0]
    anna = enter(book, home / "anna.xlsx", {first: ALIKE})
    reimport(home, anna)  # in between: Ben is not ready
    ben = enter(book, home / "ben.xlsx", {first: {"Judgement": "1"}})
    third = home / "third.xlsx"
    done = run("reimport", anna, ben, "--gold", home / "gold.vrt", "--conflicts", third)
    assert done.code == 3, done.err
    enter(third, third, {first: {"Judgement": "1"}})
    gold = reimport(home, anna, ben, third)
    assert gold == (home / "gold.vrt").read_bytes()
    again = evaluate(home, "again.xlsx", "--previous", home / "log.jsonl")
    assert reimport(home, again, out="c2.vrt") == gold
    assert {case for case in all_cases(again) if row_of(again, case)["Judgement"]} == {first}


def test_what_nobody_changed_keeps_its_judge_and_its_date_and_is_not_logged_again(home):
    book = evaluate(home, "r.xlsx")
    first, bonn = kays(book)[0], bonn_of(book)
    reimport(home, enter(book, home / "anna.xlsx", {first: {"Judgement": "1"}, bonn: {"Judgement": "5"}}))
    log = home / "log.jsonl"
    before = log.read_bytes()
    when = log_lines(log)[0]["when"]
    again = evaluate(home, "ben.xlsx", "--previous", log, "--judges", "ben").with_name("ben-ben.xlsx")
    shown = row_of(again, first)
    assert shown["Judgement"] == "1 Model is wrong"
    assert shown["Earlier judgements"] == f"anna: Model is wrong ({when[:10]})"
    reimport(home, again)
    assert log.read_bytes() == before
    second = kays(book)[1]
    reimport(home, enter(again, home / "ben-ben.xlsx", {second: {"Judgement": "2"}}))
    (added,) = log_lines(log)[2:]
    assert (added["who"], added["case"]) == ("ben", second)


def test_what_a_second_person_changes_is_theirs_and_what_they_clear_stays_open(home):
    book = evaluate(home, "r.xlsx")
    first, bonn = kays(book)[0], bonn_of(book)
    reimport(home, enter(book, home / "anna.xlsx", {first: ALIKE, bonn: {"Judgement": "1"}}))
    evaluate(home, "r2.xlsx", "--previous", home / "log.jsonl", "--judges", "ben")
    ben = enter(home / "r2-ben.xlsx", home / "ben.xlsx", {first: {"Judgement": "5", "Applies to": ""}, bonn: NOTHING})
    reimport(home, ben)
    again = evaluate(home, "again.xlsx", "--previous", home / "log.jsonl")
    assert {case for case in all_cases(again) if row_of(again, case)["Judgement"]} == {first}
    assert row_of(again, first)["Earlier judgements"].startswith("ben: Good enough (")
    taken = [line for line in log_lines(home / "log.jsonl") if line["outcome"] == "withdrawn"]
    assert {(line["case"], line["who"], line["whose"]) for line in taken} == {
        (first, "ben", "anna"),
        (bonn, "ben", "anna"),
    }


def test_a_twin_that_is_cleared_stays_open_while_the_others_keep_the_decision(home):
    book = evaluate(home, "r.xlsx")
    first, second, third = kays(book)
    reimport(home, enter(book, home / "anna.xlsx", {first: {"Judgement": "1", "Applies to": "1"}}))
    for name, side in zip(("gold.vrt", "pred.vrt"), cut(MORE), strict=True):  # one twin more: each has its own row
        (home / name).write_bytes(side)
    more = evaluate(home, "more.xlsx", "--previous", home / "log.jsonl")
    filled = {case for case in all_cases(more) if row_of(more, case)["Judgement"]}
    assert filled == {first, second, third}  # the new one is open
    reimport(home, enter(more, home / "anna.xlsx", {second: NOTHING}))
    again = evaluate(home, "again.xlsx", "--previous", home / "log.jsonl")
    assert {case for case in all_cases(again) if row_of(again, case)["Judgement"]} == {first, third}


def test_what_was_carried_out_in_gold_is_shown_and_not_filled_in_again(home):
    book = evaluate(home, "r.xlsx")
    (lea,) = cases_of(book)["FP"]
    gold = reimport(home, enter(book, home / "anna.xlsx", {lea: {"Judgement": "2", "Correct span": "Lea Ott"}}))
    options = ("--level", "exact", "--previous", home / "log.jsonl")
    done = run("evaluate", home / "corrected.vrt", home / "pred.vrt", "-o", home / "again.xlsx", *options)
    assert "1 more were carried out in gold: shown as a hint" in done.err
    row = row_of(home / "again.xlsx", lea)
    assert not row["Judgement"]
    assert "carried out in the reference)" in str(row["Earlier judgements"])
    assert reimport(home, home / "again.xlsx", gold="corrected.vrt", out="c2.vrt") == gold


def line(case: str, who: str, outcome: Outcome = Outcome.UNCHANGED, **more: object) -> Judgement:
    return Judgement("model_error", case_id=case, judge=who, effect=Effect.NONE, outcome=outcome, **more)


def test_a_disputed_case_is_decided_once_the_others_took_their_judgement_back():
    disputed = [line("FN-A", "anna", Outcome.OPEN), line("FN-A", "ben", Outcome.OPEN)]
    assert standing_decisions(disputed) == {}
    taken = Judgement(case_id="FN-A", judge="ben", outcome=Outcome.WITHDRAWN)
    assert standing_decisions([*disputed, taken]) == {"FN-A": disputed[0]}


@pytest.mark.office
def test_a_story_through_libreoffice(home: Path, office: Office):
    """Anna and Ben judge, Cara decides, Anna takes another one back: then an untouched workbook changes nothing."""
    book = evaluate(home, "r.xlsx")
    first, bonn = kays(book)[0], bonn_of(book)

    def judged(source: Path, name: str, answers: dict[str, dict[str, str]]) -> Path:
        document = office.open(source)
        sheet = TABS["FN"]
        at, rows = columns(document, sheet), case_rows(document, sheet)
        for case, texts in answers.items():
            for header, text in texts.items():
                document.enter(sheet, f"{at[header]}{rows[case]}", text)
        document.save(home / name)
        document.close()
        return home / name

    anna = judged(book, "anna.xlsx", {first: ALIKE, bonn: {"Judgement": "2"}})
    reimport(home, anna)
    ben = judged(book, "ben.xlsx", {first: {"Judgement": "1"}})
    run("reimport", anna, ben, "--gold", home / "gold.vrt", "--conflicts", home / "third.xlsx")
    cara = judged(home / "third.xlsx", "cara.xlsx", {first: {"Judgement": "1"}})
    anna = judged(anna, "anna2.xlsx", {bonn: {"Judgement": ""}})
    shutil.move(anna, home / "anna.xlsx")
    gold = reimport(home, home / "anna.xlsx", ben, cara)
    assert gold == (home / "gold.vrt").read_bytes()
    again = evaluate(home, "again.xlsx", "--previous", home / "log.jsonl")
    untouched = judged(again, "untouched.xlsx", {})
    assert reimport(home, untouched, out="c2.vrt") == gold
    assert {case for case in all_cases(again) if row_of(again, case)["Judgement"]} == {first}
