"""Scheme `presidio`: spans joined and compared as `SpanEvaluator` of presidio-evaluator 0.3.2 does, number by number.

Every token has one type or none. Neighbouring stretches of one type are one span, also across skip words, and skip
words at its ends do not belong to it; a span of nothing but skip words is none. White space is passed over like a skip
word, so that an annotation may begin or end with it. A gold span that touches one prediction is right if both are of
one type and their characters have an intersection over union of at least t; if it touches several, those of each type
are taken together. So precision counts, for each gold span, every type that touches it once, and every prediction that
touches nothing. Two things are theirs and kept: of several predictions together one character too many is counted for
the first and each other one begins a character early; and a gold span that is found still counts as missed (`missed`,
not `fn`) where a prediction of another type touches it further left.

`labelled` is empty for any type. There every type is the same one, so that more is joined. Tokens inside a span of
an ignored label, of either side, have no type. Equivalent labels are unknown to that package and change nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.running_text import CharacterOffsets, character_offsets
from clueval_xlsx.corpus.spans import label_codes, positions
from clueval_xlsx.resources import package_text
from clueval_xlsx.scoring.counts import FloatArray, Side, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair, SpanSide
from clueval_xlsx.text.strings import BoolArray, IntArray, places, unfold

OUTCOMES = ("missed", "confused")
_MISSED, _CONFUSED, _NEITHER = range(3)
_NO_TYPE = -1
_NOTHING = "O"


def tallies(matched: MatchedPair) -> list[Tally]:
    """For each threshold: any type, and by type."""
    if matched.relaxed:
        return []
    text = _Text.of(matched)
    types = _types(matched, text)
    passes = []
    for labelled in (None, matched.type_layer):
        gold, pred = (_spans(text, own if labelled else np.minimum(own, 0)) for own in types)
        passes.append((gold, pred, _touching(gold, pred), labelled))
    return [
        _tally(matched, gold, pred, touching, threshold, labelled)
        for threshold in matched.options.iou_threshold
        for gold, pred, touching, labelled in passes
    ]


def confusion(matched: MatchedPair) -> Counter[tuple[str, str]]:
    """How often which type of gold met which type of the predictions, at the first threshold; `O` is none.

    As that package counts it, a gold span with several partners can be without one more than once: for each type that
    comes not near enough, but for its own type only if that is the leftmost.
    """
    text = _Text.of(matched)
    gold, pred = (_spans(text, own) for own in _types(matched, text))
    touching = _touching(gold, pred)
    near = touching.share >= matched.options.iou_threshold[0]
    kinds = gold.kind[touching.gold], pred.kind[touching.pred]
    leftmost = np.zeros(len(near), dtype=bool)
    leftmost[_leftmost(touching)] = True
    alone = ~np.isin(np.arange(len(gold.first)), touching.gold)
    without = ~near & ((kinds[0] != kinds[1]) | leftmost)
    names = [*_type_names(matched), "", _NOTHING]  # labels, no label, and at -1 no span
    rows = np.concatenate([np.where(near, kinds[0], -1), kinds[0][without], gold.kind[alone], _none(touching.lonely)])
    columns = np.concatenate([kinds[1], _none(kinds[1][without]), _none(gold.kind[alone]), pred.kind[touching.lonely]])
    pairs = Counter(zip(rows.tolist(), columns.tolist(), strict=True))
    return Counter({(names[row], names[column]): count for (row, column), count in pairs.items()})


def _none(values: IntArray) -> IntArray:
    return np.full(len(values), -1, dtype=np.int64)


@cache
def skip_words() -> frozenset[str]:
    """The words that presidio-evaluator passes over (its own and spaCy's English stop words), white space aside."""
    return frozenset(package_text("scoring/schemes/presidio_skip_words.txt").split())


class _Text(NamedTuple):
    """The tokens of the corpus: which are skip words, where they lie, and where documents begin."""

    skipped: BoolArray
    offsets: CharacterOffsets
    document: IntArray

    @classmethod
    def of(cls, matched: MatchedPair) -> _Text:
        corpus = matched.corpus
        everywhere = np.arange(len(corpus), dtype=np.int64)
        codes, distinct = corpus.tokens.factorise()
        passed = skip_words() if matched.options.skip_words != "none" else frozenset()
        skipped = np.array([token.isspace() or token.lower() in passed for token in distinct], dtype=bool)[codes]
        return cls(skipped, character_offsets(corpus, everywhere), corpus.document_of(everywhere))


def _types(matched: MatchedPair, text: _Text) -> list[IntArray]:
    """The type of every token on each side as a code; unlabelled spans share one of their own, behind the labels."""
    found = [_painted(matched, side, text) for side in matched.sides]
    for side in matched.sides:
        hidden = places(side.start[side.ignored], side.end[side.ignored] + 1)
        for types in found:
            types[hidden] = _NO_TYPE
    return found


def _painted(matched: MatchedPair, side: SpanSide, text: _Text) -> IntArray:
    """The types of one side. Gold's scores count for nothing, as in that package."""
    names = _type_names(matched)
    codes = label_codes(side.listed, matched.type_layer, names)
    codes = np.where(codes < 0, len(names), codes)
    first, last = positions(side.listed)
    types = np.full(len(text.skipped), _NO_TYPE, dtype=np.int64)
    row, place = unfold(first, last + 1)
    types[place] = codes[row]
    if not side.from_tags:
        scores = side.listed_scores if side is matched.pred else None
        tags_of_overlapping(types, TypedAnnotations(first, last, codes, scores), text.offsets)
    return types


def _type_names(matched: MatchedPair) -> Sequence[str]:
    return matched.listed_vocabulary[matched.type_layer]


class _Spans(NamedTuple):
    """Joined spans: their first token, type and the characters from their first to their last word that counts."""

    first: IntArray
    kind: IntArray
    begin: IntArray
    end: IntArray


def _spans(text: _Text, types: IntArray) -> _Spans:
    """Stretches of one type in one document, joined across skip words."""
    before, same_document = types[:-1], text.document[1:] == text.document[:-1]
    starts = np.concatenate([[True], (types[1:] != before) | ~same_document]) if len(types) else np.zeros(0, bool)
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(types)) - 1 if len(first) else first
    counting = np.flatnonzero(~text.skipped)
    low, high = np.searchsorted(counting, first), np.searchsorted(counting, last, side="right")
    kept = (types[first] != _NO_TYPE) & (high > low)
    first, last, low, high = first[kept], last[kept], low[kept], high[kept]
    begin, end = text.offsets.start[counting[low]], text.offsets.end[counting[high - 1]]

    kind = types[first]
    nothing_between = low[1:] == high[:-1]
    joined = nothing_between & (kind[1:] == kind[:-1]) & (text.document[first[1:]] == text.document[last[:-1]])
    head = np.concatenate([[True], ~joined])[: len(first)]
    tail = np.concatenate([~joined, [True]])[: len(first)]
    return _Spans(first[head], kind[head], begin[head], end[tail])


class _Touching(NamedTuple):
    """For every gold span and type of the predictions that touch it: how near these come, taken together."""

    gold: IntArray
    pred: IntArray  # the leftmost of them
    share: FloatArray
    lonely: IntArray  # predictions that touch nothing


def _touching(gold: _Spans, pred: _Spans) -> _Touching:
    low = np.searchsorted(pred.end, gold.begin, side="right")
    high = np.maximum(np.searchsorted(pred.begin, gold.end, side="left"), low)
    row, partner = unfold(low, high)
    lonely = np.ones(len(pred.first), dtype=bool)
    lonely[partner] = False
    order = np.lexsort((partner, pred.kind[partner], row))
    row, partner = row[order], partner[order]
    kind = pred.kind[partner]
    head = np.concatenate([[True], (row[1:] != row[:-1]) | (kind[1:] != kind[:-1])])[: len(row)]
    heads = np.flatnonzero(head)
    alone = (high - low)[row[heads]] == 1
    share = np.where(alone, _plain_share(gold, pred, row[heads], partner[heads]),
                     _joint_share(gold, pred, row, partner, head))  # fmt: skip
    return _Touching(row[heads], partner[heads], share, np.flatnonzero(lonely))


def _plain_share(gold: _Spans, pred: _Spans, row: IntArray, partner: IntArray) -> FloatArray:
    shared = np.minimum(gold.end[row], pred.end[partner]) - np.maximum(gold.begin[row], pred.begin[partner])
    union = np.maximum(gold.end[row], pred.end[partner]) - np.minimum(gold.begin[row], pred.begin[partner])
    share: FloatArray = shared / union
    return share


def _joint_share(gold: _Spans, pred: _Spans, row: IntArray, partner: IntArray, head: BoolArray) -> FloatArray:
    """Intersection over union of a gold span with several predictions, in characters as that package lays them."""
    if not len(row):
        return np.zeros(0)
    begin, last = pred.begin[partner] - ~head, pred.end[partner] - ~head  # both inclusive
    begin[1:] = np.where(head[1:], begin[1:], np.maximum(begin[1:], last[:-1] + 1))
    inside = np.minimum(last, gold.end[row]) - np.maximum(begin, gold.begin[row]) + 1
    heads = np.flatnonzero(head)
    shared = np.add.reduceat(np.maximum(inside, 0), heads)
    length = np.add.reduceat(np.maximum(last - begin + 1, 0), heads)
    own = (gold.end - gold.begin)[row[heads]] + 1
    share: FloatArray = shared / (own + length - shared)
    return share


def _tally(
    matched: MatchedPair, gold: _Spans, pred: _Spans, touching: _Touching, threshold: float, labelled: str | None
) -> Tally:
    near = touching.share >= threshold
    same = gold.kind[touching.gold] == pred.kind[touching.pred]
    right = near & same
    credit = np.zeros(len(gold.first), dtype=bool)
    credit[touching.gold[right]] = True
    leftmost = _leftmost(touching)
    found_first = leftmost[right[leftmost]]
    missed = np.ones(len(gold.first), dtype=bool)
    missed[touching.gold[found_first]] = False

    counted = np.concatenate([touching.pred, touching.lonely])
    nothing = np.zeros(len(touching.lonely), dtype=bool)
    confused = np.concatenate([near & ~same, nothing])
    layer = matched.type_layer
    return Tally(
        "presidio",
        Side.of(
            gold.first,
            {layer: _labels(matched, gold.kind)},
            credit,
            outcome=np.where(missed, _MISSED, _NEITHER),
        ),
        Side.of(
            pred.first[counted],
            {layer: _labels(matched, pred.kind[counted])},
            np.concatenate([right, nothing]),
            outcome=np.where(confused, _CONFUSED, _NEITHER),
        ),
        variant=f"{threshold:g}",
        labelled=labelled,
        by_layers=(layer,) if labelled else (),
        outcomes=OUTCOMES,
        outcomes_of_pred=OUTCOMES[_CONFUSED:],
        as_listed=True,
    )


def _leftmost(touching: _Touching) -> IntArray:
    """Of each gold span that is touched, the type whose first prediction stands furthest left."""
    order = np.lexsort((touching.pred, touching.gold))
    _, firsts = np.unique(touching.gold[order], return_index=True)
    found: IntArray = order[firsts]
    return found


def _labels(matched: MatchedPair, kind: IntArray) -> IntArray:
    return np.where(kind < len(_type_names(matched)), kind, -1)


# ---- Annotations that overlap as one type a token, the way presidio-evaluator makes tags of spans

_UNKNOWN = 0.5  # how sure an annotation is of which nobody says it


class TypedAnnotations(NamedTuple):
    """Annotations as they are listed: first and last token, type, and how sure each one is (NaN: nobody said)."""

    first: IntArray
    last: IntArray
    kind: IntArray
    score: npt.NDArray[np.float64] | None = None

    @property
    def surety(self) -> npt.NDArray[np.float64]:
        """The scores, one that stands in for those that are not known."""
        return np.full(len(self.first), _UNKNOWN) if self.score is None else np.nan_to_num(self.score, nan=_UNKNOWN)


def tags_of_overlapping(types: IntArray, annotations: TypedAnnotations, offsets: CharacterOffsets) -> None:
    """Write the types of the tokens in annotations that overlap into `types`; the others are left as they are."""
    first, last = annotations.first, annotations.last
    if not len(first):
        return
    order = np.argsort(first, kind="stable")
    start, end = offsets.start[first[order]], offsets.end[last[order]]
    kind, surety = annotations.kind[order], annotations.surety[order]
    reach = np.maximum.accumulate(end)
    heads = np.flatnonzero(np.concatenate([[True], start[1:] > reach[:-1]]))
    stops = np.append(heads[1:], len(order))
    several = stops - heads > 1
    for begin, stop in zip(heads[several].tolist(), stops[several].tolist(), strict=True):
        group = slice(begin, stop)
        inner = slice(int(first[order[begin]]), int(last[order[group]].max()) + 1)
        # What is left of nothing can still reach the tokens that are glued to it.
        tokens = slice(max(inner.start - 1, 0), min(inner.stop + 1, len(types)))
        pieces = _pieces(*(column[group].tolist() for column in (start, end, kind, surety)))
        borders = zip(offsets.start[tokens].tolist(), offsets.end[tokens].tolist(), strict=True)
        found = [_type(left, right, pieces) for left, right in borders]
        for place in {tokens.start, tokens.stop - 1} - set(range(inner.start, inner.stop)):
            if found[place - tokens.start] < 0 or types[place] >= 0:
                found[place - tokens.start] = int(types[place])
        types[tokens] = found


def _pieces(starts: list[int], ends: list[int], kinds: list[int], scores: list[float]) -> list[tuple[int, int, int]]:
    """What is left of each annotation (start, end, type) when the others have taken their part."""
    number = 0
    while number < len(starts) - 1:
        for other in range(number + 1, len(starts)):
            if not starts[number] <= starts[other] <= ends[number]:
                continue
            if scores[number] > scores[other]:
                if starts[number] <= ends[other] <= ends[number]:
                    scores[other] = 0.0
                else:
                    starts[other] = ends[number] + 1
                continue
            if ends[other] < ends[number]:
                starts.append(ends[other] + 1)
                ends.append(ends[number])
                kinds.append(kinds[number])
                scores.append(scores[number])
            ends[number] = starts[other] - 1
        number += 1
    return sorted(zip(starts, ends, kinds, strict=True), key=lambda piece: piece[0])


def _type(start: int, end: int, pieces: list[tuple[int, int, int]]) -> int:
    """The type of the first piece in which a token begins, or which lies within it; -1 if there is none."""
    for first, last, kind in pieces:
        if first <= start < last or (start <= first <= end and start <= last <= end):
            return kind
    return -1
