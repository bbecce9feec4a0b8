"""Passages that neither side marks although the same words are marked elsewhere: what both sides may have missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import UM, CaseClass
from clueval_xlsx.cases.phrases import FoldedWords, Found, KeyCounts, Phrases
from clueval_xlsx.cases.table import case_table
from clueval_xlsx.cases.twins import add_twins
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, layers_of, positions, touching, vote
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.matching import MatchedSpans
from clueval_xlsx.text.strings import BoolArray, IntArray

# Words count as marked nearly always, so that a passage of another document is enough, from this chance on.
NEARLY_ALWAYS = 0.8
_ELSEWHERE = 2  # as many occurrences in the document as all of the corpus counts for
_FEWEST_LETTERS = 2  # a single letter tells nothing


@dataclass(frozen=True)
class UnmarkedOptions:
    """Which unmarked passages are listed: from which chance on, and whether words marked once and common ones are."""

    least: float = 0.5
    once: bool = False
    common: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise OptionError(
                f"workbook.unmarked_from={self.least:g}: a chance. Allowed: more than 0 %, up to 100 %, such as 50%."
            )


@dataclass(frozen=True, eq=False)
class UnmarkedPassages:
    """Passages in the order of the text.

    `spans` are their places with the labels of their twins. `here` says how often the reference marks the same words
    in the same document, `marked` how often in all, `unmarked` how often it leaves them unmarked (these included);
    `chance` follows from these. `least` is the chance below which passages were left out.
    """

    spans: pd.DataFrame
    here: IntArray
    marked: IntArray
    unmarked: IntArray
    chance: FloatArray
    least: float

    def __len__(self) -> int:
        return len(self.spans)

    def only(self, rows: IntArray) -> UnmarkedPassages:
        """Some of the passages."""
        return UnmarkedPassages(
            self.spans.iloc[rows].reset_index(drop=True),
            self.here[rows],
            self.marked[rows],
            self.unmarked[rows],
            self.chance[rows],
            self.least,
        )


@dataclass(frozen=True, eq=False)
class MarkedText:
    """What is marked, and what is known about it: everything that the search looks at.

    `evidence` are the rows of `gold` that tell how words are treated, `confirmed` rows of `pred` that were judged
    right; `left_out` are documents that are not evaluated.
    """

    corpus: Corpus
    gold: pd.DataFrame
    pred: pd.DataFrame
    evidence: BoolArray
    confirmed: IntArray
    left_out: tuple[int, ...] = ()

    @property
    def judged_right(self) -> pd.DataFrame:
        """The predictions that were judged right: they count as if the reference had them."""
        return self.pred.iloc[self.confirmed]


def unmarked_passages(text: MarkedText, options: UnmarkedOptions) -> UnmarkedPassages:
    """The passages that neither side marks and whose words are marked elsewhere in the document, or nearly always.

    The chance of a passage is the share of the other occurrences of its words that are marked, in its document, with
    two more that stand for the rest of the corpus; passages that are part of a longer one are left out.
    """
    found = _Occurrences(text)
    places = found.places
    wanted = found.free & _inside(text.corpus, places) & ~np.isin(found.document, text.left_out)
    wanted &= (found.chance >= options.least) & ((found.here > 0) | (found.overall >= NEARLY_ALWAYS))
    wanted &= found.marked >= (1 if options.once else 2)
    if not options.common:
        wanted &= ~_common(found.words, places)
    rows = np.flatnonzero(wanted)
    rows = rows[_longest(places.start[rows], places.end[rows])]
    return UnmarkedPassages(
        pd.DataFrame({"start": places.start[rows], "end": places.end[rows], **found.labels(rows)}),
        found.here[rows],
        found.marked[rows],
        found.unmarked[rows],
        found.chance[rows],
        options.least,
    )


def _joined(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Spans of two frames; an empty one has no say in what its columns hold."""
    frames = [each for each in (one, other) if len(each)]
    return pd.concat(frames, ignore_index=True) if frames else one


class _Occurrences:
    """Every place where marked words stand, and how often they are marked and left unmarked, here and in all."""

    def __init__(self, text: MarkedText) -> None:
        known = _joined(text.gold[text.evidence], text.judged_right)
        self._known = known = known.sort_values(["start", "end"], kind="stable", ignore_index=True)
        start, end = positions(known)
        self.words = FoldedWords.of(text.corpus)
        phrases, self._phrase = Phrases.of(self.words, start, end)
        self._count, self.places = phrases.count, phrases.find()
        self.document = text.corpus.document_of(self.places.start)
        self._known_keys = text.corpus.document_of(start) * self._count + self._phrase
        in_reference = _touches(self.places, _joined(text.gold, text.judged_right))
        self.free = ~in_reference & ~_touches(self.places, text.pred)
        phrase, keys = self.places.phrase, self._keys
        usable = self._phrase >= 0
        self.here = KeyCounts.of(self._known_keys[usable]).at(keys)
        self.marked = np.bincount(self._phrase[usable], minlength=self._count)[phrase]
        self.unmarked = np.bincount(phrase[~in_reference], minlength=self._count)[phrase]
        unmarked_here = KeyCounts.of(keys[~in_reference]).at(keys)
        # What stands at the place itself is the question: the others answer it.
        self.overall = (self.marked + 0.5) / (self.marked + np.maximum(self.unmarked - 1, 0) + 1)
        elsewhere = _ELSEWHERE * self.overall
        self.chance = (self.here + elsewhere) / (self.here + np.maximum(unmarked_here - 1, 0) + _ELSEWHERE)

    @property
    def _keys(self) -> IntArray:
        """Document and phrase of each place as one number."""
        return self.document * self._count + self.places.phrase

    def labels(self, rows: IntArray) -> dict[str, pd.Categorical]:
        """The labels that words have most often, in the document if they are marked there, else in the corpus."""
        layers = layers_of(self._known)
        names = {layer: label_vocabulary([self._known], layer) for layer in layers}
        together = np.zeros(len(self._known), dtype=np.int64)
        for layer in layers:  # all labels of a span at once: they belong together
            together = together * (len(names[layer]) + 1) + label_codes(self._known, layer, names[layer]) + 1
        usable = np.flatnonzero(self._phrase >= 0)
        voted = np.zeros(len(rows), dtype=np.int64)
        nowhere_here = self.here[rows] == 0
        for chosen, groups, wanted in (
            (nowhere_here, self._phrase, self.places.phrase[rows]),
            (~nowhere_here, self._known_keys, self._keys[rows]),
        ):
            keys, labels = vote(groups[usable], together[usable], np.ones(len(usable), dtype=np.int64))
            voted[chosen] = labels[np.searchsorted(keys, wanted[chosen])]
        columns = {}
        for layer in reversed(layers):
            codes = voted % (len(names[layer]) + 1) - 1
            columns[layer] = pd.Categorical.from_codes(codes, categories=pd.Index(names[layer], dtype=object))
            voted = voted // (len(names[layer]) + 1)
        return {layer: columns[layer] for layer in layers}


def _touches(places: Found, spans: pd.DataFrame) -> BoolArray:
    """Which places share a token with one of the spans, which may overlap."""
    start, end = positions(spans)
    order = np.lexsort((end, start))
    first, stop = touching(places.start, places.end, start[order], np.maximum.accumulate(end[order]))
    touched: BoolArray = stop > first
    return touched


def _inside(corpus: Corpus, places: Found) -> BoolArray:
    """Which places cross no end of a document, nor of a sentence where the source has them."""
    number = corpus.sentence_of if corpus.hard_breaks else corpus.document_of
    inside: BoolArray = number(places.start) == number(places.end)
    return inside


def _common(words: FoldedWords, places: Found) -> BoolArray:
    """Places whose words have neither a capital nor a digit, or hardly a letter."""
    telling, letters = (np.concatenate([[0], np.cumsum(column)]) for column in (words.telling, words.letters))
    stop = places.end + 1
    dull: BoolArray = telling[stop] == telling[places.start]
    short: BoolArray = letters[stop] - letters[places.start] < _FEWEST_LETTERS
    return dull | short


def _longest(start: IntArray, end: IntArray) -> IntArray:
    """The rows that stay where places overlap: the longest, then the leftmost."""
    taken = np.zeros(int(end.max(initial=-1)) + 1, dtype=bool)
    kept = []
    for row in np.lexsort((start, start - end)).tolist():
        place = slice(int(start[row]), int(end[row]) + 1)
        if not taken[place].any():
            taken[place] = True
            kept.append(row)
    return np.array(sorted(kept), dtype=np.int64)


def unmarked_table(passages: UnmarkedPassages, corpus: Corpus, *, metadata: Sequence[str] = ()) -> pd.DataFrame:
    """The cases of unmarked passages, those whose words are marked most regularly first."""
    table = case_table(
        np.arange(len(passages)), MatchedSpans.alone(passages.spans), corpus, sheet=UM, metadata=metadata
    )
    nothing = pd.Series([[] for _ in range(len(passages))], dtype=object)
    table = table.assign(
        **{"class": CaseClass.UNMARKED, "related": nothing, "relaxed": False},
        here=passages.here,
        marked=passages.marked,
        unmarked=passages.unmarked,
    )
    order = np.argsort(-passages.chance, kind="stable")
    return add_twins(table.iloc[order].reset_index(drop=True).assign(number=np.arange(1, len(passages) + 1)))
