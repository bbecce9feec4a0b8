"""What a cell can hold: text is cleaned, escaped and, where it is too long, shortened visibly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

ELLIPSIS = "[…]"  # stands where text is left out
JOINER = "\u2060"  # keeps two signs on one line, and is not seen
LONGEST_CELL = 32_767  # UTF-16 units, Excel's limit
_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# Workbooks write control characters as `_x000D_`, so such words in a text must be escaped. XlsxWriter does that,
# but wrongly where two of them share a sign, and twice in rich text; an invisible joiner breaks the pattern there.
_TWO_ESCAPES = re.compile("(?<=_x[0-9a-fA-F]{4})_(?=x[0-9a-fA-F]{4}_)")
_ESCAPE = re.compile("_(?=x[0-9a-fA-F]{4}_)")


def clean(text: str) -> str:
    """Text that XML can hold: control characters and lone surrogates become U+FFFD; CR LF becomes LF.

    >>> clean("a\\x07b")
    'a\ufffdb'
    """
    shown = _UNWANTED.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _TWO_ESCAPES.sub(f"_{JOINER}", shown) if "_x" in shown else shown


def utf16_length(text: str) -> int:
    """How long Excel thinks a text is."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def shorten(text: str, limit: int = LONGEST_CELL) -> str:
    """Cut a text to so many UTF-16 units, with a mark that says so."""
    if len(text) * 2 <= limit or utf16_length(text) <= limit:
        return text
    kept = text.encode("utf-16-le", "surrogatepass")[: 2 * (limit - len(ELLIPSIS) - 1)].decode("utf-16-le", "ignore")
    return f"{kept} {ELLIPSIS}"


def shorten_pieces(pieces: Sequence[tuple[str, str]], limit: int = LONGEST_CELL) -> list[tuple[str, str]]:
    """Cut (text, mark) pieces to so many UTF-16 units: first what stands far from the marks, then the end."""
    total = sum(utf16_length(text) for text, _ in pieces)
    if total <= limit:
        return list(pieces)
    found = list(pieces)
    for index, keep_end in ((0, True), (len(found) - 1, False)):
        text, mark = found[index]
        excess = total - limit
        if excess <= 0 or mark:
            continue
        keep = max(len(text) - excess - len(ELLIPSIS) - 1, 0)
        cut = f"{ELLIPSIS} {text[len(text) - keep :]}" if keep_end else f"{text[:keep]} {ELLIPSIS}"
        total += utf16_length(cut) - utf16_length(text)
        found[index] = (cut, mark)
    return found if total <= limit else _head(found, limit)


def _head(pieces: Sequence[tuple[str, str]], limit: int) -> list[tuple[str, str]]:
    """The first pieces, as many as fit before a mark that says that something is missing."""
    kept: list[tuple[str, str]] = []
    left = limit - len(ELLIPSIS) - 1
    for text, mark in pieces:
        length = utf16_length(text)
        if length > left:
            cut = text.encode("utf-16-le", "surrogatepass")[: 2 * left].decode("utf-16-le", "ignore")
            return [*kept, (cut, mark), (f" {ELLIPSIS}", "")]
        kept.append((text, mark))
        left -= length
    return kept


@lru_cache(maxsize=4096)  # labels, classes and document IDs recur
def fitting(text: str) -> str:
    """Text that a cell can hold."""
    return shorten(clean(text))


def fitting_pieces(pieces: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Pieces that a cell can hold. Nearly all can be left as they are, and one look at the whole tells."""
    whole = "".join([text for text, _ in pieces])
    if 2 * len(whole) <= LONGEST_CELL and "_x" not in whole and "\r" not in whole and not _UNWANTED.search(whole):
        return pieces
    return shorten_pieces([(_ESCAPE.sub(f"_{JOINER}", clean(text)), mark) for text, mark in pieces])


def join_pieces(pieces: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Put neighbours of one mark together; empty pieces go."""
    joined: list[tuple[str, str]] = []
    for text, mark in pieces:
        if joined and joined[-1][1] == mark:
            joined[-1] = (joined[-1][0] + text, mark)
        elif text:
            joined.append((text, mark))
    return joined
