"""How recall and precision went from run to run, over runs with the same gold that were counted the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.views import numbers
from clueval_xlsx.views.rate_axis import RateAxis, rate_axis
from clueval_xlsx.views.scores import RateView, score_view
from clueval_xlsx.words import Words

MOST_RUNS = 20


@dataclass(frozen=True)
class PastRun:
    """What a history remembers of a run."""

    time: str
    model: str
    signature: str
    recall: RateView
    precision: RateView


@dataclass(frozen=True)
class TrendRow:
    """One run of a trend."""

    name: str
    recall: RateView
    precision: RateView


@dataclass(frozen=True)
class Trend:
    """The runs in the order of time, the one at hand last; `note` says what was left out."""

    title: str
    rows: tuple[TrendRow, ...]
    axis: RateAxis
    note: str


def trend(evaluation: Evaluation, past: Sequence[PastRun], words: Words) -> Trend | None:
    """The trend that a run ends; None where no earlier one can be compared with it."""
    same = evaluation.signature[: evaluation.signature.rindex("|pred:")]
    alike = [run for run in past if run.signature.rpartition("|pred:")[0] == same]
    if not alike:
        return None
    shown = alike[-MOST_RUNS:]
    here = score_view("", evaluation.headline)
    rows = [TrendRow(f"{run.time[:10]} {run.model}", run.recall, run.precision) for run in shown]
    rows.append(TrendRow(words["trend.here"], here.recall, here.precision))
    rates = [rate for row in rows for rate in (row.recall, row.precision)]
    axis = rate_axis(value for rate in rates for value in (rate.value, rate.low, rate.high))
    left = len(past) - len(shown)
    note = words("trend.left_out", count=numbers.count(left, words)) if left else ""
    return Trend(words["trend.title"], tuple(rows), axis, note)
