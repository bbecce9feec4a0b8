"""What corrections change in a standoff source: annotations that stay, change in place, go, or are new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import label_list
from clueval_xlsx.corpus.standoff import Mentions, TextReading, character_ranges
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.standoff_writer import same_extents
from clueval_xlsx.text.offsets import CODE_POINTS, from_code_points, splits_unit

Handle = tuple[Any, ...]
Key = tuple[int, int, int, tuple[str | None, ...]]  # document, start, end, a label for each layer


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


def find_changes(side: TextReading, layers: Mapping[str, pd.DataFrame], corpus: Corpus) -> Changes:
    """Compare the annotations of a source with corrected spans over a corpus that was cut from it.

    An annotation that overlaps a new one of its document is changed in place and keeps everything else it has;
    what is left of the old goes, what is left of the new is added. Annotations that were dropped because they
    overlap others are not touched.
    """
    before = _keys(side.mentions)
    rows = same_extents(layers)
    ranges = character_ranges(rows, corpus)
    labels = [label_list(rows[layer]) for layer in layers]
    after: list[Key] = [
        (document, start, end, tuple(own))
        for document, start, end, *own in zip(
            ranges.document.tolist(), ranges.start.tolist(), ranges.end.tolist(), *labels, strict=True
        )
    ]
    kept = set(before) & set(after)
    old = [index for index, key in enumerate(before) if key not in kept]
    new = [key for key in after if key not in kept]
    changes = Changes(side.doc_ids)
    members = _members(side)
    for index in old:
        key = before[index]
        partner = next((other for other in new if _overlap(key, other)), None)
        handles = members[index]
        if partner is None:
            changes.removed.setdefault(key[0], []).extend(handles)
            continue
        new.remove(partner)
        span = _new_span(side, partner, layers, label_changed=partner[3] != key[3])
        repeats = _equal_extents(side, index)
        for number, handle in enumerate(handles):
            if number == 0 or repeats:
                changes.changed.setdefault(key[0], []).append((handle, span))
            else:  # merged annotations become the one that was corrected
                changes.removed.setdefault(key[0], []).append(handle)
    for key in new:
        changes.added.setdefault(key[0], []).append(_new_span(side, key, layers, label_changed=True))
    return changes


def _keys(mentions: Mentions) -> list[Key]:
    ranges = mentions.ranges
    labels = [label_list(values) for values in mentions.labels.values()]
    return [
        (document, start, end, tuple(own))
        for document, start, end, *own in zip(
            ranges.document.tolist(), ranges.start.tolist(), ranges.end.tolist(), *labels, strict=True
        )
    ]


def _members(side: TextReading) -> list[list[Handle]]:
    """The annotations in the source that each mention stands for."""
    found: list[list[Handle]] = [[] for _ in range(len(side.mentions))]
    for row in np.flatnonzero(side.group >= 0).tolist():
        found[int(side.group[row])].append(side.handles[row])
    return found


def _equal_extents(side: TextReading, mention: int) -> bool:
    rows = np.flatnonzero(side.group == mention)
    ranges = side.listed.ranges
    return bool((ranges.start[rows] == ranges.start[rows[0]]).all() and (ranges.end[rows] == ranges.end[rows[0]]).all())


def _overlap(left: Key, right: Key) -> bool:
    return left[0] == right[0] and left[1] < right[2] and right[1] < left[2]


def _new_span(side: TextReading, key: Key, layers: Mapping[str, pd.DataFrame], *, label_changed: bool) -> NewSpan:
    document, start, end, labels = key
    text, unit = side.documents[document].text, side.format.offsets
    offsets = np.array([start, end], dtype=np.int64)
    if unit != CODE_POINTS:
        if splits_unit(text, unit, offsets):
            raise InputError(
                f"{side.source.name}: document {side.doc_ids[document]!r}: the corrected span {text[start:end]!r} "
                f"begins or ends inside a glyph, which --offsets {unit} cannot say. Choose another extent."
            )
        offsets = from_code_points(text, unit, offsets)
    return NewSpan(
        int(offsets[0]), int(offsets[1]), dict(zip(layers, labels, strict=True)), text[start:end], label_changed
    )
