"""Two versions of one text: other quotation marks, dashes and Unicode forms are passed over and counted."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from clueval_xlsx.text.offsets import CodePoints
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.visible import VisibleText

_SINGLE = frozenset("'\u2018\u2019\u201a\u201b\u2039\u203a`\u00b4\u2032")
_DOUBLE = frozenset('"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u301d\u301e\uff02')
_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d")
_QUOTE, _DASH = ord("'"), ord("-")
_KINDS = ("quotation marks", "dashes", "Unicode normalisation")


@dataclass(frozen=True)
class TextDifferences:
    """What was passed over between two versions of texts; those of several files add up."""

    texts: int = 0  # that differ and yet have the same visible characters
    passed: Mapping[str, int] = field(default_factory=dict)  # characters that are written otherwise, by kind

    def __add__(self, other: TextDifferences) -> TextDifferences:
        kinds = [kind for kind in _KINDS if kind in self.passed or kind in other.passed]
        passed = {kind: self.passed.get(kind, 0) + other.passed.get(kind, 0) for kind in kinds}
        return TextDifferences(self.texts + other.texts, passed)

    def notes(self, gold: str, pred: str) -> list[str]:
        """What to tell people about two sides of these names."""
        said = ", ".join(f"{count} of {kind}" for kind, count in self.passed.items() if count)
        notes = []
        if self.texts:
            notes.append(
                f"{pred}: {self.texts} of its texts differ from {gold}{'' if self.passed else ' in white space only'}; "
                "annotations were carried over by their visible characters"
            )
        if self.passed:
            notes.append(f"{pred}: differences from {gold} were passed over (--align text): {said}")
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


def _differences(gold: VisibleText, left: VisibleText, pred: VisibleText, right: VisibleText) -> dict[str, int]:
    """How many characters of gold are written otherwise, by kind."""
    origin = np.searchsorted(gold.place, left.place)
    other = np.searchsorted(pred.place, right.place)
    different = np.flatnonzero(gold.points[origin] != pred.points[other])
    _, first = np.unique(origin[different], return_index=True)
    counts = dict.fromkeys(_KINDS, 0)
    for point in left.points[different[first]].tolist():
        counts[_KINDS[0] if point == _QUOTE else _KINDS[1] if point == _DASH else _KINDS[2]] += 1
    return counts
