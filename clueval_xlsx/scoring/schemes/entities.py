"""Scheme `entities`: an entity is protected only if every one of its mentions is found.

Computed wherever the gold source says which mentions belong together (`entity_id`). The unit is an entity of a
document, so `gold` is the number of entities, `tp_gold` those protected, and recall the share; there is no
precision. An entity needs masking as its most sensitive mention does: rows `direct` and `quasi` where the source
knows (`identifier_type`), and one for both; what needs no masking is not counted, nor are mentions with an ignored
label.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.label_rules import has_label
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.corpus.spans import label_list
from clueval_xlsx.scoring.counts import Side, Tally
from clueval_xlsx.scoring.matching import match_spans
from clueval_xlsx.scoring.names import LEVELS
from clueval_xlsx.text.strings import BoolArray, IntArray

NAME = "entities"
ENTITY, NEED = "entity_id", "identifier_type"
DIRECT, QUASI, NO_MASK = "DIRECT", "QUASI", "NO_MASK"
OUTCOMES = ("protected", "exposed")
_SENSITIVITY = {NO_MASK: 0, QUASI: 2, DIRECT: 3}
_UNKNOWN_NEED = 1


def tallies(pair: Pair, level: str, discarded: tuple[int, ...] = (), ignore: Sequence[str] = ()) -> list[Tally]:
    """One tally for all entities, and one for each masking need; none where gold does not know entities."""
    mentions = pair.gold.attributes
    if mentions is None or ENTITY not in mentions.columns:
        return []
    known = np.array([entity is not None for entity in label_list(mentions[ENTITY])], dtype=bool)
    mentions = mentions[known & ~_ignored(pair, mentions, ignore)].reset_index(drop=True)
    if not len(mentions):
        return []
    start = mentions["start"].to_numpy(np.int64)
    document = pair.corpus.document_of(start)
    match = match_spans(mentions[["start", "end"]], pair.pred.spans[["start", "end"]], layers=[])
    found: BoolArray = match["class"].to_numpy() <= LEVELS[level]

    names = pd.factorize(np.array(label_list(mentions[ENTITY]), dtype=object))[0].astype(np.int64)
    _, first, entity = np.unique(document * (int(names.max()) + 1) + names, return_index=True, return_inverse=True)
    entity = entity.reshape(-1)
    protected = np.ones(len(first), dtype=bool)
    protected[entity[~found]] = False
    need = np.zeros(len(first), dtype=np.int64)
    np.maximum.at(need, entity, _needs(mentions))
    counted = (need > 0) & ~np.isin(document[first], np.array(discarded, dtype=np.int64))

    variants: list[tuple[str | None, BoolArray]] = [(None, counted)]
    variants += [(name.lower(), counted & (need == _SENSITIVITY[name])) for name in (DIRECT, QUASI)]
    position = start[first]
    return [_tally(position[rows], protected[rows], variant, level) for variant, rows in variants]


def _ignored(pair: Pair, mentions: pd.DataFrame, labels: Sequence[str]) -> BoolArray:
    """The mentions that have an ignored label on a layer."""
    places: set[tuple[int, int]] = set()
    for layer, spans in pair.gold.layers.items():
        rows = spans[has_label(spans, [layer], labels)]
        places.update(zip(rows["start"], rows["end"], strict=True))
    return np.array([place in places for place in zip(mentions["start"], mentions["end"], strict=True)], dtype=bool)


def _needs(mentions: pd.DataFrame) -> IntArray:
    if NEED not in mentions.columns:
        return np.full(len(mentions), _UNKNOWN_NEED, dtype=np.int64)
    return np.array([_SENSITIVITY.get(need or "", _UNKNOWN_NEED) for need in label_list(mentions[NEED])], np.int64)


def _tally(position: IntArray, protected: BoolArray, variant: str | None, level: str) -> Tally:
    gold = Side.of(position, {}, protected, outcome=np.where(protected, 0, 1))
    pred = Side.empty()
    return Tally(NAME, gold, pred, variant=variant, level=level, outcomes=OUTCOMES, one_sided=True, optional=True)
