"""The overview of an evaluation: what was chosen, its headline in large figures, and its bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clueval_xlsx.cases.contexts import BOTH, GOLD, PRED
from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.case_words import case_name
from clueval_xlsx.views import numbers
from clueval_xlsx.views.documents import leaks_by_document
from clueval_xlsx.views.scores import RateView, score_view
from clueval_xlsx.views.tables import ValueKind
from clueval_xlsx.words import Words

# How documents are put together by the number of spans missed in them: (first, last).
_LEAK_STEPS = ((0, 0), (1, 1), (2, 2), (3, 5), (6, 10), (11, None))
_NONE = float("nan")


@dataclass(frozen=True)
class Tile:
    """A large figure: its name, its value with an interval if it is a rate, and a note below it."""

    name: str
    value: RateView
    kind: ValueKind
    note: str


@dataclass(frozen=True)
class Bar:
    """One bar of a plot: a name, a count, and a mark that gives its colour and pattern."""

    name: str
    count: int
    mark: str


@dataclass(frozen=True)
class BarPlot:
    """Bars with their heading; `empty` is said where there is none."""

    title: str
    bars: tuple[Bar, ...]
    note: str = ""
    empty: str = ""


def tiles(evaluation: Evaluation, words: Words) -> tuple[Tile, ...]:
    """The headline: recall, precision, F; what is missed and unsupported; documents without a leak."""
    row = score_view("", evaluation.headline)
    found = words("metrics.tile_found", share=numbers.share(row.tp_gold, row.gold, words))
    supported = words("metrics.tile_supported", share=numbers.share(row.tp_pred, row.pred, words))
    f1 = words("metrics.tile_f1", f1=numbers.rate(row.f1.value, words))
    leaks = leaks_by_document(evaluation)
    free = sum(not missed for missed in leaks)
    return (
        Tile(words["metrics.recall"], row.recall, ValueKind.RATE, found),
        Tile(words["metrics.precision"], row.precision, ValueKind.RATE, supported),
        Tile(numbers.f_name(evaluation.options.beta, words), row.f_beta, ValueKind.RATE, f1),
        _count_tile(words["metrics.tile_fn"], row.fn, row.gold, words),
        _count_tile(words["metrics.tile_fp"], row.fp, row.pred, words),
        Tile(
            words["metrics.tile_leak_free"],
            _leak_free_rate(evaluation, free, len(leaks)),
            ValueKind.RATE,
            words("metrics.tile_documents", share=numbers.share(free, len(leaks), words)),
        ),
    )


def _count_tile(name: str, part: float, whole: float, words: Words) -> Tile:
    return Tile(name, RateView(part, _NONE, _NONE), ValueKind.COUNT, words("of_all", total=numbers.count(whole, words)))


def _leak_free_rate(evaluation: Evaluation, free: int, documents: int) -> RateView:
    """The share of documents without a leak; with its interval if scheme `documents` was asked for."""
    rows = evaluation.select(scheme="documents", layer=None, group_key=None)
    if len(rows):
        return score_view("", rows.iloc[0]).recall
    return RateView(free / documents if documents else _NONE, _NONE, _NONE)


def error_bars(evaluation: Evaluation, words: Words) -> BarPlot:
    """How many cases each class has, missed ones first."""
    bars = []
    for cases, sheet, mark in zip(evaluation.bare_cases, (FN, FP), (GOLD, PRED), strict=True):
        counts = cases["class"].value_counts()
        bars += [
            Bar(case_name(sheet, kind, words), int(counts[kind]), mark) for kind in reversed(CLASSES) if kind in counts
        ]
    return BarPlot(words["metrics.chart_classes"], tuple(bars), empty=words["html.no_cases"])


def leak_bars(evaluation: Evaluation, words: Words) -> BarPlot:
    """Documents by the number of reference spans missed in them at the chosen level, labels left aside."""
    missed = leaks_by_document(evaluation)
    bars = [
        Bar(_step_name(first, last, words), _between(missed, first, last), BOTH if first == 0 else GOLD)
        for first, last in _LEAK_STEPS
    ]
    while len(bars) > 1 and not bars[-1].count:
        bars.pop()
    return BarPlot(words["html.leaks.title"], tuple(bars), words["documents.explanation"])


def _between(missed: Sequence[int], first: int, last: int | None) -> int:
    return sum(first <= number and (last is None or number <= last) for number in missed)


def _step_name(first: int, last: int | None, words: Words) -> str:
    if last is None:
        return words("html.leaks.more", count=first)
    if first == last:
        return words["html.leaks.none"] if first == 0 else str(first)
    return f"{first}–{last}"
