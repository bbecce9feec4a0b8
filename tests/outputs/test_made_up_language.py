"""No output keeps a word of English: told by a made-up language, every word longer, accented and marked; and German."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from clueval_xlsx.resources import resource_folder
from clueval_xlsx.words import _LIMITS, _SECTION_LIMITS, FOLDER_VARIABLE, Words
from tests.support.commands import EXAMPLE_OPTIONS, run

pytestmark = pytest.mark.slow

OPEN, CLOSE = "⟦", "ü⟧"
_WORD = re.compile(r"[A-Za-z]{3,}")
_PLACEHOLDER = re.compile(r"(\{\w*\})")


def _marked(key: str, words: str) -> str:
    """Each stretch of words between marks, longer by an accented letter for each vowel, where there is room."""
    longer = "".join(
        part if _PLACEHOLDER.fullmatch(part) or not part.strip() else f"{OPEN}{_stretched(part)}{CLOSE}"
        for part in _PLACEHOLDER.split(words)
    )
    limit = _LIMITS.get(key) or _SECTION_LIMITS.get(key.partition(".")[0])
    if limit and len(longer) > limit:
        room = limit - len(OPEN + CLOSE)
        return f"{OPEN}{words[:room]}{CLOSE}" if "{" not in words else longer
    return longer


def _stretched(words: str) -> str:
    return re.sub(r"[aeiou](?=[a-z])", lambda vowel: vowel.group() + "üé", words)


def _toml(table: Mapping[str, Any], path: str = "") -> Iterator[str]:
    values = {key: value for key, value in table.items() if not isinstance(value, dict)}
    if path and values:
        yield f"[{path}]"
    for key, value in values.items():
        full = f"{path}.{key}" if path else key
        text = _marked(full, value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        yield f'{key} = "{text}"'
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _toml(value, f"{path}.{key}" if path else key)


@pytest.fixture(scope="module")
def english() -> dict[str, Any]:
    return tomllib.loads((resource_folder("templates") / "words" / "en.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def made(english: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Every output that people read, in the made-up language."""
    folder = tmp_path_factory.mktemp("made-up")
    (folder / "words").mkdir()
    (folder / "words" / "xx.toml").write_text("\n".join(_toml(english)) + "\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(folder / "words"))
        done = run("validate", folder / "words" / "xx.toml")
        assert done.code == 0, done.out
        _make(folder, "xx")
        yield folder


def _make(folder: Path, lang: str) -> None:
    examples = resource_folder("examples")
    gold, pred = examples / "gold.vrt", examples / "pred.vrt"
    look = (*EXAMPLE_OPTIONS, "--lang", lang, "--scheme", "all", "--by", "domain")
    out = ("-o", folder / "zz.xlsx", "--html", folder / "report.html", "--unmarked", "--agreed", 5)
    done = run("evaluate", gold, pred, *look, *out, "--judges", "anna,ben", "--double", "100%")
    assert done.code == 0, done.err
    books = folder / "zz-anna.xlsx", folder / "zz-ben.xlsx"
    own, german = Words(lang), Words("de")
    _judge(books[0], [own["judgement.gold_wrong"], own["judgement.model_error"], "5"], own)
    _judge(books[1], [german["judgement.model_error"], "3", "5"], own)
    targets = (
        "--report",
        folder / "adjudicated.xlsx",
        "--html",
        folder / "adjudicated.html",
        "--json",
        folder / "a.json",
    )
    done = run("reimport", *books, "--gold", gold, *targets, "--conflicts", folder / "second.xlsx", "--lang", lang)
    assert done.code == 3, done.err
    out = ("-o", folder / "comparison.xlsx", "--html", folder / "comparison.html")
    done = run("compare", gold, pred, gold, *EXAMPLE_OPTIONS, "--lang", lang, *out)
    assert done.code == 0, done.err


def _judge(path: Path, answers: list[str], words: Words) -> None:
    """Type into the first rows of the first review sheet."""
    book = openpyxl.load_workbook(path)
    sheet = book[words["sheet.fn"]]
    head = next(row for row in sheet.iter_rows(max_row=9) if words["column.judgement"] in [cell.value for cell in row])
    column = next(cell.column for cell in head if cell.value == words["column.judgement"])
    for row, answer in enumerate(answers, head[0].row + 1):
        sheet.cell(row, column, answer)
    book.save(path)


BOOKS = ("zz-anna.xlsx", "adjudicated.xlsx", "second.xlsx", "comparison.xlsx")
PAGES = ("report.html", "adjudicated.html", "comparison.html")
_MARKED = re.compile(f"{OPEN}[^{OPEN}]*?{CLOSE}")
# The same in every language: schemes, layers, files, sheets that people do not see, and what a signature is made of.
_NAMES = {"clueval", "seqeval", "semeval", "presidio", "xlsx", "vrt", "gold", "pred", "category", "risk", "domain"}
_NAMES |= {"anna", "ben", "span", "iou", "tax", "civil", "criminal", "labour", "family"}


# Words that are German as well, or end so behind an umlaut; names and measures.
_SAME = set(_WORD.findall("band block diff falls filter here name person rest stand system tests text was"))
_SAME |= set(_WORD.findall("anna lee fleiss holm alpha kappa iou nervaluate presidio semeval seqeval javascript"))
_SAME |= set(_WORD.findall("cor inc mis par spu xyz"))


def _vocabulary(table: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    for value in table.values():
        text = _PLACEHOLDER.sub(" ", value) if isinstance(value, str) else ""
        found |= _vocabulary(value) if isinstance(value, dict) else {word.lower() for word in _WORD.findall(text)}
    return found


@pytest.fixture(scope="module")
def suspects(english: dict[str, Any]) -> set[str]:
    """English words of the tool that the example's documents do not hold."""
    examples = resource_folder("examples")
    both = (examples / "gold.vrt").read_text("utf-8") + (examples / "pred.vrt").read_text("utf-8")
    return _vocabulary(english) - {word.lower() for word in _WORD.findall(both)} - _NAMES


def _left(texts: Iterator[tuple[str, str]], suspects: set[str]) -> list[str]:
    """The texts, with their places, that hold a word of English outside the marks."""
    found = []
    for where, text in texts:
        rest = _MARKED.sub(" ", text)
        if "|version:" in rest or rest.startswith("clueval-run"):  # a signature, which is the same in every language
            continue
        words = {word for word in _WORD.findall(rest) if word.lower() in suspects}
        if words:
            found.append(f"{where}: {sorted(words)} in {text[:160]!r}")
    return found


def _workbook_texts(path: Path) -> Iterator[tuple[str, str]]:
    """What people can read: cells, literals of formulas, messages of lists, names of sheets, charts."""
    for sheet in openpyxl.load_workbook(path).worksheets:
        if sheet.sheet_state != "visible":
            continue
        yield "sheet", sheet.title
        yield f"{sheet.title} footer", sheet.oddFooter.left.text or ""
        for cell in (cell for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)):
            literals = re.findall(r'"([^"]*)"', cell.value) if cell.value.startswith("=") else [cell.value]
            yield f"{sheet.title}!{cell.coordinate}", " ".join(literals)
        for rule in sheet.data_validations.dataValidation:
            yield sheet.title, " ".join(filter(None, (rule.promptTitle, rule.prompt, rule.errorTitle, rule.error)))
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            if name.startswith("xl/charts/"):
                yield from ((name, text) for text in re.findall("<a:t>(.*?)</a:t>", package.read(name).decode()))


def _page_texts(page: str) -> Iterator[tuple[str, str]]:
    """The texts of a page, and the attributes that are shown or read aloud."""
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    attributes = r'\b(title|aria-label|placeholder|alt|label)="([^"]+)"'
    yield from ((name, unescape(text)) for name, text in re.findall(attributes, shown))
    yield from (("page", unescape(text)) for text in re.findall(r">([^<>]*\S[^<>]*)<", shown))


# What nobody but the person at the command line should meet: options, paths, the codes of judgements and classes.
_TECHNICAL = re.compile(r"(?<!\w)--[a-z]|(?<![\w.])\.{0,2}/\w+/|\b[A-Za-z]:\\|\b[a-z]+_[a-z_]+\b")


@pytest.mark.parametrize("name", BOOKS)
def test_a_workbook_has_no_english_word_path_option_or_code(made: Path, suspects: set[str], name: str) -> None:
    texts = list(_workbook_texts(made / name))
    assert sum(OPEN in text for _, text in texts) > 30
    assert _left(iter(texts), suspects) == []
    assert [(where, text) for where, text in texts if "|version:" not in text and _TECHNICAL.search(text)] == []


def test_answers_are_read_in_any_language(made: Path) -> None:
    (result,) = json.loads((made / "a.json").read_text("utf-8"))["runs"]
    said = {(each["who"], each["judgement"]) for conflict in result["conflicts"] for each in conflict["rows"]}
    assert {("anna", "gold_wrong"), ("ben", "model_error")} <= said
    assert len(result["unusable"]) == 1  # a boundary without a correct span


@pytest.mark.parametrize("name", PAGES)
def test_no_word_of_a_page_is_left_in_english(made: Path, suspects: set[str], name: str) -> None:
    texts = list(_page_texts((made / name).read_text("utf-8")))
    assert sum(OPEN in text for _, text in texts) > 30
    assert _left(iter(texts), suspects) == []


def test_the_german_words_keep_none_of_the_english_ones(english: dict[str, Any]) -> None:
    german = tomllib.loads((resource_folder("templates") / "words" / "de.toml").read_text("utf-8"))
    assert sorted((_vocabulary(english) & _vocabulary(german)) - _SAME) == []
