"""Words that somebody typed, found again among the tokens around a case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import Enum

from clueval_xlsx.cases.contexts import EMOJI
from clueval_xlsx.text.cells import ELLIPSIS, JOINER

_IGNORED = re.compile("[\\s" + "".join(EMOJI.values()) + JOINER + "\ufeff\u200b\ufe0f]+")
# Spreadsheets turn quotation marks and dashes into typographic ones while people type.
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("„“”‟«»", '"'),
        **dict.fromkeys("‘’‚‛`´", "'"),
        **dict.fromkeys("‐‑‒–—", "-"),
        "…": "...",
    }
)


class Missing(Enum):
    """Why typed words have no place."""

    EMPTY = "empty"
    NOT_FOUND = "not found"
    AMBIGUOUS = "ambiguous"


def find_words(typed: str, tokens: Sequence[str], first: int, last: int) -> tuple[int, int] | Missing:
    """The token sequence that reads like the typed words and is nearest to the span `first`..`last`.

    Spaces do not matter, nor do the coloured squares of the workbook. Words that differ only in case or in the
    shape of quotation marks count if nothing reads exactly the same. Two at the same distance are ambiguous.

    >>> find_words("Anna  Lee", ["for", "Anna", "Lee", "and", "Anna"], 4, 4)
    (1, 2)
    >>> find_words("Anna", ["Anna", "met", "Anna"], 1, 1)
    <Missing.AMBIGUOUS: 'ambiguous'>
    """
    typed = typed.replace(ELLIPSIS, "")
    for clean in (_exact, _similar):
        needle = clean(typed)
        if not needle:
            return Missing.EMPTY
        found = _occurrences(needle, [clean(token) for token in tokens])
        if found:
            return _nearest(found, first, last)
    return Missing.NOT_FOUND


def _exact(text: str) -> str:
    return _IGNORED.sub("", unicodedata.normalize("NFC", text))


def _similar(text: str) -> str:
    return _IGNORED.sub("", unicodedata.normalize("NFKC", text).translate(_ALIKE)).casefold()


def _occurrences(needle: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Token sequences whose joined characters are the needle."""
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    offset = 0
    for index, token in enumerate(tokens):
        if token:
            begins[offset] = index
            offset += len(token)
            ends[offset] = index
    text = "".join(tokens)
    found = []
    place = text.find(needle)
    while place >= 0:
        if place in begins and place + len(needle) in ends:
            found.append((begins[place], ends[place + len(needle)]))
        place = text.find(needle, place + 1)
    return found


def _nearest(found: Sequence[tuple[int, int]], first: int, last: int) -> tuple[int, int] | Missing:
    def distance(place: tuple[int, int]) -> int:
        return max(place[0] - last, first - place[1], 0)

    nearest = min(map(distance, found))
    chosen = [place for place in found if distance(place) == nearest]
    return chosen[0] if len(chosen) == 1 else Missing.AMBIGUOUS
