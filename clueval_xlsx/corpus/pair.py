"""Gold and prediction over one corpus: equal tokens at once, everything else by visible characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Placing, orphan_notes
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import Reading, on_same
from clueval_xlsx.corpus.spans import check_disjoint, label_list, positions
from clueval_xlsx.corpus.tokenisations import check_same_tokens, cut_corpus, same_tokens
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.text.strings import BoolArray, IntArray
from clueval_xlsx.text.tokenise import Ranges
from clueval_xlsx.text.visible import TextDifferences, VisibleText, check_same_visible, fold_alike

_DOCUMENT = 1 << 40  # more characters than any document has


@dataclass(frozen=True, eq=False)
class Pair:
    """Gold and prediction over one corpus."""

    corpus: Corpus
    gold: Annotation
    pred: Annotation
    layers: tuple[str, ...]
    notes: tuple[str, ...] = ()
    added: Ranges | None = None  # what the prediction added to gold's tokens: see `on_pair`
    gold_token: IntArray | None = None  # the token of the gold file that each token is a part of, if any was cut
    differences: TextDifferences = field(default_factory=TextDifferences)  # that were passed over

    def __repr__(self) -> str:
        """Its size, and no word of the corpus."""
        spans = f"{len(self.gold.spans)} gold and {len(self.pred.spans)} predicted spans"
        return f"<Pair: {spans} on {len(self.corpus)} tokens; layers {', '.join(self.layers)}>"

    @property
    def same_spans(self) -> bool:
        """Whether both sides have the same spans with the same labels.

        pandas compares frames by their bytes in UTF-8, which half a surrogate pair in a label has none of.
        """
        gold, pred = self.gold.spans, self.pred.spans
        return all(map(np.array_equal, positions(gold), positions(pred))) and all(
            label_list(gold[layer]) == label_list(pred[layer]) for layer in self.layers
        )

    def layer(self, name: str) -> Pair:
        """The same pair with one layer only."""
        return replace(self, gold=self.gold.only(name), pred=self.pred.only(name), layers=(name,))


def make_pair(
    gold: Reading,
    pred: Reading,
    *,
    strict_tags: bool = False,
    align: bool = False,
) -> Pair:
    """Check that two readings fit each other and bring their spans together.

    Gold governs: its sentence ends hold for both sides, and its tokens or its text stay, cut further where spans of
    either side begin or end. Without `align` a prediction that has tokens must have the same. With `strict_tags` a
    tag that continues nothing is an error.
    """
    if gold.layer_names != pred.layer_names:
        raise OptionError(
            f"the layers differ: {', '.join(gold.layer_names)} in {gold.source.name}, "
            f"{', '.join(pred.layer_names)} in {pred.source.name}. Give the same names on both sides "
            "(--gold-layer, --pred-layer)."
        )
    gold, pred, notes = _same_documents(gold, pred)
    meeting = _meet(gold, pred, strict=strict_tags, align=align)
    corpus = meeting.corpus
    sides = (
        gold.on(corpus, meeting.gold, strict=strict_tags),
        pred.on(corpus, meeting.pred, meeting.breaks, strict=strict_tags),
    )
    if not corpus.hard_breaks and not corpus.running_text:
        corpus = replace(corpus, breaks=corpus.derived_breaks([positions(side.spans) for side in sides]))
    notes = [*gold.notes, *pred.notes, *notes]
    notes += meeting.differences.notes(gold.source.name, pred.source.name)
    for side in sides:
        notes += orphan_notes(side.source.name, side.orphans)
    return Pair(
        corpus,
        *sides,
        tuple(sides[0].layers),
        tuple(notes),
        meeting.added,
        meeting.token_of,
        meeting.differences,
    )


@dataclass(frozen=True, eq=False)
class _Meeting:
    """A corpus on which both sides lie, how their own units lie on it, and what the prediction added to it.

    `breaks` are where sentences begin in the prediction's own tokens.
    """

    corpus: Corpus
    gold: Placing
    pred: Placing
    breaks: IntArray | None = None
    added: Ranges | None = None
    token_of: IntArray | None = None
    differences: TextDifferences = field(default_factory=TextDifferences)


def _meet(gold: Reading, pred: Reading, *, strict: bool, align: bool) -> _Meeting:
    if gold.tokens is None:
        return _on_text(gold, pred, align=align, strict=strict)
    if pred.tokens is None:
        return _on_tokens(gold, gold.tokens, pred, align=align)
    if not align:
        check_same_tokens(gold.tokens, pred.tokens)
    elif not same_tokens(gold.tokens, pred.tokens):
        return _on_tokens(gold, gold.tokens, pred, align=align)
    added = _inside(np.empty(0, np.int64)) if align else None
    return _Meeting(gold.tokens, on_same, on_same, gold.tokens.closing_breaks, added)


@dataclass(frozen=True, eq=False)
class _Shared:
    """The visible characters that two sides share."""

    gold: VisibleText
    pred: VisibleText
    side: Reading
    differences: TextDifferences

    @classmethod
    def of(cls, gold: Reading, pred: Reading, *, align: bool) -> _Shared:
        """Those of two readings, which must be the same."""
        names = (gold.source.name, pred.source.name)
        theirs, own, differences = fold_alike(gold.visible, pred.visible, align=align)
        whole = pred.nameless or (pred.tokens is None and gold.tokens is not None and len(pred.texts) == 1)
        whole = whole or (gold.nameless and pred.tokens is None)
        check_same_visible(theirs, own, names=names, doc_ids=gold.doc_ids, whole=whole)
        return cls(theirs, own, pred, differences)

    def stretches(self, ranges: Ranges) -> tuple[IntArray, IntArray]:
        """Where units of the prediction begin and end among the visible characters."""
        if self.side.tokens is None:
            begin, stop = self.pred.of_ranges(ranges)
        else:
            begin, stop = self.pred.start[ranges.start], self.pred.end[ranges.end - 1]
        empty = int((begin >= stop).sum())
        if empty:
            raise InputError(
                f"{self.side.source.name}: {empty} annotations hold nothing but white space, which the other side "
                "does not share. Remove them, or give both sides the same text."
            )
        return begin, stop

    def on_gold(self, ranges: Ranges) -> Ranges:
        """Units of the prediction as characters of gold's texts."""
        return self.gold.to_ranges(*self.stretches(ranges))


def _on_tokens(gold: Reading, tokens: Corpus, pred: Reading, *, align: bool) -> _Meeting:
    """Gold's tokens, cut at the boundaries of the prediction: of its annotations, or of all of its tokens."""
    shared = _Shared.of(gold, pred, align=align)
    breaks = None
    if pred.tokens is not None:
        own = shared.pred
        cuts = np.concatenate([own.start, own.end])
        # Gold's sentence ends govern both sides: a span ends at the first of these tokens behind one.
        border = np.append(shared.gold.start, len(shared.gold.points))[tokens.closing_breaks]
        breaks = np.unique(np.searchsorted(own.start, border, side="left"))
        breaks = breaks[breaks < len(pred.tokens)]
    else:
        assert pred.listed is not None
        cuts = np.concatenate(shared.stretches(pred.listed.ranges))
    cut = cut_corpus(tokens, shared.gold, cuts)
    inside = cut.visible_end[np.flatnonzero(np.diff(cut.origin) == 0)]
    return _Meeting(
        cut.corpus,
        lambda ranges: cut.moved(ranges.start, ranges.end - 1),
        lambda ranges: cut.positions(*shared.stretches(ranges)),
        breaks,
        _inside(gold.visible.before[shared.gold.place[inside]]),  # as the text counts that nobody folded
        cut.origin if len(inside) else None,
        differences=shared.differences,
    )


def _on_text(gold: Reading, pred: Reading, *, align: bool, strict: bool) -> _Meeting:
    """Gold's text, cut at the boundaries of both sides; where both have the same text, white space counts, too."""
    differences = TextDifferences()
    different = _different_texts(gold, pred)
    if different.any():
        shared = _Shared.of(gold, pred, align=align)
        differences = shared.differences
        if pred.tokens is None:
            differences = replace(differences, texts=int(different.sum()))

    def on_gold(ranges: Ranges) -> Ranges:
        if pred.tokens is not None:
            return shared.on_gold(ranges)
        rows = np.flatnonzero(different[ranges.document])
        if not rows.size:
            return ranges
        moved = shared.on_gold(Ranges(ranges.document[rows], ranges.start[rows], ranges.end[rows]))
        start, end = ranges.start.copy(), ranges.end.copy()
        start[rows], end[rows] = moved.start, moved.end
        return Ranges(ranges.document, start, end)

    added = on_gold(_annotated(pred, strict=strict))
    corpus = gold.cut_at(added)
    place = gold.placing(corpus)
    breaks = None if pred.tokens is None else pred.tokens.closing_breaks
    return _Meeting(corpus, place, lambda ranges: place(on_gold(ranges)), breaks, added, differences=differences)


def _different_texts(gold: Reading, pred: Reading) -> BoolArray:
    """Which of gold's texts the prediction has otherwise; all of them where it has tokens."""
    if pred.tokens is not None:
        return np.ones(max(len(gold.texts), 1), dtype=bool)
    if len(gold.texts) != len(pred.texts):
        raise InputError(
            f"the documents differ: {gold.source.name} has {len(gold.texts)}, {pred.source.name} has "
            f"{len(pred.texts)}. Both sides must hold the same documents."
        )
    return np.array([left.text != right.text for left, right in zip(gold.texts, pred.texts, strict=True)], dtype=bool)


def _annotated(pred: Reading, *, strict: bool) -> Ranges:
    """Where the annotations of a prediction lie, in its own units."""
    if pred.tokens is None:
        assert pred.listed is not None
        return pred.listed.ranges
    own = pred.on(pred.tokens, on_same, strict=strict)
    extents = [positions(frame) for frame in own.layers.values()]
    if own.listed is not None:
        extents.append((own.listed.start, own.listed.end))
    return Ranges.join([Ranges(start, start, end + 1) for start, end in extents])


def _inside(places: IntArray) -> Ranges:
    """Cuts of gold's tokens, by the visible characters before them."""
    return Ranges(np.zeros(len(places), np.int64), places, places)


def on_pair(gold: Reading, added: Ranges, doc_ids: Sequence[str]) -> Reading:
    """Gold on the tokens of a pair again, given what the prediction added to them (`Pair.added`).

    With it, positions of a pair can be understood again when only the gold file is at hand. `doc_ids` are the
    documents of the pair's corpus, where these are not all of gold's or stand in another order.
    """
    if gold.tokens is not None:
        if not len(added.start):
            return gold
        cut = cut_corpus(gold.tokens, gold.visible, added.start)
        own = gold.on(cut.corpus, lambda ranges: cut.moved(ranges.start, ranges.end - 1))
        return Reading(gold.source, cut.corpus, spans=own, notes=gold.notes, token_of=cut.origin)
    gold = gold.documents_called(doc_ids)
    lengths = np.array([len(document.text) for document in gold.texts] or [0], dtype=np.int64)
    document = np.minimum(added.document, len(lengths) - 1)
    if (added.document >= len(gold.texts)).any() or (added.end > lengths[document]).any():
        raise InputError(f"{gold.source.name}: predictions lie behind the end of its texts. Give the file as it was.")
    corpus = gold.cut_at(added)
    return Reading(gold.source, corpus, spans=gold.on(corpus, gold.placing(corpus)), notes=gold.notes)


def check_same_text(gold: Reading, pred: Reading) -> None:
    """Raise where two readings do not hold the same documents and tokens (running text: the same text)."""
    if gold.tokens is not None and pred.tokens is not None:
        check_same_tokens(gold.tokens, pred.tokens)
        return
    names = (gold.source.name, pred.source.name)
    gold, pred, _ = _same_documents(gold, pred)
    whole = gold.nameless or pred.nameless
    check_same_visible(gold.visible, pred.visible, names=names, doc_ids=gold.doc_ids, whole=whole)


def _same_documents(gold: Reading, pred: Reading) -> tuple[Reading, Reading, list[str]]:
    """Leave out documents that an annotator has not seen, and bring both sides into one order."""
    notes = []
    unseen = gold.unseen | pred.unseen
    if unseen:
        gold, pred = gold.without(unseen), pred.without(unseen)
        notes += unseen_note(len(unseen))
    if gold.named and pred.named and not set(gold.doc_ids) & set(pred.doc_ids):
        texts = [[document.text for document in side.documents] for side in (gold, pred)]
        places = same_texts(*texts)
        if places is not None:
            pred = pred.renamed([gold.doc_ids[place] for place in places])
            notes.append(
                f"{pred.source.name}: its documents have other IDs than those of {gold.source.name}; they were paired "
                "by their texts"
            )
    if gold.named or gold.tokenised:
        pred = pred.in_order_of(gold.doc_ids, gold.source.name)
    if pred.named and pred.tokenised:  # a token file stays in its order, so gold follows
        gold = gold.in_order_of(pred.doc_ids, pred.source.name)
    return gold, pred, notes


def unseen_note(count: int) -> list[str]:
    """What to tell people about documents that an annotator has not seen."""
    if not count:
        return []
    documents = "1 document" if count == 1 else f"{count} documents"
    return [f"{documents} that the chosen annotator has not seen {'was' if count == 1 else 'were'} left out"]


def spans_on(other: Pair, pair: Pair) -> pd.DataFrame:
    """The predicted spans of another pair with the same gold, on the tokens of this one.

    Two pairs may have cut the tokens differently. A span that begins or ends inside a token is widened to it, and
    where two come to share one, the first stays.
    """
    spans = other.pred.spans
    start, end = positions(spans)
    theirs, ours = _token_places(other), _token_places(pair)
    start = np.searchsorted(ours[1], theirs[0][start], side="right")
    end = np.searchsorted(ours[0], theirs[1][end], side="left") - 1
    free = np.ones(len(spans), dtype=bool)
    free[1:] = start[1:] > np.maximum.accumulate(end)[:-1]
    return spans.assign(start=start, end=end)[free & (end >= start)].reset_index(drop=True)


def _token_places(pair: Pair) -> tuple[IntArray, IntArray]:
    """Where tokens begin and end, in numbers that two pairs with the same gold share."""
    corpus = pair.corpus
    if corpus.char_start is not None and corpus.char_end is not None:
        document = corpus.document_numbers * _DOCUMENT
        return document + corpus.char_start, document + corpus.char_end
    token = np.arange(len(corpus)) if pair.gold_token is None else pair.gold_token
    return token, token + 1


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


def same_texts(wanted: Sequence[str], own: Sequence[str]) -> list[int] | None:
    """Which of the wanted texts each own one is, white space aside; None where that is not clear for all of them.

    >>> same_texts(["a b", "c"], ["c", "ab"]), same_texts(["a", "a"], ["a", "a"])
    ([1, 0], None)
    """
    number = {"".join(text.split()): index for index, text in enumerate(wanted)}
    if len(number) < len(wanted) or len(wanted) != len(own):
        return None
    found = [number.get("".join(text.split())) for text in own]
    places = [place for place in found if place is not None]
    return places if len(set(places)) == len(own) else None
