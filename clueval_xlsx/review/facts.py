"""What answers are held against: the words around a case and what is marked there, and where typed words stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.cases.contexts import Bounds, context_bounds
from clueval_xlsx.cases.kinds import FP, UM
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.answers import AnswerRule, CaseFacts, known_labels
from clueval_xlsx.review.judgements import SPAN_CHOICES, SpanChoice
from clueval_xlsx.text.cells import ELLIPSIS, QUOTE, lower, needle, searchable
from clueval_xlsx.text.strings import IntArray

Extent = tuple[int, int]  # first and last position
_LONGEST_TEXT = 30_000  # characters of a context that are searched; more would not fit into a cell
_AROUND = 20  # tokens before and behind a context that can be unfolded
_CUT = "\n"  # no typed words reach over it


def answer_rule(evaluation: Evaluation, more: Sequence[str] = ()) -> AnswerRule:
    """The rule for the rows of an evaluation; `more` are labels that are known beside those that occur."""
    pair = evaluation.pair
    known = []
    for layer in pair.layers:
        labels = label_vocabulary((evaluation.raw.gold.spans, pair.gold.spans, pair.pred.spans), layer)
        known.append(known_labels((*labels, *more), several=len(pair.layers) > 1))
    return AnswerRule(tuple(pair.layers), tuple(known))


def case_facts(evaluation: Evaluation, cases: pd.DataFrame) -> dict[str, CaseFacts]:
    """What the answers to these cases are held against; `cases` may be of several sheets."""
    layers = evaluation.pair.layers
    texts = _texts(evaluation, cases)
    single = _single_references(evaluation, cases)
    names = ("case_id", "sheet", "surface", "other_surface", "start", "end", "other_start", "other_end")
    own_labels = list(zip(*(cases[f"label_{layer}"].tolist() for layer in layers), strict=True))
    other_labels = list(zip(*(cases[f"other_label_{layer}"].tolist() for layer in layers), strict=True))
    found: dict[str, CaseFacts] = {}
    rows = zip(*(cases[name].tolist() for name in names), strict=True)
    for place, (case_id, sheet, surface, other_surface, start, end, other_start, other_end) in enumerate(rows):
        own, other = (start, end), (other_start, other_end) if other_start >= 0 else None
        if sheet in {FP, UM}:
            reference, model, words = other, own if sheet == FP else None, other_surface
            labels = other_labels[place] if single[place] else own_labels[place] if other is None else ()
        else:
            reference, model, words, labels = own, other, surface, own_labels[place]
        chosen = chosen_spans(reference, model)
        idle = [choice for choice, span in chosen.items() if single[place] and span == reference]
        found[case_id] = CaseFacts(
            texts[place],
            marked=_digits(choice for choice in chosen if choice not in idle),
            idle=_digits(idle),
            same=lower(searchable(words)) if single[place] else "",
            labels=tuple(labels) or ("",) * len(layers),
        )
    return found


def chosen_spans(reference: Extent | None, model: Extent | None) -> dict[SpanChoice, Extent]:
    """What each choice of a Correct span means where these are marked; what means nothing is not there.

    >>> [choice.value for choice in chosen_spans((3, 5), None)]
    ['as_reference']
    """
    found: dict[SpanChoice, Extent] = {}
    if model is not None:
        found[SpanChoice.AS_MODEL] = model
    if reference is not None:
        found[SpanChoice.AS_REFERENCE] = reference
    if reference is not None and model is not None:
        found[SpanChoice.BOTH] = min(reference[0], model[0]), max(reference[1], model[1])
        found[SpanChoice.COMMON] = max(reference[0], model[0]), min(reference[1], model[1])
    return found


def _digits(choices: Iterable[SpanChoice]) -> str:
    return "".join(str(SPAN_CHOICES.index(choice) + 1) for choice in choices)


def _single_references(evaluation: Evaluation, cases: pd.DataFrame) -> list[bool]:
    """Whether the reference has exactly one span at each case."""
    first, stop = evaluation.strict.pred.touched
    count = stop - first
    rows = zip(cases["sheet"].tolist(), cases["row"].tolist(), strict=True)
    return [sheet != UM and (sheet != FP or count[row] == 1) for sheet, row in rows]


def _texts(evaluation: Evaluation, cases: pd.DataFrame) -> list[str]:
    """The words of each context as they are searched, without spaces."""
    corpus, bounds = evaluation.pair.corpus, _bounds(evaluation, cases)
    stretches, place = np.unique(np.stack([bounds.left, bounds.right], axis=1), axis=0, return_inverse=True)
    texts = [searchable(text) for text in corpus.texts(stretches[:, 0], stretches[:, 1] - 1)]
    if corpus.hard_breaks:
        numbers = corpus.sentence_of(stretches[:, 0]), corpus.sentence_of(stretches[:, 1] - 1)
        for index in np.flatnonzero(numbers[0] != numbers[1]).tolist():
            texts[index] = _by_sentence(corpus, *stretches[index].tolist())
    texts = [_fitting(text) for text in texts]
    return [texts[index] for index in place.reshape(-1).tolist()]


def _bounds(evaluation: Evaluation, cases: pd.DataFrame) -> Bounds:
    """The contexts of cases: the words around their spans and those of the other side."""
    start, end, other_start, other_end = (
        cases[name].to_numpy(np.int64) for name in ("start", "end", "other_start", "other_end")
    )
    marked = other_start >= 0
    low = np.where(marked, np.minimum(start, other_start), start)
    high = np.where(marked, np.maximum(end, other_end), end)
    return context_bounds(evaluation.pair.corpus, low, high, evaluation.options.context)


def texts_around(evaluation: Evaluation, cases: pd.DataFrame) -> list[str]:
    """What stands before and behind the contexts of cases in their documents, about a sentence each."""
    corpus, bounds = evaluation.pair.corpus, _bounds(evaluation, cases)
    document = corpus.document_of(bounds.left)
    first = np.maximum(corpus.documents.start[document], bounds.left - _AROUND)
    stop = np.minimum(corpus.documents.stop[document], bounds.right + _AROUND)
    before, behind = corpus.texts(first, bounds.left - 1), corpus.texts(bounds.right, stop - 1)
    return [
        f"{left} {ELLIPSIS} {right}".strip() if left or right else ""
        for left, right in zip(before, behind, strict=True)
    ]


def _by_sentence(corpus: Corpus, left: int, right: int) -> str:
    """A stretch of several sentences: typed words stand in one of them."""
    inside = corpus.breaks[(corpus.breaks > left) & (corpus.breaks < right)]
    edges: IntArray = np.concatenate([[left], inside, [right]]).astype(np.int64)
    return _CUT.join(searchable(text) for text in corpus.texts(edges[:-1], edges[1:] - 1))


def _fitting(text: str) -> str:
    """A context that is searched; of a very long one its middle is not."""
    if len(text) <= _LONGEST_TEXT:
        return text
    half = _LONGEST_TEXT // 2
    return f"{text[:half]}{_CUT}{text[-half:]}"


class Located(NamedTuple):
    """Where typed words stand; `whole`: they are whole tokens, `alone`: they stand nowhere else in the context."""

    extent: Extent
    whole: bool
    alone: bool


def locate(typed: str, tokens: Sequence[str], first: int, own: Extent) -> Located | None:
    """Where typed words stand among tokens of which the first has the position `first`.

    The place that overlaps the case's own span comes first, then the nearest, then the first; words that begin or end
    inside a token take it in whole.

    >>> locate("anna  LEE", ["for", "Anna", "Lee", "and", "Anna"], 0, (4, 4))
    Located(extent=(1, 2), whole=True, alone=True)
    """
    wanted = needle(typed).replace(QUOTE, "")
    pieces = [lower(searchable(token)) for token in tokens]
    begins = np.cumsum([0, *map(len, pieces)])
    text = "".join(pieces)
    places: list[tuple[int, int, bool]] = []
    place = text.find(wanted) if wanted else -1
    while place >= 0:
        stop = place + len(wanted)
        low = int(np.searchsorted(begins, place, side="right")) - 1
        high = int(np.searchsorted(begins, stop, side="left")) - 1
        places.append((low + first, high + first, begins[low] == place and begins[high + 1] == stop))
        place = text.find(wanted, place + 1)
    if not places:
        return None
    low, high, whole = min(places, key=lambda each: max(each[0] - own[1], own[0] - each[1], 0))
    return Located((low, high), bool(whole), len(places) == 1)
