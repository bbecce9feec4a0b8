"""Two versions of one text: other quotation marks, dashes and Unicode forms are passed over and counted."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
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


def fold_alike(
    gold: VisibleText, pred: VisibleText, names: tuple[str, str], *, align: bool
) -> tuple[VisibleText, VisibleText, tuple[str, ...]]:
    """Both sides as they are where they agree; else, if they may, folded, with a note of what was passed over.

    Sides that still differ when they are folded stay as they are, for the message.
    """
    if not align or np.array_equal(gold.points, pred.points):
        return gold, pred, ()
    left, right = folded(gold), folded(pred)
    if not np.array_equal(left.points, right.points):
        return gold, pred, ()
    counts = _differences(gold, left, pred, right)
    said = ", ".join(f"{counts[kind]} of {kind}" for kind in _KINDS if counts[kind])
    return left, right, (f"{names[1]}: differences from {names[0]} were passed over (--align text): {said}",)


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
