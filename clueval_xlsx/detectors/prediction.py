"""A dataset, a detector's run over it, and the two together: predictions that can be written and compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Listed, Source
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.mentions import LONGEST, SHOWN, Mentions, ResolvedMentions, Wording, resolve
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.running_text import RunningText
from clueval_xlsx.corpus.spans import label_column, label_vocabulary, make_spans
from clueval_xlsx.detectors.base import Description, Detection, Document
from clueval_xlsx.detectors.runner import Run
from clueval_xlsx.exceptions import OptionError, counted
from clueval_xlsx.formats.registry import DETECTOR
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

_MOST_WORDS = 40


@dataclass(frozen=True, eq=False)
class Dataset:
    """What a detector is run on: the gold side with the one layer that predictions are made for."""

    gold: Reading
    layer: str
    documents: list[Document]
    left_over: tuple[str, ...] = ()  # layers that nothing is predicted for

    @property
    def labels(self) -> list[str]:
        """The labels that the dataset's own annotations have."""
        return label_vocabulary([self.gold.annotation.layers[self.layer]], self.layer)


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predicted side, in the shape that the gold side has; what had to be changed on the way."""

    side: Reading
    notes: tuple[str, ...] = ()

    @property
    def layers(self) -> Mapping[str, pd.DataFrame]:
        """The predictions on tokens."""
        return self.side.annotation.layers

    @property
    def spans(self) -> int:
        """How many there are."""
        return sum(len(spans) for spans in self.layers.values())


def make_dataset(reading: Reading, layer: str | None = None) -> Dataset:
    """Choose the layer (by default the first) and get the texts.

    Documents that the chosen annotator has not seen are left out: nothing could be compared there.
    """
    names = reading.layer_names
    layer = layer or names[0]
    if layer not in names:
        raise OptionError(f"there is no layer {layer!r} in {reading.source.name}. Layers: {', '.join(names)}.")
    side = reading.without(reading.unseen) if reading.unseen else reading
    side = side.only_layers([layer])
    documents = [Document(doc_id, one.text) for doc_id, one in zip(side.doc_ids, side.documents, strict=True)]
    return Dataset(side, layer, documents, tuple(name for name in names if name != layer))


def make_prediction(dataset: Dataset, run: Run, nested: str | None = None) -> Prediction:
    """A run's finds on the dataset, free of overlap."""
    mode = nested or LONGEST
    source = Source(
        name=source_name(run.description),
        format=DETECTOR.name,
        sha256=_digest(run.found),
        columns={dataset.layer: "-"},
        reading={"nested": nested},
        detector=str(run.description),
    )
    place_finds = _on_tokens if dataset.gold.tokenised else _on_text
    return place_finds(dataset, run, mode, source)


def source_name(description: Description) -> str:
    """What predictions are called where a file's name would stand."""
    return f"{description.name} {description.version}".removesuffix(" -")


def _on_text(dataset: Dataset, run: Run, mode: str, source: Source) -> Prediction:
    rows = [(number, one) for number, found in enumerate(run.found) for one in found or ()]
    ranges = Ranges(*(np.array(column, dtype=np.int64) for column in _columns([(n, *one[:2]) for n, one in rows], 3)))
    listed = _mentions(ranges, dataset.layer, [one.label for _, one in rows], [one.score for _, one in rows])

    def describe(row: int) -> str:
        number, one = rows[row]
        return _described(dataset.documents[number].text[one.start : one.end], one.label, dataset.documents[number].id)

    resolution = resolve(listed, mode, _wording(describe))
    side = Reading(
        source,
        texts=dataset.gold.documents,
        listed=listed,
        mentions=resolution.mentions,
        group=resolution.group,
        resolved=resolution.lines(_wording(describe)),
        nested=mode,
    )
    return Prediction(side, tuple(_notes(resolution, listed, source.name, describe)))


def _on_tokens(dataset: Dataset, run: Run, mode: str, source: Source) -> Prediction:
    text = dataset.gold.running_text
    corpus = text.corpus
    placed = place(run.found, text)
    document = corpus.document_of(placed.start)
    # Lengths count characters, as they do in running text.
    ranges = Ranges(document, text.char_start[placed.start], text.char_end[placed.end])
    listed = _mentions(ranges, dataset.layer, placed.labels, placed.scores)

    def describe(row: int) -> str:
        words = corpus.text(int(placed.start[row]), int(placed.end[row]))
        return _described(words, placed.labels[row], corpus.doc_ids[int(document[row])])

    resolution = resolve(listed, mode, _wording(describe))
    mentions = resolution.mentions
    start, end = text.positions(mentions.ranges)
    scores = pd.DataFrame({"start": start, "end": end, "score": mentions.scores}).dropna(ignore_index=True)
    every = Listed(listed, placed.start, placed.end, mode)
    own = Annotation(
        source,
        {dataset.layer: make_spans(start, end, mentions.labels)},
        pd.DataFrame(),
        listed=every if resolution.dropped or resolution.merged else None,
        scores=scores if len(scores) else None,
        listing=every,
    )
    side = Reading(source, corpus, spans=own)
    notes = _notes(resolution, listed, source.name, describe)
    return Prediction(side, (*placed.notes(source.name), *notes))


def _columns(rows: Sequence[Sequence[int]], count: int) -> list[Sequence[int]]:
    return list(zip(*rows, strict=True)) if rows else [()] * count


def _mentions(ranges: Ranges, layer: str, labels: Sequence[str], scores: Sequence[float | None]) -> Mentions:
    known = np.array([np.nan if score is None else score for score in scores], dtype=np.float64)
    return Mentions(ranges, {layer: label_column(labels)}, scores=known)


def _wording(describe: Callable[[int], str]) -> Wording:
    return Wording(
        describe,
        where=lambda _: "the detector's predictions",
        remedy="Choose what happens to them (--nested longest|merge)",
    )


def _notes(resolution: ResolvedMentions, listed: Mentions, name: str, describe: Callable[[int], str]) -> list[str]:
    """What a person should know; finds that only repeat another are nobody's business."""
    notes = []
    gone = [each for each in resolution.dropped if not _repeats(listed, each.row, each.holder)]
    if gone:
        shown = "; ".join(f"{describe(each.row)} under {describe(each.holder)}" for each in gone[:SHOWN])
        more = f"; and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""
        notes.append(
            f"{name}: {counted(len(gone), 'overlapping prediction')} gave way "
            f"to longer or surer ones (--nested longest): {shown}{more}"
        )
    if resolution.merged:
        count = len(resolution.merged)
        notes.append(f"{name}: {count} groups of overlapping predictions were merged (--nested merge)")
    return notes


def _repeats(listed: Mentions, row: int, other: int) -> bool:
    ranges = listed.ranges
    same_place = ranges.start[row] == ranges.start[other] and ranges.end[row] == ranges.end[other]
    return bool(same_place and all(values.codes[row] == values.codes[other] for values in listed.labels.values()))


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


# ---- The finds of a detector, which sees running text, back on the tokens of a corpus


@dataclass(frozen=True, eq=False)
class Placed:
    """Finds on tokens, both ends inclusive, in the order of their places; `counts` says what had to be changed."""

    start: IntArray
    end: IntArray
    labels: list[str]
    scores: list[float | None]
    widened: int = 0
    dropped: int = 0
    split: int = 0

    def notes(self, name: str) -> list[str]:
        """What a person should know."""
        notes = []
        for count, what in (
            (self.widened, "cut a token and {was} widened to it"),
            (self.dropped, "{was} nothing but white space and {was} dropped"),
            (self.split, "went over a sentence end and {was} split there"),
        ):
            if count:
                was = "was" if count == 1 else "were"
                notes.append(f"{name}: {counted(count, 'prediction')} {what.format(was=was)}")
        return notes


def place(found: Sequence[Sequence[Detection] | None], text: RunningText) -> Placed:
    """Finds by character as stretches of tokens."""
    corpus = text.corpus
    rows = [(number, one) for number, finds in enumerate(found) for one in finds or ()]
    document = np.array([number for number, _ in rows], dtype=np.int64)
    start = np.array([one.start for _, one in rows], dtype=np.int64)
    end = np.array([one.end for _, one in rows], dtype=np.int64)
    # One number for document and offset makes every search one binary search over all documents.
    stride = max((len(item.text) for item in text.documents), default=0) + 1
    owner = corpus.document_numbers * stride
    token_start, token_end = owner + text.char_start, owner + text.char_end
    start, end = document * stride + start, document * stride + end
    first = np.searchsorted(token_end, start, side="right")
    last = np.searchsorted(token_start, end, side="left") - 1
    filled = first <= last
    dropped = int((~filled).sum())
    first, last, start, end = first[filled], last[filled], start[filled], end[filled]
    kept = np.flatnonzero(filled)
    widened = int(((token_start[first] < start) | (token_end[last] > end)).sum())
    first, last, origin = _split(first, last, corpus)
    labels = np.array([rows[index][1].label for index in kept[origin].tolist()], dtype=object).astype(str)
    order = np.lexsort((labels, last, first))
    rows = [rows[kept[index]] for index in origin[order].tolist()]
    return Placed(
        first[order],
        last[order],
        [one.label for _, one in rows],
        [one.score for _, one in rows],
        widened,
        dropped,
        len(np.unique(origin[np.flatnonzero(np.bincount(origin, minlength=1)[origin] > 1)])) if len(origin) else 0,
    )


def _split(first: IntArray, last: IntArray, corpus: Corpus) -> tuple[IntArray, IntArray, IntArray]:
    """Cut stretches at the sentence ends of the source; returns which one each part comes from."""
    origin = np.arange(len(first))
    if not corpus.hard_breaks or not len(first):
        return first, last, origin
    breaks = corpus.breaks
    low = np.searchsorted(breaks, first, side="right")  # the first break behind the start
    parts = np.searchsorted(breaks, last, side="right") - low + 1
    origin = np.repeat(origin, parts)
    step = np.arange(len(origin)) - np.repeat(np.cumsum(parts) - parts, parts)
    behind = np.append(breaks, len(corpus))
    begin = np.where(step == 0, first[origin], behind[np.maximum(low[origin] + step - 1, 0)])
    final = step == parts[origin] - 1
    stop = np.where(final, last[origin], behind[np.minimum(low[origin] + step, len(breaks))] - 1)
    return begin, stop, origin
