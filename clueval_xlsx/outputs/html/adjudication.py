"""The page on a re-import: figures before and after, what the cases turned out to be, what changed, what is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.outputs.html.tables import ListedTable, listed_table
from clueval_xlsx.views.adjudication import AdjudicationView, adjudication_view
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication


@dataclass(frozen=True)
class AdjudicationPage:
    """What the template lays out."""

    view: AdjudicationView
    tables: tuple[ListedTable, ...]
    lists: tuple[ListedTable, ...]


def adjudication_html(run: Adjudication, language: str = "en") -> str:
    """The adjudicated report of one run as one HTML file without a script."""
    words = Words(language)
    view = adjudication_view(run, words)
    page = AdjudicationPage(
        view,
        tuple(listed_table(table, words) for table in view.tables),
        tuple(listed_table(table, words) for table in view.lists),
    )
    return render_page("adjudication.html", words, page)
