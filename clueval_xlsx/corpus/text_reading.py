"""Running text with annotations by character: its side of a comparison, and its correction.

The text is cut into tokens only when it is known what it is compared with, so that no annotation begins or ends
inside a token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Source, join_layers
from clueval_xlsx.corpus.changes import Changes, Handle, Key, NewSpan, differing, keys
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.document_order import order_like
from clueval_xlsx.corpus.listed_spans import ListedSpans
from clueval_xlsx.corpus.listing import Listing, span_frames
from clueval_xlsx.corpus.mentions import Mentions
from clueval_xlsx.corpus.nested import ERROR
from clueval_xlsx.corpus.reading import OnText, OnTokens, PairingRules, Reading, Sides, check_known_layers
from clueval_xlsx.corpus.retokenisation import cut_corpus
from clueval_xlsx.corpus.running_text import RunningText, TextDocument
from clueval_xlsx.corpus.spans import same_extents
from clueval_xlsx.corpus.token_reading import TokenReading, refuse_invisible
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.text.folding import TextDifferences, fold_alike
from clueval_xlsx.text.offsets import CODE_POINTS, from_code_points, splits_unit
from clueval_xlsx.text.strings import IntArray, Strings
from clueval_xlsx.text.tokenise import Ranges, Tokenised, tokenise
from clueval_xlsx.text.visible import VisibleText, check_same_visible, visible_in_texts


class TextOriginal(Protocol):
    """A source of running text as it came."""

    def correct(self, reading: TextReading, changes: Changes) -> dict[str, bytes]:
        """Its files with these changes, by file name; everything else stays as it was."""


@dataclass(frozen=True, eq=False)
class TextReading:
    """Documents and mentions of one source, not yet cut into tokens.

    `listed` are the annotations as the source lists them, `mentions` what is left when nested ones are resolved;
    `group` says which mention a listed annotation became (-1: dropped). `handles` are the annotations' places in
    the source and `original` the source itself, for writing corrections back.
    """

    documents: tuple[TextDocument, ...]
    listed: Mentions
    mentions: Mentions
    group: IntArray
    source: Source
    handles: Sequence[Handle] = ()
    original: TextOriginal | None = None
    homes: Sequence[Handle | None] = ()  # where in the source new annotations of each document go
    unit: str = CODE_POINTS  # what the source's own offsets count
    notes: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()  # every overlap that was resolved, one line each
    unannotated: frozenset[int] = frozenset()  # documents that the chosen annotator has not seen
    file_ids: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    nested: str = ERROR  # how overlaps were resolved, and whether equal annotations are one
    forgive_repeats: bool = False

    tokenised: ClassVar[bool] = False
    nameless: ClassVar[bool] = False
    token_of: ClassVar[None] = None

    def __repr__(self) -> str:
        """Its size, and no word of it."""
        layers = ", ".join(self.layer_names)
        return f"<TextReading: {len(self.documents)} documents, {len(self.mentions)} annotations; layers {layers}>"

    @property
    def texts(self) -> list[str]:
        """The documents' texts."""
        return [document.text for document in self.documents]

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """The documents' IDs, or their numbers."""
        return tuple(document.id or f"#{number}" for number, document in enumerate(self.documents, 1))

    @property
    def named(self) -> bool:
        """Whether every document has an ID."""
        return all(document.id is not None for document in self.documents)

    @property
    def unseen(self) -> frozenset[str]:
        """The documents that the chosen annotator has not seen."""
        return frozenset(self.doc_ids[index] for index in self.unannotated)

    @property
    def layer_names(self) -> tuple[str, ...]:
        """The layers that were asked for."""
        return tuple(self.mentions.labels)

    @cached_property
    def corpus(self) -> Corpus:
        """The text by itself, on tokens of its own."""
        return self.corpus_with()

    @cached_property
    def layers(self) -> Mapping[str, pd.DataFrame]:
        """The mentions on these tokens."""
        return layer_frames(self.mentions, self.corpus)

    @property
    def attributes(self) -> pd.DataFrame | None:
        """What else is known of the mentions."""
        return _attribute_frame(self.mentions, self.corpus)

    @property
    def scores(self) -> pd.DataFrame | None:
        """How sure whoever made the mentions was."""
        return _score_frame(self.mentions, self.corpus)

    @property
    def listed_spans(self) -> ListedSpans | None:
        """The annotations as they are listed, where some of them gave way to others."""
        return self._listed_spans(self.corpus)

    @property
    def listing(self) -> Listing | None:
        """The annotations as they are listed, with their scores."""
        return self._listing(self.corpus)

    @property
    def running_text(self) -> RunningText:
        """The text itself."""
        return RunningText.of(self.corpus, self.documents)

    @cached_property
    def visible(self) -> VisibleText:
        """The visible characters of the text."""
        return visible_in_texts(self.texts)

    def corpus_with(self, *others: Ranges) -> Corpus:
        """The text cut into tokens at the boundaries of these annotations and of others."""
        tokens = tokenise(self.texts, Ranges.join([self.listed.ranges, *others]))
        return _corpus(tokens, self)

    def with_source(self, source: Source) -> TextReading:
        """The same, said to come from elsewhere."""
        return replace(self, source=source)

    def only_layers(self, names: Sequence[str]) -> TextReading:
        """The same with some of its layers."""
        return replace(self, listed=self.listed.only_layers(names), mentions=self.mentions.only_layers(names))

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

    def without(self, doc_ids: frozenset[str]) -> TextReading:
        """The other documents."""
        return self.only([index for index, doc_id in enumerate(self.doc_ids) if doc_id not in doc_ids])

    def in_order_of(self, doc_ids: Sequence[str], name: str) -> TextReading:
        """The documents in the order of another side, if they have IDs."""
        if not self.named or tuple(doc_ids) == self.doc_ids:
            return self
        number = {doc_id: index for index, doc_id in enumerate(self.doc_ids)}
        if len(doc_ids) == 1 and doc_ids[0] == "#1" and len(number) == 1:
            return self  # a token file without document tags has one document without a name
        return self.only(order_like(doc_ids, self.doc_ids, (name, self.source.name)))

    def renamed(self, doc_ids: Sequence[str]) -> TextReading:
        """The same documents under other IDs."""
        named = zip(self.documents, doc_ids, strict=True)
        return replace(self, documents=tuple(replace(document, id=doc_id) for document, doc_id in named))

    def govern(self, pred: Reading, how: PairingRules) -> Sides:
        """Bring a prediction onto this text, and cut it for both."""
        placed = pred.on_text(self, how)
        corpus = self.corpus_with(placed.added)
        sides = self._annotation(corpus), placed.annotation(corpus)
        return Sides(corpus, *sides, placed.added, differences=placed.differences)

    def on_text(self, gold: Reading, how: PairingRules) -> OnText:
        """The annotations on gold's text, carried over by visible characters where the spacing differs."""
        names = (gold.source.name, self.source.name)
        if len(gold.documents) != len(self.documents):
            raise InputError(
                f"the documents differ: {names[0]} has {len(gold.documents)}, {names[1]} has {len(self.documents)}. "
                "Both sides must hold the same documents."
            )
        both = zip(gold.documents, self.documents, strict=True)
        different = [index for index, (left, right) in enumerate(both) if left.text != right.text]
        if not different:
            return OnText(self.listed.ranges, self._annotation)
        carried, differences = self._carried(gold, different, how)

        def annotation(corpus: Corpus) -> Annotation:
            found = carried._annotation(corpus)
            own = None if found.listing is None else replace(found.listing, mentions=self.listed)
            return replace(found, listing=own)

        return OnText(carried.listed.ranges, annotation, differences)

    def _carried(
        self, gold: Reading, different: Sequence[int], how: PairingRules
    ) -> tuple[TextReading, TextDifferences]:
        """The annotations at their places in gold's texts, some of which are spaced differently."""
        theirs, own = (visible_in_texts([side.documents[index].text for index in different]) for side in (gold, self))
        doc_ids = [gold.doc_ids[index] for index in different]
        names = (gold.source.name, self.source.name)
        theirs, own, differences = fold_alike(theirs, own, align=how.align)
        check_same_visible(theirs, own, names=names, doc_ids=doc_ids, whole=False)
        number = np.full(len(self.documents), -1, dtype=np.int64)
        number[list(different)] = np.arange(len(different))

        def carried(mentions: Mentions) -> Mentions:
            ranges = mentions.ranges
            rows = np.flatnonzero(number[ranges.document] >= 0)
            begin, stop = own.of_ranges(Ranges(number[ranges.document[rows]], ranges.start[rows], ranges.end[rows]))
            refuse_invisible(begin, stop, self.source.name)
            found = theirs.to_ranges(begin, stop)
            start, end = ranges.start.copy(), ranges.end.copy()
            start[rows], end[rows] = found.start, found.end
            return mentions.moved(Ranges(ranges.document, start, end))

        moved = replace(self, listed=carried(self.listed), mentions=carried(self.mentions))
        return moved, replace(differences, texts=len(different))

    def on_tokens(self, gold: Reading, how: PairingRules) -> OnTokens:
        """The annotations on gold's tokens, which are cut at their boundaries."""
        theirs, own = gold.visible, self.visible
        names = (gold.source.name, self.source.name)
        whole = gold.nameless or len(self.documents) == 1
        theirs, own, differences = fold_alike(theirs, own, align=how.align)
        check_same_visible(theirs, own, names=names, doc_ids=gold.doc_ids, whole=whole)
        begin, stop = own.of_ranges(self.mentions.ranges)
        refuse_invisible(begin, stop, self.source.name)
        every = own.of_ranges(self.listed.ranges) if self.resolved else (begin, stop)
        refuse_invisible(*every, self.source.name)
        cut = cut_corpus(gold.corpus, theirs, np.concatenate([begin, stop, *every]))

        def annotation() -> Annotation:
            start, end = cut.positions(begin, stop)
            frames = span_frames(self.mentions, start, end)
            scores = self.mentions.scores
            known = None if scores is None else pd.DataFrame({"start": start, "end": end, "score": scores}).dropna()
            listed = ListedSpans.at(self.listed, *cut.positions(*every)) if self.resolved else None
            listing = None
            if scores is not None:
                listing = self._listing_at(cut.positions(*own.of_ranges(self.listed.ranges)))
            joined = join_layers(frames, cut.corpus)
            return Annotation(
                self.source,
                frames,
                joined,
                listed=listed,
                scores=known,
                listing=listing,
            )

        return OnTokens(cut, annotation, visible=theirs, differences=differences)

    def _annotation(self, corpus: Corpus) -> Annotation:
        """The annotations on tokens that this text was cut into."""
        frames, listed = layer_frames(self.mentions, corpus), self._listed_spans(corpus)
        attributes = _attribute_frame(self.mentions, corpus)
        joined, scores = join_layers(frames, corpus), _score_frame(self.mentions, corpus)
        return Annotation(
            self.source,
            frames,
            joined,
            listed=listed,
            attributes=attributes,
            scores=scores,
            listing=self._listing(corpus),
        )

    def _listing(self, corpus: Corpus) -> Listing | None:
        if self.listed.scores is None:
            return None
        return self._listing_at(RunningText.of(corpus).positions(self.listed.ranges))

    def _listing_at(self, place: tuple[IntArray, IntArray]) -> Listing:
        return Listing(self.listed, *place, self.nested, self.forgive_repeats)

    def _listed_spans(self, corpus: Corpus) -> ListedSpans | None:
        if not self.resolved:
            return None
        return ListedSpans.at(self.listed, *RunningText.of(corpus).positions(self.listed.ranges))

    def on_pair(self, added: Ranges, doc_ids: Sequence[str] | None = None) -> TokenReading:
        """On the tokens of a pair again."""
        side = self._documents_of(self.doc_ids if doc_ids is None else doc_ids)
        lengths = np.array([len(text) for text in side.texts] or [0], dtype=np.int64)
        document = np.minimum(added.document, len(lengths) - 1)
        if (added.document >= len(side.documents)).any() or (added.end > lengths[document]).any():
            raise InputError(
                f"{self.source.name}: predictions lie behind the end of its texts. Give the file as it was."
            )
        corpus = side.corpus_with(added)
        attributes = _attribute_frame(side.mentions, corpus)
        layers = layer_frames(side.mentions, corpus)
        return TokenReading(corpus, layers, self.source, self.notes, attributes=attributes)

    def _documents_of(self, doc_ids: Sequence[str]) -> TextReading:
        """The documents of a pair."""
        if tuple(doc_ids) == self.doc_ids:
            return self
        number = {doc_id: index for index, doc_id in enumerate(self.doc_ids)}
        missing = [doc_id for doc_id in doc_ids if doc_id not in number]
        if missing:
            raise InputError(f"{self.source.name}: document {missing[0]!r} is not in it. Give the file as it was.")
        return self.only([number[doc_id] for doc_id in doc_ids])

    def correct(self, layers: Mapping[str, pd.DataFrame], corpus: Corpus | None = None) -> dict[str, bytes]:
        """The files with these spans, which lie on a corpus that was cut from the text, in place of its own."""
        check_known_layers(self, layers)
        corpus = corpus or self.corpus
        side = self._documents_of(corpus.doc_ids)  # what the corpus has not cannot have been corrected
        if side.original is None:
            raise OptionError(f"{self.source.name}: is no file that could be corrected.")
        changes = side._changes({**layer_frames(side.mentions, corpus), **layers}, corpus)
        return side.original.correct(side, changes)

    def _changes(self, layers: Mapping[str, pd.DataFrame], corpus: Corpus) -> Changes:
        """Compare the mentions with corrected spans over a corpus that was cut from the text.

        An annotation that overlaps a new one of its document is changed in place and keeps everything else it has;
        what is left of the old goes, what is left of the new is added. Annotations that were dropped because they
        overlap others are not touched.
        """
        changes = Changes(self.doc_ids)
        for rows, names in self.mentions.apart():
            self._add_changes(changes, rows, {name: layers[name] for name in layers if name in names}, corpus)
        return changes

    def _add_changes(self, changes: Changes, own: IntArray, layers: Mapping[str, pd.DataFrame], corpus: Corpus) -> None:
        """The changes of one sequence: its mentions, by their rows, and its layers."""
        old, rows = self.mentions.ranges, same_extents(layers)
        ranges = RunningText.of(corpus).ranges(rows)
        labels = [self.mentions.labels[layer][own] for layer in layers]
        before = keys(old.document[own], old.start[own], old.end[own], labels)
        after = keys(ranges.document, ranges.start, ranges.end, [rows[layer] for layer in layers])
        found = differing(before, after)
        for index, partner in found.replaced:
            members = np.flatnonzero(self.group == own[index])
            handles = [self.handles[row] for row in members.tolist()]
            document = before[index][0]
            if partner is None:
                changes.removed.setdefault(document, []).extend(handles)
                continue
            span = self._new_span(partner, layers, label_changed=partner[3] != before[index][3])
            # Repeated annotations all change; merged ones become the one that was corrected.
            changed = len(handles) if self._equal_extents(members) else 1
            changes.changed.setdefault(document, []).extend((handle, span) for handle in handles[:changed])
            if handles[changed:]:
                changes.removed.setdefault(document, []).extend(handles[changed:])
        for key in found.added:
            changes.added.setdefault(key[0], []).append(self._new_span(key, layers, label_changed=True))

    def _equal_extents(self, rows: IntArray) -> bool:
        ranges = self.listed.ranges
        return len(np.unique(ranges.start[rows])) == len(np.unique(ranges.end[rows])) == 1

    def _new_span(self, key: Key, layers: Mapping[str, pd.DataFrame], *, label_changed: bool) -> NewSpan:
        document, start, end, labels = key
        text = self.documents[document].text
        offsets = np.array([start, end], dtype=np.int64)
        if self.unit != CODE_POINTS:
            if splits_unit(text, self.unit, offsets):
                raise InputError(
                    f"{self.source.name}: document {self.doc_ids[document]!r}: the corrected span {text[start:end]!r} "
                    f"begins or ends inside a glyph, which --offsets {self.unit} cannot say. Choose another extent."
                )
            offsets = from_code_points(text, self.unit, offsets)
        named = dict(zip(layers, labels, strict=True))
        return NewSpan(int(offsets[0]), int(offsets[1]), named, text[start:end], label_changed)


def layer_frames(mentions: Mentions, corpus: Corpus) -> dict[str, pd.DataFrame]:
    """Mentions as one span frame a layer."""
    return span_frames(mentions, *RunningText.of(corpus).positions(mentions.ranges))


def _attribute_frame(mentions: Mentions, corpus: Corpus) -> pd.DataFrame | None:
    """What is known of mentions besides the layers, by position; None where nothing is."""
    if not mentions.attributes:
        return None
    start, end = RunningText.of(corpus).positions(mentions.ranges)
    return pd.DataFrame({"start": start, "end": end, **mentions.attributes})


def _score_frame(mentions: Mentions, corpus: Corpus) -> pd.DataFrame | None:
    """The scores of mentions by position; None where nobody gave any."""
    if mentions.scores is None:
        return None
    start, end = RunningText.of(corpus).positions(mentions.ranges)
    return pd.DataFrame({"start": start, "end": end, "score": mentions.scores}).dropna(ignore_index=True)


def _renumbered(mentions: Mentions, number: IntArray) -> tuple[Mentions, IntArray]:
    """The mentions of the documents that have a new number, in the new order, and which rows they were."""
    document = number[mentions.ranges.document]
    rows = np.flatnonzero(document >= 0)
    rows = rows[np.argsort(document[rows], kind="stable")]
    taken = mentions.take(rows)
    return taken.moved(replace(taken.ranges, document=document[rows])), rows


def _corpus(tokens: Tokenised, side: TextReading) -> Corpus:
    rows = [
        {**({"id": document.id} if document.id is not None else {}), **document.attributes}
        for document in side.documents
    ]
    return Corpus(
        tokens=Strings(tokens.data, tokens.start, tokens.length),
        doc_ids=side.doc_ids,
        documents=Regions(tokens.document_start[:-1], tokens.document_start[1:], rows=rows),
        breaks=tokens.breaks,
        hard_breaks=False,
        name=side.source.name,
        running_text=True,
        char_start=tokens.char_start,
        char_end=tokens.char_end,
    )
