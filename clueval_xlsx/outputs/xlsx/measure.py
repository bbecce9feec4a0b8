"""How much room a text takes in a wrapped cell: spreadsheets do not fit row heights by themselves on loading."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

from clueval_xlsx.text.cells import PLAIN_SIGN, SQUARES

LINE = 13.2  # points that a line of 10-point text takes
TALLEST = 300.0  # points; a row that is higher than the screen cannot be read
_PIXELS = 7  # that one unit of column width is wide on Excel's screen, beside a frame of 5
_WIDER = 1.05  # columns against Excel's: LibreOffice shows them a sixteenth wider; a little less suits both
_FRAME = 5
_PADDING = 3
_BOLD = 1.03
INDENT = 1.5  # characters that an indented cell leaves free before its words
_UNIT = 12  # widths are kept in twelfths of a pixel
# Stand for an emoji or an ideograph, for what is not seen, and for a small emoji beside marked words.
_WIDE_SIGN, _NO_ROOM_SIGN, _MARK_SIGN = "\x01", "\x02", "\x03"
# What each character takes in 10-point Calibri, or Carlito, which is as wide; what is not listed takes a digit's place.
_DIGIT = 81
_WIDTHS = {
    0: _NO_ROOM_SIGN + "\n",
    36: " 'ijl",
    40: ",.I·",
    43: ":;",
    49: "()-[]`f{}´",
    52: "!Jt",
    56: "r",
    63: "/\\sz",
    67: '"Lcx',
    73: "?FSZgkvy|",
    78: "ETYaàáâä",
    80: "#*+<=>^_e~§èéê",
    83: "KPX",
    84: "bdhnopqußöü",
    86: "BCR",
    92: "AVÄ",
    98: _MARK_SIGN,
    99: "DGH",
    103: "NUÜ",
    107: "&OQÖ",
    114: "%w",
    128: "m",
    137: "M",
    143: "@W",
    196: _WIDE_SIGN,
}
_TABLE = bytes(next((width for width, those in _WIDTHS.items() if chr(code) in those), _DIGIT) for code in range(256))
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("„“”", '"'),
        **dict.fromkeys("‚‘’", ","),
        **{"–": "+", "—": "@", "…": "&"},
        **dict.fromkeys(SQUARES + PLAIN_SIGN, _MARK_SIGN),
    }
)
_NO_ROOM = re.compile("[\u0300-\u036f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")  # combining, joiners, marks
_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\U0001f000-\U0003ffff]")
_SPACE, _HYPHEN = ord(" "), ord("-")


def pixels(text: str) -> float:
    """How wide a line of 10-point text is.

    >>> pixels("mm") > pixels("ii"), pixels("") == 0
    (True, True)
    """
    return sum(_encoded(text).translate(_TABLE)) / _UNIT


def _encoded(text: str) -> bytes:
    """One byte a character, each of its width."""
    if not text.isascii():
        text = _WIDE.sub(_WIDE_SIGN, _NO_ROOM.sub(_NO_ROOM_SIGN, text.translate(_ALIKE)))
    return text.encode("latin-1", "replace")


def lines(text: str, width: float, scale: float = _BOLD) -> int:
    """How many lines a text takes in a wrapped cell of this width; `scale` is the font's width against 10 points.

    >>> lines("one line", 20), lines("two\\nlines", 20), lines("x" * 60, 20)
    (1, 2, 3)
    """
    return line_counts([text], width, scale)[0]


def line_counts(texts: Sequence[str], width: float, scale: float = _BOLD) -> list[int]:
    """How many lines each of many texts takes."""
    room = int(_UNIT * ((width * _PIXELS + _FRAME) * _WIDER - _PADDING) / scale)
    return [sum(_wrapped(paragraph, room) for paragraph in text.split("\n")) for text in texts]


def _wrapped(paragraph: str, room: int) -> int:
    """How many lines a paragraph takes: broken at spaces, behind hyphens, else inside a word."""
    data = _encoded(paragraph)
    widths = data.translate(_TABLE)
    if sum(widths) <= room:
        return 1
    letters = np.frombuffer(data, dtype=np.uint8)
    reached = np.concatenate([[0], np.cumsum(np.frombuffer(widths, dtype=np.uint8), dtype=np.int64)])
    breaks = np.flatnonzero((letters == _SPACE) | (letters == _HYPHEN))
    ends = reached[breaks + (letters[breaks] == _HYPHEN)].tolist()  # how far the line before each break reaches
    starts, places = (breaks + 1).tolist(), reached.tolist()  # of the lines behind, and of each character
    count, begin = 1, 0
    while places[-1] - places[begin] > room:
        limit = places[begin] + room
        place = bisect_right(ends, limit) - 1
        if place >= 0 and starts[place] > begin:
            begin = starts[place]
        else:  # a word that is too long for a line is cut
            begin = max(bisect_right(places, limit) - 1, begin + 1)
        count += 1
    return count


def width_for(texts: Iterable[str], least: float, most: float) -> float:
    """The column width at which none of the texts wraps, within limits."""
    widest = max((pixels(text) for text in texts), default=0.0)
    return min(max(math.ceil(2 * (widest * _BOLD + _FRAME) / _PIXELS) / 2, least), most)


def height(number: float) -> float:
    """The height of a row with so many lines, in points."""
    return min(number * LINE + 5, TALLEST)
