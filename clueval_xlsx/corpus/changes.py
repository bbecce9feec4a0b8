"""What corrections change in a source: annotations that stay, change in place, go, or are new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.spans import label_list
from clueval_xlsx.text.strings import IntArray

Handle = tuple[Any, ...]  # where an annotation stands in its source, in the format's own terms
Key = tuple[int, int, int, tuple[str | None, ...]]  # document, start, end (exclusive), a label for each layer


@dataclass(frozen=True)
class NewSpan:
    """An annotation as it should be: offsets in the source's own unit, labels by layer."""

    start: int
    end: int
    labels: Mapping[str, str | None]
    surface: str
    label_changed: bool = True

    @property
    def label(self) -> str | None:
        """The label of the first layer."""
        return next(iter(self.labels.values()))


@dataclass(eq=False)
class Changes:
    """Changes by document index; handles say where an annotation stands in the source."""

    doc_ids: Sequence[str]
    removed: dict[int, list[Handle]] = field(default_factory=dict)
    changed: dict[int, list[tuple[Handle, NewSpan]]] = field(default_factory=dict)
    added: dict[int, list[NewSpan]] = field(default_factory=dict)

    def documents(self) -> list[int]:
        """The documents in which anything changes; every dict then has an entry for each."""
        touched = sorted({*self.removed, *self.changed, *self.added})
        for document in touched:
            self.removed.setdefault(document, [])
            self.changed.setdefault(document, [])
            self.added.setdefault(document, [])
        return touched


@dataclass(frozen=True)
class Difference:
    """What became of old annotations that are gone (a new one in their place, or None), and what is new besides."""

    replaced: tuple[tuple[int, Key | None], ...]
    added: tuple[Key, ...]


def differing(before: Sequence[Key], after: Sequence[Key]) -> Difference:
    """Compare annotations: an old one that overlaps a new one is replaced by it, each new one replaces one at most.

    >>> differing([(0, 1, 3, ("A",)), (0, 5, 6, ("B",))], [(0, 2, 4, ("A",)), (0, 8, 9, ("C",))])
    Difference(replaced=((0, (0, 2, 4, ('A',))), (1, None)), added=((0, 8, 9, ('C',)),))
    """
    kept = set(before) & set(after)
    new = [key for key in after if key not in kept]
    replaced = []
    for index, key in enumerate(before):
        if key in kept:
            continue
        partner = next((other for other in new if _overlap(key, other)), None)
        if partner is not None:
            new.remove(partner)
        replaced.append((index, partner))
    return Difference(tuple(replaced), tuple(new))


def _overlap(left: Key, right: Key) -> bool:
    return left[0] == right[0] and left[1] < right[2] and right[1] < left[2]


def keys(
    document: IntArray, start: IntArray, end: IntArray, labels: Sequence[pd.Categorical | Sequence[str | None]]
) -> list[Key]:
    """Annotations as values that can be compared."""
    rows = zip(document.tolist(), start.tolist(), end.tolist(), *map(label_list, labels), strict=True)
    return [(number, begin, stop, tuple(own)) for number, begin, stop, *own in rows]
