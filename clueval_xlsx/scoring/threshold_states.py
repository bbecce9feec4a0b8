"""What is matched at which thresholds: every passage with every set of its predictions that some threshold keeps.

Gold spans and predictions that hang together by shared tokens make a passage, and nothing outside of it can change
what they match. Going through the scores in a passage gives its states: each keeps the predictions from one score on,
and lasts from the score before it to its own. All states of all passages are laid out behind each other as documents
of their own, where overlaps are resolved, layers merged and spans matched by the functions that do it for a whole
file: so a state counts what the file with these predictions would count there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Listed, join_layers
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.merging import overlap_components
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.corpus.running_text import RunningText
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.text.ranges import unfold
from clueval_xlsx.text.strings import IntArray, Strings
from clueval_xlsx.text.tokenise import Ranges, continues, tokenise

_SPANS_AT_ONCE = 1_000_000
_ASCII = 0x7F
_NO_WORDS = Strings.of(())


@dataclass(frozen=True, eq=False)
class States:
    """Passages as they are from one threshold (`after`, not with it) up to another (`until`), both as columns.

    `size` is how many spans a state has, gold's and predictions.
    """

    passage: IntArray
    document: IntArray
    after: IntArray
    until: IntArray
    size: IntArray

    def __len__(self) -> int:
        return len(self.passage)


@dataclass(frozen=True, eq=False)
class ThresholdStates:
    """The states of a pair. `column` is the last threshold that keeps each prediction, of `last` + 1 thresholds."""

    pair: Pair
    listing: Listed
    column: IntArray
    last: int

    @cached_property
    def _gold(self) -> pd.DataFrame:
        """Where gold cuts: every span of a layer, and what gave way to them."""
        side = self.pair.gold
        frames = [*side.layers.values(), *([] if side.listed is None else [side.listed.spans])]
        return pd.concat([frame[["start", "end"]] for frame in frames], ignore_index=True)

    @cached_property
    def _passages(self) -> tuple[IntArray, IntArray]:
        """The passage of each of gold's spans, and of each prediction."""
        listing, own = self.listing, self.listing.mentions.ranges
        # Predictions may overlap in white space that is no token here.
        stride = int(own.end.max(initial=0)) + 1
        cluster = overlap_components(own.document * stride + own.start, own.document * stride + own.end - 1, None)
        count = int(cluster.max(initial=-1)) + 1
        start, end = np.full(count, len(self.pair.corpus), dtype=np.int64), np.full(count, -1, dtype=np.int64)
        np.minimum.at(start, cluster, listing.start)
        np.maximum.at(end, cluster, listing.end)
        gold_start, gold_end = positions(self._gold)
        starts, ends = np.concatenate([gold_start, start[cluster]]), np.concatenate([gold_end, end[cluster]])
        found = overlap_components(starts, ends, self.pair.corpus.documents.start)
        return found[: len(gold_start)], found[len(gold_start) :]

    @cached_property
    def states(self) -> States:
        """All states that have a span, passage by passage."""
        of_gold, of_pred = self._passages
        count = int(max(of_gold.max(initial=-1), of_pred.max(initial=-1))) + 1
        width = self.last + 1
        # Behind its highest score a passage has what is left of it: gold, and predictions without a score.
        passage, until = np.divmod(
            np.unique(np.concatenate([of_pred * width + self.column, np.arange(count) * width + self.last])), width
        )
        opens = np.ones(len(passage), dtype=bool)
        opens[1:] = np.diff(passage) != 0
        after = np.where(opens, -1, np.roll(until, 1))
        first, stop = self._alive(passage, until)
        kept = np.zeros(len(passage) + 1, dtype=np.int64)
        np.add.at(kept, first, 1)
        np.add.at(kept, stop, -1)
        size = np.cumsum(kept)[:-1] + np.bincount(of_gold, minlength=count)[passage]
        document = np.zeros(count, dtype=np.int64)
        document[of_gold] = self.pair.corpus.document_of(positions(self._gold)[0])
        document[of_pred] = self.pair.corpus.document_of(self.listing.start)
        some = size > 0  # nothing is left of predictions that touch no gold
        return States(*(each[some] for each in (passage, document[passage], after, until, size)))

    def _alive(self, passage: IntArray, until: IntArray) -> tuple[IntArray, IntArray]:
        """The states that have each prediction: from the first up to, not including, the second."""
        of_pred, width = self._passages[1], self.last + 1
        stop = np.searchsorted(passage * width + until, of_pred * width + self.column, side="right")
        return np.searchsorted(passage, of_pred).astype(np.int64), stop.astype(np.int64)

    def laid_out(self) -> Iterator[tuple[slice, Pair]]:
        """Some states at a time, as a pair that has a document for each of them."""
        sizes = np.cumsum(self.states.size)
        begin = 0
        while begin < len(sizes):
            before = int(sizes[begin - 1]) if begin else 0
            stop = max(int(np.searchsorted(sizes, before + _SPANS_AT_ONCE, side="right")), begin + 1)
            yield slice(begin, stop), self._pair_of(begin, stop)
            begin = stop

    def _pair_of(self, begin: int, stop: int) -> Pair:
        states = self.states

        def within(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
            rows, found = unfold(np.clip(first, begin, stop), np.clip(last, begin, stop))
            return rows, found - begin

        of_gold = self._passages[0]
        gold, gold_state = within(*(np.searchsorted(states.passage, of_gold, side=side) for side in ("left", "right")))
        pred, pred_state = within(*self._alive(states.passage, states.until))
        start, end = (
            np.concatenate([own.to_numpy(np.int64)[gold], theirs[pred]])
            for own, theirs in ((self._gold["start"], self.listing.start), (self._gold["end"], self.listing.end))
        )
        layout = _Layout(self.pair, self.listing, np.concatenate([gold_state, pred_state]), start, end)
        start, end, corpus = layout.place()
        size = len(gold)
        listing = self.listing.take(pred).placed(start[size:], end[size:])
        return replace(
            self.pair,
            corpus=corpus,
            gold=_annotation(self.pair.gold, self._gold_layers(gold, start[:size], end[:size]), corpus),
            pred=_annotation(self.pair.pred, listing.resolved(pred_state), corpus),
        )

    def _gold_layers(self, rows: IntArray, start: IntArray, end: IntArray) -> dict[str, pd.DataFrame]:
        found, offset = {}, 0
        for layer, spans in self.pair.gold.layers.items():
            own = np.flatnonzero((rows >= offset) & (rows < offset + len(spans)))
            taken = spans.take(rows[own] - offset).assign(start=start[own], end=end[own])
            found[layer] = taken.sort_values("start", kind="stable", ignore_index=True)
            offset += len(spans)
        return found


def _annotation(side: Annotation, layers: Mapping[str, pd.DataFrame], corpus: Corpus) -> Annotation:
    return Annotation(side.source, layers, join_layers(layers, corpus))


@dataclass(frozen=True, eq=False)
class _Layout:
    """Spans (`start`, `end`), each in a state, and all states have one: where they lie, one state behind the other.

    Positions count tokens, and predictions cut tokens: those that are gone do not.
    """

    pair: Pair
    listing: Listed
    state: IntArray
    start: IntArray
    end: IntArray

    @cached_property
    def _extent(self) -> tuple[IntArray, IntArray]:
        """First and last token of each state."""
        count = int(self.state.max(initial=-1)) + 1
        first = np.full(count, len(self.pair.corpus), dtype=np.int64)
        last = np.full(count, -1, dtype=np.int64)
        np.minimum.at(first, self.state, self.start)
        np.maximum.at(last, self.state, self.end)
        return first, last

    def place(self) -> tuple[IntArray, IntArray, Corpus]:
        """First and last positions of the spans in a corpus that has a document for each state."""
        return self._on_text() if self.pair.corpus.running_text else self._on_tokens()

    def _on_tokens(self) -> tuple[IntArray, IntArray, Corpus]:
        """On the tokens of gold's file without the cuts of predictions that are gone."""
        first, last = self._extent
        stop = np.cumsum(last - first + 1)
        origin = stop - last - 1  # from a token's place in the file to the one here
        start, end = origin[self.state] + self.start, origin[self.state] + self.end
        if self.pair.gold_token is not None and not self.listing.on_tokens:
            cut = np.flatnonzero(np.diff(self.pair.gold_token, prepend=-1) == 0)
            state, inside = unfold(np.searchsorted(cut, first, "right"), np.searchsorted(cut, last, "right"))
            gone = np.setdiff1d(origin[state] + cut[inside], np.concatenate([start, end + 1]))
            start, end, stop = (place - np.searchsorted(gone, place, "right") for place in (start, end, stop))
        return start, end, _corpus(np.append(0, stop))

    def _on_text(self) -> tuple[IntArray, IntArray, Corpus]:
        """On tokens that the text of each state is cut into anew."""
        corpus = self.pair.corpus
        assert corpus.char_start is not None
        assert corpus.char_end is not None
        first, last = self._extent
        first = _whole_characters(corpus, first)
        begin, stop = corpus.tokens.start[first], corpus.tokens.start[last] + corpus.tokens.length[last]
        texts = [
            corpus.tokens.data[low:high].decode("utf-8", "surrogatepass")
            for low, high in zip(begin.tolist(), stop.tolist(), strict=True)
        ]
        origin = corpus.char_start[first][self.state]
        ranges = Ranges(self.state, corpus.char_start[self.start] - origin, corpus.char_end[self.end] - origin)
        tokens = tokenise(texts, ranges)
        laid = replace(_corpus(tokens.document_start), char_start=tokens.char_start, char_end=tokens.char_end)
        return *RunningText.of(laid).positions(ranges), laid


def _corpus(borders: IntArray) -> Corpus:
    """Documents between these positions; nobody asks for their words."""
    documents = Regions(borders[:-1], borders[1:])
    return Corpus(_NO_WORDS, (), documents, breaks=borders[:-1], hard_breaks=False)


def _whole_characters(corpus: Corpus, first: IntArray) -> IntArray:
    """Tokens, or those before them where one begins with a mark that belongs to what it follows."""
    found, least = first.copy(), corpus.documents.start[corpus.document_of(first)]
    letters = np.frombuffer(corpus.tokens.data, dtype=np.uint8)
    for row in np.flatnonzero(letters[corpus.tokens.start[first]] > _ASCII).tolist():
        while found[row] > least[row] and continues(corpus.tokens[int(found[row])][0]):
            found[row] -= 1
    return found
