"""Span tables with corrected rows: every other row stays byte for byte (in a workbook: cell for cell)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.changes import Changes, Key, NewSpan, differing, keys
from clueval_xlsx.corpus.spans import positions, same_extents
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.corpus.token_reading import TokenReading
from clueval_xlsx.formats.tables.cells import (
    CHARACTERS,
    DOCUMENT_COLUMNS,
    IDS,
    PARQUET,
    POSITIONS,
    TEXT_COLUMNS,
    XLSX,
    Row,
    RowChanges,
    SpanTable,
)
from clueval_xlsx.formats.tables.parquet import edited_parquet
from clueval_xlsx.formats.tables.workbook import edited_workbook


@dataclass(frozen=True)
class TableOnText:
    """A table of character offsets."""

    table: SpanTable

    def correct(self, reading: TextReading, changes: Changes) -> dict[str, bytes]:
        """The table with these changes."""
        layers = self.table.layers()
        rows = RowChanges()
        for document in changes.documents():
            doc_id = changes.doc_ids[document]
            rows.removed.update(handle[0] for handle in changes.removed[document])
            for handle, span in changes.changed[document]:
                rows.changed[handle[0]] = _character_row(span, layers, doc_id)
            rows.added.extend(_character_row(span, layers, doc_id) for span in changes.added[document])
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

    def correct(self, reading: TokenReading, layers: Mapping[str, pd.DataFrame]) -> bytes:
        """The table with these spans in place of those that were read."""
        table, columns = self.table, self.table.layers()
        own = {layer: spans for layer, spans in reading.layers.items() if isinstance(spans, pd.DataFrame)}
        before, after = _keyed(own), _keyed({**own, **layers})
        found = differing(before, after)
        start, end = _row_positions(table, reading)
        held = [row for row in range(len(start)) if table.holds(row)]
        changes = RowChanges(added=[_token_row(key, reading, columns) for key in found.added])
        for index, partner in found.replaced:
            _, first, stop, _ = before[index]
            # A span that several rows were merged into stands in none of them: then all of its rows are meant.
            rows = [row for row in held if (start[row], end[row] + 1) == (first, stop)] or [
                row for row in held if first <= start[row] and end[row] < stop
            ]
            if partner is not None:
                changes.changed[rows[0]] = _token_row(partner, reading, columns)
            changes.removed.update(rows if partner is None else rows[1:])
        return _edited(table, changes)


def _keyed(layers: Mapping[str, pd.DataFrame]) -> list[Key]:
    """Spans of tokens as annotations of one long document."""
    rows = same_extents(layers)
    start, end = positions(rows)
    return keys(np.zeros_like(start), start, end + 1, [rows[layer] for layer in layers])


def _row_positions(table: SpanTable, reading: TokenReading) -> tuple[Sequence[int], Sequence[int]]:
    if set(POSITIONS) <= set(table.header):
        columns = [[int(table.cell(row, column)) for row in range(len(table.rows))] for column in POSITIONS]
        return columns[0], columns[1]
    assert reading.corpus.token_ids is not None
    ids = {token_id: index for index, token_id in enumerate(reading.corpus.token_ids)}
    columns = [[ids[table.cell(row, column)] for row in range(len(table.rows))] for column in IDS]
    return columns[0], columns[1]


def _token_row(key: Key, reading: TokenReading, columns: Mapping[str, str]) -> Row:
    _, start, stop, labels = key
    corpus, end = reading.corpus, stop - 1
    row: Row = {POSITIONS[0]: str(start), POSITIONS[1]: str(end)}
    if corpus.token_ids is not None:
        row.update({IDS[0]: corpus.token_ids[start], IDS[1]: corpus.token_ids[end]})
    for column, label in zip(columns.values(), labels, strict=True):
        row[column] = label or ""
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
    if table.kind == PARQUET:
        return edited_parquet(table, changes)
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
