"""A token file stretch by stretch: columns, tags and structure of each, and what is wrong with its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.tags import OUTSIDE, TagColumn, parse_tag
from clueval_xlsx.formats.columns import fields
from clueval_xlsx.formats.columns.complaints import MOST_PROBLEMS, Complaint, Complaints
from clueval_xlsx.formats.columns.fields import Column, Lines
from clueval_xlsx.formats.columns.structure import Structure, find_structure
from clueval_xlsx.formats.columns.tag_cells import TagPlace, key_value, parts_of
from clueval_xlsx.formats.columns.token_format import TokenFormat
from clueval_xlsx.formats.options import ERROR
from clueval_xlsx.text.strings import Offsets, Strings
from clueval_xlsx.threads import in_order


@dataclass(frozen=True, eq=False)
class FileChunk:
    """One stretch of the file: its token columns (start, length), its tags and its structure."""

    tokens: int
    columns: list[Column]
    tags: list[TagColumn]
    structure: Structure
    short: int  # lines that lack a column
    complaints: Complaints


class ColumnBuffers:
    """Space for as many tokens as there are lines, filled chunk by chunk; what stays empty takes no memory."""

    def __init__(self, lines: int, columns: int, layers: int, size: int) -> None:
        small = size < np.iinfo(np.int32).max
        self._start: list[Offsets] = [
            np.empty(lines, np.int32) if small else np.empty(lines, np.int64) for _ in range(columns)
        ]
        self._length = [np.empty(lines, np.int32) for _ in range(columns)]
        self._codes = [np.empty(lines, np.int32) for _ in range(layers)]
        self._numbers: list[dict[str, int]] = [{} for _ in range(layers)]  # the tags of each layer
        self._filled = 0

    def add(self, chunk: FileChunk) -> None:
        """Put a stretch behind those before."""
        here = slice(self._filled, self._filled + chunk.tokens)
        for (start, length), all_starts, all_lengths in zip(chunk.columns, self._start, self._length, strict=True):
            all_starts[here] = start
            all_lengths[here] = length
        for column, codes, number in zip(chunk.tags, self._codes, self._numbers, strict=True):
            renumber = np.array([number.setdefault(tag, len(number)) for tag in column.tags], dtype=np.int32)
            codes[here] = renumber[column.codes]
        self._filled = here.stop

    def columns(self, data: bytes, *, entities: bool) -> list[Strings]:
        """The columns that were filled."""
        upto = self._filled
        return [
            Strings(data, start[:upto], length[:upto], entities=entities)
            for start, length in zip(self._start, self._length, strict=True)
        ]

    def tags(self) -> list[TagColumn]:
        """The tags of each layer that were filled."""
        pairs = zip(self._codes, self._numbers, strict=True)
        return [TagColumn(codes[: self._filled], tuple(number)) for codes, number in pairs]


def file_chunks(data: bytes, begin: int, how: TokenFormat) -> Iterator[FileChunk]:
    """Read the file in stretches, several at a time; where they are cut depends on the file alone."""
    buffer = np.frombuffer(data, dtype=np.uint8)
    split = fields.split_blanks if how.conll and not how.tabs else fields.split_tabs

    def read_chunk(bounds: tuple[int, int]) -> FileChunk:
        lines = split(buffer, *bounds)
        structure, is_token = find_structure(data, buffer, lines, how.rules)
        return _read_chunk(data, lines, how, structure=structure, is_token=is_token)

    return in_order(read_chunk, fields.chunk_bounds(data, begin))


def _read_chunk(
    data: bytes, lines: Lines, how: TokenFormat, *, structure: Structure, is_token: npt.NDArray[np.bool_]
) -> FileChunk:
    complaints = Complaints()
    wanted = {"token": how.token_column, **how.wanted()} if how.token_column > 1 else how.wanted()
    rows = np.flatnonzero(is_token)
    everything = len(rows)
    for what, number in wanted.items():
        short = rows[lines.fields[rows] < number]
        described = []
        for row in short[:MOST_PROBLEMS].tolist():
            text = data[lines.start[row] : lines.end[row]].decode("utf-8")
            count = int(lines.fields[row])
            found = f"{_shown(text)} has {count} column{'s' if count != 1 else ''}, "
            found += f"but column {number} ({what}) is asked for"
            described.append(Complaint(int(lines.start[row]), found, remedy=_missing_column_remedy(text, how)))
        complaints.add(described, total=len(short))
        rows = rows[lines.fields[rows] >= number]
    columns = lines.columns((how.token_column, *how.wanted_as_text().values()), rows)
    tag_cells = lines.columns([place.column for place in how.places.values()], rows)
    tags = [
        _tag_column(Strings(data, *cells), layer, place, how.asked.several_tags, complaints)
        for cells, (layer, place) in zip(tag_cells, how.places.items(), strict=True)
    ]
    return FileChunk(len(rows), columns, tags, structure, everything - len(rows), complaints)


def _shown(text: str) -> str:
    text = text if len(text) <= 60 else text[:57] + "..."
    return repr(text)


def _missing_column_remedy(text: str, how: TokenFormat) -> str:
    if text.startswith("<"):
        return "If the line is meant as an XML tag, it is not well formed; a tag stands alone on its line"
    separated = "blanks or tabs" if how.conll and not how.tabs else "tabs"
    return f"Give the right column (--layer NAME=COLUMN), or mend the line; columns are separated by {separated}"


def _tag_column(cells: Strings, layer: str, place: TagPlace, several: str, complaints: Complaints) -> TagColumn:
    codes, tags = cells.factorise()
    wrong = [_tag_problem(tag, layer, place, several) for tag in tags]
    is_bad = np.array([problem is not None for problem in wrong], dtype=bool)
    bad = np.flatnonzero(is_bad[codes]) if is_bad.any() else codes[:0]
    complaints.add(
        (
            Complaint(int(cells.start[index]), *problem)
            for index in bad[:MOST_PROBLEMS].tolist()
            if (problem := wrong[codes[index]]) is not None
        ),
        total=len(bad),
    )
    return TagColumn(codes, tuple(tags))


def _tag_problem(cell: str, layer: str, place: TagPlace, several: str) -> tuple[str, str, str] | None:
    """What is wrong with a cell of tags: found, allowed, remedy; None for nothing."""
    if place.key:
        value = key_value(cell, place.key)
        cell = OUTSIDE if value is None else value
    if place.plain and not (cell[1:2] == "-" and parse_tag(cell)):
        return None
    parts = parts_of(cell)
    if len(parts) > 1:
        if several != ERROR and not place.key:
            return None
        return (
            f"layer {layer}: {_shown(cell)} holds several tags",
            "one tag",
            "Take the first of each cell (--several-tags first), or make layers of them (--several-tags layers)",
        )
    if parse_tag(cell) is not None and not place.plain:
        return None
    return (
        f"layer {layer}: {_shown(cell)} is no BIO tag" + (" among labels without prefixes" if place.plain else ""),
        "O, B-LABEL, I-LABEL (or the prefixes E S, L U of BIOES and BILOU)",
        "Check that --layer names the right column",
    )
