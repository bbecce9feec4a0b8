"""Files of tokens: their side of a comparison with tokens or with running text, and their correction.

Tokens that are the same on both sides need no more than that; this is the quick and usual case. Otherwise gold's are
cut further, at the boundaries of the prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import ClassVar, Protocol

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Source, join_layers
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.document_order import order_like
from clueval_xlsx.corpus.listed_spans import ListedSpans
from clueval_xlsx.corpus.listing import Listing
from clueval_xlsx.corpus.reading import OnText, OnTokens, PairingRules, Reading, Sides, annotate, check_known_layers
from clueval_xlsx.corpus.retokenisation import CutCorpus, cut_corpus, visible_in_corpus
from clueval_xlsx.corpus.running_text import RunningText, TextDocument, join_tokens
from clueval_xlsx.corpus.same_tokens import check_positions, check_same_tokens, nameless, same_tokens
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.corpus.tags import TagColumn
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.text.folding import fold_alike
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges
from clueval_xlsx.text.visible import VisibleText, check_same_visible


class TokenOriginal(Protocol):
    """A token file as it came, or a table of spans on tokens."""

    def correct(self, reading: TokenReading, layers: Mapping[str, pd.DataFrame]) -> bytes:
        """The file with these spans in place of those that were read."""


@dataclass(frozen=True, eq=False)
class TokenReading:
    """A corpus and its layers: a column of tags in the token formats, a span frame in the others."""

    corpus: Corpus
    layers: Mapping[str, TagColumn | pd.DataFrame]
    source: Source
    notes: tuple[str, ...] = ()
    original: TokenOriginal | None = None
    attributes: pd.DataFrame | None = None
    scores: pd.DataFrame | None = None
    split: Callable[[bytes], dict[str, bytes]] | None = None  # into the files that were put together
    listed_spans: ListedSpans | None = None
    listing: Listing | None = None
    token_of: IntArray | None = None
    resolved: tuple[str, ...] = ()
    file_ids: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    tokenised: ClassVar[bool] = True
    unseen: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        """Its size, and no word of it."""
        return f"<TokenReading: {len(self.corpus)} tokens; layers {', '.join(self.layers)}>"

    @property
    def layer_names(self) -> tuple[str, ...]:
        """The layers that were asked for."""
        return tuple(self.layers)

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """The documents' IDs, or their numbers."""
        return self.corpus.doc_ids

    @property
    def documents(self) -> tuple[TextDocument, ...]:
        """The documents as people would read them."""
        return self.running_text.documents

    @cached_property
    def running_text(self) -> RunningText:
        """The tokens joined to text."""
        return join_tokens(self.corpus)

    @cached_property
    def visible(self) -> VisibleText:
        """The visible characters of the tokens."""
        return visible_in_corpus(self.corpus)

    @property
    def named(self) -> bool:
        """Whether every document has an ID."""
        documents = self.corpus.documents
        return all("id" in documents.attributes(index) for index in range(len(documents)))

    @property
    def nameless(self) -> bool:
        """Whether the file says nothing about documents."""
        return nameless(self.corpus)

    def with_source(self, source: Source) -> TokenReading:
        """The same, said to come from elsewhere."""
        return replace(self, source=source)

    def only_layers(self, names: Sequence[str]) -> TokenReading:
        """The same with some of its layers."""
        listing = None if self.listing is None else self.listing.only_layers(names)
        listed = self.listed_spans
        listed = None if listed is None else listed.only_layers(names)
        return replace(self, layers={name: self.layers[name] for name in names}, listed_spans=listed, listing=listing)

    def without(self, doc_ids: frozenset[str]) -> TokenReading:
        """A token file cannot leave out documents."""
        raise InputError(
            f"{len(doc_ids)} documents were not seen by the chosen annotator ({', '.join(sorted(doc_ids)[:5])}), but "
            "the other side has them. Choose another (--annotator first|union), or leave them out of both files."
        )

    def in_order_of(self, doc_ids: Sequence[str], name: str) -> TokenReading:
        """The documents in the order of another side, if both have IDs; otherwise the file stays in its order."""
        if tuple(doc_ids) == self.doc_ids or not self.named or any(doc_id.startswith("#") for doc_id in doc_ids):
            return self
        if any(not isinstance(column, TagColumn) for column in self.layers.values()):
            return self
        return self._reordered(order_like(doc_ids, self.doc_ids, (name, self.source.name)))

    def _reordered(self, order: Sequence[int]) -> TokenReading:
        corpus, documents = self.corpus, self.corpus.documents
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
        layers = {
            layer: replace(column, codes=column.codes[rows])
            for layer, column in self.layers.items()
            if isinstance(column, TagColumn)
        }
        return replace(self, corpus=moved, layers=layers, original=None)

    def renamed(self, doc_ids: Sequence[str]) -> TokenReading:
        """The same documents under other IDs."""
        documents = self.corpus.documents
        rows = tuple({**documents.attributes(index), "id": doc_id} for index, doc_id in enumerate(doc_ids))
        named = replace(self.corpus, doc_ids=tuple(doc_ids), documents=replace(documents, rows=rows))
        return replace(self, corpus=named)

    def govern(self, pred: Reading, how: PairingRules) -> Sides:
        """Bring a prediction onto these tokens, which are cut where they must be."""
        placed = pred.on_tokens(self, how)
        mine = annotate(self, strict_tags=how.strict_tags)
        theirs = placed.annotation()
        corpus, cut = self.corpus, placed.cut
        inside = np.empty(0, dtype=np.int64)
        if cut is not None:
            corpus = cut.corpus
            uncut = len(corpus) == len(self.corpus)
            mine = _moved(mine, lambda spans: _placed(spans, cut.moved(*positions(spans))), corpus, uncut=uncut)
            inside = cut.visible_end[np.flatnonzero(np.diff(cut.origin) == 0)]
            if placed.visible is not None:  # as the text counts that nobody folded
                inside = self.visible.before[placed.visible.place[inside]]
        if not corpus.hard_breaks and not corpus.running_text:
            corpus = replace(corpus, breaks=corpus.derived_breaks([positions(side.spans) for side in (mine, theirs)]))
        added = Ranges(np.zeros(len(inside), np.int64), inside, inside) if how.align or cut is not None else None
        token = cut.origin if cut is not None and len(inside) else None
        return Sides(corpus, mine, theirs, added, gold_token=token, notes=placed.notes, differences=placed.differences)

    def on_tokens(self, gold: Reading, how: PairingRules) -> OnTokens:
        """The same tokens as gold's, or with `align` others that have the same visible characters."""
        if how.by_position is not None and self.corpus is not gold.corpus:
            note = check_positions(gold.corpus, self.corpus, how.by_position)
            return OnTokens(None, lambda: annotate(self, gold.corpus, strict_tags=how.strict_tags), note)
        if self.corpus is not gold.corpus and how.align and not same_tokens(gold.corpus, self.corpus):
            return self._on_other_tokens(gold, how)
        if self.corpus is not gold.corpus and not how.align:
            check_same_tokens(gold.corpus, self.corpus)
        return OnTokens(None, lambda: annotate(self, gold.corpus, strict_tags=how.strict_tags))

    def _on_other_tokens(self, gold: Reading, how: PairingRules) -> OnTokens:
        """Cut gold's tokens at the boundaries of these."""
        theirs, own = gold.visible, self.visible
        names = (gold.source.name, self.source.name)
        theirs, own, differences = fold_alike(theirs, own, align=how.align)
        check_same_visible(theirs, own, names=names, doc_ids=gold.doc_ids, whole=self.nameless)
        cut = cut_corpus(gold.corpus, theirs, np.concatenate([own.start, own.end]))
        # Gold's sentence ends govern both sides: a span ends at the first of these tokens behind one.
        border = np.append(theirs.start, len(theirs.points))[gold.corpus.closing_breaks]
        breaks = np.unique(np.searchsorted(own.start, border, side="left"))

        def annotation() -> Annotation:
            found = annotate(self, breaks=breaks[breaks < len(self.corpus)], strict_tags=how.strict_tags)

            def move(spans: pd.DataFrame) -> pd.DataFrame:
                return _placed(spans, cut.positions(*self._stretches(spans, own)))

            # Cut at all of their own boundaries, as many tokens are the same tokens.
            return _moved(found, move, cut.corpus, uncut=len(cut.corpus) == len(self.corpus))

        return OnTokens(cut, annotation, visible=theirs, differences=differences)

    def on_text(self, gold: Reading, how: PairingRules) -> OnText:
        """Spans of tokens as ranges of gold's text."""
        own = annotate(self, strict_tags=how.strict_tags)
        names = (gold.source.name, self.source.name)
        text, visible, differences = fold_alike(gold.visible, self.visible, align=how.align)
        check_same_visible(text, visible, names=names, doc_ids=gold.doc_ids, whole=self.nameless)

        def ranges(spans: pd.DataFrame) -> Ranges:
            return text.to_ranges(*self._stretches(spans, visible))

        def annotation(corpus: Corpus) -> Annotation:
            places = RunningText.of(corpus)
            return _moved(own, lambda spans: _placed(spans, places.positions(ranges(spans))), corpus, uncut=False)

        frames = [*own.layers.values(), *([own.listed.spans] if own.listed is not None else [])]
        return OnText(Ranges.join([ranges(spans) for spans in frames]), annotation, differences)

    def _stretches(self, spans: pd.DataFrame, visible: VisibleText) -> tuple[IntArray, IntArray]:
        """Where spans begin and end among the visible characters."""
        start, end = positions(spans)
        begin, stop = visible.start[start], visible.end[end]
        refuse_invisible(begin, stop, self.source.name)
        return begin, stop

    def on_pair(self, added: Ranges, doc_ids: Sequence[str] | None = None) -> TokenReading:  # noqa: ARG002
        """On the tokens of a pair again; its documents are those of the file."""
        if not len(added.start):
            return self
        cut = cut_corpus(self.corpus, self.visible, added.start)
        frames = _cut_spans(annotate(self).layers, cut)
        return TokenReading(cut.corpus, frames, self.source, self.notes, token_of=cut.origin)

    def correct(self, layers: Mapping[str, pd.DataFrame], corpus: Corpus | None = None) -> dict[str, bytes]:  # noqa: ARG002
        """The file with these spans, which lie on its own tokens, in place of its own."""
        check_known_layers(self, layers)
        if self.original is None:
            raise OptionError(f"{self.source.name}: is no file that could be corrected.")
        whole = self.original.correct(self, layers)
        return {PurePath(self.source.name).name: whole} if self.split is None else self.split(whole)


def refuse_invisible(begin: IntArray, stop: IntArray, name: str) -> None:
    """Raise where stretches of visible characters are empty."""
    empty = int((begin >= stop).sum())
    if empty:
        raise InputError(
            f"{name}: {empty} annotations hold nothing but white space, which the other side does not share. "
            "Remove them, or give both sides the same text."
        )


def _cut_spans(layers: Mapping[str, pd.DataFrame], cut: CutCorpus) -> dict[str, pd.DataFrame]:
    return {layer: _placed(spans, cut.moved(*positions(spans))) for layer, spans in layers.items()}


def _placed(spans: pd.DataFrame, place: tuple[IntArray, IntArray]) -> pd.DataFrame:
    return spans.assign(start=place[0], end=place[1])


def _moved(
    annotation: Annotation, move: Callable[[pd.DataFrame], pd.DataFrame], corpus: Corpus, *, uncut: bool
) -> Annotation:
    """The same annotation elsewhere; its tags say something only where the tokens are the same."""
    layers = {layer: move(spans) for layer, spans in annotation.layers.items()}
    return replace(
        annotation,
        layers=layers,
        spans=join_layers(layers, corpus),
        tags=annotation.tags if uncut else {},
        listed=None if annotation.listed is None else annotation.listed.moved(move),
        scores=None if annotation.scores is None else move(annotation.scores),
        listing=None if annotation.listing is None else _moved_listing(annotation.listing, move),
    )


def _moved_listing(listing: Listing, move: Callable[[pd.DataFrame], pd.DataFrame]) -> Listing:
    return listing.placed(*positions(move(pd.DataFrame({"start": listing.start, "end": listing.end}))))
