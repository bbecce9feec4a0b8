"""What is to be expected among the cases that nobody judged, in words and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.review.case_words import sheet_name
from clueval_xlsx.views import numbers
from clueval_xlsx.views.tables import TableColumn, TableRow, TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.estimates import Remaining

_COUNTS = ("judged", "found", "unjudged")
_TEXTS = ("expected", "interval", "sample")


def remaining_sentences(run: Adjudication, words: Words) -> list[str]:
    """A sentence for each sheet, and behind them the caution that goes with an estimate."""
    found = []
    for each in run.remaining:
        if each.why_not is not None:
            text = words(f"remaining.why_{each.why_not}", unjudged=numbers.count(each.unjudged, words))
        elif not each.unjudged:
            text = words["remaining.done"]
        else:
            text = words.counted(
                "remaining.sentence",
                each.unjudged,
                unjudged=numbers.count(each.unjudged, words),
                expected=_expected(each, words),
                interval=_interval(each, words),
                sample=numbers.count(each.sample, words),
                hits=numbers.count(each.hits, words),
            )
        found.append(f"{sheet_name(each.sheet, words)}: {text}")
    estimated = any(each.expected is not None and each.unjudged for each in run.remaining)
    return [*found, words["remaining.caution"]] if estimated else found


def remaining_table(run: Adjudication, words: Words) -> TableView | None:
    """One row a sheet; nothing where cases were not ordered by suspicion."""
    if not run.remaining:
        return None
    columns = [TableColumn("sheet", words["adjudicated.sheet"])]
    columns += [TableColumn(key, words[f"remaining.{key}"], ValueKind.COUNT) for key in _COUNTS]
    columns += [TableColumn(key, words[f"remaining.{key}"]) for key in _TEXTS]
    rows = tuple(_row(each, words) for each in run.remaining)
    return TableView("remaining", words["remaining.title"], tuple(columns), rows, words["remaining.caution"])


def _row(each: Remaining, words: Words) -> TableRow:
    counts = (each.judged, each.found, each.unjudged)
    if each.why_not is not None:
        reason = words(f"remaining.why_{each.why_not}", unjudged=numbers.count(each.unjudged, words))
        none = words["undefined"]
        return (sheet_name(each.sheet, words), *counts, none, none, reason)
    return (
        sheet_name(each.sheet, words),
        *counts,
        _expected(each, words),
        _interval(each, words),
        numbers.share(each.hits, each.sample, words),
    )


def _expected(each: Remaining, words: Words) -> str:
    return numbers.decimal(each.expected, 1, words)


def _interval(each: Remaining, words: Words) -> str:
    return f"{numbers.count(each.low, words)}–{numbers.count(each.high, words)}"
