"""The lead's page: workbook, HTML and terminal tell the same facts about a re-import in the same order."""

from __future__ import annotations

import io
import re
from html import unescape

import openpyxl
import pytest
from openpyxl.cell import Cell
from rich.console import Console

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.html.adjudication import adjudication_html
from clueval_xlsx.outputs.terminal.adjudication import adjudication_page
from clueval_xlsx.outputs.terminal.layout import Room
from clueval_xlsx.outputs.terminal.tables import text_table
from clueval_xlsx.outputs.xlsx.adjudicated import write_adjudicated
from clueval_xlsx.review.adjudication import Adjudication
from clueval_xlsx.review.adjudication_words import INSERTED, KEPT, STRUCK
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.views import numbers
from clueval_xlsx.views.adjudication import AdjudicationView, adjudication_view
from clueval_xlsx.views.tables import (
    TableColumn,
    TableView,
    ValueKind,
    WordDifference,
    value_text,
)
from clueval_xlsx.words import Words, languages
from tests.support.judging import case, decide, judged, records

# Layers whose spans do not reach equally far: a hull alone would look like no change.
TABLE = """
    token      category  risk    category  risk
    <text id="one">
    <s>
    Mr         O         O       B-PER     B-LOW
    Jay        B-PER     B-HIGH  I-PER     I-LOW
    Best       I-PER     O       I-PER     I-LOW
    met        O         O       O         O
    Bob        O         O       B-PER     B-LOW
    .          O         O       O         O
    </s>
    <s>
    Eve        B-PER     B-HIGH  O         O
    left       O         O       O         O
    Bonn       B-LOC     B-LOW   O         O
    .          O         O       O         O
    </s>
    </text>
"""


def two_layers(table: str) -> Evaluation:
    """Gold in columns 2 and 3 of the table, the prediction in 4 and 5."""
    sides = []
    for columns in ((0, 1, 2), (0, 3, 4)):
        lines = []
        for line in table.strip().splitlines()[1:]:
            cells = line.split()
            lines.append(line.strip() if line.strip().startswith("<") else "\t".join(cells[c] for c in columns))
        sides.append(("\n".join(lines) + "\n").encode())
    return judged((sides[0], sides[1]), {"category": 2, "risk": 3}, level="exact", replicates=20)


@pytest.fixture(scope="module")
def run() -> Adjudication:
    evaluation = two_layers(TABLE)
    eve, bonn = case(evaluation, "FN", "Eve"), case(evaluation, "FN", "Bonn")
    bob, jay = case(evaluation, "FP", "Bob"), case(evaluation, "FN", "Jay Best")
    anna = {
        eve: Judgement("gold_wrong", comment="nobody at all"),
        bonn: Judgement("model_error"),
        bob: Judgement("gold_missing", comment="his full name"),
        jay: Judgement("boundary", correct_span="as_model"),
    }
    ben = {eve: Judgement("gold_wrong"), bob: Judgement("model_error", comment="a dog"), bonn: Judgement("boundary")}
    return decide(evaluation, records(anna, "Anna"), records(ben, "Ben"))


def shown_cell(cell: Cell, words: Words) -> str:
    """What a person sees in a cell."""
    if not isinstance(cell.value, int | float):
        return str(cell.value or "")
    if "%" in cell.number_format:
        return numbers.rate(cell.value, words)
    return numbers.decimal(cell.value, 2, words) if cell.number_format == "0.00" else numbers.count(cell.value, words)


def media(run: Adjudication, language: str) -> dict[str, str]:
    """What each medium says, from its beginning to its end."""
    words = Words(language)
    target = io.BytesIO()
    write_adjudicated(run, target, lang=language)
    sheets = openpyxl.load_workbook(target).worksheets
    cells = [cell for sheet in sheets if sheet.sheet_state == "visible" for row in sheet.iter_rows() for cell in row]
    bare = re.sub(r"<(script|style|nav|svg)\b.*?</\1>", "\n", adjudication_html(run, language), flags=re.DOTALL)
    console = Console(file=io.StringIO(), width=500)
    for part in adjudication_page(adjudication_view(run, words), words, Room(500), most=1000):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return {
        "workbook": "\n".join(shown_cell(cell, words) for cell in cells if cell.value not in {None, ""}),
        "page": unescape(re.sub(r"<[^>]*>", "\n", re.sub(r"</?(del|ins|b)>", "", bare))),
        "terminal": re.sub(r"\[-|-\]|\{\+|\+\}|(?<= )\[|\](?=[ .,\n])", "", console.file.getvalue()),
    }


def anchors(view: AdjudicationView, words: Words) -> list[str]:
    """The facts whose order every medium keeps."""
    found = [view.headline, *(tile.name for tile in view.tiles), words["lead.next_title"]]
    found += [step.text for step in view.next_steps]
    found += [view.states.title, *(row.name for row in view.states.rows), view.unseen]
    for table in (*view.tables, *view.lists):
        found += [table.title, *(str(group[0][0]) for group in table.groups())]
    return found


def facts(table: TableView, words: Words) -> list[str]:
    """What the cells of a table say."""
    kinds = [column.kind for column in table.columns]
    return [
        value.plain.partition("\n")[0] if isinstance(value, WordDifference) else value_text(value, kind, words)
        for row in table.rows
        for value, kind in zip(row, kinds, strict=True)
    ]


@pytest.mark.parametrize("language", languages())
def test_workbook_page_and_terminal_tell_the_same_facts_in_the_same_order(run: Adjudication, language: str) -> None:
    words = Words(language)
    view = adjudication_view(run, words)
    assert [bool(table.rows) for table in view.lists] == [True] * 5
    for medium, text in media(run, language).items():
        place = 0
        for anchor in anchors(view, words):
            found = text.find(anchor, place)
            assert found >= 0, (medium, anchor, text[place : place + 200])
            place = found + len(anchor)
        for tile in view.tiles:
            assert value_text(tile.value.value, tile.kind, words) in text, (medium, tile.name)
            assert tile.note in text, (medium, tile.note)
        for row in view.states.rows:
            for rate in (row.recall, row.precision, row.f_beta):
                assert numbers.per_cent(rate.value, words) in text, (medium, row.name)
        for table in (*view.tables, *view.lists):
            unnamed = {"terminal": {"case_id", "workbook"}}.get(medium, set()) if table.key != "workbooks" else set()
            named = [column.key not in unnamed for column in table.columns]
            rows = tuple(tuple(value for value, kept in zip(row, named, strict=True) if kept) for row in table.rows)
            columns = tuple(column for column, kept in zip(table.columns, named, strict=True) if kept)
            for fact in facts(TableView(table.key, table.title, columns, rows), words):
                assert fact in text, (medium, table.key, fact)


def test_a_change_is_a_difference_in_its_sentence_with_every_label(run: Adjudication) -> None:
    table = adjudication_view(run, Words("en")).lists[0]
    assert [column.key for column in table.columns][:4] == ["case", "document", "difference", "labels"]
    moved, deleted = (row[2:4] for row in table.rows)
    sentence, labels = moved
    assert isinstance(sentence, WordDifference)
    assert isinstance(labels, WordDifference)
    assert [piece for piece in sentence.pieces if piece.mark] == [("Mr", INSERTED), ("Jay Best", KEPT)]
    marks = {piece.text: piece.mark for piece in labels.pieces if piece.mark}
    assert marks == {
        "category: PER “Jay Best”": STRUCK,
        "category: PER “Mr Jay Best”": INSERTED,
        "risk: HIGH “Jay”": STRUCK,
        "risk: HIGH “Mr Jay Best”": INSERTED,
    }
    sentence, labels = deleted
    assert isinstance(sentence, WordDifference)
    assert isinstance(labels, WordDifference)
    assert value_text(sentence, ValueKind.DIFFERENCE, Words("en")) == "[-Eve-] left Bonn."
    assert [piece for piece in labels.pieces if piece.mark] == [("category: PER", STRUCK), ("risk: HIGH", STRUCK)]


def test_a_conflict_has_a_row_for_each_judgement_with_correction_comment_and_cell(run: Adjudication) -> None:
    table = adjudication_view(run, Words("en")).lists[1]
    said = [row[table.shared :] for row in table.rows]
    assert said == [
        ("Anna", "Reference forgot this", "", "his full name", "anna.xlsx!FP!M7"),
        ("Ben", "Model is wrong", "", "a dog", "ben.xlsx!FP!M6"),
    ]
    assert len(table.groups()) == 1


def test_agreement_on_fewer_than_ten_cases_is_grey_in_every_medium(run: Adjudication) -> None:
    table = adjudication_view(run, Words("en")).lists[2]
    assert [column.key for column in table.columns][1:] == ["number", "raw", "cohen", "fleiss", "krippendorff"]
    assert len(table.rows) == len(table.faint) > 0
    assert '<tr class="weak">' in adjudication_html(run)


def test_an_unusable_row_says_its_cell_and_what_to_do(run: Adjudication) -> None:
    (row,) = adjudication_view(run, Words("en")).lists[3].rows
    assert row[:3] == ("ben.xlsx", "", "M7") or row[0] == "ben.xlsx"
    assert row[-1] == "Choose the correct span, or type its words."


@pytest.mark.parametrize("language", languages())
def test_no_option_stands_in_what_a_lead_reads_and_the_terminal_has_the_command(
    run: Adjudication, language: str
) -> None:
    shown = media(run, language)
    for medium in ("workbook", "page"):
        lines = [line for line in shown[medium].splitlines() if "evaluate" not in line and "|" not in line]
        assert not [line for line in lines if re.search(r"(^|\s)--[a-z]|clueval-xlsx \w", line)], medium
    assert "--conflicts third.xlsx" in shown["terminal"]


def on_screen(run: Adjudication, width: int) -> str:
    words = Words("en")
    console = Console(file=io.StringIO(), width=width)
    for part in adjudication_page(adjudication_view(run, words), words, Room(width)):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_on_eighty_columns_no_word_is_broken_and_no_row_has_six_lines() -> None:
    evaluation = judged(
        "token gold pred\n" + "\n".join(f"Name{number} O B-PER\nand O O" for number in range(3)), replicates=0
    )
    found = [case(evaluation, "FP", f"Name{number}") for number in range(3)]
    long = "He is the managing director of the claimant, named in the register, and so anybody can find out who he is."
    books = [
        records({each: Judgement(code, comment=long) for each in found}, who)
        for code, who in (("gold_missing", "Anna-Katharina Oberhuber"), ("model_error", "Ben"))
    ]
    run = decide(evaluation, *books)
    narrow, wide = on_screen(run, 80), on_screen(run, 400)
    assert max(map(len, narrow.splitlines())) <= 80
    assert set(re.findall(r"[\w'’.!-]+", wide)) <= set(re.findall(r"[\w'’.!-]+", narrow))
    (start,) = (place for place, line in enumerate(narrow.splitlines()) if "FP 3 ·" in line)
    rows = narrow.splitlines()[start : start + 20]
    first, second = (next(place for place, line in enumerate(rows) if name in line) for name in ("Anna", "Ben "))
    assert 1 <= second - first < 6


@pytest.mark.parametrize("width", [80, 60, 40])
def test_tables_of_words_lose_no_number_where_long_names_want_the_room(width: int) -> None:
    columns = (
        TableColumn("by", "By"),
        TableColumn("value", "Value"),
        TableColumn("judgement", "Judgement"),
        TableColumn("count", "Cases", ValueKind.COUNT),
    )
    rows = (("label: category", "ArbG-Gruenfelden-4-Ca-1187-23", "Reference too long or short", 1234),) * 2
    console = Console(file=io.StringIO(), width=width)
    console.print(text_table(TableView("judgements", "Judgements", columns, rows), Words("en"), Room(width)))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert shown.count("1,234") == 2, shown
    assert "Cases" in shown
    assert {"ArbG-Gruenfelden-4-Ca-1187-23", "Reference"} <= set(shown.split())
