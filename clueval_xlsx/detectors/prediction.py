"""A dataset, a detector's run over it, and the two together: predictions that can be written and compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clueval_xlsx.corpus.pair import annotate
from clueval_xlsx.corpus.reading import Reading, Source, digest
from clueval_xlsx.corpus.spans import label_column, label_vocabulary, make_spans
from clueval_xlsx.corpus.standoff import Mentions, TextReading
from clueval_xlsx.corpus.tags import TagColumn
from clueval_xlsx.detectors.base import Description, Detection, Document
from clueval_xlsx.detectors.nested import LONGEST, Finds, resolve
from clueval_xlsx.detectors.runner import Run
from clueval_xlsx.detectors.texts import Rendered, place, render
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.text.tokenise import Ranges

DETECTOR_FORMAT = "detector"
_MOST_WORDS = 40


@dataclass(frozen=True, eq=False)
class Dataset:
    """What a detector is run on: the gold side with the one layer that predictions are made for."""

    gold: Reading | TextReading
    layer: str
    documents: list[Document]
    rendered: Rendered | None  # where the tokens lie, if the dataset has tokens
    left_over: tuple[str, ...] = ()  # layers that nothing is predicted for

    @property
    def labels(self) -> list[str]:
        """The labels that the dataset's own annotations have."""
        if isinstance(self.gold, TextReading):
            return sorted({str(label) for label in self.gold.mentions.labels[self.layer].dropna()})
        content = self.gold.layers[self.layer]
        if isinstance(content, TagColumn):
            corpus = self.gold.corpus
            breaks = corpus.breaks if corpus.hard_breaks else corpus.documents.start
            content = annotate(self.gold, corpus, breaks[breaks < len(corpus)]).layers[self.layer]
        return label_vocabulary([content], self.layer)


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predicted side, in the shape that the gold side has; what had to be changed on the way."""

    side: Reading | TextReading
    notes: tuple[str, ...] = ()

    @property
    def reading(self) -> Reading:
        """The predictions on tokens."""
        return self.side.reading if isinstance(self.side, TextReading) else self.side

    @property
    def spans(self) -> int:
        """How many there are."""
        if isinstance(self.side, TextReading):
            return len(self.side.mentions)
        return sum(len(spans) for spans in self.side.layers.values() if not isinstance(spans, TagColumn))


def make_dataset(reading: Reading | TextReading, layer: str | None = None) -> Dataset:
    """Choose the layer (by default the first) and get the texts.

    Documents that the chosen annotator has not seen are left out: nothing could be compared there.
    """
    side = reading.text if isinstance(reading, Reading) and reading.text is not None else reading
    names = side.layer_names if isinstance(side, TextReading) else list(side.layers)
    layer = layer or names[0]
    if layer not in names:
        raise OptionError(f"there is no layer {layer!r} in {side.source.name}. Layers: {', '.join(names)}.")
    others = tuple(name for name in names if name != layer)
    if isinstance(side, TextReading):
        if side.unannotated:
            side = side.only([number for number in range(len(side.documents)) if number not in side.unannotated])
        side = replace(side, listed=_only(side.listed, layer), mentions=_only(side.mentions, layer))
        documents = [Document(doc_id, text) for doc_id, text in zip(side.doc_ids, side.texts, strict=True)]
        return Dataset(side, layer, documents, None, others)
    side = replace(side, layers={layer: side.layers[layer]})
    rendered = render(side.corpus)
    return Dataset(side, layer, rendered.documents, rendered, others)


def _only(mentions: Mentions, layer: str) -> Mentions:
    return replace(mentions, labels={layer: mentions.labels[layer]})


def make_prediction(dataset: Dataset, run: Run, nested: str | None = None) -> Prediction:
    """A run's finds on the dataset, free of overlap."""
    mode = nested or LONGEST
    source = Source(
        name=source_name(run.description),
        format=DETECTOR_FORMAT,
        sha256=_digest(run.found),
        columns={dataset.layer: "-"},
        reading={"nested": nested},
        detector=str(run.description),
    )
    if isinstance(dataset.gold, TextReading):
        return _on_text(dataset, dataset.gold, run, mode, source)
    assert dataset.rendered is not None
    return _on_tokens(dataset, dataset.gold, dataset.rendered, run, mode, source)


def source_name(description: Description) -> str:
    """What predictions are called where a file's name would stand."""
    return f"{description.name} {description.version}".removesuffix(" -")


def _on_text(dataset: Dataset, gold: TextReading, run: Run, mode: str, source: Source) -> Prediction:
    texts = [document.text for document in dataset.documents]
    rows = [(number, one) for number, found in enumerate(run.found) for one in found or ()]
    stride = max(map(len, texts), default=0) + 1
    document = np.array([number for number, _ in rows], dtype=np.int64)
    start = document * stride + np.array([one.start for _, one in rows], dtype=np.int64)
    end = document * stride + np.array([one.end for _, one in rows], dtype=np.int64)

    def describe(row: int) -> str:
        number, one = rows[row]
        return _described(texts[number][one.start : one.end], one.label, dataset.documents[number].id)

    found = [one for _, one in rows]
    finds = Finds(start, end, [one.label for one in found], [one.score for one in found])
    resolved = resolve(finds, mode, describe)
    left = resolved.finds
    owner = left.start // stride
    ranges = Ranges(owner, left.start - owner * stride, left.end - owner * stride)
    mentions = Mentions(ranges, {dataset.layer: label_column(left.labels)})
    side = TextReading(
        documents=gold.documents,
        listed=mentions,
        mentions=mentions,
        group=np.arange(len(mentions), dtype=np.int64),
        source=source,
        handles=[()] * len(mentions),
    )
    return Prediction(side, tuple(resolved.notes(source.name, describe)))


def _on_tokens(dataset: Dataset, gold: Reading, rendered: Rendered, run: Run, mode: str, source: Source) -> Prediction:
    corpus = gold.corpus
    placed = place(run.found, rendered, corpus)
    # Lengths count characters, as they do in running text; token ends make the stretches half-open.
    document = corpus.document_of(placed.start)
    stride = max((len(one.text) for one in rendered.documents), default=0) + 1
    start = document * stride + rendered.char_start[placed.start]
    end = document * stride + rendered.char_end[placed.end]

    def describe(row: int) -> str:
        words = corpus.text(int(placed.start[row]), int(placed.end[row]))
        return _described(words, placed.labels[row], corpus.doc_ids[int(document[row])])

    resolved = resolve(Finds(start, end, placed.labels, placed.scores), mode, describe)
    left = resolved.finds
    place_start = corpus.document_of(np.arange(len(corpus), dtype=np.int64)) * stride
    first = np.searchsorted(place_start + rendered.char_start, left.start)
    last = np.searchsorted(place_start + rendered.char_end, left.end)
    spans = make_spans(first, last, {dataset.layer: left.labels})
    side = Reading(corpus, {dataset.layer: spans}, source)
    return Prediction(side, (*placed.notes(source.name), *resolved.notes(source.name, describe)))


def _described(words: str, label: str, doc_id: str) -> str:
    words = " ".join(words.split())
    shown = words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"
    return f"{shown!r} ({label}, {doc_id})"


def _digest(found: Sequence[Sequence[Detection] | None]) -> str:
    """The hash that predictions are known by, whatever they are written to."""
    content = [None if one is None else [list(detection) for detection in one] for one in found]
    return digest(json.dumps(content).encode("ascii"))


def run_notes(description: Description, dataset: Dataset) -> list[str]:
    """What a person should know about a run before its results."""
    notes = [f"detector {source_name(description)}, language {description.language}"]
    if dataset.left_over:
        notes.append(
            f"predictions are made for layer {dataset.layer} alone, not for {', '.join(dataset.left_over)} "
            "(the first --layer is the one)"
        )
    return notes
