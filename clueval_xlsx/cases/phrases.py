"""The words of spans as phrases, and every place of a text where one of them stands: arrays, no loop over words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.text.cells import lower
from clueval_xlsx.text.strings import BoolArray, IntArray

# Longer spans are hardly ever repeated word by word; the limit keeps the search linear in the text, whatever it says.
LONGEST_PHRASE = 40


@dataclass(frozen=True, eq=False)
class FoldedWords:
    """The tokens of a corpus as numbers, the same for words that differ only in case.

    `telling` says which tokens have a capital letter or a digit: those without are common words more often than not.
    """

    numbers: IntArray
    size: int  # how many different words there are
    telling: BoolArray
    letters: IntArray  # how many characters each token has

    @classmethod
    def of(cls, corpus: Corpus) -> FoldedWords:
        """Number the words of a corpus."""
        codes, values = corpus.tokens.factorise()
        known: dict[str, int] = {}
        folded = np.array([known.setdefault(lower(value), len(known)) for value in values], dtype=np.int64)
        telling = np.array([_tells(value) for value in values], dtype=bool)
        letters = np.array([len(value) for value in values], dtype=np.int64)
        return cls(folded[codes], max(len(known), 1), telling[codes], letters[codes])


def _tells(word: str) -> bool:
    return any(letter.isupper() or letter.isdigit() for letter in word)


class _Step(NamedTuple):
    """One step of the tree of phrases: from a node by a word (`node * size + word`, sorted) to the next node."""

    keys: IntArray
    nodes: IntArray


class Found(NamedTuple):
    """Where phrases stand: the phrase, its first and its last position, sorted by them."""

    phrase: IntArray
    start: IntArray
    end: IntArray


@dataclass(frozen=True, eq=False)
class Phrases:
    """Different sequences of words, numbered, and the tree by which they are found.

    All positions of a text walk the tree together, one step at a time; those that fit nothing drop out, so that the
    work is that of one look at each token and a little more.
    """

    words: FoldedWords
    count: int
    _steps: tuple[_Step, ...]
    _phrase_of_node: IntArray  # -1 where no phrase ends

    @classmethod
    def of(cls, words: FoldedWords, start: IntArray, end: IntArray) -> tuple[Phrases, IntArray]:
        """The phrases of spans, and the phrase of each span (-1: it is too long)."""
        length = end - start + 1
        rows = np.flatnonzero(length <= LONGEST_PHRASE)
        node = np.zeros(len(start), dtype=np.int64)
        steps: list[_Step] = []
        nodes = 1  # the root is 0
        for depth in range(int(length[rows].max(initial=0))):
            rows = rows[length[rows] > depth]
            keys, inverse = np.unique(node[rows] * words.size + words.numbers[start[rows] + depth], return_inverse=True)
            steps.append(_Step(keys, np.arange(nodes, nodes + len(keys), dtype=np.int64)))
            node[rows] = nodes + inverse
            nodes += len(keys)
        ends, phrase = np.unique(node, return_inverse=True)
        known = ends > 0
        numbers = np.where(known, np.cumsum(known) - 1, -1)
        of_node = np.full(nodes, -1, dtype=np.int64)
        of_node[ends] = numbers
        return cls(words, int(known.sum()), tuple(steps), of_node), numbers[phrase]

    def number(self, start: IntArray, end: IntArray) -> IntArray:
        """The phrase of each of these spans, -1 where its words are none of the phrases."""
        node = np.zeros(len(start), dtype=np.int64)
        length = end - start + 1
        node[length > len(self._steps)] = -1
        for depth, step in enumerate(self._steps):
            rows = np.flatnonzero((length > depth) & (node >= 0))
            node[rows] = self._next(step, node[rows], start[rows] + depth)
        return np.where(node > 0, self._phrase_of_node[np.maximum(node, 0)], -1)

    def find(self) -> Found:
        """Every place where a phrase stands, however phrases overlap."""
        places = np.flatnonzero(np.isin(self.words.numbers, self._steps[0].keys)) if self._steps else np.empty(0, int)
        node = np.zeros(len(places), dtype=np.int64)
        found: list[Found] = []
        for depth, step in enumerate(self._steps):
            inside = places + depth < len(self.words.numbers)
            places, node = places[inside], node[inside]
            node = self._next(step, node, places + depth)
            places, node = places[node >= 0], node[node >= 0]
            phrase = self._phrase_of_node[node]
            some = phrase >= 0
            found.append(Found(phrase[some], places[some], places[some] + depth))
        if not found:
            return Found(*(np.empty(0, dtype=np.int64) for _ in range(3)))
        phrase, start, end = (np.concatenate(columns) for columns in zip(*found, strict=True))
        order = np.lexsort((end, start))
        return Found(phrase[order], start[order], end[order])

    def _next(self, step: _Step, node: IntArray, places: IntArray) -> IntArray:
        """The node that each position comes to, -1 where the tree has none."""
        keys = node * self.words.size + self.words.numbers[places]
        at = np.minimum(np.searchsorted(step.keys, keys), max(len(step.keys) - 1, 0))
        return np.where(step.keys[at] == keys, step.nodes[at], -1)


class KeyCounts(NamedTuple):
    """Counts by key, the keys sorted."""

    keys: IntArray
    counts: IntArray

    @classmethod
    def of(cls, keys: IntArray) -> KeyCounts:
        """Count the keys."""
        return cls(*np.unique(keys, return_counts=True))

    def at(self, keys: IntArray) -> IntArray:
        """The count of each key, 0 for one that never occurred."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.counts[place], 0)
