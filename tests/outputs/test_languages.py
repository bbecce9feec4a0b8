"""A language is one file: what it says is shown and read back, what it lacks is shown in English and listed."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.resources import resource_folder
from clueval_xlsx.words import Words, languages
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.workbooks import headers


@pytest.fixture
def third(tmp_path, monkeypatch) -> Path:
    """A made-up language of two words and a mistake."""
    path = tmp_path / "words" / "xx.toml"
    path.parent.mkdir()
    path.write_text(
        '[sheet]\nguide = "ediuG"\n[column]\ncase = "DI esaC"\n'
        '[guide]\nsheet_fn = "Enod {wrong_brace}"\n[more]\nnobody = "asks"\n',
        "utf-8",
    )
    monkeypatch.setenv("CLUEVAL_WORDS", str(path.parent))
    return path


def test_what_a_language_lacks_is_shown_in_english(third, sides, tmp_path):
    assert set(languages()) == {"en", "de", "xx"}
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", tmp_path / "review.xlsx", "--lang", "xx")
    assert done.code == 0, done.err
    opened = openpyxl.load_workbook(tmp_path / "review.xlsx")
    assert {"DI esaC", "Comment"} <= set(headers(opened[Words("en")["sheet.fn"]]))
    text = "\n".join(str(cell.value) for row in opened["ediuG"].iter_rows() for cell in row if cell.value)
    assert "wrong_brace" not in text  # a sentence that cannot be filled in is English, too
    assert Words("en")["guide.title"] in text


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
    assert not any("column.case is" in line for line in lines)


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


def test_the_languages_that_come_with_the_tool_are_complete(monkeypatch):
    monkeypatch.delenv("CLUEVAL_WORDS", raising=False)
    for language in languages():
        done = run("validate", resource_folder("templates") / "words" / f"{language}.toml")
        assert (done.code, done.out.count("complete")) == (0, 1), done.out
