"""The visible characters of a text: what two spacings and two tokenisations of it share.

Where the visible characters of two sides are the same, every token and every annotation of either side is a stretch
of them, whatever the spacing and the tokens were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.text.offsets import CodePoints, characters_before, code_points
from clueval_xlsx.text.strings import IntArray, Strings
from clueval_xlsx.text.tokenise import Ranges, visible_characters

_AROUND = 25


@dataclass(frozen=True, eq=False)
class VisibleText:
    """The visible characters of one side, where its documents begin among them, and how to get back.

    The units of a side are its documents or its tokens. `before[i]` is the number of visible characters before
    character `i` of the side, `place[k]` the character that the k-th visible one is, `bounds` the first character of
    each unit and the number of all.
    """

    points: CodePoints
    before: IntArray
    place: IntArray
    bounds: IntArray
    documents: IntArray  # how many visible characters come before each document, and how many there are

    @property
    def start(self) -> IntArray:
        """Where each unit begins among the visible characters."""
        return self.before[self.bounds[:-1]]

    @property
    def end(self) -> IntArray:
        """Where each unit ends among the visible characters."""
        return self.before[self.bounds[1:]]

    def of_ranges(self, ranges: Ranges) -> tuple[IntArray, IntArray]:
        """Character ranges of documents as stretches of visible characters."""
        base = self.bounds[ranges.document]
        return self.before[base + ranges.start], self.before[base + ranges.end]

    def to_ranges(self, start: IntArray, end: IntArray) -> Ranges:
        """Stretches of visible characters (not empty) as character ranges of documents."""
        first, last = self.place[start], self.place[end - 1] + 1
        document = np.searchsorted(self.documents, start, side="right") - 1
        base = self.bounds[document]
        return Ranges(document, first - base, last - base)


def visible_in_texts(texts: Sequence[str]) -> VisibleText:
    """Those of running text; its units are the documents."""
    bounds = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    return _visible(code_points("".join(texts)), bounds, bounds)


def visible_in_tokens(tokens: Strings, documents: IntArray) -> VisibleText:
    """Those of tokens, entities decoded, given the first token of each document; its units are the tokens."""
    packed = tokens.packed()
    size = int(packed.length.sum(dtype=np.int64))
    before = characters_before(np.frombuffer(packed.data, dtype=np.uint8)[:size])
    bounds = before[np.append(packed.start, size)]
    points = code_points(packed.data[:size].decode("utf-8", "surrogatepass"))
    return _visible(points, bounds, bounds[np.append(documents, len(tokens))])


def _visible(points: CodePoints, bounds: IntArray, documents: IntArray) -> VisibleText:
    visible = visible_characters(points)
    before = np.concatenate([[0], np.cumsum(visible)]).astype(np.int64)
    return VisibleText(points[visible], before, np.flatnonzero(visible), bounds, before[documents])


def check_same_visible(
    gold: VisibleText, pred: VisibleText, *, names: tuple[str, str], doc_ids: Sequence[str], whole: bool
) -> None:
    """Raise at the first visible character in which two sides differ, with what stands around it on both.

    With `whole` the prediction has no documents of its own and is compared as one text.
    """
    if not whole and len(gold.documents) != len(pred.documents):
        raise InputError(
            f"the documents differ: {names[0]} has {len(gold.documents) - 1}, {names[1]} has "
            f"{len(pred.documents) - 1}. Both sides must hold the same documents."
        )
    shared = min(len(gold.points), len(pred.points))
    different = np.flatnonzero(gold.points[:shared] != pred.points[:shared])
    place = int(different[0]) if different.size else shared
    moved = np.empty(0, np.int64) if whole else np.flatnonzero(gold.documents != pred.documents)
    if place == len(gold.points) == len(pred.points) and not moved.size:
        return
    document = max(min(int(np.searchsorted(gold.documents, place, side="right")) - 1, len(doc_ids) - 1), 0)
    if moved.size:  # a document that ends elsewhere differs, even if the next goes on with the same characters
        end = min(int(gold.documents[moved[0]]), int(pred.documents[moved[0]]))
        if end <= place:
            place, document = end, int(moved[0]) - 1
    stops = [int(side.documents[document + 1]) if not whole else len(side.points) for side in (gold, pred)]
    left, right = (_around(side, place, stop) for side, stop in zip((gold, pred), stops, strict=True))
    raise InputError(
        f"the texts differ in document {doc_ids[document]!r}: {names[0]} has {left}, {names[1]} has {right} "
        "(⟦ marks the place; white space is not compared). Both sides must hold the same text."
    )


def _around(side: VisibleText, place: int, stop: int) -> str:
    def text(low: int, high: int) -> str:
        return side.points[max(low, 0) : max(high, 0)].tobytes().decode("utf-32-le", "surrogatepass")

    rest = text(place, min(place + _AROUND, stop))
    return repr(f"{text(place - _AROUND, place)}⟦{rest or 'end of the document'}")
