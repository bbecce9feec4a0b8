"""The report on one evaluation: overview, cases, documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import pandas as pd

from clueval_xlsx.cases.contexts import Segment
from clueval_xlsx.corpus.spans import label_list, layers_of
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.html.case_items import CaseItem, case_item
from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.outputs.html.payload import payload
from clueval_xlsx.outputs.html.tables import ListedTable, listed_table
from clueval_xlsx.outputs.html.text import ShownText, Stretch, is_text_free, shown_text, stretches
from clueval_xlsx.pages.evaluation import plain_headline
from clueval_xlsx.review.case_words import happened_lines, labels_text
from clueval_xlsx.views.confusion import Matrix, matrices
from clueval_xlsx.views.documents import DocumentView, document_list
from clueval_xlsx.views.overview import BarPlot, Tile, error_bars, leak_bars, tiles
from clueval_xlsx.views.scores import (
    ScoreTable,
    group_tables,
    label_tables,
    level_sentence,
    level_table,
    scheme_tables,
    strict_relaxed_table,
)
from clueval_xlsx.views.trend import PastRun, Trend, trend
from clueval_xlsx.words import TERMINAL, Words

# Cases listed in the page itself, for readers without JavaScript; all others are marked in the documents.
LISTED_CASES = 50


@dataclass(frozen=True)
class MarkedDocument:
    """One document with its figures, cut into marked and plain pieces."""

    row: DocumentView
    pieces: list[Stretch]


@dataclass(frozen=True)
class UnmarkedItem:
    """A passage that nobody marked: where it stands, how its words are marked elsewhere, the words around it."""

    case_id: str
    document: str
    happened: str
    segments: Sequence[Segment]


@dataclass(frozen=True)
class ReportPage:
    """What the template lays out."""

    reference: str
    model: str
    layers: tuple[str, ...]
    sentences: int
    tokens: int
    headline: str
    chosen: str
    tiles: tuple[Tile, ...]
    trend: Trend | None
    bars: tuple[BarPlot, ...]
    labels: tuple[ScoreTable, ...]
    levels: ScoreTable
    groups: tuple[ScoreTable, ...]
    schemes: tuple[ScoreTable, ...]
    strict_relaxed: ListedTable | None
    matrices: tuple[Matrix, ...]
    missed: int
    unsupported: int
    cases: tuple[CaseItem, ...]
    unmarked: tuple[UnmarkedItem, ...] | None
    documents: tuple[MarkedDocument, ...]
    anchors: Mapping[int, list[str]]  # the IDs of the cases that begin at each position
    title_of: Callable[[Stretch], str]
    running_text: bool
    text_free: bool
    signature: str
    notes: tuple[str, ...]


def to_html(
    evaluation: Evaluation,
    language: str = "en",
    labels: Mapping[str, str] | None = None,
    past: Sequence[PastRun] = (),
) -> str:
    """The whole report as one HTML file.

    Every case and every document is in it; without JavaScript the first fifty cases are listed and the rest
    are found, marked, in their documents. `labels` says what labels mean, `past` are earlier runs.
    """
    words, meanings = Words(language), labels or {}
    pair = evaluation.pair
    shown = shown_text(pair.corpus)
    missed, unsupported = evaluation.bare_cases
    relaxed = strict_relaxed_table(evaluation, words)
    page = ReportPage(
        reference=PurePath(pair.gold.source.name).name or pair.gold.source.name,
        model=PurePath(pair.pred.source.name).name or pair.pred.source.name,
        layers=pair.layers,
        sentences=len(pair.corpus.breaks),
        tokens=len(pair.corpus),
        headline=plain_headline(evaluation, words),
        chosen=level_sentence(evaluation.options, words),
        tiles=tiles(evaluation, words),
        trend=trend(evaluation, past, words),
        bars=(error_bars(evaluation, words), leak_bars(evaluation, words)),
        labels=label_tables(evaluation, words),
        levels=level_table(evaluation, words),
        groups=group_tables(evaluation, words),
        schemes=scheme_tables(evaluation, words),
        strict_relaxed=listed_table(relaxed, words) if relaxed else None,
        matrices=matrices(evaluation, words),
        missed=len(missed),
        unsupported=len(unsupported),
        cases=_listed(evaluation, words),
        unmarked=_unmarked(evaluation, words),
        documents=_documents(evaluation, shown),
        anchors=_anchors(missed, unsupported),
        title_of=_titles(evaluation, words, meanings),
        running_text=bool(pair.corpus.running_text),
        text_free=is_text_free(pair.corpus),
        signature=evaluation.signature,
        notes=evaluation.notes if language == TERMINAL else (),  # notes are written for the terminal
    )
    return render_page("report.html", words, page, payload(evaluation, shown, words, meanings))


def _listed(evaluation: Evaluation, words: Words) -> tuple[CaseItem, ...]:
    cases = pd.concat(evaluation.bare_cases, ignore_index=True).sort_values(["start", "sheet"], kind="stable")
    layers = evaluation.pair.layers
    cases = cases.drop_duplicates(["sheet", "twin_group"])  # twins are one card
    shown = evaluation.with_contexts(cases.head(LISTED_CASES))
    return tuple(case_item(row, layers, words) for row in shown.to_dict("records"))


def _unmarked(evaluation: Evaluation, words: Words) -> tuple[UnmarkedItem, ...] | None:
    """The passages that both sides may have missed, all of them; None where nobody asked for them."""
    if evaluation.unmarked_cases is None:
        return None
    cases = evaluation.with_contexts(evaluation.unmarked_cases)
    columns = (cases["case_id"], cases["document"], happened_lines(cases, evaluation.pair.layers, words))
    return tuple(UnmarkedItem(*row) for row in zip(*columns, cases["segments"], strict=True))


def _documents(evaluation: Evaluation, shown: ShownText) -> tuple[MarkedDocument, ...]:
    pair = evaluation.pair
    pieces = stretches(pair.corpus, shown, pair.gold.spans, pair.pred.spans)
    rows = document_list(evaluation).rows
    return tuple(MarkedDocument(row, found) for row, found in zip(rows, pieces, strict=True))


def _anchors(*tables: pd.DataFrame) -> dict[int, list[str]]:
    """The IDs of the cases that begin at each position."""
    anchors: dict[int, list[str]] = {}
    for cases in tables:
        for start, name in zip(cases["start"].tolist(), cases["case_id"].tolist(), strict=True):
            anchors.setdefault(start, []).append(name)
    return anchors


def _titles(evaluation: Evaluation, words: Words, meanings: Mapping[str, str]) -> Callable[[Stretch], str]:
    """A function that tells the labels of a stretch; only where both sides marked it differently, whose they are."""
    references, models = (_labels(side.spans, meanings) for side in (evaluation.pair.gold, evaluation.pair.pred))

    def title(stretch: Stretch) -> str:
        reference = references[stretch.gold] if stretch.gold >= 0 else models[stretch.pred]
        model = models[stretch.pred] if stretch.pred >= 0 else reference
        return reference if reference == model else words("html.mark_title", reference=reference, model=model)

    return title


def _labels(spans: pd.DataFrame, meanings: Mapping[str, str]) -> list[str]:
    """The labels of every span, with what they mean where somebody said so."""
    shown: dict[str, str | None] = {label: f"{label} ({meaning})" for label, meaning in meanings.items()}
    layers = [[shown.get(label or "", label) for label in label_list(spans[layer])] for layer in layers_of(spans)]
    return [labels_text(list(found)) or "–" for found in zip(*layers, strict=True)]
