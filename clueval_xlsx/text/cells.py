"""Text of cells: cleaned, escaped, shortened visibly where it is too long; and how what was typed is compared."""

from __future__ import annotations

import re
import unicodedata
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
    if utf16_length(text) <= limit:
        return text
    return "".join(piece for piece, _ in shorten_pieces([(text, "")], limit))


def shorten_pieces(pieces: Sequence[tuple[str, str]], limit: int = LONGEST_CELL) -> list[tuple[str, str]]:
    """The first of (text, mark) pieces, as many as fit before a mark that says that something is missing."""
    if sum(utf16_length(text) for text, _ in pieces) <= limit:
        return list(pieces)
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
    if 2 * len(whole) <= LONGEST_CELL and "_x" not in whole and not _UNWANTED.search(whole):
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


# ---- the one folding of what was typed or stands in a context: what a formula can do with SUBSTITUTE, LOWER and TRIM

SPACES = "\u00a0\u2009\u202f\t\n"
INVISIBLE = f"{JOINER}\ufeff\u200b\u00ad"
SQUARES = "🟩🟥🟧⬜"  # beside marked words
PLAIN_SIGN = "■"  # in place of emoji where cells are printed: every font has it
SIGNS = SQUARES[:3] + PLAIN_SIGN  # a passage that neither side marks takes no words
QUOTES, DASHES = '"„“”»«‘’‚', "–—‑"  # they become ' and -
QUOTE = "'"  # a word of one letter stands between quotes
_UNSEEN = str.maketrans(dict.fromkeys(INVISIBLE))
_KEY = str.maketrans({**dict.fromkeys(SPACES, " "), **dict.fromkeys(INVISIBLE)})
_NEEDLE = str.maketrans(
    {
        **dict.fromkeys(" " + SPACES + INVISIBLE + SIGNS),
        **dict.fromkeys(QUOTES, QUOTE),
        **dict.fromkeys(DASHES, "-"),
        "…": "...",
    }
)


def lower(text: str) -> str:
    """A text in small letters, one by one, as LOWER makes them: no final sigma, and ß stays."""
    if text.isascii():
        return text.lower()
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


@lru_cache(maxsize=4096)  # entries of lists come again in every row
def key(text: str) -> str:
    """An entry of a list as it is compared.

    >>> key(" Model\u00a0is  WRONG\u2060 ")
    'model is wrong'
    """
    return lower(" ".join(part for part in text.translate(_KEY).split(" ") if part))


@lru_cache(maxsize=4096, typed=True)  # words of lists and headers come again in every row
def normalise(text: object) -> str:
    """A name or header as it is compared: composed letters, without case and invisible signs, with single spaces.

    >>> normalise(" Model\u00a0is  WRONG\u2060 ")
    'model is wrong'
    """
    plain = "" if text is None else unicodedata.normalize("NFC", str(text))
    return " ".join(plain.translate(_UNSEEN).split()).casefold()


def needle(text: str) -> str:
    """Typed words as they are looked for: no spaces, small letters, quotation marks and dashes alike.

    >>> needle("„Dr. Kolbe“ – 🟥X🟥")
    "'dr.kolbe'-x"
    """
    return lower(text.translate(_NEEDLE))


def searchable(token: str) -> str:
    """A token of the context as typed words are looked for in it; it keeps its case, which formulas fold by LOWER."""
    return token.translate(_NEEDLE).replace(QUOTE, "")
