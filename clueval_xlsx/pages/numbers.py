"""Numbers as people of a language write them: each with its value, its form, and its texts."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, isnan, nan

from clueval_xlsx.pages.page import Axis, Form, Number
from clueval_xlsx.words import Words

NARROW_SPACE = "\u202f"
_SMALLEST_CHANCE = 0.001
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_MOST_STEPS = 6  # of an axis
_SLACK = 1e-9


class Numbers:
    """Makes the numbers of a page."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def decimal(self, value: float | None, places: int) -> str:
        """The text of a number with so many decimals, or that there is none.

        >>> Numbers(Words("de")).decimal(1234.678, 2), Numbers(Words("de")).decimal(None, 2)
        ('1.234,68', 'k. A.')
        """
        if value is None or isnan(value):
            return self.words["undefined"]
        swap = str.maketrans({",": self.words["number.thousands"], ".": self.words["number.decimal"]})
        return f"{value:,.{places}f}".translate(swap)

    def count(self, value: float | None) -> Number:
        """A count; decimals only where half credits make them.

        >>> Numbers(Words("de")).count(5044).text, Numbers(Words("de")).count(2.5).text
        ('5.044', '2,5')
        """
        value = nan if value is None else float(value)
        whole = isnan(value) or value.is_integer()
        return Number(self.decimal(value, 0 if whole else 1), value, Form.COUNT)

    def rate(self, value: float) -> Number:
        """A rate in per cent with one decimal; short without the sign, where a heading says it.

        >>> Numbers(Words("de")).rate(0.8712)
        Number(text='87,1\\u202f%', value=0.8712, form=<Form.RATE: 'rate'>, short='87,1', whole=nan)
        """
        short = self.decimal(100 * value, 1)
        return Number(short if isnan(value) else f"{short}{NARROW_SPACE}%", value, Form.RATE, short)

    def share(self, part: float, whole: float) -> Number:
        """A count out of a whole; nothing where it was not counted so.

        >>> Numbers(Words("en")).share(54, 75).text, Numbers(Words("en")).share(54, 75).short
        ('54 of 75', '54/75')
        """
        if isnan(part) or isnan(whole):
            return Number("", form=Form.SHARE)
        counts = {"part": self.count(part).text, "whole": self.count(whole).text}
        return Number(self.words("of", **counts), part, Form.SHARE, self.words("of_short", **counts), whole)

    def interval(self, low: float, high: float) -> Number:
        """The interval of a rate in per cent, or nothing; short in whole per cent.

        >>> Numbers(Words("de")).interval(0.61, 0.8123).text, Numbers(Words("de")).interval(0.61, 0.8123).short
        ('61,0–81,2', '61–81')
        """
        if isnan(low) or isnan(high):
            return Number("")
        text, short = (f"{self.decimal(100 * low, n)}–{self.decimal(100 * high, n)}" for n in (1, 0))
        return Number(text, short=short)

    def points(self, value: float) -> Number:
        """A difference of two rates in percentage points, with its sign.

        >>> [Numbers(Words("de")).points(value).text for value in (0.0121, -0.0121, 0.0001)]
        ['+1,2', '−1,2', '0,0']
        """
        text = self.decimal(abs(100 * value), 1)
        visible = any(digit in text for digit in "123456789")
        sign = "" if not visible else "+" if value > 0 else "−"
        return Number(f"{sign}{text}", value, Form.POINTS)

    def points_interval(self, low: float, high: float) -> Number:
        """The interval of such a difference, or nothing.

        >>> Numbers(Words("de")).points_interval(-0.01, 0.0234).text
        '−1,0 … +2,3'
        """
        if isnan(low) or isnan(high):
            return Number("")
        return Number(f"{self.points(low).text} … {self.points(high).text}")

    def measure(self, value: float) -> Number:
        """A coefficient."""
        return Number(self.decimal(value, 2), value, Form.MEASURE)

    def chance(self, value: float) -> Number:
        """A p-value, or that it is smaller than three decimals can say; nothing where there is none.

        >>> [Numbers(Words("en")).chance(value).text for value in (0.0312, 0.0001, nan)]
        ['0.031', '< 0.001', '']
        """
        if isnan(value):
            return Number("")
        least = value < _SMALLEST_CHANCE
        text = f"< {self.decimal(_SMALLEST_CHANCE, 3)}" if least else self.decimal(value, 3)
        return Number(text, value, Form.CHANCE)

    def f_name(self, beta: float) -> str:
        """What the F-score of a beta is called.

        >>> Numbers(Words("de")).f_name(0.5)
        'F0,5'
        """
        return self.words("metrics.f_beta", beta=f"{beta:g}".replace(".", self.words["number.decimal"]))

    def axis(self, values: Iterable[float], form: Form = Form.RATE) -> Axis:
        """An axis with round ends on which all values have their place; that of differences shows zero, too.

        >>> axis = Numbers(Words("en")).axis([0.78, 0.91])
        >>> [text for _, text in axis.ticks]
        ['75\\u202f%', '80\\u202f%', '85\\u202f%', '90\\u202f%', '95\\u202f%']
        """
        known = [value for value in values if not isnan(value)] or [0.0, 1.0]
        if form is Form.POINTS:
            known.append(0.0)
        low, high = min(known), max(known)
        step = next((step for step in _STEPS if (high - low) / step < _MOST_STEPS - 1), _STEPS[-1])
        first, last = floor(low / step + _SLACK), ceil(high / step - _SLACK)
        if first == last:
            first, last = (first - 1, last) if form is Form.RATE and high >= 1 else (first, last + 1)
        ticks = [step * number for number in range(first, last + 1)]
        return Axis(ticks[0], ticks[-1], tuple((tick, self._tick(tick, step, form)) for tick in ticks), form)

    def _tick(self, value: float, step: float, form: Form) -> str:
        if form is Form.POINTS:
            return self.points(value).text
        return f"{self.decimal(100 * value, 0 if step >= 0.01 else 1)}{NARROW_SPACE}%"
