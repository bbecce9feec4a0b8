"""Scheme `clueval`: a span counts if its class is at or below the level, and, labelled, if the labels agree.

Recall classifies gold against prediction, precision prediction against gold, so the supports and the true
positives of the two sides differ. Level 1 labelled is what seqeval counts by default.
"""

from __future__ import annotations

from clueval_xlsx.scoring.counts import Side, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair, SpanSide
from clueval_xlsx.scoring.names import LEVELS
from clueval_xlsx.text.strings import BoolArray


def tallies(matched: MatchedPair) -> list[Tally]:
    """All four levels, unlabelled and labelled on each layer; in the relaxed run only what looks at labels."""
    found = []
    for level in LEVELS:
        for labelled in matched.layers if matched.relaxed else (None, *matched.layers):
            gold, pred = (
                Side.of(side.start, side.labels, right(side, level, labelled), counted(side, level))
                for side in matched.sides
            )
            found.append(
                Tally(
                    "clueval",
                    gold,
                    pred,
                    variant=matched.variant(),
                    level=level,
                    labelled=labelled,
                    by_layers=matched.layers if labelled is None else (labelled,),
                )
            )
    return found


def right(side: SpanSide, level: str, labelled: str | None) -> BoolArray:
    """The spans that count as right at a level, and with the labels of a layer if one is given."""
    reached: BoolArray = side.classes <= LEVELS[level]
    return reached if labelled is None else reached & side.agreement[labelled]


def counted(side: SpanSide, level: str) -> BoolArray:
    """The spans that are counted at all: not those with an ignored label, nor those that match such a span."""
    reached: BoolArray = side.classes <= LEVELS[level]
    return ~side.ignored & ~(reached & side.partner_ignored)
