"""Pairs whose sides do not share their tokens: running text on either side, or two tokenisations of one text.

Gold governs. Where gold is running text, its text is cut into words, punctuation and at every boundary of either
side, and the corpus keeps the text's own spacing and offsets. Where gold has tokens, these are cut further at the
boundaries of the prediction (its tokens, or its annotations if it is running text), and stay gold's otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.pair import Annotation, Pair, annotate, join_layers, orphan_notes
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.retokenisation import (
    CutCorpus,
    Flow,
    TokenFlow,
    check_same_flow,
    cut_corpus,
    text_flow,
    token_flow,
)
from clueval_xlsx.corpus.spans import check_disjoint, positions
from clueval_xlsx.corpus.standoff import Mentions, TextReading, attribute_frame, layer_frames, token_positions
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges


def make_aligned_pair(gold: Reading | TextReading, pred: Reading | TextReading, *, strict_tags: bool) -> Pair:
    """Bring two sides together by their text; see the module."""
    gold, pred, notes = _same_documents(gold, pred)
    sides = _on_text(gold, pred, strict_tags) if isinstance(gold, TextReading) else _on_tokens(gold, pred, strict_tags)
    notes = [*gold.notes, *pred.notes, *notes, *sides.notes, *orphan_notes([sides.gold, sides.pred])]
    return Pair(
        sides.corpus,
        sides.gold,
        sides.pred,
        tuple(sides.gold.layers),
        tuple(notes),
        added=sides.added,
        gold_token=sides.gold_token,
    )


def recut(gold: Reading | TextReading, added: Ranges, doc_ids: Sequence[str] | None = None) -> Reading:
    """The gold side on the corpus of a pair, given what the prediction added to it (`Pair.added`).

    With it, positions of a pair can be understood again when only the gold file is at hand. `doc_ids` are the
    documents of the pair's corpus, where these are not all of gold's or stand in another order.
    """
    gold = gold.text or gold if isinstance(gold, Reading) else gold
    if isinstance(gold, TextReading):
        if doc_ids is not None and tuple(doc_ids) != gold.doc_ids:
            number = {doc_id: index for index, doc_id in enumerate(gold.doc_ids)}
            missing = [doc_id for doc_id in doc_ids if doc_id not in number]
            if missing:
                raise InputError(f"{gold.source.name}: document {missing[0]!r} is not in it. Give the file as it was.")
            gold = gold.only([number[doc_id] for doc_id in doc_ids])
        _check_inside(gold, added)
        corpus = gold.corpus_with(added)
        return Reading(corpus, layer_frames(gold.mentions, corpus), gold.source, gold.notes, text=gold)
    if not len(added.start):
        return gold
    cut = cut_corpus(gold.corpus, token_flow(gold.corpus), added.start)
    own = annotate(gold, gold.corpus, _breaks(gold.corpus))
    return Reading(cut.corpus, _moved(own.layers, cut), gold.source, gold.notes, token_of=cut.origin)


def _check_inside(gold: TextReading, added: Ranges) -> None:
    lengths = np.array([len(text) for text in gold.texts] or [0], dtype=np.int64)
    document = np.minimum(added.document, len(lengths) - 1)
    if (added.document >= len(gold.documents)).any() or (added.end > lengths[document]).any():
        raise InputError(f"{gold.source.name}: predictions lie behind the end of its texts. Give the file as it was.")


def own_tokens(layers: Mapping[str, pd.DataFrame], pair: Pair) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Spans of a pair whose gold tokens were cut, as spans of gold's own tokens, and what had to give.

    A span that begins or ends inside a token of the gold file is widened to the whole token.
    """
    if pair.gold_token is None:
        return dict(layers), []
    token, size = pair.gold_token, len(pair.gold_token)
    first, last = np.ones(size, dtype=bool), np.ones(size, dtype=bool)
    first[1:] = last[:-1] = np.diff(token) != 0
    found, notes = {}, []
    for layer, spans in layers.items():
        start, end = positions(spans)
        for row in np.flatnonzero(~first[start] | ~last[end]).tolist():
            words = pair.corpus.text(int(start[row]), int(end[row]))
            notes.append(
                f"{pair.gold.source.name}: layer {layer}: {words!r} is part of a token and was widened to the whole"
            )
        found[layer] = spans.assign(start=token[start], end=token[end])
        check_disjoint(found[layer], f"{pair.gold.source.name}, layer {layer}, corrected")
    return found, notes


def check_same_text(gold: Reading, pred: Reading) -> None:
    """Raise where two readings, at least one of them running text, do not hold the same documents and text."""
    left, right, _ = _same_documents(gold.text or gold, pred.text or pred)
    if isinstance(left, TextReading) and isinstance(right, TextReading):
        _with_texts_of(left, right)
        return
    flows = [
        text_flow(side.texts) if isinstance(side, TextReading) else token_flow(side.corpus).flow
        for side in (left, right)
    ]
    whole = any(isinstance(side, Reading) and _nameless(side.corpus) for side in (left, right))
    doc_ids = left.doc_ids if isinstance(left, TextReading) else left.corpus.doc_ids
    check_same_flow(flows[0], flows[1], (gold.source.name, pred.source.name), doc_ids, whole=whole)


@dataclass(frozen=True, eq=False)
class _Sides:
    corpus: Corpus
    gold: Annotation
    pred: Annotation
    added: Ranges
    gold_token: IntArray | None = None
    notes: tuple[str, ...] = ()


def _same_documents(
    gold: Reading | TextReading, pred: Reading | TextReading
) -> tuple[Reading | TextReading, Reading | TextReading, list[str]]:
    """Leave out documents that an annotator has not seen, and bring the prediction into gold's order."""
    notes = []
    unseen = {
        side.doc_ids[index] for side in (gold, pred) if isinstance(side, TextReading) for index in side.unannotated
    }
    if unseen:
        if not isinstance(gold, TextReading) or not isinstance(pred, TextReading):
            raise InputError(
                f"{len(unseen)} documents were not seen by the chosen annotator ({', '.join(sorted(unseen)[:5])}), but "
                "the other side has them. Choose another (--annotator first|union), or leave them out of both files."
            )
        gold, pred = (_without(side, unseen) for side in (gold, pred))
        many = len(unseen) != 1
        notes.append(
            f"{len(unseen)} document{'s' if many else ''} that the chosen annotator has not seen "
            f"{'were' if many else 'was'} left out"
        )
    if isinstance(pred, TextReading):
        ids = gold.doc_ids if isinstance(gold, TextReading) else gold.corpus.doc_ids
        given = isinstance(gold, Reading) or all(document.id is not None for document in gold.documents)
        if given and all(document.id is not None for document in pred.documents):
            pred = _in_order(pred, ids, gold.source.name)
    elif isinstance(gold, TextReading) and all(document.id is not None for document in gold.documents):
        corpus = pred.corpus  # a token file stays in its order, so gold follows
        if all("id" in corpus.documents.attributes(index) for index in range(len(corpus.documents))):
            gold = _in_order(gold, corpus.doc_ids, pred.source.name)
    return gold, pred, notes


def _without(side: TextReading, doc_ids: set[str]) -> TextReading:
    return side.only([index for index, doc_id in enumerate(side.doc_ids) if doc_id not in doc_ids])


def _in_order(side: TextReading, ids: Sequence[str], name: str) -> TextReading:
    """A side with its documents in the order of the other, whose name is given."""
    if tuple(ids) == side.doc_ids:
        return side
    number = {doc_id: index for index, doc_id in enumerate(side.doc_ids)}
    if len(ids) == 1 and ids[0] == "#1" and len(number) == 1:
        return side  # a token file without document tags has one document without a name
    for one, other, left, right in ((ids, number, name, side.source.name), (number, ids, side.source.name, name)):
        missing = [doc_id for doc_id in one if doc_id not in other]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise InputError(
                f"the documents differ: {missing[0]!r}{more} of {left} is not in {right}, which has "
                f"{', '.join(map(repr, list(other)[:5]))}. Both sides must hold the same documents."
            )
    return side.only([number[doc_id] for doc_id in ids])


def _breaks(corpus: Corpus) -> IntArray:
    breaks = corpus.breaks if corpus.hard_breaks else corpus.documents.start
    return breaks[breaks < len(corpus)]


def _nameless(corpus: Corpus) -> bool:
    """Whether a token file says nothing about documents, so that the other side's govern."""
    return len(corpus.documents) == 1 and not corpus.documents.attributes(0)


def _on_text(gold: TextReading, pred: Reading | TextReading, strict_tags: bool) -> _Sides:
    if isinstance(pred, TextReading):
        pred, notes = _with_texts_of(gold, pred)
        added = pred.listed.ranges
        corpus = gold.corpus_with(added)
        return _Sides(corpus, _text_annotation(gold, corpus), _text_annotation(pred, corpus), added, notes=notes)
    own = annotate(pred, pred.corpus, _breaks(pred.corpus), strict_tags=strict_tags)
    flow, other = text_flow(gold.texts), token_flow(pred.corpus)
    check_same_flow(flow, other.flow, (gold.source.name, pred.source.name), gold.doc_ids, whole=_nameless(pred.corpus))
    ranges = {layer: _token_ranges(spans, other, flow, pred) for layer, spans in own.layers.items()}
    added = Ranges.join(list(ranges.values()))
    corpus = gold.corpus_with(added)
    frames = {}
    for layer, spans in own.layers.items():
        start, end = token_positions(ranges[layer], corpus)
        frames[layer] = spans.assign(start=start, end=end)
    moved = replace(own, layers=frames, spans=join_layers(frames, corpus), tags={})
    return _Sides(corpus, _text_annotation(gold, corpus), moved, added)


def _token_ranges(spans: pd.DataFrame, tokens: TokenFlow, flow: Flow, pred: Reading) -> Ranges:
    start, end = positions(spans)
    begin, stop = tokens.start[start], tokens.end[end]
    _refuse_invisible(begin, stop, pred.source.name)
    return flow.to_ranges(begin, stop)


def _refuse_invisible(begin: IntArray, stop: IntArray, name: str) -> None:
    empty = int((begin >= stop).sum())
    if empty:
        raise InputError(
            f"{name}: {empty} annotations hold nothing but white space, which the other side does not share. "
            "Remove them, or give both sides the same text."
        )


def _with_texts_of(gold: TextReading, pred: TextReading) -> tuple[TextReading, tuple[str, ...]]:
    """The prediction's annotations on gold's texts, carried over by visible characters where the spacing differs."""
    names = (gold.source.name, pred.source.name)
    if len(gold.documents) != len(pred.documents):
        raise InputError(
            f"the documents differ: {names[0]} has {len(gold.documents)}, {names[1]} has {len(pred.documents)}. "
            "Both sides must hold the same documents."
        )
    different = [
        index
        for index, (left, right) in enumerate(zip(gold.documents, pred.documents, strict=True))
        if left.text != right.text
    ]
    if not different:
        return pred, ()
    flow, other = (text_flow([side.documents[index].text for index in different]) for side in (gold, pred))
    check_same_flow(flow, other, names, [gold.doc_ids[index] for index in different], whole=False)
    number = np.full(len(gold.documents), -1, dtype=np.int64)
    number[different] = np.arange(len(different))

    def carried(mentions: Mentions) -> Mentions:
        ranges = mentions.ranges
        rows = np.flatnonzero(number[ranges.document] >= 0)
        inside = Ranges(number[ranges.document[rows]], ranges.start[rows], ranges.end[rows])
        begin, stop = other.of_ranges(inside)
        _refuse_invisible(begin, stop, names[1])
        found = flow.to_ranges(begin, stop)
        start, end = ranges.start.copy(), ranges.end.copy()
        start[rows], end[rows] = found.start, found.end
        return replace(mentions, ranges=Ranges(ranges.document, start, end))

    note = (
        f"{names[1]}: {len(different)} of its texts differ from {names[0]} in white space only; "
        "annotations were carried over by their visible characters"
    )
    return replace(pred, listed=carried(pred.listed), mentions=carried(pred.mentions)), (note,)


def _text_annotation(side: TextReading, corpus: Corpus) -> Annotation:
    frames = layer_frames(side.mentions, corpus)
    attributes = attribute_frame(side.mentions, corpus)
    listed = None
    if side.resolved:
        start, end = token_positions(side.listed.ranges, corpus)
        listed = pd.DataFrame({"start": start, "end": end, **side.listed.labels})
    return Annotation(side.source, frames, join_layers(frames, corpus), {}, attributes=attributes, listed=listed)


def _on_tokens(gold: Reading, pred: Reading | TextReading, strict_tags: bool) -> _Sides:
    corpus = gold.corpus
    own = annotate(gold, corpus, _breaks(corpus), strict_tags=strict_tags)
    flow = token_flow(corpus)
    names = (gold.source.name, pred.source.name)
    if isinstance(pred, TextReading):
        other = text_flow(pred.texts)
        whole = _nameless(corpus) or len(pred.documents) == 1
        check_same_flow(flow.flow, other, names, corpus.doc_ids, whole=whole)
        begin, stop = other.of_ranges(pred.mentions.ranges)
        _refuse_invisible(begin, stop, pred.source.name)
        cut = cut_corpus(corpus, flow, np.concatenate([begin, stop]))
        start, end = cut.positions(begin, stop)
        frames = {
            layer: pd.DataFrame({"start": start, "end": end, layer: labels})
            for layer, labels in pred.mentions.labels.items()
        }
        theirs = Annotation(pred.source, frames, join_layers(frames, cut.corpus))
    else:
        cut, theirs = _cut_by_tokens(gold, pred, flow, names, strict_tags)
    frames = _moved(own.layers, cut)
    uncut = len(cut.corpus) == len(gold.corpus)
    mine = replace(own, layers=frames, spans=join_layers(frames, cut.corpus), tags=own.tags if uncut else {})
    corpus = cut.corpus
    if not corpus.hard_breaks:
        corpus = replace(corpus, breaks=corpus.derived_breaks([positions(side.spans) for side in (mine, theirs)]))
    inside = cut.flow_end[np.flatnonzero(np.diff(cut.origin) == 0)]
    added = Ranges(np.zeros(len(inside), np.int64), inside, inside)
    return _Sides(corpus, mine, theirs, added, gold_token=cut.origin if len(inside) else None)


def _cut_by_tokens(
    gold: Reading, pred: Reading, flow: TokenFlow, names: tuple[str, str], strict_tags: bool
) -> tuple[CutCorpus, Annotation]:
    corpus, other = gold.corpus, token_flow(pred.corpus)
    check_same_flow(flow.flow, other.flow, names, corpus.doc_ids, whole=_nameless(pred.corpus))
    cut = cut_corpus(corpus, flow, np.concatenate([other.start, other.end]))
    # Gold's sentence ends govern both sides: a span of the prediction ends at the first of its tokens behind one.
    border = np.append(flow.start, len(flow.flow.points))[_breaks(corpus)]
    breaks = np.unique(np.searchsorted(other.start, border, side="left"))
    theirs = annotate(pred, pred.corpus, breaks[breaks < len(pred.corpus)], strict_tags=strict_tags)
    frames = {}
    for layer, spans in theirs.layers.items():
        start, end = positions(spans)
        _refuse_invisible(other.start[start], other.end[end], pred.source.name)
        first, last = cut.positions(other.start[start], other.end[end])
        frames[layer] = spans.assign(start=first, end=last)
    uncut = len(cut.corpus) == len(pred.corpus)  # cut at all of its own boundaries: then these are its tokens
    tags = theirs.tags if uncut else {}
    return cut, replace(theirs, layers=frames, spans=join_layers(frames, cut.corpus), tags=tags)


def _moved(layers: Mapping[str, pd.DataFrame], cut: CutCorpus) -> dict[str, pd.DataFrame]:
    found = {}
    for layer, spans in layers.items():
        start, end = cut.moved(*positions(spans))
        found[layer] = spans.assign(start=start, end=end)
    return found
