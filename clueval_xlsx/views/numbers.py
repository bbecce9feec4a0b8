"""Numbers the way people of a language write them, the same in every medium."""

from __future__ import annotations

import math

from clueval_xlsx.words import Words

NARROW_SPACE = "\u202f"
SMALLEST_CHANCE = 0.001


def rate(value: float | None, words: Words) -> str:
    """A rate in per cent with one decimal.

    >>> rate(0.8712, Words("en")), rate(0.8712, Words("de")), rate(float("nan"), Words("de"))
    ('87.1\\u202f%', '87,1\\u202f%', 'k. A.')
    """
    return words["undefined"] if undefined(value) else f"{per_cent(value, words)}{NARROW_SPACE}%"


def per_cent(value: float | None, words: Words) -> str:
    """A rate in per cent where a heading says so.

    >>> per_cent(0.8712, Words("de"))
    '87,1'
    """
    return words["undefined"] if undefined(value) else decimal(100 * float(value or 0), 1, words)


def interval(low: float | None, high: float | None, words: Words, places: int = 1) -> str:
    """An interval in per cent, or nothing.

    >>> interval(0.61, 0.8123, Words("de")), interval(0.61, 0.8123, Words("de"), 0)
    ('61,0–81,2', '61–81')
    """
    if undefined(low) or undefined(high):
        return ""
    return f"{decimal(100 * float(low or 0), places, words)}–{decimal(100 * float(high or 0), places, words)}"


def points(value: float | None, words: Words) -> str:
    """A difference of two rates in percentage points, with its sign.

    >>> points(0.0121, Words("en")), points(-0.0121, Words("de")), points(0, Words("en"))
    ('+1.2', '−1,2', '0.0')
    """
    if undefined(value):
        return words["undefined"]
    shown = decimal(abs(100 * float(value or 0)), 1, words)
    sign = "" if not any(digit in shown for digit in "123456789") else "+" if float(value or 0) > 0 else "−"
    return f"{sign}{shown}"


def points_interval(low: float | None, high: float | None, words: Words) -> str:
    """An interval of a difference, in percentage points, or nothing.

    >>> points_interval(-0.01, 0.0234, Words("de"))
    '−1,0 … +2,3'
    """
    return "" if undefined(low) or undefined(high) else f"{points(low, words)} … {points(high, words)}"


def chance(value: float | None, words: Words) -> str:
    """A p-value with three decimals, or that it is smaller than they can say; nothing where there is none.

    >>> chance(0.0312, Words("de")), chance(0.0001, Words("en")), chance(None, Words("en"))
    ('0,031', '< 0.001', '')
    """
    if undefined(value):
        return ""
    least = float(value or 0) < SMALLEST_CHANCE
    return f"< {decimal(SMALLEST_CHANCE, 3, words)}" if least else decimal(value, 3, words)


def count(value: float | None, words: Words) -> str:
    """A count; decimals only where half credits make them.

    >>> count(5044, Words("en")), count(5044.0, Words("de")), count(2.5, Words("de"))
    ('5,044', '5.044', '2,5')
    """
    if undefined(value):
        return words["undefined"]
    number = float(value or 0)
    return decimal(number, 0 if number.is_integer() else 1, words)


def share(part: float | None, whole: float | None, words: Words, key: str = "of") -> str:
    """A count out of a support, or nothing.

    >>> share(54, 75, Words("en")), share(54, 75, Words("en"), "of_short")
    ('54 of 75', '54/75')
    """
    if undefined(part) or undefined(whole):
        return ""
    return words(key, part=count(part, words), whole=count(whole, words))


def f_name(beta: float, words: Words) -> str:
    """What the F-score of a beta is called.

    >>> f_name(2.0, Words("en")), f_name(0.5, Words("de"))
    ('F2', 'F0,5')
    """
    return words("metrics.f_beta", beta=f"{beta:g}".replace(".", words["number.decimal"]))


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
    swap = str.maketrans({",": words["number.thousands"], ".": words["number.decimal"]})
    return f"{value:,.{places}f}".translate(swap)
