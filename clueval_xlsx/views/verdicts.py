"""What a comparison comes to: a verdict in words for each system, and the differences of its headline as a plot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clueval_xlsx.comparison import Comparison, System, holm
from clueval_xlsx.views import numbers
from clueval_xlsx.words import Words

_RATES = ("recall", "precision", "f_beta")
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_MOST_TICKS = 8


@dataclass(frozen=True)
class DifferenceMark:
    """A difference to the first system with its interval, as rates."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class DifferencePlot:
    """Differences on an axis on both sides of nothing."""

    title: str
    note: str
    marks: tuple[DifferenceMark, ...]
    low: float
    high: float
    step: float

    @property
    def ticks(self) -> tuple[float, ...]:
        """Where the axis has ticks."""
        return tuple(self.low + number * self.step for number in range(round((self.high - self.low) / self.step) + 1))

    def place(self, value: float) -> float:
        """Where a difference stands: 0 at the lower end, 1 at the upper."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def verdict_sentences(comparison: Comparison, words: Words) -> tuple[str, ...]:
    """For each system behind the first: what it finds more or less, how sure that is, and what it costs.

    The verdicts are tests of their own, chosen beforehand, so their p-values are corrected for their number only.
    """
    first, *others = comparison.systems
    rows = [_headline_row(comparison, other.name, "recall") for other in others]
    chances = holm([row["p"] if row else math.nan for row in rows])
    return tuple(
        _verdict(first, other, row, chance, words) for other, row, chance in zip(others, rows, chances, strict=True)
    )


def difference_plot(comparison: Comparison, words: Words) -> DifferencePlot:
    """Recall, precision and F-beta of the headline, for each system behind the first."""
    beta = comparison.systems[0].evaluation.options.beta
    marks = []
    for rate in _RATES:
        title = numbers.f_name(beta, words) if rate == "f_beta" else words[f"metrics.{rate}"]
        for other in comparison.names[1:]:
            row = _headline_row(comparison, other, rate)
            if row is not None and not math.isnan(row["difference"]):
                marks.append(DifferenceMark(f"{title}: {other}", row["difference"], row["low"], row["high"]))
    ends = [0.0, *(end for mark in marks for end in (mark.value, mark.low, mark.high) if not math.isnan(end))]
    step = next((each for each in _STEPS if (max(ends) - min(ends)) / each < _MOST_TICKS - 1), _STEPS[-1])
    low, high = math.floor(min(ends) / step) * step, math.ceil(max(ends) / step) * step
    high = high if high > low else low + step
    title = words("compare.plot", first=comparison.names[0])
    return DifferencePlot(title, words["compare.plot_note"], tuple(marks), low, high, step)


def _verdict(first: System, other: System, row: Mapping[Any, Any] | None, chance: float, words: Words) -> str:
    names = {"first": first.name, "second": other.name}
    parts = []
    if row is None or math.isnan(row["difference"]):
        parts.append(words("compare.verdict_undefined", **names))
    else:
        parts.append(_recall(row, chance, names, words))
    more = _alarms(other) - _alarms(first)
    key = "compare.alarms_same" if not more else "compare.alarms_more" if more > 0 else "compare.alarms_fewer"
    parts.append(words(key, count=numbers.count(abs(more), words)))
    return words("compare.verdict", parts=words["lead.joined"].join(parts))


def _recall(row: Mapping[Any, Any], chance: float, names: Mapping[str, str], words: Words) -> str:
    """What is found more or less, in points, with interval and p."""
    difference = row["difference"]
    shown = numbers.decimal(abs(100 * difference), 1, words)
    key = "same" if shown == numbers.decimal(0, 1, words) else "more" if difference > 0 else "less"
    text = words(f"compare.verdict_{key}", points=shown, **names)
    if math.isnan(row["low"]):
        return text
    ends = (row["low"], row["high"]) if key != "less" else (-row["high"], -row["low"])
    low, high = (numbers.decimal(100 * end, 1, words).replace("-", "−") for end in ends)
    between = words("compare.verdict_interval", low=low, high=high)
    sure = [] if row["low"] > 0 or row["high"] < 0 else [words["compare.verdict_unsure"]]
    by_chance = [chance_sentence(chance, words)] if not math.isnan(chance) else []
    return f"{text} ({', '.join([between, *by_chance, *sure])})"


def chance_sentence(value: float, words: Words) -> str:
    """A p-value with its sign.

    >>> chance_sentence(0.0001, Words("en")), chance_sentence(0.04, Words("de"))
    ('p < 0.001', 'p = 0,040')
    """
    shown = numbers.chance(value, words)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def _alarms(system: System) -> int:
    return int(system.evaluation.headline["fp"])


def _headline_row(comparison: Comparison, other: str, rate: str) -> Mapping[Any, Any] | None:
    """What distinguishes a system from the first in the rate of the headline; None where nothing was compared."""
    table, options = comparison.differences, comparison.systems[0].evaluation.options
    rows = table[(table["first"] == comparison.names[0]) & (table["second"] == other) & (table["rate"] == rate)]
    chosen = rows[
        (rows["scheme"] == "clueval")
        & (rows["level"] == options.level)
        & (rows["labelled"].isna() if not options.labelled else rows["labelled"] == options.labelled)
    ]
    found = chosen if len(chosen) else rows
    records = found.to_dict("records")
    return records[0] if records else None
