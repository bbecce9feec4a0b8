"""Character offsets in other units: glyphs and UTF-16 units ⇄ code points, which everything else counts in."""

from __future__ import annotations

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
    width = utf16_widths(text)
    starts = np.full(int(width.sum()) + 1, -1, dtype=np.int64)
    starts[np.cumsum(width) - width] = np.arange(len(text))
    starts[-1] = len(text)
    return starts


def utf16_widths(text: str) -> IntArray:
    """How many UTF-16 units each code point takes."""
    return 1 + (code_points(text) > 0xFFFF).astype(np.int64)


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
    if unit == UTF16:
        return np.concatenate([[0], np.cumsum(utf16_widths(text))])[offsets]
    return np.searchsorted(starts, offsets, side="left")


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
