"""What every reader returns: documents with annotations, not yet compared with anything, whatever the source was.

Two kinds of sources stand behind the one interface: files of tokens (`token_reading`) and running text with
annotations by character (`text_reading`). Where two sides are brought together, gold governs: it asks the prediction
for its place on gold's tokens or on gold's text, and the prediction knows how to get there from what it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Source, join_layers
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.listed_spans import ListedSpans
from clueval_xlsx.corpus.listing import Listing
from clueval_xlsx.corpus.retokenisation import CutCorpus
from clueval_xlsx.corpus.running_text import RunningText, TextDocument
from clueval_xlsx.corpus.spans import check_disjoint, from_decoded
from clueval_xlsx.corpus.tags import OpeningCounts, TagColumn, decode
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.text.folding import TextDifferences
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges
from clueval_xlsx.text.visible import VisibleText


@dataclass(frozen=True)
class PairingRules:
    """How two sides are brought together: whether tags must be proper, and whether tokens may differ.

    With `align` the texts must agree, with `by_position` the numbers of tokens, and words up to this share may differ.
    """

    strict_tags: bool = False
    align: bool = False
    by_position: float | None = None


@dataclass(frozen=True, eq=False)
class OnTokens:
    """A prediction's place on gold's tokens: the cuts it needs (None: the tokens are the same) and its spans there.

    `visible` are the characters of gold that the cuts count.
    """

    cut: CutCorpus | None
    annotation: Callable[[], Annotation]
    notes: tuple[str, ...] = ()
    visible: VisibleText | None = None
    differences: TextDifferences = field(default_factory=TextDifferences)


@dataclass(frozen=True, eq=False)
class OnText:
    """A prediction's place on gold's text: its ranges there, and its spans on the tokens that are cut for both."""

    added: Ranges
    annotation: Callable[[Corpus], Annotation]
    differences: TextDifferences = field(default_factory=TextDifferences)


@dataclass(frozen=True, eq=False)
class Sides:
    """Gold and prediction on one corpus; see `pair.Pair` for the fields."""

    corpus: Corpus
    gold: Annotation
    pred: Annotation
    added: Ranges | None = None
    gold_token: IntArray | None = None
    notes: tuple[str, ...] = ()
    differences: TextDifferences = field(default_factory=TextDifferences)


class Reading(Protocol):
    """One source by itself.

    `corpus` and `layers` are its tokens and annotations (a column of tags in token files, a span frame elsewhere),
    `documents` its texts. `tokenised` says that the source itself decides what the tokens are. `resolved` lists what
    was done to annotations that overlap. `unseen` are documents that the chosen annotator has not seen, `named` says
    that the source names its documents, `nameless` that it says nothing at all about documents. `scores` say how sure
    whoever made annotations was (start, end, score); `listed_spans` are the annotations as the source lists them,
    where some overlap and gave way, and `listing` the same with their scores, where there are any. `token_of` is
    the token of the file that each token is a part of, if any was cut. `file_ids` say of documents of a folder in
    what file they lie (without its ending) and what they are called there.
    """

    @property
    def source(self) -> Source: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def resolved(self) -> tuple[str, ...]: ...
    @property
    def tokenised(self) -> bool: ...
    @property
    def layer_names(self) -> tuple[str, ...]: ...
    @property
    def doc_ids(self) -> tuple[str, ...]: ...
    @property
    def documents(self) -> Sequence[TextDocument]: ...
    @property
    def corpus(self) -> Corpus: ...
    @property
    def layers(self) -> Mapping[str, TagColumn | pd.DataFrame]: ...
    @property
    def attributes(self) -> pd.DataFrame | None: ...
    @property
    def scores(self) -> pd.DataFrame | None: ...
    @property
    def listed_spans(self) -> ListedSpans | None: ...
    @property
    def listing(self) -> Listing | None: ...
    @property
    def running_text(self) -> RunningText: ...
    @property
    def visible(self) -> VisibleText: ...
    @property
    def unseen(self) -> frozenset[str]: ...
    @property
    def named(self) -> bool: ...
    @property
    def nameless(self) -> bool: ...
    @property
    def token_of(self) -> IntArray | None: ...
    @property
    def file_ids(self) -> Mapping[str, tuple[str, str]]: ...

    def with_source(self, source: Source) -> Reading:
        """The same, said to come from elsewhere or to have been read otherwise."""

    def only_layers(self, names: Sequence[str]) -> Reading:
        """The same with some of its layers."""

    def without(self, doc_ids: frozenset[str]) -> Reading:
        """The same without some documents."""

    def in_order_of(self, doc_ids: Sequence[str], name: str) -> Reading:
        """The same with its documents in the order of another side, whose name is given; token files stay in theirs."""

    def renamed(self, doc_ids: Sequence[str]) -> Reading:
        """The same documents under other IDs."""

    def govern(self, pred: Reading, how: PairingRules) -> Sides:
        """As gold: bring a prediction onto this side."""

    def on_tokens(self, gold: Reading, how: PairingRules) -> OnTokens:
        """As a prediction: where this side lies on gold's tokens."""

    def on_text(self, gold: Reading, how: PairingRules) -> OnText:
        """As a prediction: where this side lies on gold's running text."""

    def on_pair(self, added: Ranges, doc_ids: Sequence[str] | None = None) -> Reading:
        """As gold: on the tokens of a pair again, given what the prediction added to them (`Pair.added`).

        With it, positions of a pair can be understood again when only the gold file is at hand. `doc_ids` are the
        documents of the pair's corpus, where these are not all of gold's or stand in another order.
        """

    def correct(self, layers: Mapping[str, pd.DataFrame], corpus: Corpus | None = None) -> dict[str, bytes]:
        """The files of the source with these spans in place of its own, by file name.

        `layers` are span frames over `corpus`, the corpus of the pair that was judged; without it, over the source's
        own. A layer that is not given stays as it is. A folder gives every file of it, and those that nothing was
        corrected in are byte for byte the same.
        """


def check_known_layers(reading: Reading, layers: Mapping[str, pd.DataFrame]) -> None:
    """Refuse to correct layers that were not read."""
    unknown = [layer for layer in layers if layer not in reading.layer_names]
    if unknown:
        raise OptionError(
            f"{reading.source.name}: there is no layer {unknown[0]} to correct. "
            f"Layers: {', '.join(reading.layer_names)}."
        )


def digest(data: bytes) -> str:
    """The hash that inputs are known by."""
    return hashlib.sha256(data).hexdigest()


def annotate(
    reading: Reading, corpus: Corpus | None = None, breaks: IntArray | None = None, *, strict_tags: bool = False
) -> Annotation:
    """Decode the layers of a reading with the given sentence starts (its own by default), and merge them."""
    corpus = reading.corpus if corpus is None else corpus
    breaks = corpus.closing_breaks if breaks is None else breaks
    layers: dict[str, pd.DataFrame] = {}
    openings: dict[str, OpeningCounts] = {}
    tags: dict[str, TagColumn] = {}
    for name, content in reading.layers.items():
        if isinstance(content, TagColumn):
            decoded = decode(content, breaks)
            if strict_tags and decoded.orphans.size:
                _refuse_orphan(reading, name, content, decoded.orphans)
            layers[name] = from_decoded(decoded, name)
            openings[name] = decoded.openings
            tags[name] = content
        else:
            check_disjoint(content, f"{reading.source.name}, layer {name}")
            layers[name] = content
    return Annotation(
        reading.source,
        layers,
        join_layers(layers, corpus),
        openings,
        tags,
        listed=reading.listed_spans,
        attributes=reading.attributes,
        scores=reading.scores,
        listing=reading.listing,
    )


def _refuse_orphan(reading: Reading, layer: str, column: TagColumn, orphans: IntArray) -> None:
    position, count = int(orphans[0]), orphans.size
    more = f" ({count - 1} more)" if count > 1 else ""
    raise InputError(
        f"{reading.corpus.place(position)}: layer {layer}: {column.tags[column.codes[position]]!r} continues "
        f"nothing{more}. --bio strict allows I- only behind B- or I- of the same label; "
        "use --bio lenient to let it open a span."
    )
