"""What a sweep over thresholds shows: a sentence about the choice, a curve, and a table of some thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.thresholds import Thresholds
from clueval_xlsx.views import numbers
from clueval_xlsx.views.scores import level_sentence
from clueval_xlsx.views.tables import TableColumn, TableRow, TableView, ValueKind
from clueval_xlsx.words import Words

SHOWN_ROWS = 20  # of the table; JSON has every threshold
_MOST_POINTS = 400  # of a curve: more are finer than any screen
Point = tuple[float, float]  # both from 0 to 1, from the left and from below


@dataclass(frozen=True)
class Curve:
    """Rates over thresholds: points of two lines, and the band between the bounds of recall."""

    recall: tuple[Point, ...]
    precision: tuple[Point, ...]
    band: tuple[Point, ...]
    chosen: float | None  # where the chosen threshold stands
    first: str
    last: str


@dataclass(frozen=True)
class SweepView:
    """Everything that is shown of a sweep."""

    reference: str
    model: str
    level: str
    sentences: tuple[str, ...]
    curve: Curve | None
    table: TableView
    signature: str
    notes: tuple[str, ...]


def sweep_view(evaluation: Evaluation, found: Thresholds, least: float, words: Words) -> SweepView:
    """What is shown of the thresholds of one evaluation."""
    chosen = found.highest_with_recall(least)
    return SweepView(
        PurePath(evaluation.pair.gold.source.name).name,
        PurePath(evaluation.pair.pred.source.name).name,
        level_sentence(evaluation.options, words),
        _sentences(found, chosen, least, words),
        None if found.constant else _curve(found, chosen, words),
        _table(found, chosen, evaluation.options.beta, words),
        evaluation.signature,
        evaluation.notes,
    )


def score_text(value: float, words: Words) -> str:
    """A score with as many decimals as it needs.

    >>> score_text(0.85, Words("de")), score_text(12.0, Words("en"))
    ('0,85', '12')
    """
    return f"{value:.4g}".replace(".", words["number.decimal"])


def _sentences(found: Thresholds, chosen: int | None, least: float, words: Words) -> tuple[str, ...]:
    sentences = []
    if found.constant:
        score, total = score_text(float(found.threshold[0]), words), numbers.count(found.scored, words)
        sentences.append(words("sweep.constant", score=score, total=total))
    wanted = numbers.rate(least, words)
    low, high = found.bounds["recall"]
    if np.isnan(low).all():
        sentences.append(words["sweep.no_interval"])
    elif chosen is None:
        best = found.surest_recall
        sentences.append(
            words(
                "sweep.none" if best == 0 else "sweep.none_at",
                wanted=wanted,
                threshold=score_text(float(found.threshold[best]), words),
                recall=numbers.rate(found.rates["recall"][best], words),
                interval=numbers.interval(low[best], high[best], words),
            )
        )
    else:
        sentences.append(
            words(
                "sweep.chosen",
                threshold=score_text(float(found.threshold[chosen]), words),
                wanted=wanted,
                recall=numbers.rate(found.rates["recall"][chosen], words),
                interval=numbers.interval(low[chosen], high[chosen], words),
                precision=numbers.rate(found.rates["precision"][chosen], words),
            )
        )
    if found.unscored:
        sentences.append(words.counted("sweep.unscored", found.unscored, count=numbers.count(found.unscored, words)))
    return tuple(sentences)


def _some(size: int, most: int) -> list[int]:
    """Numbers of so many rows at most, evenly over all of them, the first and the last among them."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int)).tolist()


def _table(found: Thresholds, chosen: int | None, beta: float, words: Words) -> TableView:
    columns = (
        TableColumn("threshold", words["sweep.threshold"]),
        TableColumn("pred", words["sweep.kept"], ValueKind.COUNT),
        TableColumn("recall", words["metrics.recall"], ValueKind.RATE),
        TableColumn("recall_interval", words["metrics.interval"], ValueKind.INTERVAL),
        TableColumn("precision", words["metrics.precision"], ValueKind.RATE),
        TableColumn("precision_interval", words["metrics.interval"], ValueKind.INTERVAL),
        TableColumn("f1", words["metrics.f1"], ValueKind.RATE),
        TableColumn("f_beta", numbers.f_name(beta, words), ValueKind.RATE),
    )
    shown = sorted({*_some(len(found.threshold), SHOWN_ROWS), *([] if chosen is None else [chosen])})
    rows: list[TableRow] = []
    for row in shown:
        name = score_text(float(found.threshold[row]), words) + (" ←" if row == chosen else "")
        values = {key: float(found.rates[key][row]) for key in ("recall", "precision", "f1", "f_beta")}
        between = {
            key: (float(found.bounds[key][0][row]), float(found.bounds[key][1][row])) for key in ("recall", "precision")
        }
        rows.append(
            (
                name,
                int(found.counts["pred"][row]),
                values["recall"],
                between["recall"],
                values["precision"],
                between["precision"],
                values["f1"],
                values["f_beta"],
            )
        )
    note = words("sweep.some", shown=len(shown), total=numbers.count(len(found.threshold), words))
    note = note if len(shown) < len(found.threshold) else ""
    return TableView("thresholds", words["sweep.table"], columns, tuple(rows), note)


def _curve(found: Thresholds, chosen: int | None, words: Words) -> Curve:
    low, high = float(found.threshold[0]), float(found.threshold[-1])

    def across(row: int) -> float:
        return (float(found.threshold[row]) - low) / (high - low)

    rows = _some(len(found.threshold), _MOST_POINTS)

    def line(values: FloatArray) -> tuple[Point, ...]:
        return tuple((across(row), float(values[row])) for row in rows if not np.isnan(values[row]))

    below, above = (line(side) for side in found.bounds["recall"])
    return Curve(
        line(found.rates["recall"]),
        line(found.rates["precision"]),
        (*below, *reversed(above)),
        None if chosen is None else across(chosen),
        score_text(low, words),
        score_text(high, words),
    )
