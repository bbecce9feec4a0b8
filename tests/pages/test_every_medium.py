"""One page, every medium: the words and figures of each result's page stand in whatever lays it out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator

import pytest
from rich.console import Console

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.latex import escaped, latex
from clueval_xlsx.outputs.markdown import markdown
from clueval_xlsx.outputs.terminal.layout import Room
from clueval_xlsx.outputs.terminal.page import page_parts
from clueval_xlsx.pages.page import Bars, Cell, Dots, Matrix, Page, Table, Text, Tiles, as_table, plain
from clueval_xlsx.pages.scores import score_page
from clueval_xlsx.scoring.scheme_settings import SchemeOptions
from clueval_xlsx.words import Words, languages
from tests.support.judging import judged

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


def evaluated() -> Evaluation:
    schemes = SchemeOptions(scheme=("semeval", "documents"))
    return judged(TABLE, level="exact", labelled="span", by=("domain",), schemes=schemes)


RESULTS: dict[str, Callable[[Words], Page]] = {"score": lambda words: score_page(evaluated(), words)}


def cells(page: Page) -> Iterator[Cell]:
    """Everything that a page says, plots apart whose figures stand in the table below them."""
    for chapter in page.chapters:
        yield chapter.title
        for section in chapter.sections:
            match section:
                case Text():
                    yield from section.lines
                case Bars() | Dots() if section.tabled:
                    pass
                case Tiles() | Bars() | Dots() | Matrix() | Table():
                    table = section if isinstance(section, Table) else as_table(section)
                    yield table.title
                    yield from (column.title for column in table.columns if table.rows)
                    yield from (cell for row in table.rows for cell in row.cells)
                    yield from table.notes if table.rows else (table.empty,)


def in_terminal(page: Page, room: Room) -> str:
    """What the terminal shows."""
    console = Console(file=io.StringIO(), width=room.columns, highlight=False)
    for part in page_parts(page, room):
        console.print(part, crop=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def squeezed(text: str) -> str:
    """A text whatever its line ends and spaces."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", RESULTS)
def test_what_a_page_says_stands_in_every_medium(name: str, language: str) -> None:
    page = RESULTS[name](Words(language))
    screen = squeezed(in_terminal(page, Room(2000, screen=False, most=10_000)))
    document, paper = squeezed(re.sub(r"\\(.)", r"\1", markdown(page))), latex(page)
    seen = 0
    tables = [section for chapter in page.chapters for section in chapter.sections if isinstance(section, Table)]
    short_headed = {column.title for table in tables for column in table.columns if column.short}
    for cell in cells(page):
        text = plain(cell)
        assert squeezed(text) in document or squeezed(text).replace("`", "'") in document, text
        assert escaped(cell) in paper or text in paper, text  # a signature is a comment
        seen += 1
        assert text in short_headed or squeezed(plain(cell, short=True)) in screen, text
    assert seen > 20


@pytest.mark.parametrize("language", languages())
def test_a_narrow_screen_breaks_no_number_and_names_what_it_leaves_out(language: str) -> None:
    page = score_page(evaluated(), Words(language))
    for width in (40, 60, 80):
        shown = in_terminal(page, Room(width, elsewhere="--as csv"))
        assert all(len(line) <= width for line in shown.splitlines() if "clueval-xlsx|" not in line)
        assert ("--as csv" in shown) or width == 80
        for row in next(section for section in page.chapters[0].sections if isinstance(section, Table)).rows:
            assert plain(row.cells[1], short=True) in shown
