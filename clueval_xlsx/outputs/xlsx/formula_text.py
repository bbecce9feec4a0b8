"""Text inside formulas, and what Excel allows a formula to be: over these limits it calls the whole file damaged."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clueval_xlsx.text.cells import utf16_length

LONGEST_FORMULA = 8_192  # characters
_LONGEST_STRING = 255  # characters between two quotation marks
_STRING = re.compile(r'"((?:[^"]|"")*)"')


def quoted(text: str) -> str:
    """Text inside a formula; a long one stands in pieces.

    >>> quoted('5 "alike"'), quoted("a" * 300).count("&")
    ('"5 ""alike\"""', 1)
    """
    if len(text) * 2 <= _LONGEST_STRING:
        return _string(text)
    pieces = _pieces(text)
    return _string(pieces[0]) if len(pieces) == 1 else f"({'&'.join(map(_string, pieces))})"


def filled(pieces: Sequence[str], between: str) -> str:
    """A formula that joins texts with the value of another formula between each two of them.

    >>> filled(["", " of 9 done"], "A1")
    '""&A1&" of 9 done"'
    """
    return f"&{between}&".join(map(quoted, pieces))


def refused(formula: str) -> str:
    """Why Excel would not take a formula; nothing if it would.

    >>> refused('=IF(A1="","' + "a" * 256 + '","")')
    'a text of 256 characters in its formula, allowed are 255'
    """
    length = utf16_length(formula) - formula.startswith("=")
    if length > LONGEST_FORMULA:
        return f"a formula of {length:,} characters, allowed are {LONGEST_FORMULA:,}"
    if length <= _LONGEST_STRING:
        return ""
    if '"""' in formula:  # a text that begins or ends with a quotation mark
        strings = [found.replace('""', "'") for found in _STRING.findall(formula)]
    else:
        strings = formula.replace('""', "'").split('"')[1::2]  # two quotation marks in a text stand for one
    longest = max(map(utf16_length, strings), default=0)
    if longest > _LONGEST_STRING:
        return f"a text of {longest} characters in its formula, allowed are {_LONGEST_STRING}"
    return ""


def _string(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _pieces(text: str) -> list[str]:
    """A text cut so that no piece is too long, and no character is cut in two."""
    found, units = [""], 0
    for character in text:
        units += 2 if ord(character) > 0xFFFF else 1
        if units > _LONGEST_STRING:
            found.append("")
            units = 2 if ord(character) > 0xFFFF else 1
        found[-1] += character
    return found
