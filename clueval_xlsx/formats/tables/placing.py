"""Puts the spans of a table on a text: by position, by token ID or by character; what does not fit is listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Listed, Source
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.mentions import ERROR, Mentions, Wording, make_mentions, nested_note, resolve
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.formats.collect import Collector, ScoreValues
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.tables.cells import (
    CHARACTERS,
    DOCUMENT_COLUMNS,
    IDS,
    POSITIONS,
    SCORE_COLUMN,
    TEXT_COLUMNS,
    SpanTable,
)
from clueval_xlsx.formats.tables.correction import TableOnText, TableOnTokens
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

_MOST_PROBLEMS = 1000
_MOST_DIGITS = 18  # of a position; arrays hold no larger numbers


def place(table: SpanTable, base: Reading) -> Reading:
    """Put the spans of a table on the text of another reading; every row that does not fit is listed."""
    by_character = set(CHARACTERS) <= set(table.header)
    if not base.tokenised:
        if not by_character:
            raise InputError(
                f"{table.name}: the table has positions of tokens, but {base.source.name} is running text. Allowed: "
                "char_start and char_end with doc_id. Or give the .vrt that the positions belong to (--text FILE)."
            )
        return _place_on_text(table, base)
    if not set(POSITIONS) <= set(table.header) and not set(IDS) <= set(table.header):
        raise InputError(
            f"{table.name}: the table has character offsets, but {base.source.name} has tokens. Allowed: start and "
            "end, or start_id and end_id. Or give the text that the offsets belong to (--text PATH)."
        )
    return _place_on_tokens(table, base)


def _place_on_text(table: SpanTable, base: Reading) -> Reading:
    layers = table.layers()
    collector = Collector(table.name, format_named("table"), table.options, layers)
    collector.documents.extend(base.documents)
    number = {doc_id: index for index, doc_id in enumerate(base.doc_ids)}
    id_column, text_column = table.first_of(DOCUMENT_COLUMNS), table.first_of(TEXT_COLUMNS)
    for row in filter(table.holds, range(len(table.rows))):
        doc_id = table.cell(row, id_column) if id_column else base.doc_ids[0]
        if (id_column is None and len(number) > 1) or doc_id not in number:
            found = f"document {doc_id!r} is unknown" if id_column else "there is no doc_id column"
            collector.complain(table.where(row), found, ", ".join(map(repr, base.doc_ids[:10])), "Mend doc_id")
            continue
        start, end = (_whole(table.cell(row, column)) for column in CHARACTERS)
        collector.add(
            number[doc_id],
            (start, end),
            {column: table.cell(row, column) or None for column in layers.values()},
            surface=(table.cell(row, text_column) or None) if text_column else None,
            score=table.cell(row, SCORE_COLUMN) if SCORE_COLUMN in table.header else None,
            handle=(row,),
            where=table.where(row),
        )
    return collector.finish(_source(table, layers, base), TableOnText(table))


def _source(table: SpanTable, layers: Mapping[str, str], base: Reading) -> Source:
    return Source(table.name, "table", digest(table.raw + base.source.sha256.encode()), dict(layers))


def _place_on_tokens(table: SpanTable, base: Reading) -> Reading:
    layers = table.layers()
    checker = _RowChecker(table, base.corpus)
    start, end = checker.positions()
    checker.check_documents(start, end)
    checker.check_surfaces(start, end)
    if checker.problems:
        raise InputError(problems=checker.in_order()[:_MOST_PROBLEMS])
    values = ScoreValues(table.name)
    listed = make_mentions(
        Ranges(np.zeros(len(start), np.int64), start, end + 1),
        {column: [table.cell(row, column) or None for row in range(len(start))] for column in layers.values()},
        layers,
        scores=table.scores(values),
    )
    frames, notes, scores, gave_way = {}, [], [], False
    by_layer: list[IntArray] = []
    mode = table.options.nested or ERROR
    holds = np.array([table.holds(row) for row in range(len(start))], dtype=bool)
    for layer in listed.labels:
        rows = _rows_of_layer(listed, layer)
        rows = rows[holds[rows]]
        by_layer.append(rows)
        own = listed.only_layers([layer]).take(rows)
        wording = _wording(own, base.corpus, table, rows)
        resolution = resolve(own, mode, wording)
        mentions = resolution.mentions
        frames[layer] = make_spans(mentions.ranges.start, mentions.ranges.end - 1, mentions.labels)
        if mentions.scores is not None:
            scores.append(
                pd.DataFrame(
                    {"start": mentions.ranges.start, "end": mentions.ranges.end - 1, "score": mentions.scores}
                ).dropna()
            )
        notes += nested_note(table.name, resolution.lines(wording), mode)
        gave_way |= bool(resolution.dropped or resolution.merged)
    every = _listed(listed, by_layer, mode)
    annotation = Annotation(
        _source(table, layers, base),
        frames,
        pd.DataFrame(),
        listed=every if gave_way else None,
        scores=pd.concat(scores, ignore_index=True) if scores else None,
        listing=every if listed.scores is not None else None,
    )
    notes = [*base.notes, *values.notes(), *notes]
    if set(IDS) <= set(table.header) and base.corpus.token_ids is None:
        notes.append(
            f"{table.name}: its token IDs ({', '.join(IDS)}) are not compared and not kept, because "
            f"{base.source.name} was read without its own (--token-id COLUMN)"
        )
    return Reading(annotation.source, base.corpus, spans=annotation, notes=tuple(notes), carrier=TableOnTokens(table))


def _listed(listed: Mentions, by_layer: Sequence[IntArray], mode: str) -> Listed:
    """The rows of each layer, which is a sequence of its own."""
    rows = np.concatenate(by_layer)
    sequence = np.repeat(np.arange(len(by_layer)), [len(own) for own in by_layer])
    numbers = {layer: number for number, layer in enumerate(listed.labels)}
    mentions = replace(listed.take(rows), sequence=sequence, sequences=numbers)
    return Listed(mentions, mentions.ranges.start, mentions.ranges.end - 1, mode, on_tokens=True)


def _rows_of_layer(listed: Mentions, layer: str) -> IntArray:
    """The rows that are spans of a layer: with several layers, an empty cell means that it has no span there."""
    codes = np.array([values.codes for values in listed.labels.values()])
    none_at_all = (codes < 0).all(axis=0)
    first = next(iter(listed.labels)) == layer
    return np.flatnonzero((listed.labels[layer].codes >= 0) | (none_at_all & (first or len(codes) == 1)))


def _wording(mentions: Mentions, corpus: Corpus, table: SpanTable, rows: IntArray) -> Wording:
    def describe(row: int) -> str:
        start, last = int(mentions.ranges.start[row]), int(mentions.ranges.end[row]) - 1
        label = next(iter(mentions.labels.values()))[row]
        return f"{corpus.text(start, last)[:60]!r} ({label if isinstance(label, str) else 'no label'}, {start}..{last})"

    return Wording(describe, lambda row: table.where(int(rows[row])))


class _RowChecker:
    """Compares the rows of a table with the corpus."""

    def __init__(self, table: SpanTable, corpus: Corpus) -> None:
        self.table = table
        self.corpus = corpus
        self.problems: dict[int, Problem] = {}

    def in_order(self) -> list[Problem]:
        return [self.problems[row] for row in sorted(self.problems)]

    def complain(self, row: int, found: str, allowed: str = "", remedy: str = "") -> None:
        self.problems.setdefault(row, Problem(self.table.where(row), found, allowed, remedy))

    def positions(self) -> tuple[IntArray, IntArray]:
        """Start and end of every row, by position or by token ID; both must agree where both are given."""
        table, size = self.table, len(self.corpus)
        found: list[list[int]] = []
        by_position, by_id = set(POSITIONS) <= set(table.header), set(IDS) <= set(table.header)
        ids: dict[str, int] = {}
        if by_id:
            if self.corpus.token_ids is not None:
                ids = {token_id: index for index, token_id in enumerate(self.corpus.token_ids)}
            elif not by_position:
                raise OptionError(
                    f"{table.name} names tokens by ID: say where {self.corpus.name} has them (--token-id)."
                )
        for row in range(len(table.rows)):
            pair = [-1, -1]
            if by_position:
                cells = [table.cell(row, column) for column in POSITIONS]
                values = [_whole(cell) for cell in cells]
                if not all(isinstance(value, int) for value in values):
                    self.complain(row, f"start {cells[0]!r}, end {cells[1]!r}", "whole numbers")
                elif not 0 <= int(values[0] or 0) <= int(values[1] or 0) < size:
                    self.complain(
                        row,
                        f"start {values[0]}, end {values[1]}",
                        f"positions from 0 to {size - 1}, the end not before the start",
                        f"Check that the table belongs to {self.corpus.name}",
                    )
                else:
                    pair = [int(values[0] or 0), int(values[1] or 0)]
            if ids:
                pair = self._by_ids(row, pair, ids, by_position)
            found.append(pair)
        array = np.array(found, dtype=np.int64).reshape(-1, 2)
        return array[:, 0], array[:, 1]

    def _by_ids(self, row: int, pair: list[int], ids: Mapping[str, int], by_position: bool) -> list[int]:
        named = [self.table.cell(row, column) for column in IDS]
        unknown = [token_id for token_id in named if token_id not in ids]
        if unknown:
            self.complain(row, f"token ID {unknown[0]!r} is not in {self.corpus.name}", remedy="Check the ID")
            return pair
        places = [ids[token_id] for token_id in named]
        if by_position and pair[0] >= 0 and pair != places:
            self.complain(
                row,
                f"the positions {pair[0]}..{pair[1]} are not those of the token IDs {named[0]} and {named[1]}, "
                f"which are {places[0]}..{places[1]}",
                remedy="Mend one of the two, or leave one out",
            )
        elif places[1] < places[0]:
            self.complain(row, f"the span ends ({named[1]}) before it starts ({named[0]})", "start before end")
        return places

    def check_documents(self, start: IntArray, end: IntArray) -> None:
        column = self.table.first_of(DOCUMENT_COLUMNS)
        inside = np.flatnonzero((start >= 0) & (end >= start))
        first, last = self.corpus.document_of(start[inside]), self.corpus.document_of(end[inside])
        for row, document, other in zip(inside.tolist(), first.tolist(), last.tolist(), strict=True):
            doc_id = self.corpus.doc_ids[document]
            if document != other:
                self.complain(row, f"the span runs from document {doc_id!r} into the next", "spans inside a document")
            elif column and self.table.cell(row, column) not in {"", doc_id}:
                given = self.table.cell(row, column)
                self.complain(
                    row,
                    f"doc_id is {given!r}, but {start[row]}..{end[row]} lies in document {doc_id!r}",
                    remedy=f"Check that the table belongs to {self.corpus.name}",
                )

    def check_surfaces(self, start: IntArray, end: IntArray) -> None:
        column = self.table.first_of(TEXT_COLUMNS)
        if column is None:
            return
        rows = np.flatnonzero((start >= 0) & (end >= start))
        for row, found in zip(rows.tolist(), self.corpus.texts(start[rows], end[rows]), strict=True):
            given = self.table.cell(row, column)
            if given and "".join(given.split()) != "".join(found.split()):
                self.complain(
                    row,
                    f"the table says {given[:60]!r}, but the corpus has {found[:60]!r} at {start[row]}..{end[row]}",
                    remedy=f"Check that the table belongs to {self.corpus.name}",
                )


def _whole(cell: str) -> int | str:
    """A cell as a whole number, or as it is for the message."""
    text = cell.strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS else cell
