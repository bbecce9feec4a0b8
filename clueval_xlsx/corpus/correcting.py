"""What corrections change in a source: the one difference of old and new annotations, as a list of changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Frames
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import NewSpan, Place, Reading, SourceChange, on_same
from clueval_xlsx.corpus.running_text import RunningText
from clueval_xlsx.corpus.spans import check_disjoint, label_list, positions, same_extents
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.text.characters import CODE_POINTS, from_code_points, splits_unit
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

Key = tuple[int, int, int, tuple[str | None, ...]]  # document, start, end (exclusive), a label for each layer


def correct(reading: Reading, layers: Frames, corpus: Corpus | None = None) -> dict[str, bytes]:
    """The files of a source, by name, with these spans in place of its own.

    `layers` are spans over `corpus`, the corpus of the pair that was judged; without it, over the source's own. A
    layer that is not given stays as it is, and so does every file in which nothing was corrected.
    """
    unknown = [layer for layer in layers if layer not in reading.layer_names]
    if unknown:
        raise OptionError(
            f"{reading.source.name}: there is no layer {unknown[0]} to correct. "
            f"Layers: {', '.join(reading.layer_names)}."
        )
    corpus = corpus or reading.corpus
    if reading.tokens is None:
        reading = reading.documents_called(corpus.doc_ids)  # what the corpus has not cannot have been corrected
    if reading.carrier is None:
        raise OptionError(f"{reading.source.name}: is no file that could be corrected.")
    return reading.carrier.splice(reading, changes_of(reading, layers, corpus))


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Annotations that may not overlap: what they are, where each stands, and what they should be.

    A span may stand in several places, as where several annotations were one: so many of them (`changed`) change
    with it, the others go.
    """

    layers: tuple[str, ...]
    before: list[Key]
    places: list[list[Place]]
    changed: list[int]
    after: list[Key]


def changes_of(reading: Reading, layers: Frames, corpus: Corpus) -> list[SourceChange]:
    """Compare the annotations with corrected spans: an old one that overlaps a new one becomes it.

    What is left of the old goes, what is left of the new is added. Annotations that were dropped because they overlap
    others are not touched.
    """
    sequences = _of_columns(reading, layers) if reading.mentions is None else _of_listed(reading, layers, corpus)
    changes: list[SourceChange] = []
    for sequence in sequences:
        replaced, added = differing(sequence.before, sequence.after)
        for index, partner in replaced:
            old, places = sequence.before[index], sequence.places[index]
            changed = 0
            if partner is not None:
                changed = sequence.changed[index]
                span = _new_span(reading, partner, sequence.layers, label_changed=partner[3] != old[3])
                changes += [SourceChange(old[0], place, span) for place in places[:changed]]
            changes += [SourceChange(old[0], place, None) for place in places[changed:]]
        changes += [
            SourceChange(key[0], None, _new_span(reading, key, sequence.layers, label_changed=True)) for key in added
        ]
    return changes


def by_document(changes: Sequence[SourceChange]) -> dict[int, list[SourceChange]]:
    """The changes of each document that has any, in the order of the documents."""
    found: dict[int, list[SourceChange]] = {}
    for change in sorted(changes, key=lambda change: change.document):
        found.setdefault(change.document, []).append(change)
    return found


def _of_columns(reading: Reading, layers: Frames) -> Iterator[_Sequence]:
    """Each layer by itself; the place of a span is its layer and its extent."""
    own = reading.annotation.layers
    for layer, spans in layers.items():
        check_disjoint(spans, f"{reading.source.name}, layer {layer}")
        before, after = (_token_keys(reading.corpus, frame, (layer,)) for frame in (own[layer], spans))
        places: list[list[Place]] = [[(layer, key[1], key[2])] for key in before]
        yield _Sequence((layer,), before, places, [1] * len(before), after)


def _token_keys(corpus: Corpus, frame: pd.DataFrame, names: Sequence[str]) -> list[Key]:
    start, end = positions(frame)
    return keys(corpus.document_of(start), start, end + 1, [frame[name] for name in names])


def _of_listed(reading: Reading, layers: Frames, corpus: Corpus) -> Iterator[_Sequence]:
    """Layers that are annotated together, side by side."""
    assert reading.mentions is not None
    assert reading.group is not None
    assert reading.listed is not None
    text = RunningText.of(corpus) if reading.tokens is None else None
    own = reading.on(corpus, on_same if text is None else text.positions).layers
    order = np.argsort(reading.group, kind="stable")
    grouped, numbers = reading.group[order], np.arange(len(reading.mentions))
    low, high = (np.searchsorted(grouped, numbers, side="left"), np.searchsorted(grouped, numbers, side="right"))
    extents = reading.listed.ranges
    for rows, names in reading.mentions.apart():
        mentions = reading.mentions.take(rows)
        ranges = mentions.ranges
        before = keys(ranges.document, ranges.start, ranges.end, [mentions.labels[layer] for layer in names])
        wanted = same_extents({layer: layers.get(layer, own[layer]) for layer in names})
        ranges = _on_tokens(wanted) if text is None else text.ranges(wanted)
        after = keys(ranges.document, ranges.start, ranges.end, [wanted[layer] for layer in names])
        places, changed = [], []
        for row in rows.tolist():
            members = order[low[row] : high[row]]
            places.append([reading.places[member] for member in members.tolist()])
            # Repeated annotations all change; merged ones become the one that was corrected.
            repeated = len(np.unique(extents.start[members])) == len(np.unique(extents.end[members])) == 1
            changed.append(len(members) if repeated else 1)
        yield _Sequence(names, before, places, changed, after)


def _on_tokens(spans: pd.DataFrame) -> Ranges:
    start, end = positions(spans)
    return Ranges(np.zeros(len(start), np.int64), start, end + 1)


def keys(
    document: IntArray, start: IntArray, end: IntArray, labels: Sequence[pd.Categorical | Sequence[str | None]]
) -> list[Key]:
    """Annotations as values that can be compared."""
    rows = zip(document.tolist(), start.tolist(), end.tolist(), *map(label_list, labels), strict=True)
    return [(number, begin, stop, tuple(own)) for number, begin, stop, *own in rows]


def differing(before: Sequence[Key], after: Sequence[Key]) -> tuple[list[tuple[int, Key | None]], list[Key]]:
    """What became of old annotations that are gone (a new one in their place, or None), and what is new besides.

    >>> differing([(0, 1, 3, ("A",)), (0, 5, 6, ("B",))], [(0, 2, 4, ("A",)), (0, 8, 9, ("C",))])
    ([(0, (0, 2, 4, ('A',))), (1, None)], [(0, 8, 9, ('C',))])
    """
    kept = set(before) & set(after)
    new: dict[int, list[Key]] = {}  # by document
    for key in after:
        if key not in kept:
            new.setdefault(key[0], []).append(key)
    replaced: list[tuple[int, Key | None]] = []
    for index, key in enumerate(before):
        if key in kept:
            continue
        free = new.get(key[0], [])
        partner = next((other for other in free if key[1] < other[2] and other[1] < key[2]), None)
        if partner is not None:
            free.remove(partner)
        replaced.append((index, partner))
    return replaced, [key for rest in new.values() for key in rest]


def _new_span(reading: Reading, key: Key, layers: Sequence[str], *, label_changed: bool) -> NewSpan:
    document, start, end, labels = key
    named = dict(zip(layers, labels, strict=True))
    if reading.tokens is not None:
        return NewSpan(start, end, named, "", label_changed)
    text = reading.texts[document].text
    offsets = np.array([start, end], dtype=np.int64)
    if reading.unit != CODE_POINTS:
        if splits_unit(text, reading.unit, offsets):
            raise InputError(
                f"{reading.source.name}: document {reading.doc_ids[document]!r}: the corrected span "
                f"{text[start:end]!r} begins or ends inside a glyph, which read.offsets={reading.unit} cannot say. "
                "Choose another extent."
            )
        offsets = from_code_points(text, reading.unit, offsets)
    return NewSpan(int(offsets[0]), int(offsets[1]), named, text[start:end], label_changed)
