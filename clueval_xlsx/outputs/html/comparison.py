"""The page on a comparison: systems side by side, their differences with paired tests, errors alone and shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clueval_xlsx.cases.kinds import FN
from clueval_xlsx.outputs.html.case_items import CaseItem, compared_case_item
from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.outputs.html.tables import ListedTable, listed_table
from clueval_xlsx.views.comparison import MARKS, ComparisonView, comparison_view, difference_table
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.comparison import Comparison

# Errors of each sheet that are listed in their sentences; the workbook has them all.
LISTED_CASES = 100


@dataclass(frozen=True)
class ListedErrors:
    """The first errors of one sheet, and how many there are."""

    key: str
    name: str
    title: str
    cases: tuple[CaseItem, ...]  # made by one system alone
    alone: int
    shared: tuple[CaseItem, ...]
    total: int


@dataclass(frozen=True)
class ComparisonPage:
    """What the template lays out."""

    view: ComparisonView
    differences: tuple[ListedTable, ...]
    lists: tuple[ListedErrors, ...]
    marks: tuple[str, ...] = MARKS


def comparison_html(comparison: Comparison, language: str = "en") -> str:
    """The comparison as one HTML file without a script."""
    words = Words(language)
    view = comparison_view(comparison, words)
    lists = []
    for found in view.cases:
        key = "missed" if found.sheet == FN else "unsupported"
        alone, shared = (
            tuple(compared_case_item(case, view.systems, words) for case in cases[:LISTED_CASES])
            for cases in (found.cases[: found.alone], found.cases[found.alone :])
        )
        title = words[f"html.{key}"]
        lists.append(ListedErrors(key, title, found.title, alone, found.alone, shared, len(found.cases)))
    differences = tuple(listed_table(difference_table(table, words), words) for table in view.differences)
    return render_page("comparison.html", words, ComparisonPage(view, differences, tuple(lists)))
