"""The visible characters of a text: what two spacings and two tokenisations of it share.

Where the visible characters of two sides are the same, every token and every annotation of either side is a stretch
of them, whatever the spacing and the tokens were.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.text.characters import KIND, SPACE, CodePoints, characters_before, classify, code_points
from clueval_xlsx.text.strings import IntArray, Strings
from clueval_xlsx.text.tokenise import Ranges

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
    visible = (classify(points) & KIND) != SPACE
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
    size = min(len(gold.points), len(pred.points))
    places = [np.flatnonzero(gold.points[:size] != pred.points[:size]), np.array([size])]
    ends = gold.documents[1:]
    if not whole:  # a document that ends elsewhere differs, even if the next goes on with the same characters
        earlier = np.minimum(gold.documents, pred.documents)
        places.append(earlier[gold.documents != pred.documents])
        ends = np.maximum(gold.documents, pred.documents)[1:]
    place = int(np.concatenate(places).min())
    if place == len(gold.points) == len(pred.points):
        return
    document = min(int(np.searchsorted(ends, place, side="right")), len(doc_ids) - 1)
    gold_end = int(gold.documents[document + 1]) if not whole else len(gold.points)
    pred_end = int(pred.documents[document + 1]) if not whole else len(pred.points)
    raise InputError(
        f"the texts differ in document {doc_ids[document]!r}: {names[0]} has {_around(gold, place, gold_end)}, "
        f"{names[1]} has {_around(pred, place, pred_end)} (⟦ marks the place; white space is not compared). "
        "Both sides must hold the same text."
    )


def _around(side: VisibleText, place: int, stop: int) -> str:
    parts = side.points[max(place - _AROUND, 0) : place], side.points[place : min(place + _AROUND, stop)]
    before, rest = (part.tobytes().decode("utf-32-le", "surrogatepass") for part in parts)
    return repr(f"{before}⟦{rest or 'end of the document'}")


# ---- two versions of one text: other quotation marks, dashes and Unicode forms are passed over and counted

_SINGLE = frozenset("'\u2018\u2019\u201a\u201b\u2039\u203a`\u00b4\u2032")
_DOUBLE = frozenset('"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u301d\u301e\uff02')
_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d")
_QUOTE, _DASH = ord("'"), ord("-")


@dataclass(frozen=True)
class TextDifferences:
    """What was passed over between two versions of texts; those of several files add up."""

    texts: int = 0  # that differ and yet have the same visible characters
    passed: int = 0  # characters that are written otherwise

    def __add__(self, other: TextDifferences) -> TextDifferences:
        return TextDifferences(self.texts + other.texts, self.passed + other.passed)

    def notes(self, gold: str, pred: str) -> list[str]:
        """What to tell people about two sides of these names."""
        notes = []
        if self.texts:
            notes.append(
                f"{pred}: {self.texts} of its texts differ from {gold}{'' if self.passed else ' in white space only'}; "
                "annotations were carried over by their visible characters"
            )
        if self.passed:
            notes.append(
                f"{gold}: characters that are written otherwise in {pred} (quotation marks, dashes, Unicode forms) and "
                f"were passed over (--align text): {self.passed}"
            )
        return notes


def fold_alike(
    gold: VisibleText, pred: VisibleText, *, align: bool
) -> tuple[VisibleText, VisibleText, TextDifferences]:
    """Both sides as they are where they agree; else, if they may, folded, and what was passed over.

    Sides that still differ when they are folded stay as they are, for the message.
    """
    if not align or np.array_equal(gold.points, pred.points):
        return gold, pred, TextDifferences()
    left, right = folded(gold), folded(pred)
    if not np.array_equal(left.points, right.points):
        return gold, pred, TextDifferences()
    return left, right, TextDifferences(passed=_differences(gold, left, pred, right))


def folded(text: VisibleText) -> VisibleText:
    """The visible characters with one quotation mark, one dash, and decomposed; each leads to where it stood.

    A double quotation mark is two single ones, so that ``, '' and " are the same.
    """
    if not len(text.points):
        return text
    distinct, codes = np.unique(text.points, return_inverse=True)
    forms = [_form(int(point)) for point in distinct]
    sizes = np.array([len(form) for form in forms], dtype=np.int64)[codes]
    table = np.zeros((len(forms), int(sizes.max())), dtype=text.points.dtype)
    for row, form in enumerate(forms):
        table[row, : len(form)] = form
    inside = np.arange(table.shape[1])[None, :] < sizes[:, None]
    points: CodePoints = table[codes][inside]
    stops: IntArray = np.concatenate([[0], np.cumsum(sizes)])
    return replace(
        text,
        points=points,
        before=stops[text.before],
        place=np.repeat(text.place, sizes),
        documents=stops[text.documents],
    )


@lru_cache(maxsize=4096)
def _form(point: int) -> tuple[int, ...]:
    character = chr(point)
    if character in _DOUBLE:
        return (_QUOTE, _QUOTE)
    if character in _SINGLE:
        return (_QUOTE,)
    if character in _DASHES:
        return (_DASH,)
    if 0xD800 <= point < 0xE000:
        return (point,)
    found = tuple(ord(each) for each in unicodedata.normalize("NFKD", character) if not each.isspace())
    return found or (point,)


def _differences(gold: VisibleText, left: VisibleText, pred: VisibleText, right: VisibleText) -> int:
    """How many characters of gold are written otherwise."""
    origin = np.searchsorted(gold.place, left.place)
    other = np.searchsorted(pred.place, right.place)
    return len(np.unique(origin[gold.points[origin] != pred.points[other]]))
