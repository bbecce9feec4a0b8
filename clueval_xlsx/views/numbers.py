"""Numbers the way people of a language write them."""

from __future__ import annotations

import math

from clueval_xlsx.words import Words

_NARROW_SPACE = "\u202f"


def rate(value: float | None, words: Words) -> str:
    """A rate in per cent with one decimal.

    >>> rate(0.8712, Words("en")), rate(0.8712, Words("de")), rate(float("nan"), Words("de"))
    ('87.1\\u202f%', '87,1\\u202f%', 'k. A.')
    """
    if undefined(value):
        return words["undefined"]
    return f"{decimal(100 * float(value or 0), 1, words)}{_NARROW_SPACE}%"


def interval(low: float | None, high: float | None, words: Words) -> str:
    """An interval in per cent, or nothing.

    >>> interval(0.61, 0.8123, Words("de"))
    '61,0–81,2'
    """
    if undefined(low) or undefined(high):
        return ""
    return f"{decimal(100 * float(low or 0), 1, words)}–{decimal(100 * float(high or 0), 1, words)}"


def count(value: float | None, words: Words) -> str:
    """A count; decimals only where half credits make them.

    >>> count(5044, Words("en")), count(5044.0, Words("de")), count(2.5, Words("de"))
    ('5,044', '5.044', '2,5')
    """
    if undefined(value):
        return words["undefined"]
    number = float(value or 0)
    return decimal(number, 0 if number.is_integer() else 1, words)


def share(part: float | None, whole: float | None, words: Words) -> str:
    """A count out of a support, or nothing.

    >>> share(54, 75, Words("en"))
    '54 of 75'
    """
    if undefined(part) or undefined(whole):
        return ""
    return words("of", part=count(part, words), whole=count(whole, words))


def undefined(value: float | None) -> bool:
    """Whether there is no number."""
    return value is None or math.isnan(value)


def decimal(value: float | None, places: int, words: Words) -> str:
    """A number with so many decimals.

    >>> decimal(0.678, 2, Words("de"))
    '0,68'
    """
    if undefined(value):
        return words["undefined"]
    swap = str.maketrans({",": words["html.thousands"], ".": words["html.decimal"]})
    return f"{value:,.{places}f}".translate(swap)
