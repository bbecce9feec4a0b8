"""The documents of a report as running text, who marked which stretch, and spans and cases that point into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.cases.contexts import BOTH, GOLD, PLAIN, PRED, context_bounds
from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, positions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.case_words import case_names, match_names
from clueval_xlsx.text.rendering import render_tokens
from clueval_xlsx.text.strings import BoolArray, IntArray, Strings
from clueval_xlsx.words import Words

_WORD = "▢"  # stands for each word of an edition without text


@dataclass(frozen=True, eq=False)
class ShownText:
    """The text of every document, and each token's place in it.

    `begin` and `end` count code points within the document, for Python. `unit_begin` and `unit_end` count
    UTF-16 units over all documents with one unit between two documents, for JavaScript.
    """

    texts: list[str]
    begin: IntArray
    end: IntArray
    unit_begin: IntArray
    unit_end: IntArray


class Stretch(NamedTuple):
    """A piece of a document: its text, who marked it, and its first token."""

    text: str
    mark: str = PLAIN
    position: int = -1


def shown_text(corpus: Corpus) -> ShownText:
    """Write the documents out; sentences of tokenised sources stand on lines of their own."""
    size = len(corpus)
    begin, end, unit_begin, unit_end = (np.zeros(size, dtype=np.int64) for _ in range(4))
    tokens, running, glue = corpus.tokens, corpus.running_text, corpus.glue
    if is_text_free(corpus):
        tokens, running, glue = _signs(size), False, np.zeros(size, dtype=bool)
    line_starts = None
    if corpus.hard_breaks and not corpus.running_text:
        line_starts = np.zeros(size, dtype=bool)
        line_starts[corpus.breaks] = True
    texts = []
    base = 0
    for first, stop in zip(corpus.documents.start.tolist(), corpus.documents.stop.tolist(), strict=True):
        if first == stop:
            texts.append("")
            base += 1
            continue
        written = render_tokens(tokens, *_arrays(first, stop), running=running, glue=glue, line_starts=line_starts)
        text = written.texts()[0]
        here = slice(first, stop)
        begin[here], end[here] = written.places()
        unit_begin[here], unit_end[here] = written.places(utf16=True)
        unit_begin[here] += base
        unit_end[here] += base
        base = int(unit_end[stop - 1]) + 1
        texts.append(text)
    return ShownText(texts, begin, end, unit_begin, unit_end)


def is_text_free(corpus: Corpus) -> bool:
    """Whether the words were taken out of a corpus, so that only their number and the spans are left."""
    return bool(len(corpus)) and not corpus.tokens.length.any()


def stretches(corpus: Corpus, shown: ShownText, gold: pd.DataFrame, pred: pd.DataFrame) -> Iterator[list[Stretch]]:
    """Each document cut wherever a span of either side begins or ends."""
    sides = [positions(gold), positions(pred)]
    edges = [edge for start, end in sides for edge in (start, end + 1)]
    cuts = np.unique(np.concatenate([corpus.documents.start, corpus.documents.stop, *edges]))
    in_gold, in_pred = (_marked(cuts[:-1], start, end) for start, end in sides)
    marked = np.flatnonzero(in_gold | in_pred)
    marks = np.where(in_gold & in_pred, BOTH, np.where(in_gold, GOLD, PRED))[marked].tolist()
    begin, stop = cuts[marked], cuts[marked + 1]
    left, right, positions_of = shown.begin[begin].tolist(), shown.end[stop - 1].tolist(), begin.tolist()
    low = np.searchsorted(begin, corpus.documents.start, side="left").tolist()
    high = np.searchsorted(begin, corpus.documents.stop, side="left").tolist()
    for text, first, last in zip(shown.texts, low, high, strict=True):
        pieces = []
        done = 0
        for place in range(first, last):
            if left[place] > done:
                pieces.append(Stretch(text[done : left[place]]))
            pieces.append(Stretch(text[left[place] : right[place]], marks[place], positions_of[place]))
            done = right[place]
        if done < len(text):
            pieces.append(Stretch(text[done:]))
        yield pieces


def _marked(position: IntArray, start: IntArray, end: IntArray) -> BoolArray:
    """Whether a span holds each position; the spans are sorted and free of overlap."""
    row = np.searchsorted(start, position, side="right") - 1
    inside = row >= 0
    inside[inside] = end[row[inside]] >= position[inside]
    return inside


def _signs(count: int) -> Strings:
    """A sign for each word."""
    sign = Strings.of([_WORD])
    return Strings(sign.data, np.zeros(count, dtype=np.int64), np.full(count, sign.length[0], dtype=np.int32))


def _arrays(*values: int) -> list[IntArray]:
    return [np.array([value], dtype=np.int64) for value in values]


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
