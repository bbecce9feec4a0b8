"""Cells of tags: alone, as a key among others (CoNLL-U's MISC) or several in one; written anew, and corrected."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import Reading, SourceChange
from clueval_xlsx.corpus.spans import label_list, positions
from clueval_xlsx.corpus.tags import OUTSIDE_MARKS, TagColumn, encode, parse_tag, span_tags
from clueval_xlsx.exceptions import InputError, Problem

SEPARATORS = ",|;"
_BETWEEN_TAGS = re.compile(rf"\s*[{SEPARATORS}]\s*")
_EMPTY_KEYS = "_"


@dataclass(frozen=True)
class TagPlace:
    """Where a layer's tags stand: the column (counted from 1), and a key of its cells if they hold several things."""

    column: int
    key: str = ""
    plain: bool = False  # labels without prefixes

    def __str__(self) -> str:
        return f"{self.column}:{self.key}" if self.key else str(self.column)


def key_value(cell: str, key: str) -> str | None:
    """The value of a key in `A=1|B=2`; None where it is not there.

    >>> key_value("SpaceAfter=No|NER=B-PER", "NER"), key_value("_", "NER")
    ('B-PER', None)
    """
    for part in cell.split("|"):
        name, equals, value = part.partition("=")
        if equals and name == key:
            return value
    return None


def with_key(cell: str, key: str, value: str, *, keep_outside: bool) -> str:
    """A cell with another value of a key; one that says nothing goes, unless the file writes such ones.

    >>> with_key("_", "NER", "B-PER", keep_outside=False), with_key("A=1|NER=B-X", "NER", "O", keep_outside=False)
    ('NER=B-PER', 'A=1')
    """
    parts = [part for part in cell.split("|") if part != _EMPTY_KEYS]
    places = [index for index, part in enumerate(parts) if part.partition("=")[0] == key]
    if value in OUTSIDE_MARKS and not keep_outside:
        parts = [part for index, part in enumerate(parts) if index not in places]
    elif places:
        parts[places[-1]] = f"{key}={value}"
    else:
        parts.append(f"{key}={value}")
    return "|".join(parts) or _EMPTY_KEYS


def parts_of(cell: str) -> list[str]:
    """The tags of a cell; one that is no list of tags is one by itself.

    >>> parts_of("B-person,B-group"), parts_of("B-A,B"), parts_of("B-A,and B")
    (['B-person', 'B-group'], ['B-A', 'B'], ['B-A,and B'])
    """
    for separator in SEPARATORS:
        parts = [part.strip() for part in cell.split(separator)]
        if len(parts) > 1 and all(part in OUTSIDE_MARKS or parse_tag(part) for part in parts):
            return parts
    return [cell]


def separator_of(cell: str) -> str:
    """What stands between the tags of a cell."""
    found = _BETWEEN_TAGS.search(cell)
    return found[0] if found else ","


@lru_cache(1 << 16)
def with_first(cell: str, tag: str) -> str:
    """A cell with another first tag.

    >>> with_first("B-person, B-group", "O"), with_first("B-person", "I-person")
    ('O, B-group', 'I-person')
    """
    return separator_of(cell).join([tag, *parts_of(cell)[1:]])


def first_tags(column: TagColumn) -> TagColumn:
    """The first tag of every cell."""
    return TagColumn(column.codes, tuple(parts_of(tag)[0] for tag in column.tags))


def tag_cells(corpus: Corpus, layers: Mapping[str, pd.DataFrame], what: str, separators: str) -> list[list[str]]:
    """The tags of each layer; a label with a separator of the format in it would be read as another."""
    columns = []
    for layer, spans in layers.items():
        labels = label_list(spans[layer])
        for label in labels:
            if label is not None and re.search(separators, label):
                raise InputError(
                    f"layer {layer}: label {label!r} has white space in it that {what} cannot hold. Rename it first."
                )
        columns.append(encode(*positions(spans), labels, len(corpus)))
    return columns


def document_bounds(corpus: Corpus) -> Iterator[tuple[int, int]]:
    """The first position of each document and the one behind its last."""
    return zip(corpus.documents.start.tolist(), corpus.documents.stop.tolist(), strict=True)


@dataclass(frozen=True)
class FilePart:
    """One file in a buffer of several: from which byte to which, and what was left out or added."""

    name: str
    begin: int
    stop: int
    mark: bool  # it has a byte order mark
    complete: bool  # its last line has a line end


@dataclass(frozen=True, eq=False)
class TagCells:
    """The files as they came, in the buffer of their tokens: only tag cells change, every other byte stays.

    `outside_keys` are layers whose key is written outside of spans, too.
    """

    places: Mapping[str, TagPlace]
    separators: bytes
    outside_keys: frozenset[str] = frozenset()
    data: bytes = b""
    parts: tuple[FilePart, ...] = ()
    others: Mapping[str, bytes] = field(default_factory=dict)

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The files with these changes."""
        by_layer: dict[str, list[SourceChange]] = {}
        for change in changes:
            if change.old is not None:
                layer = change.old[0]
            else:
                assert change.new is not None
                layer = next(iter(change.new.labels))
            by_layer.setdefault(layer, []).append(change)
        cells: dict[tuple[int, int], dict[str, str]] = {}  # by position and column: the tags of layers
        for layer, own in by_layer.items():
            column = self.places[layer].column
            for position, tag in changed_tags(reading, layer, own).items():
                cells.setdefault((position, column), {})[layer] = tag
        starts = reading.corpus.tokens.start
        edits = []
        for (position, number), tags in cells.items():
            begin, end = self._cell(int(starts[position]), number)
            cell = self.data[begin:end].decode("utf-8")
            edits.append((begin, end, self._new_cell(cell, tags).encode("utf-8", "replace")))
        return self._files(sorted(edits), reading.source)

    def _files(self, edits: list[tuple[int, int, bytes]], source: Source) -> dict[str, bytes]:
        found = dict(self.others)
        waiting = iter([*edits, (len(self.data), 0, b"")])
        begin, end, new = next(waiting)
        for part in self.parts:
            pieces, done = [codecs.BOM_UTF8] if part.mark else [], part.begin
            while begin < part.stop:
                pieces += [self.data[done:begin], new]
                done = end
                begin, end, new = next(waiting)
            pieces.append(self.data[done : part.stop if part.complete else part.stop - 1])
            found[part.name if source.folder else PurePath(source.name).name] = b"".join(pieces)
        return found

    def _cell(self, token: int, number: int) -> tuple[int, int]:
        """Where a column of a token's line begins and ends; a run of blanks is one separator in CoNLL."""
        begin = self.data.rfind(b"\n", 0, token) + 1
        if begin == 0 and self.data.startswith(codecs.BOM_UTF8):
            begin = len(codecs.BOM_UTF8)
        stop = self.data.index(b"\n", token)
        if self.data[stop - 1 : stop] == b"\r":
            stop -= 1
        for _ in range(number - 1):
            begin = self._next(begin, stop) + 1
            while len(self.separators) > 1 and self.data[begin] in self.separators:
                begin += 1
        return begin, self._next(begin, stop)

    def _next(self, begin: int, stop: int) -> int:
        """The first separator from a place on, or where to stop."""
        places = [self.data.find(separator, begin, stop) for separator in self.separators]
        return min([place for place in places if place >= 0], default=stop)

    def _new_cell(self, cell: str, tags: Mapping[str, str]) -> str:
        for layer, tag in tags.items():
            key, keep_outside = self.places[layer].key, layer in self.outside_keys
            cell = with_key(cell, key, tag, keep_outside=keep_outside) if key else with_first(cell, tag)
        return cell


Spans = dict[int, tuple[int, str | None]]  # by their first position: last position and label


def changed_tags(reading: Reading, layer: str, changes: Sequence[SourceChange]) -> dict[int, str]:
    """The tags that must change, by position, so that the column decodes to exactly the spans as they should be.

    A span that stays as it was keeps its tags as they are written; a new one is written in the file's own scheme.
    Where an old `I-` would now continue the span before it, it becomes `B-`.
    """
    column = reading.columns[layer]
    breaks = reading.corpus.closing_breaks
    own = reading.annotation.layers[layer]
    scheme = column.scheme(breaks) if len(own) else "BIO"
    after: Spans = dict(zip(positions(own)[0].tolist(), _ends(own, layer), strict=True))
    tags: dict[int, str] = {}
    touched = set()
    for change in changes:
        if change.old is not None:
            _, start, stop = change.old
            del after[start]
            tags.update(dict.fromkeys(range(start, stop), column.outside))
            touched.add(stop)
    added: Spans = {}
    for change in changes:
        if change.new is not None:
            start, stop, label = change.new.start, change.new.end, change.new.label
            added[start] = after[start] = (stop - 1, label)
    for start, (last, label) in added.items():
        tags.update(zip(range(start, last + 1), span_tags(last - start + 1, label, scheme), strict=True))
        touched |= {start, last + 1}
    _check_writable(reading, layer, column, added, after)
    ends = dict(after.values())
    cut = set(breaks.tolist())
    for start in touched & set(after):
        last, label = after[start]
        if scheme == "IOB1":
            touches = start not in cut and start - 1 in ends and ends[start - 1] == label
            prefix = "B" if touches else "I"
            tags[start] = prefix if label is None else f"{prefix}-{label}"
        elif scheme != "IO" and start - 1 in ends and start not in added and column.tag(start)[:1] in "IEL":
            # The span behind a new one may begin with a tag that would now continue it.
            tags[start] = span_tags(last - start + 1, label, scheme)[0]
    return {position: tag for position, tag in tags.items() if column.tag(position) != tag}


def _ends(spans: pd.DataFrame, layer: str) -> Iterator[tuple[int, str | None]]:
    return zip(positions(spans)[1].tolist(), label_list(spans[layer]), strict=True)


def _check_writable(reading: Reading, layer: str, column: TagColumn, added: Spans, after: Spans) -> None:
    """Refuse new spans that go over a sentence end, and what a column of tags cannot say."""
    corpus = reading.corpus
    breaks = corpus.closing_breaks

    def refuse(start: int, found: str, allowed: str, remedy: str) -> None:
        raise InputError(problems=[Problem(corpus.place(start), f"layer {layer}: {found}", allowed, remedy)])

    ends = {last: start for start, (last, _) in after.items()}
    cut = set(breaks.tolist()) if column.plain else set()
    forbidden = set("\t\r\n \0") if reading.source.format == "conll" else set("\t\r\n\0")
    for start, (last, label) in sorted(added.items()):
        if np.searchsorted(breaks, start, side="right") != np.searchsorted(breaks, last, side="right"):
            found = (
                f"the span {corpus.text(start, last)!r} goes over a sentence or document end, which closes every span"
            )
            refuse(start, found, "spans within one sentence", "Cut the span there")
        if column.plain and label is None:
            refuse(start, "a span without a label", "a label", "Give it one")
        for left, right in ((ends.get(start - 1), start), (start, last + 1)):
            if (
                column.plain
                and left is not None
                and right in after
                and right not in cut
                and after[left][1] == after[right][1]
            ):
                found = (
                    f"two neighbouring spans of the label {label!r}, which labels without prefixes cannot tell apart"
                )
                refuse(right, found, "other labels, or a token between them", "Join them, or give the file B- and I-")
        if label is not None and (parse_tag(f"B-{label}") is None or forbidden & set(label)):
            found = f"the label {label!r} cannot be written into a column of tags"
            allowed = "a label that is not empty and holds no tab or line break (CoNLL: no space)"
            refuse(start, found, allowed, "Rename it")
