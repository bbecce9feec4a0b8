"""The page on a sweep over thresholds: the choice, the curves, the table."""

from __future__ import annotations

from dataclasses import dataclass

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.outputs.html.tables import ListedTable, listed_table
from clueval_xlsx.scoring.thresholds import Thresholds
from clueval_xlsx.views.sweep import Point, SweepView, sweep_view
from clueval_xlsx.words import Words

WIDTH, HEIGHT = 720, 300  # of the plot, in its own units


@dataclass(frozen=True)
class SweepPage:
    """What the template lays out; lines are lists of coordinates as SVG writes them."""

    view: SweepView
    table: ListedTable
    lines: dict[str, str]
    chosen: float | None


def sweep_html(evaluation: Evaluation, found: Thresholds, least: float, language: str = "en") -> str:
    """The sweep as one HTML file without a script."""
    words = Words(language)
    view = sweep_view(evaluation, found, least, words)
    curve = view.curve
    lines, chosen = {}, None
    if curve is not None:
        lines = {name: _line(getattr(curve, name)) for name in ("band", "recall", "precision")}
        chosen = None if curve.chosen is None else curve.chosen * WIDTH
    return render_page("sweep.html", words, SweepPage(view, listed_table(view.table, words), lines, chosen))


def _line(points: tuple[Point, ...]) -> str:
    return " ".join(f"{x * WIDTH:.1f},{(1 - y) * HEIGHT:.1f}" for x, y in points)
