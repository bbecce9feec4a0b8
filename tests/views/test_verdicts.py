"""The verdict of a comparison in words, its plot, and p-values that are corrected for their number."""

from __future__ import annotations

import io

import openpyxl
import pytest

from clueval_xlsx.comparison import Comparison, compare, holm
from clueval_xlsx.outputs.html.comparison import comparison_html
from clueval_xlsx.outputs.xlsx.comparison import write_comparison
from clueval_xlsx.views.comparison import comparison_view
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


def test_the_verdict_says_what_is_found_more_how_sure_that_is_and_what_it_costs(comparison: Comparison) -> None:
    (verdict,) = comparison_view(comparison, Words("en")).verdicts
    assert verdict.startswith("B finds 32.5 points more than A (95 %: ")
    assert "to " in verdict
    assert ", p " in verdict
    assert "may be chance" not in verdict
    assert verdict.endswith("; it raises 10 more false alarms.")
    back = compare([(each.name, each.evaluation) for each in reversed(comparison.systems)])
    (other,) = comparison_view(back, Words("de")).verdicts
    assert other.startswith("A findet 32,5 Punkte weniger als B (95 %: ")
    assert other.endswith("; Fehlalarme: 10 weniger.")


def test_p_values_are_corrected_by_holm_and_the_page_says_so(comparison: Comparison) -> None:
    table = comparison.differences
    shown = table[table["rate"] != "f1"]
    smallest = shown["p"].min()
    assert comparison.tests == len(shown) == 24
    assert (shown["p_holm"] >= shown["p"]).all()
    assert shown["p_holm"].min() == pytest.approx(24 * smallest)
    assert "corrected for all 24 tests, those of the verdict" in comparison_view(comparison, Words("en")).explained
    rows = comparison_view(comparison, Words("en")).differences[0].rows
    assert [row.others[0].p for row in rows] == list(table[table["rate"] == "recall"]["p_holm"])


def test_holm_steps_down_and_never_beyond_one() -> None:
    assert holm([0.5, 0.9, 0.01]) == pytest.approx([1.0, 1.0, 0.03])  # 0.01·3; 0.5·2; 0.9·1 but not below 1.0
    assert holm([]) == []


def test_errors_of_one_system_come_first_and_shared_ones_are_folded(comparison: Comparison) -> None:
    for found in comparison_view(comparison, Words("en")).cases:
        makers = [case.makers.endswith("alone") for case in found.cases]
        assert makers == [True] * found.alone + [False] * (len(makers) - found.alone)
        assert 0 < found.alone < len(makers)
    page = comparison_html(comparison)
    assert "Made by one system alone" in page
    assert '<details class="folded"><summary>Made by several systems: 10</summary>' in page
    target = io.BytesIO()
    write_comparison(comparison, target)
    book = openpyxl.load_workbook(target)
    missed = book.worksheets[1]
    hidden = [row for row in range(5, missed.max_row + 1) if missed.row_dimensions[row].hidden]
    assert len(hidden) == 10
    assert hidden[-1] == missed.max_row
    assert len(book.worksheets[0]._charts) == 1


def test_every_difference_of_the_headline_is_in_the_plot(comparison: Comparison) -> None:
    plot = comparison_view(comparison, Words("en")).plot
    assert [mark.name for mark in plot.marks] == ["Recall: B", "Precision: B", "F2: B"]
    for mark in plot.marks:
        assert plot.low <= mark.low <= mark.value <= mark.high <= plot.high
    assert plot.low <= 0 <= plot.high
    assert any(abs(tick) < 1e-9 for tick in plot.ticks)
