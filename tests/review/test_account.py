"""The books close where people look: the account in the terminal, in the report and in JSON adds up to the manifest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clueval_xlsx.review.progress import CaseState
from clueval_xlsx.words import Words
from tests.support.accidents import CASES, TABLE, example_answers, gold
from tests.support.commands import Result, run
from tests.support.editing import case_sheets, edited, header
from tests.support.judging import judged, workbook

STATES = {"judged": 3, "carried": 0, "settled": 0, "conflict": 0, "unusable": 1, "open": 1, "missing": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Gold, and a workbook with rows that are judged, not understood, open, and gone."""

    def edit(book: Any) -> None:
        first, second = case_sheets(book)
        first.cell(header(first, "Marlene").row, header(first).column).value = "nonsense"
        second.delete_rows(header(second, "Kiel").row)

    evaluation = judged(TABLE)
    path = tmp_path_factory.mktemp("account")
    (path / "gold.vrt").write_bytes(gold().getvalue())
    (path / "review.xlsx").write_bytes(edited(workbook(evaluation, example_answers(evaluation)), edit).getvalue())
    return path


@pytest.fixture(scope="module")
def came(folder) -> Result:
    outputs = ("--report", folder / "report.xlsx", "--html", folder / "report.html", "--json", folder / "out.json")
    return run("reimport", folder / "review.xlsx", "--gold", folder / "gold.vrt", *outputs)


def told(text: str) -> dict[str, int]:
    """The count that a text gives for each state in its own words."""
    words = Words("en")
    patterns = {state: re.escape(words(f"account.{state}", count=7)).replace("7", r"(\d+)") for state in CaseState}
    return {state: int(found[1]) for state, pattern in patterns.items() if (found := re.search(pattern, text))}


def test_the_account_adds_up_to_the_manifest(folder, came) -> None:
    account = json.loads((folder / "out.json").read_text("utf-8"))["runs"][0]["account"]
    assert account == {"cases": CASES, **STATES}
    assert sum(STATES.values()) == CASES
    assert came.code == 3


def test_status_prints_the_same_account_and_says_that_a_person_must_look(folder) -> None:
    result = run("status", folder / "review.xlsx")
    assert told(result.err) == STATES
    assert result.code == 3
