"""The axis of a plot of rates: cut to what is shown, so that differences of a few points can be seen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from clueval_xlsx.views import numbers
from clueval_xlsx.words import Words

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)
_MOST_TICKS = 6
_SLACK = 1e-9


@dataclass(frozen=True)
class RateAxis:
    """From where to where an axis reaches, and where it has ticks."""

    low: float
    high: float
    step: float

    @property
    def cut(self) -> bool:
        """Whether it does not begin with nothing."""
        return self.low > 0

    @property
    def ticks(self) -> tuple[float, ...]:
        """Where the ticks stand."""
        return tuple(self.low + self.step * number for number in range(round((self.high - self.low) / self.step) + 1))

    def place(self, value: float) -> float:
        """Where a value stands: 0 at the lower end, 1 at the upper."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def note(self, words: Words) -> str:
        """That it is cut, or nothing."""
        if not self.cut:
            return ""
        low, high = (numbers.decimal(100 * end, 0, words) for end in (self.low, self.high))
        return words("plot.cut", low=low, high=f"{high}{numbers.NARROW_SPACE}%")


def rate_axis(values: Iterable[float]) -> RateAxis:
    """The axis on which all values have their place, with round ends.

    >>> axis = rate_axis([0.78, 0.91])
    >>> round(axis.low, 2), round(axis.high, 2), len(axis.ticks)
    (0.75, 0.95, 5)
    """
    known = [value for value in values if not math.isnan(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    for step in _STEPS:
        first = math.floor(max(low - step / 4, 0) / step + _SLACK) * step
        last = min(math.ceil((high + step / 4) / step - _SLACK) * step, 1.0)
        if round((last - first) / step) < _MOST_TICKS and last > first:
            count = math.ceil((last - first) / step - _SLACK)
            return RateAxis(max(last - count * step, 0.0) if last == 1.0 else first, last, step)
    return RateAxis(0.0, 1.0, 0.25)
