"""How much room a text takes in a wrapped cell: spreadsheets do not fit row heights by themselves on loading."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

LINE = 13.2  # points that a line of 10-point text takes
TALLEST = 409.0  # points, Excel's limit for a row
_PIXELS = 7  # that one unit of column width is wide on Excel's screen; other programs give a little more
_PADDING = 5
_LOST = 16  # pixels that stay empty at the end of a line, on average, because words are not cut
_BOLD = 1.04
_SHORT = 80  # characters; so short a text is broken word by word
_WORDS = re.compile(r"[^\s-]*[\s-]|[^\s-]+")
# Half pixels that each character takes in 10-point Calibri; what is not listed takes a digit's place.
_HALVES = {
    6: " 'ijl",
    7: ",.:;I",
    8: "()-[]`f{}",
    9: "!Jrt",
    10: "/\\s",
    11: '"Lcz',
    12: "?FSZkvxy|",
    13: "#*+<=>ETY^_aegßäöü~",
    14: "",
    15: "ABVÄ",
    16: "D",
    17: "GHNUÜ",
    18: "&OQÖ",
    19: "%w",
    21: "m",
    23: "M",
    24: "@W",
}
_TABLE = bytes(next((width for width, those in _HALVES.items() if chr(code) in those), 14) for code in range(256))
_NO_ROOM = re.compile("[\u0300-\u036f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")  # combining, joiners, marks
_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\U0001f000-\U0003ffff]")


def pixels(text: str) -> float:
    """How wide a line of 10-point text is.

    >>> pixels("mm") > pixels("ii"), pixels("") == 0
    (True, True)
    """
    extra = 0
    if not text.isascii():
        text = _NO_ROOM.sub("", text)
        extra = 11 * len(_WIDE.findall(text))  # an emoji or an ideograph is nearly two digits wide
    return (sum(text.encode("latin-1", "replace").translate(_TABLE)) + 2 * extra) / 2


def lines(text: str, width: float, scale: float = 1.0) -> int:
    """How many lines a text takes in a wrapped cell of this width; `scale` is the font size against 10 points.

    >>> lines("one line", 20), lines("two\\nlines", 20), lines("x" * 60, 20)
    (1, 2, 3)
    """
    room = width * _PIXELS - _PADDING
    return sum(_wrapped(paragraph, room, _BOLD * scale) for paragraph in text.split("\n"))


def _wrapped(paragraph: str, room: float, scale: float) -> int:
    wide = pixels(paragraph) * scale
    if wide <= room:
        return 1
    if len(paragraph) > _SHORT:  # running text: what is lost at the ends of lines evens out
        return math.ceil(wide / max(room - _LOST, room / 2))
    found, filled = 1, 0.0
    for word in _WORDS.findall(paragraph):
        wide = pixels(word) * scale
        if filled and filled + wide > room:
            found, filled = found + 1, 0.0
        found += int(wide // room)  # a word that is too long for a line is cut
        filled += wide % room
    return found


def width_for(texts: Iterable[str], least: float, most: float) -> float:
    """The column width at which none of the texts wraps, within limits."""
    widest = max((pixels(text) for text in texts), default=0.0)
    return min(max(math.ceil(2 * (widest * _BOLD + _PADDING) / _PIXELS) / 2, least), most)


def height(number: int) -> float:
    """The height of a row with so many lines, in points."""
    return min(number * LINE + 5, TALLEST)
