"""Scheme `tokens`: token by token, any label against none, and by label.

Every token inside a gold span should be inside a predicted span; labelled, inside one of the same label.
Neither the boundaries of spans nor their number matter. Tokens of ignored labels, on either side, are not
counted on the other side either.
"""

from __future__ import annotations

import numpy as np

from clueval_xlsx.scoring.matched_pair import MatchedPair
from clueval_xlsx.scoring.schemes.tally import Side, Tally
from clueval_xlsx.text.ranges import unfold
from clueval_xlsx.text.strings import IntArray


def tallies(matched: MatchedPair) -> list[Tally]:
    """Unlabelled, and with the label of the type layer; in the relaxed run only the latter."""
    owners, places = [], []
    for side in matched.sides:
        row, position = unfold(side.start, side.end + 1)
        owner = np.full(len(matched.corpus), -1, dtype=np.int64)
        owner[position] = row
        owners.append(owner)
        places.append((row, position))
    layer = matched.type_layer
    found = []
    for labelled in (layer,) if matched.relaxed else (None, layer):
        gold, pred = (
            _side(matched, index, places[index], owners[1 - index][places[index][1]], labelled) for index in (0, 1)
        )
        found.append(Tally("tokens", gold, pred, variant=matched.variant(), labelled=labelled, by_layers=(layer,)))
    return found


def _side(
    matched: MatchedPair, index: int, place: tuple[IntArray, IntArray], partner: IntArray, labelled: str | None
) -> Side:
    """The tokens of one side: `partner` is the row of the other side that holds each of them, or -1."""
    row, position = place
    side, other = matched.sides[index], matched.sides[1 - index]
    covered = partner >= 0
    credit, dropped = covered.copy(), side.ignored[row]
    dropped[covered] |= other.ignored[partner[covered]]
    if labelled is not None:
        credit[covered] = side.kind[row[covered]] == other.kind[partner[covered]]
    labels = {layer: codes[row] for layer, codes in side.labels.items()}
    return Side.of(position, labels, credit, ~dropped)
