"""Characters: their kinds, and offsets in other units (glyphs, UTF-16) ⇄ code points, in which all else counts."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from clueval_xlsx.text.strings import IntArray

ByteArray = npt.NDArray[np.uint8]
CodePoints = npt.NDArray[np.uint32]

CODE_POINTS: Final = "codepoints"
GLYPHS: Final = "glyphs"
UTF16: Final = "utf16"
UNITS = (CODE_POINTS, GLYPHS, UTF16)


def unit_starts(text: str, unit: str) -> IntArray | None:
    """The code point at which each unit of a text begins, and the text's length; None where they are the same.

    >>> unit_starts("a😀b", UTF16), unit_starts("e\\u0301a", GLYPHS), unit_starts("abc", UTF16)
    (array([ 0,  1, -1,  2,  3]), array([0, 2, 3]), None)

    The second half of a surrogate pair is no place where a span could begin or end: -1.
    """
    if unit == CODE_POINTS or (text.isascii() and (unit == UTF16 or "\r\n" not in text)):
        return None
    if unit == GLYPHS:
        import regex

        glyphs = [match.start() for match in regex.finditer(r"\X", text)]
        return np.array([*glyphs, len(text)], dtype=np.int64)
    width = 1 + (code_points(text) > 0xFFFF).astype(np.int64)
    starts = np.full(int(width.sum()) + 1, -1, dtype=np.int64)
    starts[np.cumsum(width) - width] = np.arange(len(text))
    starts[-1] = len(text)
    return starts


def code_points(text: str) -> CodePoints:
    """The code points of a text; lone surrogates count as one each."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def characters_before(letters: ByteArray) -> IntArray:
    """How many characters of UTF-8 begin before each byte, and in all.

    >>> characters_before(np.frombuffer("aö!".encode(), dtype=np.uint8))
    array([0, 1, 2, 2, 3])
    """
    return np.concatenate([[0], np.cumsum((letters & 0xC0) != 0x80)])


def from_code_points(text: str, unit: str, offsets: IntArray) -> IntArray:
    """Code-point offsets in another unit; an offset inside a glyph counts as the glyph's end.

    >>> from_code_points("a😀b", UTF16, np.array([1, 2, 3]))
    array([1, 3, 4])
    """
    starts = unit_starts(text, unit)
    if starts is None:
        return offsets
    return np.searchsorted(np.maximum.accumulate(starts), offsets, side="left")


def unit_range(text: str, unit: str, start: int, end: int) -> tuple[int, int]:
    """Offsets that count a unit, as code points.

    >>> unit_range("a😀b", UTF16, 1, 3)
    (1, 2)
    """
    starts = unit_starts(text, unit)
    return (start, end) if starts is None else (int(starts[start]), int(starts[end]))


def splits_unit(text: str, unit: str, offsets: IntArray) -> bool:
    """Whether one of these code-point offsets lies inside a unit, so that it cannot be written."""
    starts = unit_starts(text, unit)
    return starts is not None and not bool(np.isin(offsets, starts).all())


# ---- kinds of characters

SPACE, WORD, OTHER, EXTEND, SOLID = 0, 1, 2, 3, 4
KIND = 0b111
FINAL, CLOSING, LOWER, LETTER, DIGIT = 8, 16, 32, 64, 128
LINE_BREAK = SPACE | FINAL
_FINAL_MARKS = frozenset(".!?…‼⁇⁈⁉。！？")
_CLOSING_MARKS = frozenset(")]}\"'»«“”’›‹")
_LINE_BREAKS = frozenset("\n\v\f\r\x85\u2028\u2029")
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_MAXIMUM = 0x110000
_NOT_MET = 255
_FEW = 4096


@cache
def _known_characters() -> ByteArray:
    """Kind and features of every character that was met so far (255: none was), filled as texts are read."""
    return np.full(_MAXIMUM, _NOT_MET, dtype=np.uint8)


def classify(points: CodePoints) -> ByteArray:
    """Kind and features of each character."""
    table = _known_characters()
    found = table[points]
    new = found == _NOT_MET
    if new.any():
        for point in set(points[new][:_FEW].tolist()):
            table[point] = _describe(chr(point))
        return classify(points)
    return found


def _describe(character: str) -> int:
    category = unicodedata.category(character)
    if character.isspace():
        return LINE_BREAK if character in _LINE_BREAKS else SPACE
    if category in {"Mn", "Me", "Mc", "Cf"} or ord(character) in _SKIN_TONES:
        return EXTEND
    if category[0] in "LN" or category == "Pc":
        features = LOWER if category == "Ll" else 0
        features |= LETTER if category[0] == "L" else DIGIT if category == "Nd" else 0
        return WORD | features
    return OTHER | (FINAL if character in _FINAL_MARKS else 0) | (CLOSING if character in _CLOSING_MARKS else 0)


def continues(character: str) -> bool:
    """Whether a character belongs to the one before it: a mark, a joiner, a skin tone; none of them is ASCII."""
    return _describe(character) == EXTEND
