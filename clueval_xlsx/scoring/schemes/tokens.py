"""Scheme `tokens`: token by token, any label against none, and by label.

Every token inside a gold span should be inside a predicted span; labelled, inside one of the same label.
Neither the boundaries of spans nor their number matter. Tokens of ignored labels, on either side, are not
counted on the other side either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clueval_xlsx.scoring.counts import Side, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair, SpanSide
from clueval_xlsx.text.strings import IntArray, unfold


def tallies(matched: MatchedPair) -> list[Tally]:
    """Unlabelled, and with the label of the type layer; in the relaxed run only the latter."""
    gold, pred = (_Tokens.of(side, len(matched.corpus)) for side in matched.sides)
    layer = matched.type_layer
    found = []
    for labelled in (layer,) if matched.relaxed else (None, layer):
        found.append(
            Tally(
                "tokens",
                gold=_counted(gold, pred, by_label=labelled is not None),
                pred=_counted(pred, gold, by_label=labelled is not None),
                variant=matched.variant(),
                labelled=labelled,
                by_layers=(layer,),
            )
        )
    return found


class _Tokens(NamedTuple):
    """The tokens inside the spans of one side."""

    side: SpanSide
    row: IntArray  # of the span that each token lies in
    position: IntArray
    owner: IntArray  # for every token of the corpus the row of its span, or -1

    @classmethod
    def of(cls, side: SpanSide, size: int) -> _Tokens:
        row, position = unfold(side.start, side.end + 1)
        owner = np.full(size, -1, dtype=np.int64)
        owner[position] = row
        return cls(side, row, position, owner)


def _counted(own: _Tokens, other: _Tokens, *, by_label: bool) -> Side:
    """The tokens of one side, right where the other side has them, too."""
    partner = other.owner[own.position]
    covered = partner >= 0
    credit, dropped = covered.copy(), own.side.ignored[own.row]
    dropped[covered] |= other.side.ignored[partner[covered]]
    if by_label:
        credit[covered] = own.side.kind[own.row[covered]] == other.side.kind[partner[covered]]
    labels = {layer: codes[own.row] for layer, codes in own.side.labels.items()}
    return Side.of(own.position, labels, credit, ~dropped)
