"""How recall and precision went from run to run, over runs with the same gold that were counted the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.figures import signature_differences
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
    compared: bool = False  # one of several systems that were compared


@dataclass(frozen=True)
class TrendRow:
    """One run of a trend."""

    name: str
    recall: RateView
    precision: RateView


@dataclass(frozen=True)
class Trend:
    """The runs in the order of time, the one at hand last, if there are others; `note` says what was left out, and why.

    `difference` is what was computed differently in the latest of the runs that cannot be compared with this one.
    """

    title: str
    rows: tuple[TrendRow, ...]
    axis: RateAxis
    note: str
    difference: str = ""


def trend(evaluation: Evaluation, past: Sequence[PastRun], words: Words) -> Trend | None:
    """The trend that a run ends; None where there is no earlier one."""
    if not past:
        return None
    single = [run for run in past if not run.compared]
    found = [(run, signature_differences(run.signature, evaluation.signature)) for run in single]
    alike = [run for run, differences in found if not differences]
    different = [differences for _, differences in found if differences]
    shown = alike[-MOST_RUNS:]
    here = score_view("", evaluation.headline)
    rows = [TrendRow(f"{run.time[:10]} {run.model}", run.recall, run.precision) for run in shown]
    if rows:
        rows.append(TrendRow(words["trend.here"], here.recall, here.precision))
    rates = [rate for row in rows for rate in (row.recall, row.precision)]
    axis = rate_axis(value for rate in rates for value in (rate.value, rate.low, rate.high))
    left_out = {
        "trend.no_room": len(alike) - len(shown),
        "trend.compared": len(past) - len(single),
        "trend.different": len(different),
    }
    note = " ".join(words(why, count=numbers.count(count, words)) for why, count in left_out.items() if count)
    return Trend(words["trend.title"], tuple(rows), axis, note, "; ".join(different[-1]) if different else "")
