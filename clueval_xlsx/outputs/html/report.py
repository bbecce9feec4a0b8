"""The report on one evaluation: overview, cases, documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from clueval_xlsx.cases.contexts import Segment
from clueval_xlsx.corpus.spans import label_list, layers_of
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.outputs.html.payload import payload
from clueval_xlsx.outputs.html.text import ShownText, Stretch, is_text_free, shown_text, stretches
from clueval_xlsx.views import overview
from clueval_xlsx.words import Words

# Cases listed in the page itself, for readers without JavaScript; all others are marked in the documents.
LISTED_CASES = 50


@dataclass(frozen=True)
class ShownCase:
    """One case as it stands in the page without JavaScript."""

    case_id: str
    sheet: str
    kind: str
    document: str
    sentence: str | None
    reference: str
    model: str
    segments: list[Segment]
    relaxed: bool  # an equivalent label would settle it


@dataclass(frozen=True)
class ShownDocument:
    """One document, cut into marked and plain pieces."""

    name: str
    attributes: list[tuple[str, str]]
    counts: tuple[int, int, int] | None  # reference spans, missed, unsupported; None: left out of the evaluation
    pieces: list[Stretch]


def to_html(evaluation: Evaluation, language: str = "en") -> str:
    """The whole report as one HTML file.

    Every case and every document is in it; without JavaScript the first fifty cases are listed and the rest
    are found, marked, in their documents.
    """
    words = Words(language)
    pair = evaluation.pair
    shown = shown_text(pair.corpus)
    missed, unsupported = evaluation.bare_cases
    return render_page(
        "report.html",
        words,
        data=payload(evaluation, shown, words),
        evaluation=evaluation,
        headline=evaluation.headline.to_dict(),
        leak_free=overview.leak_free(evaluation),
        leak_bars=overview.leak_bars(evaluation, words),
        error_bars=overview.error_bars(evaluation, words),
        levels=overview.level_table(evaluation, words),
        label_tables=overview.label_tables(evaluation, words),
        group_tables=overview.group_tables(evaluation, words),
        schemes=overview.scheme_table(evaluation, words),
        matrices=overview.matrices(evaluation, words),
        missed=len(missed),
        unsupported=len(unsupported),
        cases=_listed(evaluation, words),
        documents=list(_documents(evaluation, shown)),
        anchors=_anchors(missed, unsupported),
        titles=_titles(evaluation, words),
        text_free=is_text_free(pair.corpus),
    )


def _listed(evaluation: Evaluation, words: Words) -> list[ShownCase]:
    layers = evaluation.pair.layers
    cases = pd.concat(evaluation.bare_cases, ignore_index=True).sort_values(["start", "sheet"], kind="stable")
    shown = evaluation.with_contexts(cases.head(LISTED_CASES))
    return [_listed_case(row, layers, words) for row in shown.to_dict("records")]


def _listed_case(row: dict[Any, Any], layers: tuple[str, ...], words: Words) -> ShownCase:
    own = ", ".join(row[f"label_{layer}"] for layer in layers if row[f"label_{layer}"])
    other = ", ".join(row[f"other_label_{layer}"] for layer in layers if row[f"other_label_{layer}"])
    reference, model = (own, other) if row["sheet"] == "FN" else (other, own)
    return ShownCase(
        row["case_id"],
        row["sheet"],
        overview.error_name(row["sheet"], row["class"], words),
        row["document"],
        row["sentence"] or None,
        reference or words["html.nothing"],
        model or words["html.nothing"],
        row["segments"],
        bool(row["relaxed"]),
    )


def _documents(evaluation: Evaluation, shown: ShownText) -> Iterator[ShownDocument]:
    pair = evaluation.pair
    corpus = pair.corpus
    rows = overview.document_rows(evaluation, evaluation.options.labelled)
    counts = dict(zip(rows["group"], rows[["gold", "fn", "fp"]].to_numpy(int).tolist(), strict=True))
    pieces = stretches(corpus, shown, pair.gold.spans, pair.pred.spans)
    for index, (name, found) in enumerate(zip(corpus.doc_ids, pieces, strict=True)):
        attributes = [(key, value) for key, value in corpus.documents.attributes(index).items() if value != name]
        yield ShownDocument(name, attributes, counts.get(name), found)


def _anchors(*tables: pd.DataFrame) -> dict[int, list[str]]:
    """The IDs of the cases that begin at each position."""
    anchors: dict[int, list[str]] = {}
    for cases in tables:
        for start, name in zip(cases["start"].tolist(), cases["case_id"].tolist(), strict=True):
            anchors.setdefault(start, []).append(name)
    return anchors


def _titles(evaluation: Evaluation, words: Words) -> Any:
    """A function that tells the labels of a stretch; only where both sides marked it differently, whose they are."""
    references, models = (_labels(side.spans) for side in (evaluation.pair.gold, evaluation.pair.pred))

    def title(stretch: Stretch) -> str:
        reference = references[stretch.gold] if stretch.gold >= 0 else models[stretch.pred]
        model = models[stretch.pred] if stretch.pred >= 0 else reference
        return reference if reference == model else words("html.mark_title", reference=reference, model=model)

    return title


def _labels(spans: pd.DataFrame) -> list[str]:
    layers = [label_list(spans[layer]) for layer in layers_of(spans)]
    return [", ".join(label for label in found if label) or "–" for found in zip(*layers, strict=True)]
