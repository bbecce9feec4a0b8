"""What is shown is decided once: workbook, page and terminal show the same rows under the same words."""

from __future__ import annotations

import ast
import io
import re
from html import unescape
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.options import SchemeOptions
from clueval_xlsx.outputs.html.report import to_html
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.pages.adjudication import account_sentence
from clueval_xlsx.review.case_words import case_name, class_name
from clueval_xlsx.review.progress import workbook_progress
from clueval_xlsx.views import numbers
from clueval_xlsx.views.documents import document_list
from clueval_xlsx.views.overview import tiles
from clueval_xlsx.views.scores import group_tables, label_tables, level_table, scheme_tables
from clueval_xlsx.words import Words, languages
from tests.support.folders import ROOT
from tests.support.judging import judged, workbook

pytestmark = pytest.mark.slow

TABLE = """
    token      gold    pred
    <text id="one" domain="law">
    Ann        B-PER   B-PER
    Lee        I-PER   O
    met        O       O
    Bob        O       B-PER
    in         O       O
    Bonn       B-LOC   B-PER
    .          O       O
    </text>
    <text id="two" domain="tax">
    Eve        B-PER   O
    .          O       O
    </text>
"""


@pytest.fixture(scope="module")
def result() -> Evaluation:
    schemes = SchemeOptions(scheme=("semeval", "documents"))
    return judged(TABLE, level="exact", labelled="span", by=("domain",), schemes=schemes)


def in_page(page: str) -> str:
    """What a page says, without its script and its style."""
    bare = re.sub(r"<(script|style|template)\b.*?</\1>|<[^>]*>", "\n", page, flags=re.DOTALL)
    return unescape(bare)


def in_workbook(content: io.BytesIO) -> set[str]:
    """Every text of every sheet."""
    book = openpyxl.load_workbook(content)
    return {str(cell.value) for sheet in book.worksheets for row in sheet.iter_rows() for cell in row if cell.value}


@pytest.mark.parametrize("language", languages())
def test_every_score_row_stands_under_the_same_name_in_every_medium(result: Evaluation, language: str) -> None:
    words = Words(language)
    tables = (
        level_table(result, words),
        *label_tables(result, words),
        *group_tables(result, words),
        *scheme_tables(result, words),
    )
    target = io.BytesIO()
    write_workbook(result, target, Handout(lang=language))
    cells, page = in_workbook(target), in_page(to_html(result, language))
    assert len(tables) == 5
    for table in tables:
        for text in (table.title, *(row.name for row in table.rows), *table.details):
            assert text in cells, text
            assert text in page, text
        for row in table.rows:
            assert numbers.rate(row.recall.value, words) in page


@pytest.mark.parametrize("language", languages())
def test_classes_are_called_the_same_everywhere(result: Evaluation, language: str) -> None:
    words = Words(language)
    target = io.BytesIO()
    write_workbook(result, target, Handout(lang=language))
    cells, page = in_workbook(target), in_page(to_html(result, language))
    seen = {(FN, kind) for kind in result.bare_cases[0]["class"]} | {
        (FP, kind) for kind in result.bare_cases[1]["class"]
    }
    assert len(seen) > 4
    for sheet, kind in seen:
        assert class_name(kind, words) in cells  # the sheet says whose span it is
        assert case_name(sheet, kind, words) in cells  # the chart of both sheets
        assert case_name(sheet, kind, words) in page
    for kind in CLASSES:
        assert class_name(kind, words)


def test_a_wrong_label_is_no_leak(result: Evaluation) -> None:
    documents = {row.name: row for row in document_list(result).rows}
    wrong = judged(TABLE.replace("Lee        I-PER   O", "Lee        I-PER   I-PER"), level="exact", labelled="span")
    relabelled = {row.name: row for row in document_list(wrong).rows}["one"]
    assert not documents["one"].leak_free
    assert relabelled.scores is not None
    assert (relabelled.scores.fn, relabelled.leak_free) == (1, True)
    assert tiles(wrong, Words("en"))[-1].note == "1 of 2 documents"


def modules(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (ROOT / "clueval_xlsx" / room).rglob("*.py"))


def test_pages_know_no_medium() -> None:
    for path in modules("pages"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & {"xlsxwriter", "jinja2", "rich", "click"}, path


def test_xlsxwriter_is_called_from_one_module() -> None:
    users = [
        path.name
        for path in modules("outputs")
        if re.search(r"^\s*(import|from) xlsxwriter", path.read_text("utf-8"), re.M)
    ]
    assert users == ["book.py"]


@pytest.mark.parametrize(
    ("language", "guide", "account"),
    [
        ("en", "1 passage that the model missed", "1 case: 0 judged"),
        ("de", "1 Stelle, die das Modell übersehen hat", "1 Fall: 0 bewertet"),
    ],
)
def test_one_thing_is_counted_in_the_singular(language: str, guide: str, account: str) -> None:
    book = workbook(judged("token gold pred\nAda B-PER O\nran O O"), {}, lang=language)
    shown = [cell for row in openpyxl.load_workbook(book).worksheets[0].iter_rows(values_only=True) for cell in row]
    assert guide in shown
    progress = workbook_progress(book.getvalue(), "review.xlsx")
    assert account_sentence(progress.account, Words(language)).startswith(account)
