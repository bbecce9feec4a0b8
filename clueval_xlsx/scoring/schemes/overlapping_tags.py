"""Annotations that overlap as one type a token, the way presidio-evaluator makes tags of spans.

Of two that overlap the surer one wins; of two that are as sure the one that begins later, and of two that begin
together the later listed. Of what gives way to an annotation that begins later, the part before that stays, and the
part behind it becomes an annotation of its own, which begins one character further and is compared with the others
last. What gives way to one that begins earlier begins one character behind its end; if it has nothing there, it stays
as the least sure of all. An annotation that ends where another begins counts as overlapping it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.running_text import CharacterOffsets
from clueval_xlsx.text.strings import IntArray

_UNKNOWN = 0.5  # how sure an annotation is of which nobody says it


class TypedAnnotations(NamedTuple):
    """Annotations as they are listed: first and last token, type, and how sure each one is (NaN: nobody said)."""

    first: IntArray
    last: IntArray
    kind: IntArray
    score: npt.NDArray[np.float64] | None = None

    @property
    def surety(self) -> npt.NDArray[np.float64]:
        """The scores, one that stands in for those that are not known."""
        return np.full(len(self.first), _UNKNOWN) if self.score is None else np.nan_to_num(self.score, nan=_UNKNOWN)


def tags_of_overlapping(types: IntArray, annotations: TypedAnnotations, offsets: CharacterOffsets) -> None:
    """Write the types of the tokens in annotations that overlap into `types`; the others are left as they are."""
    first, last = annotations.first, annotations.last
    if not len(first):
        return
    order = np.argsort(first, kind="stable")
    start, end = offsets.start[first[order]], offsets.end[last[order]]
    kind, surety = annotations.kind[order], annotations.surety[order]
    reach = np.maximum.accumulate(end)
    heads = np.flatnonzero(np.concatenate([[True], start[1:] > reach[:-1]]))
    stops = np.append(heads[1:], len(order))
    several = stops - heads > 1
    for begin, stop in zip(heads[several].tolist(), stops[several].tolist(), strict=True):
        group = slice(begin, stop)
        inner = slice(int(first[order[begin]]), int(last[order[group]].max()) + 1)
        # What is left of nothing can still reach the tokens that are glued to it.
        tokens = slice(max(inner.start - 1, 0), min(inner.stop + 1, len(types)))
        pieces = _pieces(*(column[group].tolist() for column in (start, end, kind, surety)))
        borders = zip(offsets.start[tokens].tolist(), offsets.end[tokens].tolist(), strict=True)
        found = [_type(left, right, pieces) for left, right in borders]
        for place in {tokens.start, tokens.stop - 1} - set(range(inner.start, inner.stop)):
            if found[place - tokens.start] < 0 or types[place] >= 0:
                found[place - tokens.start] = int(types[place])
        types[tokens] = found


def _pieces(starts: list[int], ends: list[int], kinds: list[int], scores: list[float]) -> list[tuple[int, int, int]]:
    """What is left of each annotation (start, end, type) when the others have taken their part."""
    number = 0
    while number < len(starts) - 1:
        for other in range(number + 1, len(starts)):
            if not starts[number] <= starts[other] <= ends[number]:
                continue
            if scores[number] > scores[other]:
                if starts[number] <= ends[other] <= ends[number]:
                    scores[other] = 0.0
                else:
                    starts[other] = ends[number] + 1
                continue
            if ends[other] < ends[number]:
                starts.append(ends[other] + 1)
                ends.append(ends[number])
                kinds.append(kinds[number])
                scores.append(scores[number])
            ends[number] = starts[other] - 1
        number += 1
    return sorted(zip(starts, ends, kinds, strict=True), key=lambda piece: piece[0])


def _type(start: int, end: int, pieces: list[tuple[int, int, int]]) -> int:
    """The type of the first piece in which a token begins, or which lies within it; -1 if there is none."""
    for first, last, kind in pieces:
        if first <= start < last or (start <= first <= end and start <= last <= end):
            return kind
    return -1
