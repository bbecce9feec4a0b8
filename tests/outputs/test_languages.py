"""A language is one file: what it says is shown and read back, what it lacks is shown in English and listed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.resources import resource_folder
from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement
from clueval_xlsx.review.reimport import reimport
from clueval_xlsx.words import Words, check_language, languages
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.teams import cases_of, everything_in, fill
from tests.support.workbooks import find, headers


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
        "guide": {"judge_name": "Oruy eman", "sheet_fn": "Enod {wrong_brace}"},
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
    assert "DI esaC" in names
    assert "tnemegduJ" in names
    assert "Comment" in names  # missing: in English
    assert opened["ediuG"]["B1"].value == Words("en")["guide.title"]
    text = "\n".join(str(cell.value) for row in opened["ediuG"].iter_rows() for cell in row if cell.value)
    assert "wrong_brace" not in text  # a sentence that cannot be filled in is English, too
    assert "gnorw si ledoM" in text

    judged = {}
    place, case = names.index("tnemegduJ") + 1, names.index("DI esaC") + 1
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
    assert {record.judge for record in adjudicated.records} == {"Zoë"}
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
    assert any("guide.sheet_fn lacks {" in line for line in lines)
    assert any("more.nobody is no key" in line for line in lines)
    assert not any("column.case " in line for line in lines)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ('progress = "{{done}} of {total}"', "progress lacks {done}"),
        ('progress = "{done of {total}"', "progress has a brace that opens or closes nothing"),
        ('progress = "{done} {of} {total}"', "progress has other braces"),
        ('[cases]\nfree_title = "' + "ü" * 33 + '"', "cases.free_title is too long"),
        ('[cases]\nerror_message = "' + "ü" * 256 + '"', "cases.error_message is too long"),
        ('[state]\nstrange = "' + "😀" * 128 + '"', "state.strange is too long"),
        ('[sheet]\nfn = "' + "ü" * 32 + '"', "sheet.fn is too long"),
    ],
)
def test_validate_finds_words_that_a_workbook_cannot_use(tmp_path, words, problem):
    file = tmp_path / "xx.toml"
    file.write_text(words, encoding="utf-8")
    done = run("validate", file)
    assert done.code == 2
    assert problem in done.out


@pytest.mark.slow
def test_validate_finds_every_placeholder_that_was_left_out():
    """Each one of the English file is taken out by itself."""
    english = (resource_folder("templates") / "words" / "en.toml").read_text(encoding="utf-8")
    places = list(re.finditer(r"(?<!\{)\{\w+\}", english))
    once = [found for found in places if english[: found.start()].rpartition("\n")[2].count(found.group()) == 0]
    assert len(once) > 100
    for found in once:
        line = english[: found.start()].rpartition("\n")[2] + english[found.start() :].partition("\n")[0]
        if line.startswith("#") or line.count(found.group()) > 1:
            continue
        changed = english[: found.start()] + english[found.end() :]
        (problem,) = check_language(changed.encode(), "xx.toml")
        assert f"lacks {found.group()}" in str(problem)


def test_a_language_without_placeholders_still_makes_a_workbook(tmp_path, monkeypatch, sides):
    (tmp_path / "xx.toml").write_text('progress = "done"\nopen_questions = "{count} and {count}"\n', encoding="utf-8")
    monkeypatch.setenv("CLUEVAL_WORDS", str(tmp_path))
    made = tmp_path / "review.xlsx"
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", made, "--lang", "xx").code == 0


def test_the_languages_that_come_with_the_tool_are_complete(monkeypatch):
    monkeypatch.delenv("CLUEVAL_WORDS", raising=False)
    for language in languages():
        done = run("validate", resource_folder("templates") / "words" / f"{language}.toml")
        assert (done.code, done.out.count("complete")) == (0, 1), done.out


def test_an_unknown_language_is_refused(sides, tmp_path, third):
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", tmp_path / "r.xlsx", "--lang", "yy")
    refused(done, "yy", "en, de, xx")


def test_answers_may_be_in_any_language(sides, tmp_path):
    made = tmp_path / "review.xlsx"
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", made).code == 0
    missed = cases_of(made)["FN"]
    german = Words("de")
    fill(made, {case: Judgement(german[f"judgement.{code}"]) for case, code in zip(missed, codes(), strict=False)})
    (adjudicated,) = reimport([made], sides[0]).runs
    assert [record.code for record in adjudicated.records] == codes()[: len(missed)]


def codes() -> list[str]:
    needs_more = {"boundary", "label"}
    return [judgement.code for judgement in JUDGEMENTS if "FN" in judgement.sheets and judgement.code not in needs_more]


def test_every_language_has_every_word():
    assert {language: Words(language).missing() for language in languages()} == {name: [] for name in languages()}
