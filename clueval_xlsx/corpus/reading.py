"""One reading, whatever the source: tokens with columns of tags, or running text with annotations by character.

Every reader returns it. Its units are the tokens or the characters of its texts; where two sides are brought
together (`pair`), it says where its annotations lie once it is known where its units do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Listed, Placing, Source, join_layers, span_frames, stretched
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.mentions import ERROR, Mentions
from clueval_xlsx.corpus.running_text import RunningText, TextDocument, join_tokens
from clueval_xlsx.corpus.spans import check_disjoint, from_decoded
from clueval_xlsx.corpus.tags import OpeningCounts, TagColumn, decode
from clueval_xlsx.exceptions import InputError, counted
from clueval_xlsx.text.characters import CODE_POINTS
from clueval_xlsx.text.strings import IntArray, Strings
from clueval_xlsx.text.tokenise import Ranges, tokenise
from clueval_xlsx.text.visible import VisibleText, visible_in_texts, visible_in_tokens

_SHOWN = 5
Place = tuple[Any, ...]  # where an annotation stands in its source, in the carrier's own terms


@dataclass(frozen=True)
class NewSpan:
    """An annotation as it should be: half-open, in the source's own units; labels by layer."""

    start: int
    end: int
    labels: Mapping[str, str | None]
    surface: str
    label_changed: bool = True

    @property
    def label(self) -> str | None:
        """The label of the first layer."""
        return next(iter(self.labels.values()))


@dataclass(frozen=True)
class SourceChange:
    """One annotation that goes (no `new`), comes (no `old`) or becomes another; `old` is where it stands."""

    document: int
    old: Place | None
    new: NewSpan | None


class Carrier(Protocol):
    """The files of a source as they came."""

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """All files by name, with these changes and every other byte as it was."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One source by itself, not yet compared with anything.

    A source with `tokens` has `columns` of tags, or `spans` that lie on these tokens; any other has `texts`. Where
    annotations are `listed`, by character or by token, `mentions` are what is left of them where some overlap,
    `group` which of these each one became (-1: dropped), `places` where each stands in the source, `homes` where new
    ones of a document go.
    The `carrier` writes corrections back; there is none where they cannot be.
    """

    source: Source
    tokens: Corpus | None = None
    columns: Mapping[str, TagColumn] = field(default_factory=dict)
    spans: Annotation | None = None
    texts: tuple[TextDocument, ...] = ()
    listed: Mentions | None = None
    mentions: Mentions | None = None
    group: IntArray | None = None
    places: Sequence[Place] = ()
    homes: Sequence[Place | None] = ()
    carrier: Carrier | None = None
    unit: str = CODE_POINTS  # what the source's own offsets count
    notes: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()  # every overlap that was resolved, one line each
    unannotated: frozenset[int] = frozenset()  # documents that the chosen annotator has not seen
    nested: str = ERROR  # how overlaps were resolved, and whether equal annotations are one
    forgive_repeats: bool = False
    file_ids: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # of a folder: file and ID of a document
    token_of: IntArray | None = None  # the token of the file that each token is a part of, if any was cut

    def __repr__(self) -> str:
        """Its size, and no word of it."""
        size = f"{len(self.texts)} documents" if self.tokens is None else f"{len(self.tokens)} tokens"
        return f"<Reading: {size}; layers {', '.join(self.layer_names)}>"

    @property
    def tokenised(self) -> bool:
        """Whether the source itself says what its tokens are."""
        return self.tokens is not None

    @property
    def borrowed(self) -> bool:
        """Whether its tokens are those of another source."""
        return self.tokens is not None and not (self.spans is None and self.mentions is None)

    @property
    def layer_names(self) -> tuple[str, ...]:
        """The layers that were asked for."""
        if self.mentions is not None:
            return tuple(self.mentions.labels)
        return tuple(self.columns if self.spans is None else self.spans.layers)

    @property
    def documents(self) -> tuple[TextDocument, ...]:
        """The documents as people would read them."""
        return self.texts if self.tokens is None else self.running_text.documents

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """The documents' IDs, or their numbers."""
        if self.tokens is not None:
            return self.tokens.doc_ids
        return tuple(document.id or f"#{number}" for number, document in enumerate(self.texts, 1))

    @property
    def named(self) -> bool:
        """Whether every document has an ID."""
        if self.tokens is None:
            return all(document.id is not None for document in self.texts)
        documents = self.tokens.documents
        return all("id" in documents.attributes(index) for index in range(len(documents)))

    @property
    def nameless(self) -> bool:
        """Whether a file of tokens says nothing about documents, so that the other side's govern."""
        return self.tokens is not None and self.tokens.nameless

    @property
    def unseen(self) -> frozenset[str]:
        """The documents that the chosen annotator has not seen."""
        return frozenset(self.doc_ids[index] for index in self.unannotated)

    @cached_property
    def corpus(self) -> Corpus:
        """The tokens of the source, or its text on tokens of its own."""
        return self.cut_at() if self.tokens is None else self.tokens

    @cached_property
    def running_text(self) -> RunningText:
        """The text itself, or the tokens joined to text."""
        return RunningText.of(self.corpus, self.texts) if self.tokens is None else join_tokens(self.tokens)

    @cached_property
    def visible(self) -> VisibleText:
        """The visible characters; the units are documents, or tokens."""
        if self.tokens is None:
            return visible_in_texts([document.text for document in self.texts])
        return visible_in_tokens(self.tokens.tokens, self.tokens.documents.start)

    @cached_property
    def annotation(self) -> Annotation:
        """Its annotations on its own tokens."""
        return self.on(self.corpus, self.placing(self.corpus))

    # -- on a corpus

    def cut_at(self, *others: Ranges) -> Corpus:
        """The text cut into tokens at the boundaries of these annotations and of others."""
        assert self.listed is not None
        cut = tokenise([document.text for document in self.texts], Ranges.join([self.listed.ranges, *others]))
        rows = []
        for document in self.texts:
            named = {} if document.id is None else {"id": document.id}
            rows.append({**named, **document.attributes})
        return Corpus(
            tokens=Strings(cut.data, cut.start, cut.length),
            doc_ids=self.doc_ids,
            documents=Regions(cut.document_start[:-1], cut.document_start[1:], rows=rows),
            breaks=cut.breaks,
            hard_breaks=False,
            name=self.source.name,
            running_text=True,
            char_start=cut.char_start,
            char_end=cut.char_end,
        )

    def placing(self, corpus: Corpus) -> Placing:
        """How its own units lie on a corpus that was cut from it, or is its own."""
        return on_same if self.tokens is not None else RunningText.of(corpus).positions

    def on(self, corpus: Corpus, place: Placing, breaks: IntArray | None = None, *, strict: bool = False) -> Annotation:
        """The annotations on a corpus, given where its units lie there and where sentences begin in its own units.

        With `strict` a tag that continues nothing is an error.
        """
        if self.mentions is not None:
            return self._mentions_on(corpus, place)
        assert self.tokens is not None
        own = self._decoded(breaks, strict=strict) if self.spans is None else self.spans
        own = own.moved(place, corpus)
        if corpus.running_text or len(corpus) != len(self.tokens):
            return replace(own, tags={})  # they say something only where the tokens are the same
        return own

    def _mentions_on(self, corpus: Corpus, place: Placing) -> Annotation:
        assert self.listed is not None
        assert self.mentions is not None
        assert self.group is not None
        mentions = self.mentions
        at = place(self.listed.ranges)
        start, end = stretched(self.group, len(mentions), *at)
        frames = span_frames(mentions, start, end)
        extents = {"start": start, "end": end}
        scores = None
        if mentions.scores is not None:
            scores = pd.DataFrame({**extents, "score": mentions.scores}).dropna(ignore_index=True)
        every = Listed(self.listed, *at, self.nested, self.forgive_repeats)
        return Annotation(
            self.source,
            frames,
            join_layers(frames, corpus),
            listed=every.only_layers(self.layer_names) if self.resolved else None,
            attributes=pd.DataFrame({**extents, **mentions.attributes}) if mentions.attributes else None,
            scores=scores,
            listing=every if self.listed.scores is not None else None,
        )

    def _decoded(self, breaks: IntArray | None, *, strict: bool) -> Annotation:
        """The columns of tags as spans, which end where sentences do."""
        breaks = self.corpus.closing_breaks if breaks is None else breaks
        layers: dict[str, pd.DataFrame] = {}
        openings: dict[str, OpeningCounts] = {}
        for name, column in self.columns.items():
            decoded = decode(column, breaks)
            if strict and decoded.orphans.size:
                self._refuse_orphan(name, column, decoded.orphans)
            layers[name] = from_decoded(decoded, name)
            openings[name] = decoded.openings
        return Annotation(self.source, layers, pd.DataFrame(), openings, self.columns)

    def _refuse_orphan(self, layer: str, column: TagColumn, orphans: IntArray) -> None:
        position, count = int(orphans[0]), orphans.size
        more = f" ({count - 1} more)" if count > 1 else ""
        raise InputError(
            f"{self.corpus.place(position)}: layer {layer}: {column.tag(position)!r} continues nothing{more}. "
            "read.bio=strict allows I- only behind B- or I- of the same label; use read.bio=lenient to let it open a "
            "span."
        )

    # -- the same, otherwise

    def with_source(self, source: Source) -> Reading:
        """The same, said to come from elsewhere or to have been read otherwise."""
        return replace(self, source=source)

    def only_layers(self, names: Sequence[str]) -> Reading:
        """The same with some of its layers."""
        if self.listed is not None and self.mentions is not None:
            return replace(self, listed=self.listed.only_layers(names), mentions=self.mentions.only_layers(names))
        if self.spans is not None:
            return replace(self, spans=self.spans.only_layers(names))
        return replace(self, columns={name: self.columns[name] for name in names})

    def renamed(self, doc_ids: Sequence[str]) -> Reading:
        """The same documents under other IDs."""
        if self.tokens is None:
            named = zip(self.texts, doc_ids, strict=True)
            return replace(self, texts=tuple(replace(document, id=doc_id) for document, doc_id in named))
        documents = self.tokens.documents
        rows = tuple({**documents.attributes(index), "id": doc_id} for index, doc_id in enumerate(doc_ids))
        return replace(
            self, tokens=replace(self.tokens, doc_ids=tuple(doc_ids), documents=replace(documents, rows=rows))
        )

    def without(self, doc_ids: frozenset[str]) -> Reading:
        """The same without some documents."""
        if self.tokens is not None:
            raise InputError(
                f"not seen by the chosen annotator: {counted(len(doc_ids), 'document')} that the other side has "
                f"({', '.join(sorted(doc_ids)[:5])}). Choose another (--annotator first|union), or leave them out of "
                "both files."
            )
        return self.only([index for index, doc_id in enumerate(self.doc_ids) if doc_id not in doc_ids])

    def in_order_of(self, doc_ids: Sequence[str], name: str) -> Reading:
        """The documents in the order of another side, whose name is given, if both have IDs."""
        if tuple(doc_ids) == self.doc_ids or not self.named or self.borrowed:
            return self
        if self.tokens is None and len(self.texts) == 1 and tuple(doc_ids) == ("#1",):
            return self  # a token file without document tags has one document without a name
        if self.tokens is not None and any(doc_id.startswith("#") for doc_id in doc_ids):
            return self
        return self.only(order_like(doc_ids, self.doc_ids, (name, self.source.name)))

    def documents_called(self, doc_ids: Sequence[str]) -> Reading:
        """The documents of these IDs, in this order."""
        if tuple(doc_ids) == self.doc_ids:
            return self
        number = {doc_id: index for index, doc_id in enumerate(self.doc_ids)}
        missing = [doc_id for doc_id in doc_ids if doc_id not in number]
        if missing:
            raise InputError(f"{self.source.name}: document {missing[0]!r} is not in it. Give the file as it was.")
        return self.only([number[doc_id] for doc_id in doc_ids])

    def only(self, documents: Sequence[int]) -> Reading:
        """Some of the documents, in this order."""
        if self.tokens is not None:
            return self._only_tokens(documents)
        assert self.listed is not None
        assert self.mentions is not None
        assert self.group is not None
        number = np.full(len(self.texts) + 1, -1, dtype=np.int64)
        number[list(documents)] = np.arange(len(documents))
        listed, rows = _renumbered(self.listed, number)
        mentions, kept = _renumbered(self.mentions, number)
        group = np.full(len(self.mentions) + 1, -1, dtype=np.int64)
        group[kept] = np.arange(len(kept))
        return replace(
            self,
            texts=tuple(self.texts[index] for index in documents),
            listed=listed,
            mentions=mentions,
            group=group[self.group[rows]],
            places=[self.places[row] for row in rows.tolist()] if self.places else (),
            homes=[self.homes[index] for index in documents] if self.homes else (),
            unannotated=frozenset(int(number[index]) for index in self.unannotated if number[index] >= 0),
        )

    def _only_tokens(self, order: Sequence[int]) -> Reading:
        corpus = self.corpus
        documents = corpus.documents
        sizes = (documents.stop - documents.start)[list(order)]
        rows = np.concatenate([np.arange(documents.start[index], documents.stop[index]) for index in order])
        stop = np.cumsum(sizes)
        starts = np.zeros(len(corpus) + 1, dtype=bool)
        starts[corpus.breaks] = True
        moved = replace(
            corpus,
            tokens=corpus.tokens.at(rows),
            doc_ids=tuple(corpus.doc_ids[index] for index in order),
            documents=Regions(stop - sizes, stop, rows=tuple(documents.attributes(index) for index in order)),
            breaks=np.flatnonzero(starts[rows]),
            regions={},
            columns={name: values.at(rows) for name, values in corpus.columns.items()},
            token_ids=None if corpus.token_ids is None else corpus.token_ids.at(rows),
            glue=None if corpus.glue is None else corpus.glue[rows],
        )
        columns = {layer: replace(column, codes=column.codes[rows]) for layer, column in self.columns.items()}
        return replace(self, tokens=moved, columns=columns, carrier=None)


def on_same(ranges: Ranges) -> tuple[IntArray, IntArray]:
    """Units that are the tokens of the corpus."""
    return ranges.start, ranges.end - 1


def spans_on_tokens(source: Source, corpus: Corpus, layers: Mapping[str, pd.DataFrame], **more: Any) -> Reading:
    """A source whose spans lie on the tokens of a corpus; `more` is what else the reading has."""
    for layer, spans in layers.items():
        check_disjoint(spans, f"{source.name}, layer {layer}")
    return Reading(source, corpus, spans=Annotation(source, layers, pd.DataFrame()), **more)


def digest(data: bytes) -> str:
    """The hash that inputs are known by."""
    return hashlib.sha256(data).hexdigest()


def _renumbered(mentions: Mentions, number: IntArray) -> tuple[Mentions, IntArray]:
    """The mentions of the documents that have a new number, in the new order, and which rows they were."""
    document = number[mentions.ranges.document]
    rows = np.flatnonzero(document >= 0)
    rows = rows[np.argsort(document[rows], kind="stable")]
    taken = mentions.take(rows)
    return taken.moved(replace(taken.ranges, document=document[rows])), rows


def order_like(wanted: Sequence[str], own: Sequence[str], names: tuple[str, str]) -> list[int]:
    """The own documents in the order of others; raises where one side has a document that the other has not."""
    number = {doc_id: index for index, doc_id in enumerate(own)}
    missing = [doc_id for doc_id in wanted if doc_id not in number]
    known = set(wanted)
    beyond = [doc_id for doc_id in own if doc_id not in known]
    if missing or beyond:
        said = [
            f"{_listed(documents)} of {here} {'is' if len(documents) == 1 else 'are'} not in {there}"
            for documents, here, there in ((missing, *names), (beyond, *reversed(names)))
            if documents
        ]
        known_words = f", which has {', '.join(map(repr, list(own)[:_SHOWN]))}" if missing and not beyond else ""
        raise InputError(
            f"the documents differ: {'; '.join(said)}{known_words}. Both sides must hold the same documents."
        )
    return [number[doc_id] for doc_id in wanted]


def _listed(documents: Sequence[str]) -> str:
    more = f" and {len(documents) - _SHOWN} more" if len(documents) > _SHOWN else ""
    return ", ".join(map(repr, documents[:_SHOWN])) + more
