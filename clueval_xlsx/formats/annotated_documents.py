"""What writers of annotations by character share: documents with their annotations as offsets in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.spans import label_list
from clueval_xlsx.exceptions import InputError, OptionError


@dataclass(frozen=True, eq=False)
class AnnotatedDocument:
    """A document and its annotations: (start, end, label), sorted, code points, end exclusive."""

    document: TextDocument
    spans: list[tuple[int, int, str | None]]
    scores: Mapping[tuple[int, int], float] = field(default_factory=dict)  # by offsets, where somebody gave one

    @property
    def scored_spans(self) -> list[tuple[tuple[int, int, str | None], float | None]]:
        """The annotations, each with its score."""
        return [(span, self.scores.get(span[:2])) for span in self.spans]


def annotated_documents(reading: Reading, layers: Mapping[str, pd.DataFrame], what: str) -> list[AnnotatedDocument]:
    """The documents of a reading with the spans of its only layer: its own text, or tokens joined as people write."""
    if len(layers) != 1:
        raise OptionError(
            f"{what} holds one label for each span, but there are {len(layers)} layers: {', '.join(layers)}. "
            "Choose one with --layer, or merge them first and choose one."
        )
    layer, spans = next(iter(layers.items()))
    text = reading.running_text
    ranges = text.ranges(spans)
    scores: list[dict[tuple[int, int], float]] = [{} for _ in text.documents]
    scored = reading.annotation.scores
    if scored is not None:
        places = text.ranges(scored)
        known = zip(
            places.document.tolist(),
            places.start.tolist(),
            places.end.tolist(),
            scored["score"].tolist(),
            strict=True,
        )
        for number, first, stop, score in known:
            scores[number][first, stop] = score
    found = [AnnotatedDocument(document, [], own) for document, own in zip(text.documents, scores, strict=True)]
    rows = zip(
        ranges.document.tolist(), ranges.start.tolist(), ranges.end.tolist(), label_list(spans[layer]), strict=True
    )
    for document, start, end, label in rows:
        found[document].spans.append((start, end, label))
    return found


def one_word(label: str | None, what: str) -> str:
    """A label that can stand in a format whose fields are separated by white space."""
    if label is None or not label or label.split() != [label]:
        raise InputError(
            f"a span has the label {label!r}, which {what} cannot hold. Allowed: one word. Rename the label first."
        )
    return label
