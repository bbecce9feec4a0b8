"""The verdict of a comparison in words, its plot, and p-values that are corrected for their number."""

from __future__ import annotations

import io

import openpyxl
import pytest

from clueval_xlsx.comparison import Comparison, compare, holm
from clueval_xlsx.outputs.html.page import page_html
from clueval_xlsx.outputs.xlsx.page import write_page
from clueval_xlsx.pages.comparison import comparison_page
from clueval_xlsx.pages.page import Page, Table, Text, plain
from clueval_xlsx.words import Words
from tests.support.judging import judged

DOCUMENT = """
    <text id="{name}">
    Ann   B-PER  {found}
    met   O      {alarm}
    Bob   B-PER  B-PER
    </text>
"""


def system(found: int, alarms: int) -> str:
    """Forty documents; in so many of them Ann is found, in so many `met` is a false alarm."""
    parts = [
        DOCUMENT.format(
            name=f"d{number:02}",
            found="B-PER" if number < found else "O",
            alarm="B-PER" if number >= 40 - alarms else "O",
        )
        for number in range(40)
    ]
    return "    token gold pred\n" + "".join(parts)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    options = {"level": "exact", "replicates": 2000}
    first, second = (judged(system(*each), **options) for each in ((4, 2), (30, 12)))
    return compare([("A", first), ("B", second)])


def page_of(comparison: Comparison, language: str = "en") -> Page:
    return comparison_page(comparison, Words(language))


def verdict_of(page: Page) -> str:
    headline = page.chapters[0].sections[0]
    assert isinstance(headline, Text)
    (verdict,) = headline.lines
    return plain(verdict)


def test_the_verdict_says_what_is_found_more_how_sure_that_is_and_what_it_costs(comparison: Comparison) -> None:
    verdict = verdict_of(page_of(comparison))
    assert verdict.startswith("B finds 32.5 points more than A (95 %: ")
    assert "to " in verdict
    assert ", p " in verdict
    assert "may be chance" not in verdict
    assert verdict.endswith("; it raises 10 more false alarms.")
    back = compare([(each.name, each.evaluation) for each in reversed(comparison.systems)])
    other = verdict_of(page_of(back, "de"))
    assert other.startswith("A findet 32,5 Punkte weniger als B (95 %: ")
    assert other.endswith("; Fehlalarme: 10 weniger.")


def test_verdict_and_tables_have_the_same_p_values_and_only_at_the_headline(comparison: Comparison) -> None:
    differences = comparison.differences
    tested = differences[differences["p"].notna()]
    assert comparison.tests == len(tested) == 3
    page = page_of(comparison)
    tables = {section.title: section for section in page.chapters[0].sections if isinstance(section, Table)}
    for rate, title in (("recall", "Recall"), ("precision", "Precision"), ("f_beta", "F2")):
        shown = [plain(row.cells[-1]) for row in tables[title].rows]
        (corrected,) = tested[tested["rate"] == rate]["p_holm"]
        assert sorted(filter(None, shown)) == [f"{corrected:.3f}" if corrected >= 0.001 else "< 0.001"]
        assert len(shown) > 3
    (recall,) = filter(None, [plain(row.cells[-1]) for row in tables["Recall"].rows])
    assert f", p {recall}" in verdict_of(page) or f", p = {recall}" in verdict_of(page)


def test_holm_steps_down_and_never_beyond_one() -> None:
    assert holm([0.5, 0.9, 0.01]) == pytest.approx([1.0, 1.0, 0.03])  # 0.01·3; 0.5·2; 0.9·1 but not below 1.0
    assert holm([]) == []


def test_errors_of_one_system_come_first_and_shared_ones_are_folded(comparison: Comparison) -> None:
    page = page_of(comparison)
    for chapter in page.chapters[1:]:
        (table,) = chapter.sections
        assert isinstance(table, Table)
        makers = [plain(row.cells[0]).endswith("alone") for row in table.rows]
        assert table.fold is not None
        assert makers == [True] * table.fold + [False] * (len(makers) - table.fold)
        assert 0 < table.fold < len(makers)
    assert '<details class="folded"><summary>Made by several systems: 10</summary>' in page_html(page)
    target = io.BytesIO()
    write_page(page, target)
    book = openpyxl.load_workbook(target)
    missed = book.worksheets[1]
    hidden = [row for row in range(5, missed.max_row + 1) if missed.row_dimensions[row].hidden]
    assert len(hidden) == 10
    assert hidden[-1] == missed.max_row
    assert len(book.worksheets[0]._charts) == 4
