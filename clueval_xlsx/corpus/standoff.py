"""Running text with standoff annotations: what all character formats are read into before tokens are cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.reading import Reading, Source
from clueval_xlsx.corpus.spans import label_column, make_spans
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.text.strings import IntArray, Strings
from clueval_xlsx.text.tokenise import Ranges, Tokenised, tokenise

GOLD, PRED = "gold", "pred"
UNION, FIRST = "union", "first"
ERROR, LONGEST, MERGE = "error", "longest", "merge"
NESTED = (ERROR, LONGEST, MERGE)
DEFAULT_LAYER = "span"


@dataclass(frozen=True)
class TextFormat:
    """How to read one standoff source.

    `layers` maps a layer to the field its labels come from (None: the field of the same name, or the only one).
    `nested` None means the source's own default: `longest` for a detector's list, else `error`. `side` says
    whether annotations or predictions are wanted from a file that holds both.
    """

    layers: Mapping[str, int | str | None] = field(default_factory=dict)
    nested: str | None = None
    offsets: str = "codepoints"
    annotator: str | None = None
    side: str = GOLD


@dataclass(frozen=True, eq=False)
class Mentions:
    """Annotations by character: half-open `[start, end)` in code points of a document, and their labels."""

    ranges: Ranges
    labels: Mapping[str, pd.Categorical]
    attributes: Mapping[str, pd.Categorical] = field(default_factory=dict)  # known besides the layers

    def __len__(self) -> int:
        return len(self.ranges.document)

    def take(self, rows: IntArray) -> Mentions:
        """Some of them."""
        ranges = self.ranges
        return Mentions(
            Ranges(ranges.document[rows], ranges.start[rows], ranges.end[rows]),
            {name: values[rows] for name, values in self.labels.items()},
            {name: values[rows] for name, values in self.attributes.items()},
        )


@dataclass(frozen=True)
class Document:
    """One text; `id` is None where the source gives none."""

    id: str | None
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class TextReading:
    """Documents and mentions of one source, not yet cut into tokens.

    `listed` are the annotations as the source lists them, `mentions` what is left when overlaps are resolved;
    `group` says which mention a listed annotation became (-1: dropped). `handles` are the annotations' places in
    the source and `original` the source itself, for writing corrections back.
    """

    documents: tuple[Document, ...]
    listed: Mentions
    mentions: Mentions
    group: IntArray
    source: Source
    handles: Sequence[tuple[Any, ...]] = ()
    original: Any = None
    homes: Sequence[tuple[Any, ...] | None] = ()  # where in the source new annotations of each document go
    format: TextFormat = field(default_factory=TextFormat)
    notes: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()  # every overlap that was resolved, one line each
    unannotated: frozenset[int] = frozenset()  # documents that the chosen annotator has not seen

    @property
    def texts(self) -> list[str]:
        """The documents' texts."""
        return [document.text for document in self.documents]

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """The documents' IDs, or their numbers."""
        return tuple(document.id or f"#{number}" for number, document in enumerate(self.documents, 1))

    @property
    def layer_names(self) -> list[str]:
        """The layers that were asked for."""
        return list(self.mentions.labels)

    def corpus_with(self, *others: Ranges) -> Corpus:
        """The text cut into tokens at the boundaries of these annotations and of others."""
        tokens = tokenise(self.texts, Ranges.join([self.listed.ranges, *others]))
        return _corpus(tokens, self.documents, self.doc_ids, self.source.name)

    def only(self, documents: Sequence[int]) -> TextReading:
        """Some of the documents, in this order."""
        number = np.full(len(self.documents) + 1, -1, dtype=np.int64)
        number[list(documents)] = np.arange(len(documents))
        listed, rows = _renumbered(self.listed, number)
        mentions, kept = _renumbered(self.mentions, number)
        place = np.full(len(self.mentions) + 1, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        return replace(
            self,
            documents=tuple(self.documents[index] for index in documents),
            listed=listed,
            mentions=mentions,
            group=place[self.group[rows]],
            handles=[self.handles[row] for row in rows.tolist()],
            homes=[self.homes[index] for index in documents] if self.homes else (),
            unannotated=frozenset(int(number[index]) for index in self.unannotated if number[index] >= 0),
        )

    @cached_property
    def reading(self) -> Reading:
        """This source by itself, on tokens of its own."""
        corpus = self.corpus_with()
        frames = layer_frames(self.mentions, corpus)
        return Reading(corpus, frames, self.source, self.notes, text=self)


def _renumbered(mentions: Mentions, number: IntArray) -> tuple[Mentions, IntArray]:
    """The mentions of the documents that have a new number, in the new order, and which rows they were."""
    document = number[mentions.ranges.document]
    rows = np.flatnonzero(document >= 0)
    rows = rows[np.argsort(document[rows], kind="stable")]
    taken = mentions.take(rows)
    return replace(taken, ranges=replace(taken.ranges, document=document[rows])), rows


def _corpus(tokens: Tokenised, documents: Sequence[Document], doc_ids: tuple[str, ...], name: str) -> Corpus:
    rows = [
        {**({"id": document.id} if document.id is not None else {}), **document.attributes} for document in documents
    ]
    return Corpus(
        tokens=Strings(tokens.data, tokens.start, tokens.length),
        doc_ids=doc_ids,
        documents=Regions(tokens.document_start[:-1], tokens.document_start[1:], rows=rows),
        breaks=tokens.breaks,
        hard_breaks=False,
        name=name,
        running_text=True,
        char_start=tokens.char_start,
        char_end=tokens.char_end,
    )


def token_positions(ranges: Ranges, corpus: Corpus) -> tuple[IntArray, IntArray]:
    """First and last token of each range; the corpus was cut at their boundaries."""
    assert corpus.char_start is not None
    assert corpus.char_end is not None
    # One number for document and offset makes both searches one binary search over all documents.
    stride = int(max(corpus.char_end.max(initial=0), ranges.end.max(initial=0))) + 1
    owner = np.repeat(np.arange(len(corpus.documents)), corpus.documents.stop - corpus.documents.start) * stride
    start = np.searchsorted(owner + corpus.char_start, ranges.document * stride + ranges.start)
    end = np.searchsorted(owner + corpus.char_end, ranges.document * stride + ranges.end)
    return start.astype(np.int64), end.astype(np.int64)


def layer_frames(mentions: Mentions, corpus: Corpus) -> dict[str, pd.DataFrame]:
    """Mentions as one span frame a layer."""
    start, end = token_positions(mentions.ranges, corpus)
    return {layer: make_spans(start, end, {layer: labels}) for layer, labels in mentions.labels.items()}


def attribute_frame(mentions: Mentions, corpus: Corpus) -> pd.DataFrame | None:
    """What is known of mentions besides the layers, by position; None where nothing is."""
    if not mentions.attributes:
        return None
    start, end = token_positions(mentions.ranges, corpus)
    return pd.DataFrame({"start": start, "end": end, **mentions.attributes})


def character_ranges(spans: pd.DataFrame, corpus: Corpus) -> Ranges:
    """Spans of a running-text corpus back to characters."""
    assert corpus.char_start is not None
    assert corpus.char_end is not None
    start, end = spans["start"].to_numpy(np.int64), spans["end"].to_numpy(np.int64)
    return Ranges(corpus.document_of(start), corpus.char_start[start], corpus.char_end[end])


def choose_fields(
    layers: Mapping[str, int | str | None], fields: Sequence[str], name: str, what: str
) -> dict[str, str]:
    """Which field of the source each layer takes its labels from; without layers, `span` from the first.

    >>> choose_fields({"category": None}, ["label"], "gold.json", "Label Studio")
    {'category': 'label'}
    """
    if not layers:
        return {DEFAULT_LAYER: fields[0]}
    chosen = {}
    for layer, wanted in layers.items():
        if wanted is None and layer not in fields and len(fields) == len(layers) == 1:
            chosen[layer] = fields[0]
            continue
        named = layer if wanted is None else wanted
        if named not in fields:
            asked = layer if wanted is None else f"{layer}={wanted}"
            raise OptionError(
                f"{name}: --layer {asked}: {what} has no field {named!r}. Fields: {', '.join(fields)}. "
                f"Give --layer NAME=FIELD, such as {layer}={fields[0]} (--gold-layer, --pred-layer for one side)."
            )
        chosen[layer] = str(named)
    return chosen


def make_mentions(
    ranges: Ranges,
    values: Mapping[str, Iterable[str | None]],
    layers: Mapping[str, str],
    attributes: Sequence[str] = (),
) -> Mentions:
    """Mentions of columns of labels: `layers` maps a layer to its column."""
    columns = {name: label_column(column) for name, column in values.items()}
    return Mentions(
        ranges,
        {layer: columns[column] for layer, column in layers.items()},
        {name: columns[name] for name in attributes if name in columns},
    )
