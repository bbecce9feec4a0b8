"""Overlapping annotations as one type a token, the way presidio-evaluator makes tags of spans without scores.

Of two that overlap the one that begins later wins, and of two that begin together the later listed. What is left of
the other before it stays; what is left behind it becomes an annotation of its own, which begins one character further
and is compared with the others last. An annotation that ends where another begins counts as overlapping it.
"""

from __future__ import annotations

import numpy as np

from clueval_xlsx.corpus.characters import CharacterOffsets
from clueval_xlsx.text.strings import IntArray


def tags_of_overlapping(
    types: IntArray, extents: tuple[IntArray, IntArray], codes: IntArray, offsets: CharacterOffsets
) -> None:
    """Write the types of the tokens in annotations that overlap into `types`; the others are left as they are."""
    first, last = extents
    if not len(first):
        return
    order = np.argsort(first, kind="stable")
    start, end = offsets.start[first[order]], offsets.end[last[order]]
    reach = np.maximum.accumulate(end)
    heads = np.flatnonzero(np.concatenate([[True], start[1:] > reach[:-1]])[: len(order)])
    for begin, stop in zip(heads.tolist(), [*heads[1:].tolist(), len(order)], strict=True):
        if stop - begin > 1:
            group = slice(begin, stop)
            inner = slice(int(first[order[begin]]), int(last[order[group]].max()) + 1)
            # What is left of nothing can still reach the tokens that are glued to it.
            tokens = slice(max(inner.start - 1, 0), min(inner.stop + 1, len(types)))
            pieces = _pieces(start[group].tolist(), end[group].tolist(), codes[order[group]].tolist())
            borders = zip(offsets.start[tokens].tolist(), offsets.end[tokens].tolist(), strict=True)
            found = [_type(left, right, pieces) for left, right in borders]
            for place in {tokens.start, tokens.stop - 1} - set(range(inner.start, inner.stop)):
                if found[place - tokens.start] < 0 or types[place] >= 0:
                    found[place - tokens.start] = int(types[place])
            types[tokens] = found


def _pieces(starts: list[int], ends: list[int], kinds: list[int]) -> list[tuple[int, int, int]]:
    """What is left of each annotation (start, end, type) when those that begin later have taken their part."""
    starts, ends, kinds = list(starts), list(ends), list(kinds)
    number = 0
    while number < len(starts) - 1:
        for other in range(number + 1, len(starts)):
            if not starts[number] <= starts[other] <= ends[number]:
                continue
            if ends[other] < ends[number]:
                starts.append(ends[other] + 1)
                ends.append(ends[number])
                kinds.append(kinds[number])
            ends[number] = starts[other] - 1
        number += 1
    return sorted(zip(starts, ends, kinds, strict=True), key=lambda piece: piece[0])


def _type(start: int, end: int, pieces: list[tuple[int, int, int]]) -> int:
    """The type of the first piece in which a token begins, or which lies within it; -1 if there is none."""
    for first, last, kind in pieces:
        if first <= start < last or (start <= first <= end and start <= last <= end):
            return kind
    return -1
