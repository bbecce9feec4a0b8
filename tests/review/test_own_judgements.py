"""Judgements of a project's own: offered, explained, counted, carried out, remembered."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.review.reimport import reimport
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.teams import cases_of, fill, manifest
from tests.support.workbooks import (
    HEADER_ROW,
    TABS,
    find,
    headers,
)

CONFIG = """
[judgements.public_figure]
effect = "gold_wrong"
en = "Public figure, need not be hidden"
de = "Person des öffentlichen Lebens"

[judgements.out_of_scope]
effect = "acceptable"
sheets = ["FP"]
en = "Outside our guideline"
"""


@pytest.fixture(scope="module")
def made_once(sides, tmp_path_factory) -> Path:
    """The example's workbook with judgements of the project's own, and their config."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.toml").write_text(CONFIG, "utf-8")
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", folder / "review.xlsx", "--config", folder / "own.toml")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def made(made_once, tmp_path) -> Path:
    """The same workbook, to be filled in."""
    shutil.copytree(made_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "review.xlsx"


def choices(book: openpyxl.Workbook, sheet: str) -> list[str]:
    """What the dropdown of the first judgement cell offers."""
    table = book[sheet]
    letter = table.cell(HEADER_ROW, headers(table).index("Judgement") + 1).column_letter
    for rule in table.data_validations.dataValidation:
        if f"{letter}{HEADER_ROW + 1}" in rule.sqref:
            name, _, area = rule.formula1.lstrip("=").rpartition("!")
            return [str(row[0].value) for row in book[name.strip("'")][area.replace("$", "")]]
    raise AssertionError("no dropdown")


def test_own_judgements_are_offered_explained_and_counted(made):
    book = openpyxl.load_workbook(made)
    missed, unsupported = (choices(book, TABS[kind]) for kind in ("FN", "FP"))
    assert "7 Public figure, need not be hidden" in missed
    assert not any("Outside our guideline" in choice for choice in missed)
    assert "8 Outside our guideline" in unsupported
    assert not any("Public figure" in choice for choice in unsupported)
    row, column = find(book["Guide"], "7 Public figure, need not be hidden (Missed (FN))")
    standard, _ = find(book["Guide"], "2 Should not be marked (Missed (FN))")
    effects = [book["Guide"].cell(line, column + 2).value for line in (row, standard)]
    assert effects[0] == effects[1]
    row, column = find(book["Metrics"], "Public figure, need not be hidden")
    counted, elsewhere = (book["Metrics"].cell(row, column + place).value for place in (1, 2))
    assert re.fullmatch(r"=SUM\(clueval_figures!\$[A-Z]+\$\d+\)", counted)  # follows the judgements, on a hidden sheet
    figure = book["clueval_figures"][counted.removeprefix("=SUM(clueval_figures!").rstrip(")").replace("$", "")]
    assert "COUNTIF(" in figure.value
    assert elsewhere == "–"
    assert [judgement.code for judgement in manifest(made).judgements] == ["public_figure", "out_of_scope"]


WAYS = ("Public figure, need not be hidden", "Person des öffentlichen Lebens", "public_figure")


def test_own_judgements_do_what_their_effect_says(made, sides):
    missed, unsupported = cases_of(made)["FN"], cases_of(made)["FP"]
    fill(made, {**dict(zip(missed, WAYS, strict=False)), unsupported[0]: "out_of_scope"})
    (adjudicated,) = reimport([made], sides[0]).runs
    assert {adjudicated.decisions[case].effect for case in missed[:3]} == {"delete"}
    assert adjudicated.decisions[unsupported[0]].effect == "accept"
    assert {change.case_id for change in adjudicated.correction.changes} == set(missed[:3])


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('[judgements.x]\neffect = "burn"\nen = "X"', ["'x'", "'burn'", "gold_wrong"]),
        ('[judgements.x]\nen = "X"', ["'x'", "effect"]),
        ('[judgements.gold_wrong]\neffect = "gold_wrong"\nen = "X"', ["judgement of the tool"]),
        ('[judgements.x]\neffect = "unclear"', ["no words"]),
        ('[judgements.x]\neffect = "unclear"\nen = 7', ["found 7", "a text"]),
        ('[judgements.x]\neffect = "unclear"\nen = "  "', ["a text"]),
        ('[judgements.x]\neffect = "unclear"\nen = "Model is wrong"', ["already means 'model_error'"]),
        ('[judgements.x]\neffect = "unclear"\nen = "cannot  DECIDE"', ["already means 'unclear'"]),
        (
            '[judgements.x]\neffect = "unclear"\nen = "A"\n[judgements.y]\neffect = "unclear"\nen = "a"',
            ["'y'", "already means 'x'"],
        ),
        ('[judgements.x]\neffect = "gold_missing"\nen = "X"\nsheets = ["FN"]', ["sheets ['FN']", "FP"]),
        ('[judgements.x]\neffect = "unclear"\nen = "X"\nsheets = "FN"', ["sheets 'FN'", "a list"]),
        ('[judgements.x]\neffect = "unclear"\nen = "X"\nsheets = []', ["sheets []"]),
        ('[judgements]\nx = "unclear"', ["[judgements.CODE]"]),
    ],
)  # fmt: skip
def test_bad_definitions_are_refused_with_what_is_allowed(sides, tmp_path, write, toml, words):
    target = tmp_path / "out" / "r.xlsx"
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target, "--config", write("own.toml", toml))
    refused(done, "own.toml", *words)
    assert not target.parent.exists()
