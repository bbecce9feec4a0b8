"""Judgements of a project's own, and a third language by one file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.resources import resource_folder
from clueval_xlsx.review.reimport import reimport
from clueval_xlsx.review.vocabulary import JUDGEMENTS, Answer
from clueval_xlsx.words import Words, languages
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.teams import cases_of, everything_in, fill, manifest
from tests.support.workbooks import HEADER_ROW, find, headers

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


@pytest.fixture
def sides(examples: Path) -> tuple[Path, Path]:
    return examples / "gold.vrt", examples / "pred.vrt"


@pytest.fixture
def made(sides, tmp_path, write):
    """The example's workbook with judgements of the project's own."""
    book = tmp_path / "review.xlsx"
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", book, "--config", write("own.toml", CONFIG))
    assert done.code == 0, done.err
    return book


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
    assert "Public figure, need not be hidden" in choices(book, "FN")
    assert "Outside our guideline" not in choices(book, "FN")
    assert "Outside our guideline" in choices(book, "FP")
    assert "Public figure, need not be hidden" not in choices(book, "FP")
    row, column = find(book["Guide"], "Public figure, need not be hidden (FN)")
    standard, _ = find(book["Guide"], "Should not be marked (FN)")
    effects = [book["Guide"].cell(line, column + 2).value for line in (row, standard)]
    assert effects[0] == effects[1]
    row, column = find(book["Metrics"], "Public figure, need not be hidden")
    formulas = [book["Metrics"].cell(row, column + place).value for place in (1, 2)]
    assert any(str(formula).startswith("=") and "COUNTIF" in str(formula).upper() for formula in formulas)
    assert [judgement.code for judgement in manifest(made).judgements] == ["public_figure", "out_of_scope"]


WAYS = ("Public figure, need not be hidden", "Person des öffentlichen Lebens", "public_figure")


def test_own_judgements_do_what_their_effect_says(made, sides):
    missed, unsupported = cases_of(made)["FN"], cases_of(made)["FP"]
    fill(made, {**dict(zip(missed, WAYS, strict=False)), unsupported[0]: "out_of_scope"})
    (adjudicated,) = reimport([made], sides[0]).runs
    assert {adjudicated.decisions[case].effect for case in missed[:3]} == {"delete"}
    assert adjudicated.decisions[unsupported[0]].effect == "accept"
    assert {change.case_id for change in adjudicated.correction.changes} == set(missed[:3])


def test_own_judgements_are_in_reports_and_come_back_in_a_later_run(made, sides, tmp_path):
    missed = cases_of(made)["FN"]
    fill(made, {missed[0]: "public_figure"})
    report, page, content, log = (tmp_path / name for name in ("r.xlsx", "r.html", "r.json", "log.jsonl"))
    done = run(
        "reimport", made, "--gold", sides[0], "--report", report, "--html", page, "--json", content, "--judgements", log
    )  # fmt: skip
    assert done.code == 0, done.err
    for path in (report, page):
        assert "Public figure, need not be hidden" in everything_in(path.read_bytes()), path
    assert "public_figure" in content.read_text("utf-8")
    assert '"judgement": "public_figure"' in log.read_text("utf-8")
    again = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", tmp_path / "n.xlsx", "--previous", log, "--config",
                tmp_path / "own.toml")  # fmt: skip
    assert again.code == 0, again.err
    sheet = openpyxl.load_workbook(tmp_path / "n.xlsx")["FN"]
    place = headers(sheet).index("Judgement") + 1
    filled = {sheet.cell(row, 1).value: sheet.cell(row, place).value for row in range(5, sheet.max_row + 1)}
    assert filled[missed[0]] == "Public figure, need not be hidden"


def test_on_the_wrong_sheet_they_are_refused_like_any_other(made, sides):
    unsupported = cases_of(made)["FP"][0]
    fill(made, {unsupported: "public_figure"})
    done = run("reimport", made, "--gold", sides[0])
    assert done.code == 3
    assert "not offered on this sheet" in done.err


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


# ---- a third language --------------------------------------------------------------------------------------------


@pytest.fixture
def third(tmp_path, monkeypatch) -> Path:
    """A made-up language: every word is turned round, a few are missing."""
    standard = tomllib.loads((resource_folder("templates") / "words" / "en.toml").read_text("utf-8"))
    chosen = {
        "sheet": {key: word[::-1] for key, word in standard["sheet"].items()},
        "column": {key: word[::-1] for key, word in standard["column"].items() if key != "comment"},
        "judgement": {key: word[::-1] for key, word in standard["judgement"].items()},
        "span_choice": {key: word[::-1] for key, word in standard["span_choice"].items()},
        "severity": {key: word[::-1] for key, word in standard["severity"].items()},
        "guide": {"judge_name": "Oruy eman", "what": "Enod {missed} {wrong_brace}"},
    }
    lines = []
    for section, entries in chosen.items():
        lines += [f"[{section}]", *(f'{key} = "{word}"' for key, word in entries.items())]
    folder = tmp_path / "words"
    folder.mkdir()
    path = folder / "xx.toml"
    path.write_text("\n".join([*lines, "[more]", 'nobody = "asks"', ""]), "utf-8")
    monkeypatch.setenv("CLUEVAL_WORDS", str(folder))
    return path


def test_a_language_is_one_file(third, sides, tmp_path):
    assert set(languages()) == {"en", "de", "xx"}
    book = tmp_path / "review.xlsx"
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", book, "--lang", "xx", "--judges", "anna,ben")
    assert done.code == 0, done.err
    path = tmp_path / "review-anna.xlsx"
    opened = openpyxl.load_workbook(path)
    words = Words("xx")
    assert words["sheet.guide"] == "ediuG"
    assert "ediuG" in opened.sheetnames
    sheet = opened[words["sheet.fn"]]
    names = headers(sheet)
    assert names[0] == "esaC"
    assert "tnemegduJ" in names
    assert "Comment" in names  # missing: in English
    assert opened["ediuG"]["B1"].value == Words("en")["guide.title"]
    text = "\n".join(str(cell.value) for row in opened["ediuG"].iter_rows() for cell in row if cell.value)
    assert "wrong_brace" not in text  # a sentence that cannot be filled in is English, too
    assert "gnorw si ledoM" in text

    judged = {}
    place, case = names.index("tnemegduJ") + 1, names.index("esaC") + 1
    span = names.index("naps tcerroC") + 1
    for row, code in zip((5, 6), ("gold_wrong", "model_error"), strict=True):
        judged[sheet.cell(row, case).value] = code
        sheet.cell(row, place, words[f"judgement.{code}"])
    sheet.cell(6, span, words["span_choice.as_model"])
    opened["ediuG"].cell(*find(opened["ediuG"], "Oruy eman")).offset(0, 1).value = "Zoë"
    opened.save(path)
    (adjudicated,) = reimport([path], sides[0]).runs
    assert not adjudicated.problems
    assert {record.case_id: record.code for record in adjudicated.records} == judged
    assert {record.correct_span for record in adjudicated.records} == {"", "as_model"}
    assert {record.annotator for record in adjudicated.records} == {"Zoë"}
    report = tmp_path / "report.xlsx"
    assert run("reimport", path, "--gold", sides[0], "--report", report).code == 0
    assert "dekram eb ton dluohS" in everything_in(report.read_bytes())


def test_validate_lists_what_a_language_lacks(third):
    done = run("validate", third)
    assert done.code == 2
    lines = done.out.splitlines()
    missing = Words("xx").missing()
    assert len(missing) > 100
    for key in missing:
        assert any(f"{key} is missing" in line for line in lines), key
    assert any("column.comment is missing" in line and "'Comment'" in line for line in lines)
    assert any("guide.what has other braces" in line for line in lines)
    assert any("more.nobody is no key" in line for line in lines)
    assert not any("column.case " in line for line in lines)


def test_the_languages_that_come_with_the_tool_are_complete(monkeypatch):
    monkeypatch.delenv("CLUEVAL_WORDS", raising=False)
    for language in languages():
        done = run("validate", resource_folder("templates") / "words" / f"{language}.toml")
        assert (done.code, done.out.count("complete")) == (0, 1), done.out


def test_an_unknown_language_is_refused(sides, tmp_path, third):
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", tmp_path / "r.xlsx", "--lang", "yy")
    refused(done, "yy", "en, de, xx")


def test_answers_may_be_in_any_language(made, sides):
    missed = cases_of(made)["FN"]
    german = Words("de")
    fill(made, {case: Answer(german[f"judgement.{code}"]) for case, code in zip(missed, codes(), strict=False)})
    (adjudicated,) = reimport([made], sides[0]).runs
    assert [record.code for record in adjudicated.records] == codes()[: len(missed)]


def codes() -> list[str]:
    needs_more = {"boundary", "label"}
    return [judgement.code for judgement in JUDGEMENTS if "FN" in judgement.sheets and judgement.code not in needs_more]
