"""One sentence that says how an evaluation went."""

from __future__ import annotations

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.views import numbers
from clueval_xlsx.views.scores import score_view
from clueval_xlsx.words import Words


def evaluation_sentence(evaluation: Evaluation, words: Words) -> str:
    """Recall, precision, the level, and how many cases there are to judge; with the layer where there is one."""
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
    return f"{layers[0]}: {sentence}" if len(layers) == 1 else sentence
