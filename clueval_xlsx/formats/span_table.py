"""Span tables (TSV, CSV, XLSX): spans, one a row, on the text of another file; every row that does not fit is listed.

Every cell is read as text. A row is a span of each layer whose cell is filled; layers are annotated apart from each
other.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.spans import layers_of, positions, same_extents
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.workbooks import WORKBOOKS, Kind, kind_of, read_workbook
from clueval_xlsx.formats.collect import Collector
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import WriteOptions, format_named
from clueval_xlsx.formats.stored import ZIP, decode_text
from clueval_xlsx.formats.table_files import (
    CHARACTERS,
    DOCUMENT_COLUMNS,
    IDS,
    POSITIONS,
    SCORE_COLUMN,
    TEXT_COLUMNS,
    XLSX,
    SpanTable,
    TableFile,
    cell_text,
    new_workbook,
)
from clueval_xlsx.options import ReadOptions

_MOST_DIGITS = 18  # of a position; arrays hold no larger numbers


# ---- cells ---------------------------------------------------------------------------------------------------------


def tell(opened: OpenedSource) -> bool:
    """Whether a file is a workbook, or its first line the header of a table of spans."""
    if opened.head.startswith(ZIP):
        return kind_of(opened.data) in WORKBOOKS - {Kind.DAMAGED, Kind.ODS}
    columns = {
        cell.strip().strip('"').strip("\ufeff") for cell in opened.first_line.split(_delimiter(opened.first_line))
    }
    return lists_spans(columns)


def lists_spans(columns: Iterable[str]) -> bool:
    """Whether columns are those of a table of spans."""
    return any(set(pair) <= set(columns) for pair in (POSITIONS, IDS, CHARACTERS))


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the spans and put them on their text."""
    raw, name = opened.data, opened.name
    records: list[tuple[str, ...]] = []
    places: list[tuple[int, int]] = []
    if raw.startswith(ZIP):
        sheets = read_workbook(raw, name).sheets
        if not sheets:
            raise InputError(f"{name}: the workbook has no sheet. Give one whose first sheet is the table of spans.")
        for row in sheets[0].rows:
            places.append((len(records), len(records) + 1))
            records.append(tuple(cell_text(cell) for cell in row))
        return place_on(make_table(raw, name, XLSX, records, places, options), opened.base)
    text = decode_text(raw, name)
    delimiter = _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before = 0
    try:
        for record in reader:
            records.append(tuple(record))
            places.append((before, reader.line_num))
            before = reader.line_num
    except csv.Error as error:
        raise InputError(f"{name}:{reader.line_num}: {error}. Check the quotation marks.") from None
    return place_on(make_table(raw, name, delimiter, records, places, options), opened.base)


def _delimiter(text: str) -> str:
    """Tab, comma or semicolon, whichever the header has most of."""
    header = text.partition("\n")[0]
    return max("\t,;", key=header.count)


def make_table(
    raw: bytes,
    name: str,
    kind: str,
    records: Sequence[tuple[str, ...]],
    places: Sequence[tuple[int, int]],
    options: ReadOptions,
) -> SpanTable:
    """A table of these records, the first of which is the header."""
    header = tuple(cell.strip() for cell in records[0]) if records else ()
    if not lists_spans(header):
        raise InputError(
            f"{name}:1: the columns are {', '.join(map(repr, header)) or 'none'}. Allowed: a header with start and "
            "end (positions counted from 0, end inclusive), start_id and end_id (token IDs), or char_start and "
            "char_end (end exclusive, with doc_id), and a column for each layer."
        )
    filled = [index for index in range(1, len(records)) if any(cell.strip() for cell in records[index])]
    return SpanTable(
        name, kind, header, tuple(records[i] for i in filled), tuple(places[i] for i in filled), raw, options
    )


# ---- on a text -----------------------------------------------------------------------------------------------------


def place_on(table: SpanTable, base: Reading | None) -> Reading:
    """Put the spans of a table on the text of another reading; every row that does not fit is listed."""
    if base is None:
        raise OptionError(
            f"{table.name}: a span table needs the text it belongs to. Give it with --text FILE (a .vrt, or the "
            "source of the character offsets), or let the other side be that file."
        )
    if not base.tokenised and not table.has(CHARACTERS):
        raise InputError(
            f"{table.name}: the table has positions of tokens, but {base.source.name} is running text. Allowed: "
            "char_start and char_end with doc_id. Or give the .vrt that the positions belong to (--text FILE)."
        )
    if base.tokenised and not table.has(POSITIONS) and not table.has(IDS):
        raise InputError(
            f"{table.name}: the table has character offsets, but {base.source.name} has tokens. Allowed: start and "
            "end, or start_id and end_id. Or give the text that the offsets belong to (--text PATH)."
        )
    layers = table.layers()
    collector = Collector(table.name, format_named("table"), table.options, layers)
    collector.tokens = base.tokens
    collector.documents.extend(() if base.tokenised else base.documents)
    if len(layers) > 1:
        collector.sequences = {layer: layer for layer in layers}
    if base.tokens is None:
        placer: _OnText | _OnTokens = _OnText(table, collector, base)
    else:
        placer = _OnTokens(table, collector, base.tokens)
    for row in range(len(table.rows)):
        own = table.layers_in(row)
        place = placer.place(row) if own else None
        for layer in own if place is not None else ():
            assert place is not None
            document, start, end = place
            collector.add(
                document,
                (start, end),
                {layers[layer]: table.cell(row, layers[layer]) or None},
                surface=None if base.tokenised else table.first_of(row, TEXT_COLUMNS) or None,
                score=table.cell(row, SCORE_COLUMN),
                sequence=layer,
                handle=(row, layer),
                where=table.where(row),
            )
    source = Source(table.name, "table", digest(table.raw + base.source.sha256.encode()), dict(layers))
    reading = collector.finish(source, TableFile(table))
    if base.tokens is None:
        return reading
    notes = [*base.notes, *reading.notes]
    if table.has(IDS) and base.tokens.token_ids is None:
        notes.append(
            f"{table.name}: its token IDs ({', '.join(IDS)}) are not compared and not kept, because "
            f"{base.source.name} was read without its own (--token-id COLUMN)"
        )
    return replace(reading, notes=tuple(notes))


class _OnText:
    """Finds the places of rows by document and character."""

    def __init__(self, table: SpanTable, collector: Collector, base: Reading) -> None:
        self.table, self.collector = table, collector
        self.doc_ids = base.doc_ids
        self.number = {doc_id: index for index, doc_id in enumerate(base.doc_ids)}
        self.named = any(column in table.header for column in DOCUMENT_COLUMNS)

    def place(self, row: int) -> tuple[int, int | str, int | str] | None:
        """Document, start and end; None where the row names no document."""
        table = self.table
        doc_id = table.first_of(row, DOCUMENT_COLUMNS) if self.named else self.doc_ids[0]
        if (not self.named and len(self.number) > 1) or doc_id not in self.number:
            found = f"document {doc_id!r} is unknown" if self.named else "there is no doc_id column"
            self.collector.complain(table.where(row), found, ", ".join(map(repr, self.doc_ids[:10])), "Mend doc_id")
            return None
        start, end = (_whole(table.cell(row, column)) for column in CHARACTERS)
        return self.number[doc_id], start, end


class _OnTokens:
    """Finds the places of rows by position or token ID; both must agree where both are given."""

    def __init__(self, table: SpanTable, collector: Collector, corpus: Corpus) -> None:
        self.table, self.collector, self.corpus = table, collector, corpus
        self.belongs = f"Check that the table belongs to {corpus.name}"
        self.begins = corpus.documents.start.tolist()
        self.ids: dict[str, int] = {}
        if table.has(IDS) and corpus.token_ids is not None:
            self.ids = {token_id: index for index, token_id in enumerate(corpus.token_ids)}
        elif not table.has(POSITIONS):
            raise OptionError(f"{table.name} names tokens by ID: say where {corpus.name} has them (--token-id).")

    def place(self, row: int) -> tuple[int, int, int] | None:
        """Start and end (exclusive) among all tokens; None where the row does not fit them."""
        positioned = self.table.has(POSITIONS)
        pair = self._by_positions(row) if positioned else None
        if self.ids and (pair is not None or not positioned):
            pair = self._by_ids(row, pair)
        if pair is None:
            return None
        start, last = pair
        self._check(row, start, last)
        return 0, start, last + 1

    def _complain(self, row: int, found: str, allowed: str = "", remedy: str = "") -> None:
        self.collector.complain(self.table.where(row), found, allowed, remedy)

    def _by_positions(self, row: int) -> tuple[int, int] | None:
        cells = [self.table.cell(row, column) for column in POSITIONS]
        start, last = map(_whole, cells)
        size = len(self.corpus)
        if not isinstance(start, int) or not isinstance(last, int):
            self._complain(row, f"start {cells[0]!r}, end {cells[1]!r}", "whole numbers")
        elif not 0 <= start <= last < size:
            allowed = f"positions from 0 to {size - 1}, the end not before the start"
            self._complain(row, f"start {start}, end {last}", allowed, self.belongs)
        else:
            return start, last
        return None

    def _by_ids(self, row: int, pair: tuple[int, int] | None) -> tuple[int, int] | None:
        named = [self.table.cell(row, column) for column in IDS]
        unknown = [token_id for token_id in named if token_id not in self.ids]
        if unknown:
            self._complain(row, f"token ID {unknown[0]!r} is not in {self.corpus.name}", remedy="Check the ID")
            return None
        start, last = (self.ids[token_id] for token_id in named)
        if pair is not None and pair != (start, last):
            self._complain(
                row,
                f"the positions {pair[0]}..{pair[1]} are not those of the token IDs {named[0]} and {named[1]}, "
                f"which are {start}..{last}",
                remedy="Mend one of the two, or leave one out",
            )
        elif last < start:
            self._complain(row, f"the span ends ({named[1]}) before it starts ({named[0]})", "start before end")
        else:
            return start, last
        return None

    def _check(self, row: int, start: int, last: int) -> None:
        """The document and the words that a row repeats must be those of its tokens."""
        table, corpus = self.table, self.corpus
        document, other = (bisect_right(self.begins, position) - 1 for position in (start, last))
        doc_id, said = corpus.doc_ids[document], table.first_of(row, DOCUMENT_COLUMNS)
        if document != other:
            self._complain(row, f"the span runs from document {doc_id!r} into the next", "spans inside a document")
            return
        if said not in {"", doc_id}:
            found = f"doc_id is {said!r}, but {start}..{last} lies in document {doc_id!r}"
            self._complain(row, found, remedy=self.belongs)
            return
        words = table.first_of(row, TEXT_COLUMNS)
        there = corpus.text(start, last) if words else ""
        if "".join(words.split()) != "".join(there.split()):
            found = f"the table says {words[:60]!r}, but the corpus has {there[:60]!r} at {start}..{last}"
            self._complain(row, found, remedy=self.belongs)


def _whole(cell: str) -> int | str:
    """A cell as a whole number, or as it is for the message."""
    text = cell.strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS else cell


# ---- new tables ----------------------------------------------------------------------------------------------------


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new table, in the form that the ending asks for."""
    rows, ending = same_extents(layers), PurePath(how.name).suffix.lower()
    if ending == ".xlsx":
        return {how.name: span_workbook(rows, reading.corpus, reading.annotation.scores)}
    text = span_table(rows, reading.corpus, "," if ending == ".csv" else "\t", reading.annotation.scores)
    return {how.name: text.encode("utf-8", "replace")}


def span_frame(spans: pd.DataFrame, corpus: Corpus, scores: pd.DataFrame | None = None) -> pd.DataFrame:
    """The spans of one sequence with everything that helps to find them again.

    Tokens of running text depend on what it was compared with, so there the table has character offsets instead
    of positions.
    """
    start, end = positions(spans)
    table = pd.DataFrame({"doc_id": [corpus.doc_ids[index] for index in corpus.document_of(start).tolist()]})
    if corpus.char_start is not None and corpus.char_end is not None:
        table["char_start"], table["char_end"] = corpus.char_start[start], corpus.char_end[end]
    else:
        table["start"], table["end"] = start, end
    if corpus.token_ids is not None:
        table["start_id"] = corpus.token_ids.take(start)
        table["end_id"] = corpus.token_ids.take(end)
    for layer in layers_of(spans):
        table[layer] = spans[layer].astype(object)
    if scores is not None:
        known = dict(zip(zip(*positions(scores), strict=True), scores["score"], strict=True))
        own = [known.get(extent) for extent in zip(start, end, strict=True)]
        table[SCORE_COLUMN] = pd.Series(own, dtype=object)
    table["text"] = corpus.texts(start, end)
    return table


def span_table(spans: pd.DataFrame, corpus: Corpus, separator: str = "\t", scores: pd.DataFrame | None = None) -> str:
    """The table as text; exact, nothing escaped."""
    return span_frame(spans, corpus, scores).to_csv(sep=separator, index=False, lineterminator="\n")


def span_workbook(spans: pd.DataFrame, corpus: Corpus, scores: pd.DataFrame | None = None) -> bytes:
    """The table as a workbook."""
    table = span_frame(spans, corpus, scores).astype(object)
    table = table.where(table.notna(), "")
    return new_workbook([list(table.columns), *([str(cell) for cell in row] for row in table.to_numpy().tolist())])
