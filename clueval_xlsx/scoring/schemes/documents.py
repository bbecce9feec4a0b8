"""Scheme `documents`: the share of documents with no leak.

A document leaks if a gold span in it is missed at the chosen level, labels aside; one without gold spans cannot
leak. A label's row looks at the documents that have the label, and only at its spans; so does a group's. The
unit is the document, so `gold` is the number of documents, `tp_gold` those without a leak, and recall the
share; there is no precision. The interval is the exact binomial one: with no leak in n documents, one minus its
lower end is the largest share of leaking documents that the data still allow.
"""

from __future__ import annotations

import numpy as np

from clueval_xlsx.scoring.counts import Grouping, Side, Sides, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair
from clueval_xlsx.scoring.schemes.clueval import counted, right
from clueval_xlsx.text.strings import BoolArray, IntArray

OUTCOMES = ("leak_free", "leaking")
_LEAK_FREE, _LEAKING = range(2)


def tallies(matched: MatchedPair) -> list[Tally]:
    """One tally; equivalent labels change nothing here."""
    if matched.relaxed:
        return []
    corpus, gold = matched.corpus, matched.gold
    is_counted = counted(gold, matched.level)
    missed = is_counted & ~right(gold, matched.level, None)
    span_document = corpus.document_of(gold.start)

    kept = corpus.documents.stop > corpus.documents.start
    kept[list(matched.discarded)] = False
    documents = np.flatnonzero(kept)
    leaking = np.zeros(len(corpus.documents), dtype=bool)
    leaking[span_document[missed]] = True
    overall = _sides(corpus.documents.start[documents], {}, leaking[documents])

    label_sides = _by_label(matched, span_document, is_counted, missed)
    group_sides = {
        grouping.key: _by_group(matched, grouping, kept, missed)
        for grouping in matched.groupings
        if not grouping.per_document
    }
    return [
        Tally(
            "documents",
            *overall,
            level=matched.level,
            by_layers=matched.layers,
            outcomes=OUTCOMES,
            label_sides=label_sides,
            group_sides=group_sides,
            one_sided=True,
        )
    ]


def _by_label(matched: MatchedPair, document: IntArray, is_counted: BoolArray, missed: BoolArray) -> Sides:
    """One unit for each document and label that occurs in it, the layers one after the other."""
    starts, leaks = [], []
    labels: dict[str, list[IntArray]] = {layer: [] for layer in matched.layers}
    for layer in matched.layers:
        size = len(matched.vocabulary[layer])
        code = matched.gold.labels[layer]
        known = is_counted & (code >= 0)
        units, unit = np.unique(document[known] * size + code[known], return_inverse=True)
        leaking = np.zeros(len(units), dtype=bool)
        leaking[unit.reshape(-1)[missed[known]]] = True
        starts.append(matched.corpus.documents.start[units // size] if size else units)
        leaks.append(leaking)
        for other in matched.layers:
            labels[other].append(units % size if other == layer and size else np.full(len(units), -1))
    joined = {layer: np.concatenate(codes) for layer, codes in labels.items()}
    return _sides(np.concatenate(starts), joined, np.concatenate(leaks))


def _by_group(matched: MatchedPair, grouping: Grouping, kept: BoolArray, missed: BoolArray) -> Sides:
    """One unit for each document and group value that occurs in it, placed on a token that has the value."""
    corpus = matched.corpus
    if not len(corpus):
        return _sides(np.empty(0, dtype=np.int64), {}, np.empty(0, dtype=bool))
    changes = np.flatnonzero(np.diff(grouping.codes) != 0) + 1
    places = np.unique(np.concatenate([changes, corpus.documents.start[kept]]))
    document, size = corpus.document_of(places), len(grouping.values) + 1
    units, first = np.unique(document * size + grouping.codes[places] + 1, return_index=True)
    inside = kept[units // size]
    units, first = units[inside], first[inside]
    start = matched.gold.start[missed]
    leaking = np.isin(units, corpus.document_of(start) * size + grouping.codes[start] + 1)
    return _sides(places[first], {}, leaking)


def _sides(position: IntArray, labels: dict[str, IntArray], leaking: BoolArray) -> Sides:
    outcome = np.where(leaking, _LEAKING, _LEAK_FREE)
    return Side.of(position, labels, ~leaking, outcome=outcome), Side.empty()
