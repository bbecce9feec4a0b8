"""The lead's page on a re-import: real differences, conflicts with everything that was said, no option of a command."""

from __future__ import annotations

import re

import pytest

from clueval_xlsx.outputs.html.page import page_html
from clueval_xlsx.pages.adjudication import adjudication_page
from clueval_xlsx.pages.page import Look, Marked, Page, Table, TableRow, Tone, plain, signed
from clueval_xlsx.review.adjudication import Adjudication
from clueval_xlsx.review.judgements import Judgement
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


def adjudicated() -> Adjudication:
    """One span moved, one deleted, one disagreement, one row that cannot be used."""
    sides = []
    for columns in ((0, 1, 2), (0, 3, 4)):
        lines = []
        for line in TABLE.strip().splitlines()[1:]:
            cells = line.split()
            lines.append(line.strip() if line.strip().startswith("<") else "\t".join(cells[c] for c in columns))
        sides.append(("\n".join(lines) + "\n").encode())
    evaluation = judged((sides[0], sides[1]), {"category": 2, "risk": 3}, level="exact", replicates=20)
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


@pytest.fixture(scope="module")
def page() -> Page:
    return adjudication_page(adjudicated(), Words("en"))


def rows(page: Page, chapter: int) -> tuple[TableRow, ...]:
    (table,) = page.chapters[chapter].sections
    assert isinstance(table, Table)
    return table.rows


def test_a_change_is_a_difference_in_its_sentence_with_every_label(page: Page) -> None:
    moved, deleted = (row.cells[2:4] for row in rows(page, 1))
    sentence, labels = moved
    assert isinstance(sentence, tuple)
    assert isinstance(labels, tuple)
    assert [run for run in sentence if run.tone] == [Marked("Mr", Tone.INSERTED), Marked("Jay Best", Tone.KEPT)]
    assert {run.text: run.tone for run in labels if run.tone} == {
        "category: PER “Jay Best”": Tone.STRUCK,
        "category: PER “Mr Jay Best”": Tone.INSERTED,
        "risk: HIGH “Jay”": Tone.STRUCK,
        "risk: HIGH “Mr Jay Best”": Tone.INSERTED,
    }
    sentence, labels = deleted
    assert "".join(run.text for run in signed(sentence)) == "[-Eve-] left Bonn."
    assert [run for run in labels if isinstance(run, Marked) and run.tone] == [
        Marked("category: PER", Tone.STRUCK),
        Marked("risk: HIGH", Tone.STRUCK),
    ]


def test_agreement_on_fewer_than_ten_cases_is_faint(page: Page) -> None:
    assert {row.look for row in rows(page, 3)} == {Look.FAINT}
    assert '<tr class="faint">' in page_html(page)


def test_an_unusable_row_says_its_cell_and_what_to_do(page: Page) -> None:
    (row,) = rows(page, 4)
    assert row.cells[0] == "ben.xlsx"
    assert row.cells[-1] == "Choose the correct span, or type its words."


@pytest.mark.parametrize("language", languages())
def test_no_option_stands_in_what_a_lead_reads(language: str) -> None:
    for chapter in adjudication_page(adjudicated(), Words(language)).chapters:
        for section in chapter.sections:
            cells = [cell for row in section.rows for cell in row.cells] if isinstance(section, Table) else []
            lines = [plain(cell) for cell in (*cells, *getattr(section, "lines", ()), section.title)]
            assert not [line for line in lines if re.search(r"(^|\s)--[a-z]|clueval-xlsx \w", line)]
