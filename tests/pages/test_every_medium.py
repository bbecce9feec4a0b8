"""One page, every medium: the words and figures of each result's page stand in whatever lays it out."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape

import openpyxl
import pytest
from rich.console import Console

from clueval_xlsx import evaluate, read, read_pair
from clueval_xlsx.cases.contexts import EMOJI
from clueval_xlsx.comparison import compare
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.options import ReadOptions, SchemeOptions
from clueval_xlsx.outputs.html.page import page_html
from clueval_xlsx.outputs.markup import latex, latex_text, markdown
from clueval_xlsx.outputs.terminal import Room, page_parts
from clueval_xlsx.outputs.xlsx.page import write_page
from clueval_xlsx.pages.adjudication import adjudication_page
from clueval_xlsx.pages.agreement import agreement_page
from clueval_xlsx.pages.comparison import comparison_page
from clueval_xlsx.pages.evaluation import confusion_page, evaluation_page
from clueval_xlsx.pages.page import (
    Bars,
    CaseLink,
    Cell,
    Chapter,
    Dots,
    Form,
    Matrix,
    Number,
    Page,
    Section,
    Table,
    TableRow,
    Text,
    Tiles,
    as_table,
    plain,
)
from clueval_xlsx.pages.scores import score_page
from clueval_xlsx.pages.thresholds import threshold_page
from clueval_xlsx.pairwise_agreement import pairwise_agreement
from clueval_xlsx.review.progress import workbook_progress
from clueval_xlsx.scoring.thresholds import threshold_rates
from clueval_xlsx.words import Words, languages
from tests.pages.test_adjudication_page import adjudicated
from tests.support.judging import judged, workbook
from tests.support.pages import Page as Elements
from tests.support.tables import cut

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


def agreed(words: Words) -> Page:
    sides = cut(TABLE)
    readings = [read(io.BytesIO(side), ReadOptions(format="vrt", layers={"span": 2}), name="x.vrt") for side in sides]
    return agreement_page(pairwise_agreement(list(zip(("Anna", "Ben"), readings, strict=True))), words)


def kept(words: Words) -> Page:
    """Two documents, in which a span is found at every threshold but the highest."""
    spans = [
        {"start_position": at, "end_position": at + 3, "entity_type": "A", "entity_value": word, "score": 0.1 + at / 10}
        for at, word in ((0, "Ann"), (4, "Bob"), (8, "Eve"))
    ]
    sides = [
        io.BytesIO(json.dumps([{"full_text": "Ann Bob Eve", "spans": chosen} for chosen in documents]).encode())
        for documents in ((spans[:2], spans[1:]), (spans, spans[:2]))
    ]
    result = evaluate(read_pair(*sides, ReadOptions(format="presidio")))
    rules = result.options.labels
    thresholds = threshold_rates(result.raw, rules, level="exact", labelled=None, beta=2.0)
    return threshold_page(result, thresholds, 0.1, words)


def compared(words: Words) -> Page:
    other = TABLE.replace("Eve        B-PER   O", "Eve        B-PER   B-PER")
    systems = [(name, judged(table, replicates=20)) for name, table in (("first", TABLE), ("second", other))]
    return comparison_page(compare(systems), words)


RESULTS: dict[str, Callable[[Words], Page]] = {
    "evaluate": lambda words: evaluation_page(evaluated(), words),
    "confusion": lambda words: confusion_page(evaluated(), words),
    "score": lambda words: score_page(evaluated(), words),
    "agree": agreed,
    "thresholds": kept,
    "compare": compared,
    "reimport": lambda words: adjudication_page(adjudicated(), words),
}


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
                case Tiles():
                    yield section.title
                    for tile in section.tiles:
                        yield from (tile.name, tile.number, *tile.notes)
                case Bars() | Dots() | Matrix() | Table():
                    table = section if isinstance(section, Table) else as_table(section)
                    yield table.title
                    yield from (column.title for column in table.columns if table.rows)
                    yield from (cell for row in table.rows for cell in row.cells)
                    yield from table.notes if table.rows else (table.empty,)


def sections(page: Page) -> list[Section]:
    return [section for chapter in page.chapters for section in chapter.sections]


def in_terminal(page: Page, room: Room) -> str:
    """What the terminal shows."""
    console = Console(file=io.StringIO(), width=room.columns, highlight=False)
    for part in page_parts(page, room):
        console.print(part, crop=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def in_html(page: Page) -> str:
    """What a browser shows, and what it reads out of drawings."""
    found = page_html(page)
    labels = re.findall(r'aria-label="([^"]*)"', found)
    return squeezed(unescape(re.sub(r"<style.*?</style>|<[^>]*>", "", found, flags=re.DOTALL) + " ".join(labels)))


def in_workbook(page: Page) -> tuple[set[str], list[float]]:
    """Texts and numbers of the workbook's cells, wherever they stand."""
    target = io.BytesIO()
    write_page(page, target)
    texts, numbers = set(), []
    for sheet in openpyxl.load_workbook(target).worksheets:
        texts.add(sheet.title)
        for value in (cell.value for row in sheet.iter_rows() for cell in row):
            if isinstance(value, str):
                texts.add(squeezed(without_emoji(value)))
            elif value is not None:
                numbers.append(float(value))
    return texts, numbers


def without_emoji(text: str) -> str:
    return re.sub(f"[{''.join(EMOJI.values())}\u2060]", "", text)


def squeezed(text: str) -> str:
    """A text whatever its line ends and spaces."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", RESULTS)
def test_what_a_page_says_stands_in_every_medium(name: str, language: str) -> None:
    page = RESULTS[name](Words(language))
    screen = squeezed(in_terminal(page, Room(2000, screen=False, most=10_000)))
    document, paper = squeezed(re.sub(r"\\(.)", r"\1", markdown(page))), latex(page)
    browser, (texts, numbers) = in_html(page), in_workbook(page)
    seen = 0
    tables = [section for section in sections(page) if isinstance(section, Table)]
    headings = {column.title: column.short or column.title for table in tables for column in table.columns}
    # Entries in a terminal have no headings, and nothing of what goes first for want of room.
    left_out = {column.title for table in tables if table.listed for column in table.columns}
    left_out.add(page.chapters[0].title)  # there the page's own title stands above it
    for table in (table for table in tables if table.listed):
        for row in table.rows:
            pairs = zip(row.cells, table.columns, strict=True)
            left_out |= {plain(cell) for cell, column in pairs if column.rank}
    marked = [cell for cell in cells(page) if isinstance(cell, tuple)]
    for cell in [cell for cell in cells(page) if cell not in marked] + [run.text for runs in marked for run in runs]:
        text = plain(cell).strip()
        assert squeezed(text) in document or squeezed(text).replace("`", "'") in document, text
        assert latex_text(cell) in paper or text in paper, text  # a signature is a comment
        assert squeezed(text) in browser, text
        if isinstance(cell, Number) and cell.known:
            values = [cell.whole, cell.value] if cell.form is Form.SHARE else [cell.value]
            scale = 100 if cell.form is Form.POINTS else 1
            assert all(any(abs(scale * value - number) < 1e-9 for number in numbers) for value in values), text
        else:
            assert any(squeezed(text) in found for found in texts), text
        seen += 1
        if text in left_out:
            continue
        short = headings.get(text, plain(cell, short=True))
        assert all(word in screen for word in short.split()), text  # headings are folded
        assert text in headings or squeezed(short) in screen, text
    assert seen > 20


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_is_one_html_file_without_a_script(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = RESULTS[name](Words("en"))
    made = page_html(page)
    opened = Elements(made)
    assert not opened.scripts
    assert "script-src 'none'" in unescape(made)
    ids = [attributes["id"] for _, attributes in opened.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    cases = {cell.target for cell in cells(page) if isinstance(cell, CaseLink)}
    assert {str(link["href"]).removeprefix("#") for link in opened.all("a")} <= {*ids, *cases}
    assert not re.search(r">(nan|None)<", made)
    assert Words("en")["page.more"] not in made
    monkeypatch.setattr("clueval_xlsx.outputs.html.page.MOST_ROWS", 0)
    assert (Words("en")["page.more"] in page_html(page)) is any(isinstance(part, Table) for part in sections(page))


def test_words_of_a_corpus_stay_text() -> None:
    page = RESULTS["compare"](Words("en"))
    (table,) = page.chapters[1].sections
    assert isinstance(table, Table)
    hostile = replace(table, rows=tuple(TableRow(("<b>x</b>",) * len(table.columns)) for _ in table.rows))
    made = page_html(replace(page, chapters=(Chapter("<i>", (hostile,)), *page.chapters)))
    assert not {name for name, _ in Elements(made).elements} & {"b", "i"}
    assert "&lt;b&gt;x&lt;/b&gt;" in made


def test_a_wrong_label_is_no_leak() -> None:
    def documents(result: Evaluation) -> dict[str, tuple[Cell, ...]]:
        (table,) = evaluation_page(result, Words("en")).chapters[1].sections
        assert isinstance(table, Table)
        return {plain(row.cells[0]): row.cells for row in table.rows}

    wrong = judged(TABLE.replace("Lee        I-PER   O", "Lee        I-PER   I-PER"), level="exact", labelled="span")
    missed, leak_free = 5, -2
    assert [plain(documents(evaluated())["one"][place]) for place in (missed, leak_free)] == ["2", "no"]
    assert [plain(documents(wrong)["one"][place]) for place in (missed, leak_free)] == ["1", "yes"]


@pytest.mark.parametrize(("language", "account"), [("en", "1 case: 0 judged"), ("de", "1 Fall: 0 bewertet")])
def test_one_thing_is_counted_in_the_singular(language: str, account: str) -> None:
    book = workbook(judged("token gold pred\nAda B-PER O\nran O O"), {}, lang=language)
    progress = workbook_progress(book.getvalue(), "review.xlsx")
    assert progress.account.sentence(Words(language)).startswith(account)


@pytest.mark.parametrize("language", languages())
def test_a_narrow_screen_breaks_no_number_and_names_what_it_leaves_out(language: str) -> None:
    page = score_page(evaluated(), Words(language))
    for width in (40, 60, 80):
        shown = in_terminal(page, Room(width, elsewhere="--as csv"))
        assert all(len(line) <= width for line in shown.splitlines() if "clueval-xlsx|" not in line)
        assert ("--as csv" in shown) or width == 80
        for row in next(section for section in page.chapters[0].sections if isinstance(section, Table)).rows:
            assert plain(row.cells[1], short=True) in shown
