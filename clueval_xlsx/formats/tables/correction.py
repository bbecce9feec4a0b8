"""Span tables with corrected rows: every other row stays byte for byte (in a workbook: cell for cell)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from clueval_xlsx.corpus.reading import NewSpan, Reading, SourceChange
from clueval_xlsx.formats.tables.cells import (
    CHARACTERS,
    DOCUMENT_COLUMNS,
    IDS,
    POSITIONS,
    TEXT_COLUMNS,
    XLSX,
    Row,
    RowChanges,
    SpanTable,
)
from clueval_xlsx.formats.tables.workbook import edited_workbook


@dataclass(frozen=True)
class TableOnText:
    """A table of character offsets."""

    table: SpanTable

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The table with these changes."""
        layers = self.table.layers()
        rows = RowChanges()
        for change in changes:
            if change.new is not None:
                row = _character_row(change.new, layers, reading.doc_ids[change.document])
                if change.old is None:
                    rows.added.append(row)
                else:
                    rows.changed[change.old[0]] = row
            elif change.old is not None:
                rows.removed.add(change.old[0])
        return {PurePath(reading.source.name).name: _edited(self.table, rows)}


def _character_row(span: NewSpan, layers: Mapping[str, str], doc_id: str) -> Row:
    return {
        CHARACTERS[0]: str(span.start),
        CHARACTERS[1]: str(span.end),
        **{layers[layer]: label or "" for layer, label in span.labels.items()},
        **dict.fromkeys(DOCUMENT_COLUMNS, doc_id),
        **dict.fromkeys(TEXT_COLUMNS, span.surface),
        **dict.fromkeys((*POSITIONS, *IDS), ""),  # positions of tokens say nothing about the corrected text
    }


@dataclass(frozen=True)
class TableOnTokens:
    """A table of positions or token IDs."""

    table: SpanTable

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The table with these changes."""
        table, columns = self.table, self.table.layers()
        start, end = _row_positions(table, reading)
        held = [row for row in range(len(start)) if table.holds(row)]
        edits = RowChanges()
        for change in changes:
            new = None if change.new is None else _token_row(change.new, reading, columns)
            if change.old is None:
                assert new is not None
                edits.added.append(new)
                continue
            first, stop = change.old
            # A span that several rows were merged into stands in none of them: then all of its rows are meant.
            rows = [row for row in held if (start[row], end[row] + 1) == (first, stop)] or [
                row for row in held if first <= start[row] and end[row] < stop
            ]
            if new is not None:
                edits.changed[rows[0]] = new
            edits.removed.update(rows if new is None else rows[1:])
        return {PurePath(reading.source.name).name: _edited(table, edits)}


def _row_positions(table: SpanTable, reading: Reading) -> tuple[Sequence[int], Sequence[int]]:
    if set(POSITIONS) <= set(table.header):
        columns = [[int(table.cell(row, column)) for row in range(len(table.rows))] for column in POSITIONS]
        return columns[0], columns[1]
    assert reading.corpus.token_ids is not None
    ids = {token_id: index for index, token_id in enumerate(reading.corpus.token_ids)}
    columns = [[ids[table.cell(row, column)] for row in range(len(table.rows))] for column in IDS]
    return columns[0], columns[1]


def _token_row(span: NewSpan, reading: Reading, columns: Mapping[str, str]) -> Row:
    corpus, start, end = reading.corpus, span.start, span.end - 1
    row: Row = {POSITIONS[0]: str(start), POSITIONS[1]: str(end)}
    if corpus.token_ids is not None:
        row.update({IDS[0]: corpus.token_ids[start], IDS[1]: corpus.token_ids[end]})
    for layer, label in span.labels.items():
        row[columns[layer]] = label or ""
    doc_id = corpus.doc_ids[int(corpus.document_of(np.array([start]))[0])]
    row.update(dict.fromkeys(DOCUMENT_COLUMNS, doc_id))
    row.update(dict.fromkeys(TEXT_COLUMNS, corpus.text(start, end)))
    return row


def _edited(table: SpanTable, changes: RowChanges) -> bytes:
    removed, changed, added = changes.removed, changes.changed, changes.added
    if not removed and not changed and not added:
        return table.raw
    if table.kind == XLSX:
        return edited_workbook(table, changes)
    cells: list[list[str] | None] = []  # None: the row stays as it is
    for row, values in enumerate(table.rows):
        if row in changed:
            full = [*values, *[""] * (len(table.header) - len(values))]
            cells.append([changed[row].get(column, cell) for column, cell in zip(table.header, full, strict=False)])
        else:
            cells.append(None)
    fresh = [[row.get(column, "") for column in table.header] for row in added]
    return _edited_text(table, removed, cells, fresh)


def _edited_text(
    table: SpanTable, removed: set[int], cells: Sequence[list[str] | None], fresh: Sequence[list[str]]
) -> bytes:
    lines = table.raw.splitlines(keepends=True)
    ending = "\r\n" if lines and lines[0].endswith(b"\r\n") else "\n"
    for row, new in enumerate(cells):
        begin, stop = table.places[row]
        if row in removed:
            lines[begin:stop] = [b""] * (stop - begin)
        elif new is not None:
            lines[begin:stop] = [_line(new, table.kind, ending), *[b""] * (stop - begin - 1)]
    written = b"".join(lines)
    if fresh and written and not written.endswith((b"\n", b"\r")):
        written += ending.encode()
    return written + b"".join(_line(row, table.kind, ending) for row in fresh)


def _line(cells: Sequence[str], delimiter: str, ending: str) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=ending).writerow(cells)
    return buffer.getvalue().encode("utf-8", "replace")
