"""What the page's script gets: spans and cases as bare numbers that point into the documents' text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.cases.contexts import context_bounds
from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, positions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.html.text import ShownText
from clueval_xlsx.review.case_words import case_names, match_names
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.words import Words


def payload(evaluation: Evaluation, shown: ShownText, words: Words, meanings: Mapping[str, str]) -> dict[str, Any]:
    """Everything the script needs beside the text, which it reads from the page itself.

    Starts and row numbers are differences to the one before; labels are numbers, 0 for none.
    """
    pair = evaluation.pair
    vocabulary = {layer: label_vocabulary([pair.gold.spans, pair.pred.spans], layer) for layer in pair.layers}
    missed, unsupported = evaluation.bare_cases
    return {
        "layers": list(pair.layers),
        "labels": list(vocabulary.values()),
        "meanings": dict(meanings),  # of labels, in words
        "classes": CLASSES,  # their order gives the numbers that stand for them
        "gold": _spans(pair.gold.spans, evaluation.strict.gold.match, shown, vocabulary),
        "pred": _spans(pair.pred.spans, evaluation.strict.pred.match, shown, vocabulary),
        FN: _cases(evaluation, missed, shown),
        FP: _cases(evaluation, unsupported, shown),
        "words": {
            **words.section("html.script"),
            "class": words.section("class"),
            "cases": case_names(words),
            "match": match_names(words),
        },
    }


def _spans(
    spans: pd.DataFrame, match: pd.DataFrame, shown: ShownText, vocabulary: dict[str, list[str]]
) -> dict[str, Any]:
    start, end = positions(spans)
    begin = shown.unit_begin[start]
    return {
        "begin": _differences(begin),
        "units": (shown.unit_end[end] - begin).tolist(),
        "start": _differences(start),
        "tokens": (end - start + 1).tolist(),
        "match": "".join(map(str, match["class"].tolist())),
        "labels": [(label_codes(spans, layer, labels) + 1).tolist() for layer, labels in vocabulary.items()],
    }


def _cases(evaluation: Evaluation, cases: pd.DataFrame, shown: ShownText) -> dict[str, Any]:
    start, end = positions(cases)
    other_start, other_end = cases["other_start"].to_numpy(), cases["other_end"].to_numpy()
    low = np.where(other_start >= 0, np.minimum(start, other_start), start)
    high = np.maximum(end, other_end)
    corpus, window = evaluation.pair.corpus, evaluation.options.context
    first, left, right, stop = context_bounds(corpus, low, high, window)
    begin = shown.unit_begin[left]
    return {
        "row": _differences(cases["row"].to_numpy()),
        "class": "".join(str(CLASSES.index(name)) for name in cases["class"]),
        "before": (shown.unit_begin[start] - begin).tolist(),
        "context": (shown.unit_end[right - 1] - begin).tolist(),
        "cut": "".join(map(str, ((left > first) + 2 * (right < stop)).tolist())),
        "sentence": cases["sentence"].tolist(),
        "twins": np.where(cases["alike"] > 1, cases["twin_group"], 0).tolist() if (cases["alike"] > 1).any() else [],
        "relaxed": "".join(map(str, cases["relaxed"].astype(int))) if cases["relaxed"].any() else "",
        "id": "".join(name.partition("-")[2] for name in cases["case_id"]),
    }


def _differences(values: IntArray) -> list[int]:
    return np.diff(values, prepend=0).tolist()
