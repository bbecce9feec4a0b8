"""The page on thresholds: which one holds recall, and recall and precision at some of them."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.pages.page import Chapter, Look, Page, Table, Text, TextStyle
from clueval_xlsx.pages.scores import PageMaker, Scored
from clueval_xlsx.scoring.thresholds import Thresholds
from clueval_xlsx.words import Words

_SHOWN_ROWS = 20  # of the table; JSON has all


def threshold_page(evaluation: Evaluation, thresholds: Thresholds, least: float | None, words: Words) -> Page:
    """A sentence about the choice, and a table; `least` is what the lower bound of recall is to be."""
    make = PageMaker(words)
    chosen = None if least is None else thresholds.highest_with_recall(least)
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


def _sentences(thresholds: Thresholds, chosen: int | None, least: float | None, make: PageMaker) -> tuple[str, ...]:
    words, numbers, table = make.words, make.numbers, thresholds.table
    sentences = []
    if thresholds.constant:
        score, total = _score(float(table["threshold"][0]), words), numbers.count(thresholds.scored).text
        sentences.append(words("sweep.constant", score=score, total=total))
    if np.isnan(thresholds.recall_low).all():
        sentences.append(words["sweep.no_interval"])
    elif least is not None:
        place = thresholds.surest_recall if chosen is None else chosen
        key = "sweep.chosen" if chosen is not None else "sweep.none" if place == 0 else "sweep.none_at"
        row = table.iloc[place]
        rates = {rate: numbers.rate(row[rate]).text for rate in ("recall", "precision")}
        at = _score(float(row["threshold"]), words)
        interval = numbers.interval(row["recall_low"], row["recall_high"]).text
        sentences.append(words(key, threshold=at, wanted=numbers.rate(least).text, interval=interval, **rates))
    if thresholds.unscored:
        count = numbers.count(thresholds.unscored).text
        sentences.append(words.counted("sweep.unscored", thresholds.unscored, count=count))
    return tuple(sentences)


def _table(thresholds: Thresholds, chosen: int | None, beta: float, make: PageMaker) -> Table:
    """Some of the thresholds, evenly over all of them, the first, the last and the chosen one among them."""
    words, numbers, size = make.words, make.numbers, len(thresholds.table)
    shown = set(np.linspace(0, size - 1, min(size, _SHOWN_ROWS)).round().astype(int).tolist())
    if chosen is not None:
        shown.add(chosen)
    rows = []
    for place in sorted(shown):
        row = thresholds.table.iloc[place].to_dict()
        name = _score(float(row["threshold"]), words)
        rows.append(Scored(f"{name} ←", row, Look.CHOSEN) if place == chosen else Scored(name, row))
    notes = []
    if len(rows) < size:
        notes.append(words("sweep.some", shown=len(rows), total=numbers.count(size).text))
    return make.score_table(words["sweep.table"], words["sweep.threshold"], rows, beta, notes)
