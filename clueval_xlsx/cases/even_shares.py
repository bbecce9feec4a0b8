"""Shares that are even in two ways at once: by label and by document, to within one unit each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

_NONE = -1


def even_shares(rows: Sequence[Hashable], columns: Sequence[Hashable], people: int) -> list[int]:
    """Who gets each unit, so that the shares of every row, of every column and of all units differ by one at most.

    Units are the edges between their row (a label) and their column (a document). Each row and column is cut into
    pieces of as many units as there are people; in a piece no two units may go to the same person. Such edges can
    always be coloured (König 1916): where a unit finds no person who is free on both sides, two people swap
    their units along the alternating path that begins there.

    >>> even_shares(["PER", "PER", "LOC", "LOC"], ["d1", "d2", "d1", "d2"], 2)
    [0, 1, 1, 0]
    """
    colouring = _Colouring(_pieces(rows, people, "row"), _pieces(columns, people, "column"), people)
    for edge in range(len(rows)):
        colouring.add(edge)
    colouring.level()
    return colouring.colour


def _pieces(names: Sequence[Hashable], size: int, side: str) -> list[Hashable]:
    """Each name with the number of its piece: the first `size` units that have it, the next, …"""
    seen: dict[Hashable, int] = defaultdict(int)
    found: list[Hashable] = []
    for name in names:
        found.append((side, name, seen[name] // size))
        seen[name] += 1
    return found


class _Colouring:
    """Edges of a bipartite graph under as many colours as a vertex has edges at most."""

    def __init__(self, left: Sequence[Hashable], right: Sequence[Hashable], colours: int) -> None:
        self._ends = list(zip(left, right, strict=True))
        self._at: dict[Hashable, list[int]] = defaultdict(lambda: [_NONE] * colours)
        self._sizes = [0] * colours
        self.colour = [_NONE] * len(self._ends)

    def add(self, edge: int) -> None:
        """Colour one more edge."""
        left, right = self._ends[edge]
        free_left, free_right = (
            [colour for colour, other in enumerate(self._at[end]) if other == _NONE] for end in (left, right)
        )
        both = [colour for colour in free_left if self._at[right][colour] == _NONE]
        if both:
            self._set(edge, min(both, key=self._sizes.__getitem__))
            return
        wanted, other = free_left[0], free_right[0]
        self._swap(list(self._path(right, wanted, other)), wanted, other)
        self._set(edge, wanted)

    def level(self) -> None:
        """Swap along paths until no colour has two edges more than another."""
        while (most := max(self._sizes, default=0)) > (least := min(self._sizes, default=0)) + 1:
            much, little = self._sizes.index(most), self._sizes.index(least)
            ends = [end for end, edges in self._at.items() if edges[much] != _NONE and edges[little] == _NONE]
            paths = (list(self._path(end, much, little)) for end in ends)
            # a path that both begins and ends with `much` makes it one less
            self._swap(next(path for path in paths if len(path) % 2), much, little)

    def _path(self, end: Hashable, first: int, second: int) -> Iterator[int]:
        """The edges of two colours in turn, from a vertex that has none of the second."""
        edge = self._at[end][first]
        while edge != _NONE:
            yield edge
            left, right = self._ends[edge]
            end = right if end == left else left
            first, second = second, first
            edge = self._at[end][first]

    def _swap(self, path: Sequence[int], one: int, other: int) -> None:
        """Give each edge of a path the other of two colours."""
        given = [self.colour[edge] for edge in path]
        for edge in path:
            self._clear(edge)
        for edge, colour in zip(path, given, strict=True):
            self._set(edge, other if colour == one else one)

    def _set(self, edge: int, colour: int) -> None:
        for end in self._ends[edge]:
            self._at[end][colour] = edge
        self.colour[edge] = colour
        self._sizes[colour] += 1

    def _clear(self, edge: int) -> None:
        colour = self.colour[edge]
        for end in self._ends[edge]:
            self._at[end][colour] = _NONE
        self._sizes[colour] -= 1
