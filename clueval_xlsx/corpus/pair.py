"""Two readings become one pair: the same tokens checked, tags decoded, layers merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.merging import merge_layers
from clueval_xlsx.corpus.reading import Reading, Source
from clueval_xlsx.corpus.spans import check_disjoint, from_decoded, positions
from clueval_xlsx.corpus.standoff import TextReading, attribute_frame
from clueval_xlsx.corpus.tags import TagColumn, decode
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.text.strings import IntArray, Strings
from clueval_xlsx.text.tokenise import Ranges


@dataclass(frozen=True, eq=False)
class Annotation:
    """The spans of one side: each layer by itself, and all of them as one sequence.

    `tags` are the columns that layers were decoded from, where there were any. `listed` are the annotations as
    the source lists them, in its order and overlapping as they may, where that differs from the layers.
    """

    source: Source
    layers: Mapping[str, pd.DataFrame]
    spans: pd.DataFrame
    orphans: Mapping[str, int] = field(default_factory=dict)  # layer -> tags that continue nothing
    tags: Mapping[str, TagColumn] = field(default_factory=dict)
    listed: pd.DataFrame | None = None
    attributes: pd.DataFrame | None = None  # what else is known of the annotations, besides the layers


@dataclass(frozen=True, eq=False)
class Pair:
    """Gold and prediction over one corpus."""

    corpus: Corpus
    gold: Annotation
    pred: Annotation
    layers: tuple[str, ...]
    notes: tuple[str, ...] = ()
    added: Ranges | None = None  # what the prediction added to gold's tokens: see `aligned_pairs.recut`
    gold_token: IntArray | None = None  # the token of the gold file that each token is a part of, if any was cut

    def layer(self, name: str) -> Pair:
        """The same pair with one layer only."""
        return replace(self, gold=_only(self.gold, name), pred=_only(self.pred, name), layers=(name,))


def make_pair(
    gold: Reading | TextReading, pred: Reading | TextReading, *, strict_tags: bool = False, align: bool = False
) -> Pair:
    """Check that two readings fit each other and bring their spans together.

    The gold file's sentence ends govern both sides. With `strict_tags` a tag that continues nothing is an error.
    With `align`, and always where a side is running text, the sides need to share only their visible characters.
    """
    together = isinstance(gold, Reading) and isinstance(pred, Reading) and gold.corpus is pred.corpus
    if not together:
        gold, pred = (side.text or side if isinstance(side, Reading) else side for side in (gold, pred))
    left, right = (list(side.layers if isinstance(side, Reading) else side.layer_names) for side in (gold, pred))
    if left != right:
        raise OptionError(
            f"the layers differ: {', '.join(left)} in {gold.source.name}, "
            f"{', '.join(right)} in {pred.source.name}. Give the same names on both sides "
            "(--gold-layer, --pred-layer)."
        )
    if isinstance(gold, TextReading) or isinstance(pred, TextReading) or (align and not together):
        from clueval_xlsx.corpus.aligned_pairs import make_aligned_pair  # late: it builds on this module

        return make_aligned_pair(gold, pred, strict_tags=strict_tags)
    check_same_tokens(gold.corpus, pred.corpus)
    breaks = gold.corpus.breaks if gold.corpus.hard_breaks else gold.corpus.documents.start
    breaks = breaks[breaks < len(gold.corpus)]
    annotations = [annotate(reading, gold.corpus, breaks, strict_tags=strict_tags) for reading in (gold, pred)]
    corpus = gold.corpus
    if not corpus.hard_breaks and not corpus.running_text:
        found = [positions(annotation.spans) for annotation in annotations]
        corpus = replace(corpus, breaks=corpus.derived_breaks(found))
    notes = [*gold.notes, *pred.notes, *orphan_notes(annotations)]
    return Pair(corpus, annotations[0], annotations[1], tuple(gold.layers), tuple(notes))


def orphan_notes(annotations: Sequence[Annotation]) -> list[str]:
    """What to tell people about tags that continue nothing."""
    return [
        f"{annotation.source.name}: layer {layer}: {count} I- tag{'s' if count != 1 else ''} "
        f"continued nothing and opened a span"
        for annotation in annotations
        for layer, count in annotation.orphans.items()
        if count
    ]


def annotate(reading: Reading, corpus: Corpus, breaks: IntArray, *, strict_tags: bool = False) -> Annotation:
    """Decode the layers of a reading with the given sentence starts, and merge them."""
    layers: dict[str, pd.DataFrame] = {}
    orphans: dict[str, int] = {}
    for name, content in reading.layers.items():
        if isinstance(content, TagColumn):
            decoded = decode(content, breaks)
            if strict_tags and decoded.orphans.size:
                _refuse_orphan(reading, name, content, int(decoded.orphans[0]), decoded.orphans.size)
            layers[name] = from_decoded(decoded, name)
            orphans[name] = int(decoded.orphans.size)
        else:
            check_disjoint(content, f"{reading.source.name}, layer {name}")
            layers[name] = content
    tags = {name: content for name, content in reading.layers.items() if isinstance(content, TagColumn)}
    attributes = None if reading.text is None else attribute_frame(reading.text.mentions, corpus)
    return Annotation(reading.source, layers, join_layers(layers, corpus), orphans, tags, attributes=attributes)


def join_layers(layers: Mapping[str, pd.DataFrame], corpus: Corpus) -> pd.DataFrame:
    """One sequence of all layers: a single layer as it is, several merged."""
    if len(layers) == 1:
        return next(iter(layers.values()))
    return merge_layers(layers, corpus.documents.start)


def check_same_tokens(gold: Corpus, pred: Corpus) -> None:
    """Raise at the first token, token ID or document in which two corpora differ, showing both places."""
    shared = min(len(gold), len(pred))
    token = _first_difference(gold.tokens, pred.tokens, shared)
    ids = None
    if gold.token_ids is not None and pred.token_ids is not None:
        ids = _first_difference(gold.token_ids, pred.token_ids, shared)
        if ids is not None and (token is None or ids < token):
            left, right = gold.token_ids[ids], pred.token_ids[ids]
            raise InputError(
                f"the token IDs differ: {_place(gold, ids)} has {left!r}, {_place(pred, ids)} has {right!r} "
                f"(token {gold.tokens[ids]!r}). Both files must hold the same tokens in the same order."
            )
    if token is not None:
        raise InputError(
            f"the tokens differ: {_place(gold, token)} has {gold.tokens[token]!r}, {_place(pred, token)} has "
            f"{pred.tokens[token]!r}. Both files must hold the same tokens in the same order; "
            "if only the tokenisation differs, use --align text."
        )
    if len(gold) != len(pred):
        longer, shorter = (gold, pred) if len(gold) > len(pred) else (pred, gold)
        end = f"after {_place(shorter, shared - 1)}" if shared else "at once"
        raise InputError(
            f"the files have different numbers of tokens: {gold.name} has {len(gold)}, {pred.name} has "
            f"{len(pred)}. {shorter.name} ends {end}, where {_place(longer, shared)} goes on with "
            f"{longer.tokens[shared]!r}. Both files must hold the same tokens in the same order."
        )
    _check_same_documents(gold, pred)


def _check_same_documents(gold: Corpus, pred: Corpus) -> None:
    if len(pred.documents) == 1 and not pred.documents.attributes(0):
        return  # the prediction names no documents: the gold file's govern
    for index in range(max(len(gold.documents), len(pred.documents))):
        left, right = (_document(corpus, index) for corpus in (gold, pred))
        named = left.given_id is not None and right.given_id is not None
        if left.extent != right.extent or (named and left.given_id != right.given_id):
            raise InputError(
                f"the documents differ: document {index + 1} is {left} in {gold.name}, "
                f"but {right} in {pred.name}. Both files must hold the same documents in the same order."
            )


class _Document(NamedTuple):
    corpus: Corpus
    number: int
    given_id: str | None
    extent: tuple[int, int]

    def __str__(self) -> str:
        start, stop = self.extent
        if start < 0:
            return "missing"
        where = f" from line {self.corpus.line_of(start)}" if stop > start else " (empty)"
        return f"{self.corpus.doc_ids[self.number]!r}{where}, {stop - start} tokens"


def _document(corpus: Corpus, index: int) -> _Document:
    if index >= len(corpus.documents):
        return _Document(corpus, index, None, (-1, -1))
    start, stop = int(corpus.documents.start[index]), int(corpus.documents.stop[index])
    return _Document(corpus, index, corpus.documents.attributes(index).get("id"), (start, stop))


def _first_difference(left: Strings, right: Strings, shared: int) -> int | None:
    heads = [Strings(side.data, side.start[:shared], side.length[:shared], side.entities) for side in (left, right)]
    different = np.flatnonzero(heads[0].differs(heads[1]))
    return int(different[0]) if different.size else None


def _place(corpus: Corpus, position: int) -> str:
    return f"{corpus.name}:{corpus.line_of(position)}"


def _refuse_orphan(reading: Reading, layer: str, column: TagColumn, position: int, count: int) -> None:
    more = f" ({count - 1} more)" if count > 1 else ""
    raise InputError(
        f"{_place(reading.corpus, position)}: layer {layer}: {column.tags[column.codes[position]]!r} continues "
        f"nothing{more}. --bio strict allows I- only behind B- or I- of the same label; "
        "use --bio lenient to let it open a span."
    )


def _only(annotation: Annotation, layer: str) -> Annotation:
    spans = annotation.layers[layer]
    return replace(annotation, layers={layer: spans}, spans=spans)
