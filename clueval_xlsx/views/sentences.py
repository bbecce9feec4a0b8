"""Sentences that say how an evaluation went."""

from __future__ import annotations

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.options import DEFAULT_LAYER
from clueval_xlsx.views import numbers
from clueval_xlsx.views.scores import score_view
from clueval_xlsx.words import Words

_HUNDRED = 100


def plain_headline(evaluation: Evaluation, words: Words) -> str:
    """Recall and precision for people who know neither word: of 100 passages so many.

    Of fewer than 100 passages the counts themselves are said, and of nothing nothing.
    """
    row = score_view("", evaluation.headline)
    found = []
    for rate, part, whole in (("recall", row.tp_gold, row.gold), ("precision", row.tp_pred, row.pred)):
        if not whole:
            continue
        key = "supported" if rate == "precision" else "found"
        if whole < _HUNDRED:
            side = "pred" if rate == "precision" else "gold"
            counts = {side: numbers.count(whole, words), key: numbers.count(part, words)}
            found.append(words(f"metrics.plain_count_{rate}", **counts))
        else:
            found.append(words(f"metrics.plain_{rate}", **{key: _of_hundred(part / whole, words)}))
    return " ".join(found)


def _of_hundred(rate: float, words: Words) -> str:
    """So many of 100; with decimals where a whole number would say all or none although it is not."""
    places = 0
    while places < 3 and rate not in (0, 1) and round(_HUNDRED * rate, places) in (0, _HUNDRED):
        places += 1
    return numbers.decimal(_HUNDRED * rate, places, words)


def evaluation_sentence(evaluation: Evaluation, words: Words) -> str:
    """Recall, precision, the level, and how many cases there are to judge; with the layer where it has a name."""
    row = score_view("", evaluation.headline)
    sentence = words(
        "metrics.evaluated",
        recall=numbers.per_cent(row.recall.value, words),
        found=numbers.share(row.tp_gold, row.gold, words),
        precision=numbers.per_cent(row.precision.value, words),
        supported=numbers.share(row.tp_pred, row.pred, words),
        level=words[f"level.{evaluation.options.level}"],
        missed=numbers.count(row.fn, words),
        unsupported=numbers.count(row.fp, words),
    )
    layers = evaluation.pair.layers
    named = len(layers) == 1 and layers[0] != DEFAULT_LAYER
    return f"{layers[0]}: {sentence}" if named else sentence
