"""How the text of cells is compared: without case, invisible characters and the number of spaces."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

INVISIBLE = "\u2060\ufeff\u200b"  # that pasted text brings along
_WITHOUT = str.maketrans(dict.fromkeys(INVISIBLE))


def clean(text: str) -> str:
    """A typed text without invisible characters and with single spaces.

    >>> clean(" Dr.\u00a0Kolbe\u2060 ")
    'Dr. Kolbe'
    """
    return " ".join(unicodedata.normalize("NFC", text).translate(_WITHOUT).split())


def normalise(text: object) -> str:
    """A cell's text as it is compared.

    >>> normalise(" Model\u00a0is  WRONG\u2060 ")
    'model is wrong'
    """
    return "" if text is None else _normalised(str(text))


@lru_cache(maxsize=4096)  # words of lists and headers come again in every row
def _normalised(text: str) -> str:
    return clean(text).casefold()
