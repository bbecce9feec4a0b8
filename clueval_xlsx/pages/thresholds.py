"""The page on thresholds: which one holds recall, and recall and precision at some of them."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.pages.page import Chapter, Heading, Look, Page, Table, TableRow, Text, TextStyle
from clueval_xlsx.pages.scores import PageMaker
from clueval_xlsx.scoring.thresholds import Thresholds
from clueval_xlsx.words import Words

_SHOWN_ROWS = 20  # of the table; JSON has every threshold


def threshold_page(evaluation: Evaluation, thresholds: Thresholds, least: float, words: Words) -> Page:
    """A sentence about the choice, and a table; `least` is what the lower bound of recall is to be."""
    make = PageMaker(words)
    chosen = thresholds.highest_with_recall(least)
    sections = (
        Text(_sentences(thresholds, chosen, least, make), TextStyle.HEADLINE),
        Text((make.level_sentence(evaluation.options),)),
        _table(thresholds, chosen, evaluation.options.beta, make),
        make.signatures([evaluation.signature]),
    )
    title = words["sweep.title"]
    gold, pred = (PurePath(side.source.name).name for side in (evaluation.pair.gold, evaluation.pair.pred))
    subtitle = words("guide.subtitle", gold=gold, pred=pred)
    return make.page(title, [subtitle], [Chapter(title, sections)])


def _score(value: float, words: Words) -> str:
    """A score with as many decimals as it needs.

    >>> _score(0.85, Words("de")), _score(12.0, Words("en"))
    ('0,85', '12')
    """
    return f"{value:.4g}".replace(".", words["number.decimal"])


def _sentences(thresholds: Thresholds, chosen: int | None, least: float, make: PageMaker) -> tuple[str, ...]:
    words, numbers = make.words, make.numbers
    sentences = []
    if thresholds.constant:
        score, total = _score(float(thresholds.threshold[0]), words), numbers.count(thresholds.scored).text
        sentences.append(words("sweep.constant", score=score, total=total))
    low, high = thresholds.bounds["recall"]
    if np.isnan(low).all():
        sentences.append(words["sweep.no_interval"])
    else:
        row = thresholds.surest_recall if chosen is None else chosen
        key = "sweep.chosen" if chosen is not None else "sweep.none" if row == 0 else "sweep.none_at"
        rates = {rate: numbers.rate(thresholds.rates[rate][row]).text for rate in ("recall", "precision")}
        at = _score(float(thresholds.threshold[row]), words)
        interval = numbers.interval(low[row], high[row]).text
        sentences.append(words(key, threshold=at, wanted=numbers.rate(least).text, interval=interval, **rates))
    if thresholds.unscored:
        count = numbers.count(thresholds.unscored).text
        sentences.append(words.counted("sweep.unscored", thresholds.unscored, count=count))
    return tuple(sentences)


def _table(thresholds: Thresholds, chosen: int | None, beta: float, make: PageMaker) -> Table:
    """Some of the thresholds, evenly over all of them, the first, the last and the chosen one among them."""
    words, numbers = make.words, make.numbers
    size = len(thresholds.threshold)
    shown = set(np.linspace(0, size - 1, min(size, _SHOWN_ROWS)).round().astype(int).tolist())
    if chosen is not None:
        shown.add(chosen)
    between, short = words["metrics.interval"], words["metrics.interval_short"]
    columns = (
        Heading(words["sweep.threshold"]),
        Heading(words["sweep.kept"], rank=2),
        Heading(words["metrics.recall"]),
        Heading(between, short, rank=1),
        Heading(words["metrics.precision"]),
        Heading(between, short, rank=4),
        Heading(words["metrics.f1"], rank=5),
        Heading(numbers.f_name(beta), rank=3),
    )
    rows = []
    for row in sorted(shown):
        cells = [numbers.count(int(thresholds.counts["pred"][row]))]
        for rate in ("recall", "precision"):
            low, high = thresholds.bounds[rate]
            cells += [numbers.rate(float(thresholds.rates[rate][row])), numbers.interval(low[row], high[row])]
        cells += [numbers.rate(float(thresholds.rates[rate][row])) for rate in ("f1", "f_beta")]
        name = _score(float(thresholds.threshold[row]), words)
        look = Look.CHOSEN if row == chosen else Look.PLAIN
        rows.append(TableRow((f"{name} ←" if row == chosen else name, *cells), look))
    total = numbers.count(size).text
    notes = (words("sweep.some", shown=len(shown), total=total),) if len(shown) < size else ()
    return Table(words["sweep.table"], columns, tuple(rows), notes)
