"""One number for one thing: three judges, some cases judged twice, a sample, twins, a conflict, rows that cannot be
used; what terminal, workbook, HTML, JSON and `status` say about cases is the same number under the same name."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.progress import why_not_overwrite
from tests.support.commands import EXAMPLE_OPTIONS, Result, run
from tests.support.teams import all_cases, fill, manifest
from tests.support.workbooks import HEADER_ROW, headers, texts

pytestmark = pytest.mark.slow

TEAM = ("anna", "ben", "cem")
STATES = ("judged", "carried", "settled", "conflict", "unusable", "open", "missing")
ACCOUNT = re.compile(
    r"(\d+) cases?: (\d+) judged, (\d+) decided by a case alike, (\d+) settled by a linked case, (\d+) in conflict, "
    r"(\d+) without a usable row, (\d+) open, (\d+) missing"
)


def account_of(text: str) -> dict[str, int]:
    """The account that a sentence gives."""
    numbers = ACCOUNT.search(text)
    assert numbers, text
    return dict(zip(("cases", *STATES), map(int, numbers.groups()), strict=True))


def summary_rows(report: bytes) -> list[list[Any]]:
    """What stands in each row of the report's first sheet."""
    sheet = read_workbook(report, "report").sheets[0]
    return [[cell for cell in row if cell != ""] for row in sheet.rows if any(row)]


def judge(book: Path, answers: dict[str, Judgement | str], for_all: str) -> None:
    """Fill answers in; one of them is to hold for all cases alike."""
    fill(book, answers)
    opened = openpyxl.load_workbook(book)
    for sheet in opened.worksheets:
        names = headers(sheet)
        for row in range(HEADER_ROW + 1, sheet.max_row + 1 if "Applies to" in names else 0):
            if sheet.cell(row, names.index("Case ID") + 1).value == for_all:
                sheet.cell(row, names.index("Applies to") + 1, 1)
    opened.save(book)


def delete_row(book: Path, case: str) -> None:
    """A judge deletes the row of a case."""
    opened = openpyxl.load_workbook(book)
    for sheet in opened.worksheets:
        ids = texts(sheet, "Case ID") if "Case ID" in headers(sheet) else []
        if case in ids:
            sheet.delete_rows(HEADER_ROW + 1 + ids.index(case))
    opened.save(book)


@pytest.fixture(scope="module")
def corpus(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The example, each document twice, so that every case has a twin."""
    folder = tmp_path_factory.mktemp("corpus")
    for name in ("gold.vrt", "pred.vrt"):
        text = (examples / name).read_text("utf-8")
        again = re.sub(r'<text id="', '<text id="again-', text)
        ids = re.sub(r"(?m)\t([^\t\n]+)$", r"\t\1-again", again)
        (folder / name).write_text(text + ids, "utf-8")
    return folder / "gold.vrt", folder / "pred.vrt"


@pytest.fixture(scope="module")
def rounds(corpus: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What was said when the workbooks came back half judged, and again when the conflict was decided, too."""
    folder = tmp_path_factory.mktemp("story")
    books = [folder / f"r-{name}.xlsx" for name in TEAM]
    options = ("--judges", ",".join(TEAM), "--double", "40%", "--sample", "40", "--agreed", "6")
    handed_out = run("evaluate", *corpus, *EXAMPLE_OPTIONS, "-o", folder / "r.xlsx", *options)
    assert handed_out.code == 0, handed_out.err
    own = [all_cases(book) for book in books]
    shared = sorted(case for case in own[0] & own[1] if case.startswith("FN"))[0]
    twins = next(
        group for group in manifest(books[2]).case_list.twins.members if set(group) <= own[2] - own[1] - own[0]
    )
    left = [
        sorted(case for case in cases if case[:2] in {"FN", "FP"} and case not in {shared, *twins}) for cases in own
    ]
    for book, cases, mine in zip(books, own, left, strict=True):
        answers: dict[str, Judgement | str] = dict.fromkeys(mine[:2], "model_error") | {mine[4]: "nonsense"}
        if shared in cases:
            answers[shared] = "gold_wrong" if book is books[0] else "model_error"
        if book is books[2]:
            answers[twins[0]] = "model_error"
        judge(book, answers, for_all=twins[0])
    start = {"handed_out": handed_out.err, "sizes": [len(cases) for cases in own], "all": set().union(*own)}
    interim = start | brought_back(folder, books, corpus[0], "--conflicts", folder / "third.xlsx")
    for book, mine in zip(books, left, strict=True):
        judge(book, {mine[2]: "model_error", mine[3]: Judgement("boundary")}, for_all="")
    delete_row(books[1], next(case for case in left[1][5:] if case not in own[0] | own[2]))
    judge(folder / "third.xlsx", dict.fromkeys(all_cases(folder / "third.xlsx"), "model_error"), for_all="")
    return [interim, start | brought_back(folder, [*books, folder / "third.xlsx"], corpus[0])]


@pytest.fixture(params=(0, 1), ids=("interim", "end"))
def story(rounds: list[dict[str, Any]], request: pytest.FixtureRequest) -> dict[str, Any]:
    """One of the two rounds."""
    return rounds[request.param]


def brought_back(folder: Path, books: list[Path], gold: Path, *options: object) -> dict[str, Any]:
    """What each medium says of workbooks that come back; the log is the same each time."""
    log = folder / "log.jsonl"
    outputs = (
        "--report",
        folder / "r-report.xlsx",
        "--html",
        folder / "r.html",
        "--json",
        folder / "r.json",
    )
    status = run("status", *books, "--json", folder / "status.json")
    back = run("reimport", *books, "--gold", gold, *outputs, "--judgements", log, *options)
    report = (folder / "r-report.xlsx").read_bytes()
    return {
        "books": [book.name for book in books],
        "guarded": [why_not_overwrite(book.read_bytes(), book.name) for book in books],
        "status": status.err,
        "status_json": json.loads((folder / "status.json").read_text("utf-8"))["workbooks"],
        "back": back,
        "json": json.loads((folder / "r.json").read_text("utf-8"))["runs"][0],
        "sheets": read_workbook(report, "report").sheets,
        "report": summary_rows(report),
        "html": html.unescape(re.sub(r"<[^>]*>", " ", (folder / "r.html").read_text("utf-8"))),
        "log": log.read_bytes(),
    }


def test_what_is_to_judge_is_what_the_workbooks_hold(story: dict[str, Any]) -> None:
    counts = [int(number) for number in re.findall(r"\d+", story["handed_out"].partition("To judge: ")[2])[:3]]
    kinds = [sum(case.startswith(kind) for case in story["all"]) for kind in ("FN", "FP", "AG")]
    assert counts == kinds
    shares = ", ".join(f"{size} to {name}" for size, name in zip(story["sizes"], TEAM, strict=True))
    twice = sum(story["sizes"]) - len(story["all"])
    assert f"Cases handed out: {shares}; {twice} of them to two people." in story["handed_out"]


def test_status_the_re_import_and_the_refusal_to_overwrite_count_each_workbook_alike(story: dict[str, Any]) -> None:
    said = [account_of(line) for line in story["status"].splitlines() if ACCOUNT.search(line)]
    assert said == [book["account"] for book in story["status_json"]]
    assert said == [account_of(reason) for reason in story["guarded"]]
    assert said == [book["account"] for book in story["json"]["workbooks"]]
    assert [account["cases"] for account in said][:3] == story["sizes"]
    rows = {row[0]: row[2:5] for row in story["report"]}
    for account, book in zip(said, story["books"], strict=True):
        assert account["cases"] == sum(account[state] for state in STATES)
        decided = account["judged"] + account["carried"] + account["settled"]
        assert [int(number) for number in rows[book]] == [account["cases"], decided, account["unusable"]]


def test_all_media_say_the_same_of_a_re_import(story: dict[str, Any]) -> None:
    account, back = story["json"]["account"], story["back"]
    assert back.code == 3
    assert account["cases"] == len(story["all"]) == sum(account[state] for state in STATES)
    assert min(account[state] for state in ("judged", "carried", "unusable", "open")) > 0
    at_the_end = len(story["books"]) > len(TEAM)  # the third person has decided the conflict, a row has been deleted
    assert (account["conflict"], account["missing"]) == ((0, 1) if at_the_end else (1, 0))
    decided = account["judged"] + account["carried"] + account["settled"]
    unusable = sum(book["account"]["unusable"] for book in story["status_json"])
    assert len(story["json"]["unusable"]) == unusable
    report = "\n".join(" ".join(map(str, row)) for row in story["report"])
    table = {str(row[0]): row[1] for row in story["report"] if len(row) == 2}
    names = ("judged", "decided by a case alike", "settled by a linked case", "in conflict", "without a usable row")
    assert [table[name] for name in (*names, "open", "missing")] == [account[state] for state in STATES]
    assert table["all"] == account["cases"]
    for text in (back.out, report, story["html"]):
        words = " ".join(text.split())
        assert f"{decided} of {account['cases']} cases are decided" in words
        assert set(re.findall(r"cases in conflict: (\d+)", words)) == {str(account["conflict"])}
        assert f"rows that cannot be used: {unusable}" in words
        assert f"the cases that are open are to be judged, too ({account['open']})" in words


def test_agreement_is_listed_once_for_the_same_judges(story: dict[str, Any]) -> None:
    sheet = next(sheet for sheet in story["sheets"] if sheet.name == "Agreement")
    rows = [tuple(row[:2]) for row in sheet.rows if len(row) > 3 and ", " in str(row[1])]
    assert ("all cases", "anna, ben, cem") in rows
    assert len(rows) == len(set(rows))


def test_what_earlier_judgements_leave_to_judge_is_what_is_open(
    story: dict[str, Any], corpus: tuple[Path, Path], tmp_path: Path
) -> None:
    book, log = tmp_path / "next.xlsx", tmp_path / "log.jsonl"
    log.write_bytes(story["log"])
    done: Result = run("evaluate", *corpus, *EXAMPLE_OPTIONS, "-o", book, "--previous", log, "--sample", "20")
    assert done.code == 0, done.err
    filled_in, cases, left = map(int, re.findall(r"(\d+) of (\d+) cases were.*; (\d+) are left to judge", done.err)[0])
    account = account_of(run("status", book).err)
    assert (cases, left) == (account["cases"], account["open"]) == (len(all_cases(book)), account["open"])
    assert 0 < filled_in == account["judged"] + account["carried"]
