"""The page on pairwise agreement: who stands apart, matrices, labels, documents."""

from __future__ import annotations

from dataclasses import dataclass

from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.outputs.html.tables import ListedTable, listed_table
from clueval_xlsx.pairwise_agreement import PairwiseAgreement
from clueval_xlsx.views.pairwise_agreement import PairwiseView, pairwise_view
from clueval_xlsx.words import Words


@dataclass(frozen=True)
class PairwisePage:
    """What the template lays out."""

    view: PairwiseView
    tables: tuple[ListedTable, ...]


def pairwise_agreement_html(found: PairwiseAgreement, language: str = "en") -> str:
    """Pairwise agreement as one HTML file without a script."""
    words = Words(language)
    view = pairwise_view(found, words)
    tables = (*view.matrices, *view.labels, view.documents)
    page = PairwisePage(view, tuple(listed_table(table, words) for table in tables))
    return render_page("pairwise_agreement.html", words, page)
