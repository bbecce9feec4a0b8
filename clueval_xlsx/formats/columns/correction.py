"""Token files with other tags: only tag cells change, every other byte stays."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.spans import check_disjoint, from_decoded, label_list, label_vocabulary, positions
from clueval_xlsx.corpus.tags import OUTSIDE_MARKS, TagColumn, decode, parse_tag, span_tags
from clueval_xlsx.corpus.token_reading import TokenReading
from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.formats.columns.tag_cells import TagPlace, separator_of, with_first, with_key
from clueval_xlsx.text.strings import PADDING, IntArray

CellEdit = Callable[[str], str]  # an old cell -> the new one


@dataclass(frozen=True, eq=False)
class TagCells:
    """The tag cells of a file, which still lies in memory as the buffer of its tokens.

    `shared` are the layers that stand in one cell together; `outside_keys` are layers whose key is written outside
    of spans, too.
    """

    places: Mapping[str, TagPlace]
    separators: bytes
    token: int = 1
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outside_keys: frozenset[str] = frozenset()

    def correct(self, reading: TokenReading, layers: Mapping[str, pd.DataFrame]) -> bytes:
        """The file with these spans in place of its own, tag cells alone changed.

        A span that stays as it was keeps its tags as they are written; a new one is written in the file's own
        scheme. Where an old `I-` would now continue the span before it, it becomes `B-`. Spans and labels that tags
        cannot express are refused.
        """
        return self.apply(reading, self.edits(reading, layers))

    def edits(self, reading: TokenReading, layers: Mapping[str, pd.DataFrame]) -> dict[tuple[int, int], CellEdit]:
        """What becomes of cells, by position and column."""
        breaks = reading.corpus.closing_breaks
        changed: dict[str, dict[int, str]] = {}
        for layer, spans in layers.items():
            column = reading.layers[layer]
            if not isinstance(column, TagColumn):
                raise OptionError(f"{reading.source.name}: layer {layer} is not a column of tags.")
            check_writable(reading, layer, spans, breaks)
            changed[layer] = changed_tags(column, spans, layer, breaks)
        edits: dict[tuple[int, int], CellEdit] = {}
        for layer, tags in changed.items():
            for position, tag in tags.items():
                place = position, self.places[layer].column
                before = edits.get(place, _unchanged)
                edits[place] = self._edit(reading, layer, tag, position, changed, before)
        return edits

    def _edit(
        self,
        reading: TokenReading,
        layer: str,
        tag: str,
        position: int,
        changed: Mapping[str, Mapping[int, str]],
        before: CellEdit,
    ) -> CellEdit:
        """How a cell changes for one layer, on top of what changes for others."""
        place = self.places[layer]
        if place.key:
            keep = layer in self.outside_keys
            return lambda cell: with_key(before(cell), place.key, tag, keep_outside=keep)
        if layer in self.shared:
            tags = []
            for other in self.shared[layer]:
                column = reading.layers[other]
                assert isinstance(column, TagColumn)
                tags.append(changed.get(other, {}).get(position, column.tags[column.codes[position]]))
            marked = [one for one in tags if one not in OUTSIDE_MARKS]
            return lambda cell: separator_of(cell).join(marked) or tag
        return lambda cell: with_first(cell, tag)

    def apply(self, reading: TokenReading, edits: Mapping[tuple[int, int], CellEdit]) -> bytes:
        """The file's bytes with other cells, given by position and column."""
        tokens = reading.corpus.tokens
        data = tokens.data[:-PADDING]
        pieces: list[bytes] = []
        done = 0
        for (position, number), edit in sorted(edits.items(), key=lambda item: item[0]):
            line = data.rfind(b"\n", 0, int(tokens.start[position])) + 1
            if line == 0 and data.startswith(codecs.BOM_UTF8):
                line = len(codecs.BOM_UTF8)
            begin, end = _cell(data, line, number, self.separators)
            new = edit(data[begin:end].decode("utf-8"))
            pieces += [data[done:begin], new.encode("utf-8", "replace")]
            done = end
        pieces.append(data[done:])
        whole = b"".join(pieces)
        return whole if reading.source.ends_with_newline else whole.removesuffix(b"\n")


def _unchanged(cell: str) -> str:
    return cell


def changed_tags(column: TagColumn, spans: pd.DataFrame, layer: str, breaks: IntArray) -> dict[int, str]:
    """The tags that must change, by position, so that the column decodes to exactly these spans."""
    old = from_decoded(decode(column, breaks), layer)
    scheme = column.scheme(breaks) if len(old) else "BIO"
    gone, added = _differing(old, spans, layer), _differing(spans, old, layer)
    changes: dict[int, str] = {}
    for start, end, _ in gone:
        changes.update(dict.fromkeys(range(start, end + 1), column.outside))
    for start, end, label in added:
        changes.update(zip(range(start, end + 1), span_tags(end - start + 1, label, scheme), strict=True))

    after = zip(spans["start"].tolist(), spans["end"].tolist(), label_list(spans[layer]), strict=True)
    starts = {start: (end, label) for start, end, label in after} if added or scheme == "IOB1" else {}
    if scheme == "IOB1":
        ends = dict(starts.values())
        cut = set(breaks.tolist())
        beginnings = {start for start, _, _ in added} | {end + 1 for _, end, _ in [*added, *gone]}
        for start in beginnings & set(starts):
            _, label = starts[start]
            touches = start - 1 in ends and ends[start - 1] == label and start not in cut
            prefix = "B" if touches else "I"
            changes[start] = prefix if label is None else f"{prefix}-{label}"
    for _, end, _ in added if scheme not in {"IOB1", "IO"} else ():
        follower = starts.get(end + 1)
        # The span behind a new one may begin with a tag that would now continue it.
        if follower is not None and end + 1 not in changes and _continues(column, end + 1):
            last, label = follower
            changes[end + 1] = span_tags(last - end, label, scheme)[0]
    return {position: tag for position, tag in changes.items() if column.tags[column.codes[position]] != tag}


def check_writable(reading: TokenReading, layer: str, spans: pd.DataFrame, breaks: IntArray) -> None:
    """Refuse spans that overlap or go over a sentence end, and labels that would break the columns."""
    check_disjoint(spans, f"{reading.source.name}, layer {layer}")
    corpus = reading.corpus
    start, end = positions(spans)

    def refuse(row: int, found: str, allowed: str, remedy: str) -> None:
        where = corpus.place(int(start[row]))
        raise InputError(problems=[Problem(where, f"layer {layer}: {found}", allowed, remedy)])

    crossing = np.flatnonzero(
        np.searchsorted(breaks, start, side="right") != np.searchsorted(breaks, end, side="right")
    )
    if crossing.size:
        words = corpus.text(int(start[crossing[0]]), int(end[crossing[0]]))
        found = f"the span {words!r} goes over a sentence or document end, which closes every span"
        refuse(int(crossing[0]), found, "spans within one sentence", "Cut the span there")
    forbidden = set("\t\r\n \0") if reading.source.format == "conll" else set("\t\r\n\0")
    column = reading.layers[layer]
    if isinstance(column, TagColumn) and column.plain:
        _check_plain(spans, layer, breaks, refuse)
    for label in label_vocabulary([spans], layer):
        if parse_tag(f"B-{label}") is None or forbidden & set(label):
            row = label_list(spans[layer]).index(label)
            found = f"the label {label!r} cannot be written into a column of tags"
            refuse(
                row, found, "a label that is not empty and holds no tab or line break (CoNLL: no space)", "Rename it"
            )


def _check_plain(
    spans: pd.DataFrame, layer: str, breaks: IntArray, refuse: Callable[[int, str, str, str], None]
) -> None:
    """Refuse what labels without prefixes cannot say: no label, and neighbours of one label."""
    ordered = spans.sort_values("start", kind="stable")
    labels, starts, ends = label_list(ordered[layer]), ordered["start"].tolist(), ordered["end"].tolist()
    rows = ordered.index.tolist()
    cut = set(breaks.tolist())
    for place, label in enumerate(labels):
        if label is None:
            refuse(rows[place], "a span without a label", "a label", "Give it one")
        if place and starts[place] == ends[place - 1] + 1 and label == labels[place - 1] and starts[place] not in cut:
            found = f"two neighbouring spans of the label {label!r}, which labels without prefixes cannot tell apart"
            refuse(rows[place], found, "other labels, or a token between them", "Join them, or give the file B- and I-")


def _continues(column: TagColumn, position: int) -> bool:
    return column.tags[column.codes[position]][:1] in "IEL"


def _differing(spans: pd.DataFrame, others: pd.DataFrame, layer: str) -> list[tuple[int, int, str | None]]:
    """The spans that are not among others just so; both are in order, and none overlaps another."""
    (start, end), (other_start, other_end) = positions(spans), positions(others)
    labels, other_labels = (np.array([*label_list(each[layer]), None], dtype=object) for each in (spans, others))
    nearest = np.searchsorted(other_start, start)
    same = nearest < len(others)
    at = np.where(same, nearest, 0)
    if len(others):
        same &= (other_start[at] == start) & (other_end[at] == end) & (other_labels[at] == labels[:-1])
    rows = np.flatnonzero(~same)
    return list(zip(start[rows].tolist(), end[rows].tolist(), labels[rows].tolist(), strict=True))


def _cell(data: bytes, line: int, number: int, separators: bytes) -> tuple[int, int]:
    """Where a column of the line begins and ends; a run of blanks is one separator in CoNLL."""
    stop = data.index(b"\n", line)
    if data[stop - 1 : stop] == b"\r":
        stop -= 1
    begin = line
    for _ in range(number - 1):
        begin = _next(data, begin, stop, separators) + 1
        while separators == b" \t" and data[begin] in separators:
            begin += 1
    return begin, _next(data, begin, stop, separators)


def _next(data: bytes, begin: int, stop: int, separators: bytes) -> int:
    """The first separator from a place on, or where to stop."""
    found = [place for each in separators if (place := data.find(each, begin, stop)) >= 0]
    return min(found, default=stop)
