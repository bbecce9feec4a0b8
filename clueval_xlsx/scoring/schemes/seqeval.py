"""Scheme `seqeval`: a span is right if its first token, last token and label all agree, as seqeval counts.

`default` reads an I- tag that continues nothing as the start of a span. `strict` is seqeval's strict mode with
IOB2 (IOBES and BILOU where the tags are written so): such tags are passed over, so both sides may have fewer
spans. It needs the tags of one layer; for merged spans and for formats without tags it is not available.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clueval_xlsx.scoring.counts import Side, Sides, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair, SpanSide
from clueval_xlsx.scoring.names import MatchClass
from clueval_xlsx.scoring.schemes.clueval import counted, right
from clueval_xlsx.text.strings import BoolArray

DEFAULT, STRICT = "default", "strict"


def tallies(matched: MatchedPair) -> list[Tally]:
    """The default and the strict reading of the tags."""
    layer = matched.type_layer
    gold, pred = (
        Side.of(side.start, side.labels, right(side, "exact", layer), counted(side, "exact")) for side in matched.sides
    )
    default = Tally("seqeval", gold, pred, variant=matched.variant(DEFAULT), labelled=layer, by_layers=(layer,))
    seen = _strict(matched)
    gold, pred = seen or (Side.empty(), Side.empty())
    strict = replace(default, gold=gold, pred=pred, variant=matched.variant(STRICT), available=seen is not None)
    return [default, strict]


def _strict(matched: MatchedPair) -> Sides | None:
    """Both sides without the spans that a strict reader does not see."""
    seen = [side.properly_tagged for side in matched.sides]
    if seen[0] is None or seen[1] is None:
        return None
    built = []
    for side, own, other in ((matched.gold, seen[0], seen[1]), (matched.pred, seen[1], seen[0])):
        # The partner of an exact match is the one span that touches; it must have been seen, too.
        found = _partner_seen(side, other)
        credit = right(side, "exact", matched.type_layer) & found
        built.append(Side.of(side.start, side.labels, credit, own & counted(side, "exact")))
    return built[0], built[1]


def _partner_seen(side: SpanSide, other: BoolArray) -> BoolArray:
    exact = side.classes == MatchClass.EXACT
    found = np.zeros(len(side.spans), dtype=bool)
    found[exact] = other[side.touched[0][exact]]
    return found
