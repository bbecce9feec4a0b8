"""Parquet: tables of spans on the text of another file, of tokens with columns of tags, or of records."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.spans import same_extents
from clueval_xlsx.corpus.tags import parse_tag
from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean
from clueval_xlsx.formats import token_files
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.parquet_records import holds_records, read_records
from clueval_xlsx.formats.registry import need
from clueval_xlsx.formats.sniffing import PARQUET
from clueval_xlsx.formats.span_table import span_frame
from clueval_xlsx.formats.tables.cells import CHARACTERS, DOCUMENT_COLUMNS, IDS, POSITIONS
from clueval_xlsx.formats.tables.parquet import WHAT, parquet_table, read_parquet_cells, text_cells, written
from clueval_xlsx.formats.tables.placing import place
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions

_TOKENS = ("token", "word", "form", "TOKEN", "Token", "text")
_SENTENCES = ("sentence_id", "sent_id", "sentence", "Sentence #")
_DOCUMENTS = (*DOCUMENT_COLUMNS, "document_id", "doc")


def tell(opened: OpenedSource) -> bool:
    """Whether the first bytes say so."""
    return opened.head.startswith(PARQUET)


def needs_text(opened: OpenedSource) -> bool:
    """Whether this is a table of spans, whose text lies elsewhere."""
    files = [data for data in (opened.files or {}).values() if data.startswith(PARQUET)]
    return _lists_spans(parquet_table(files[0] if files else opened.data, opened.name))


def _lists_spans(table: Any) -> bool:
    return any(set(pair) <= set(table.column_names) for pair in (POSITIONS, IDS, CHARACTERS))


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read a table of spans, or one of tokens: the names of the columns tell."""
    name, raw = opened.name, opened.data
    table = parquet_table(raw, name)
    if not _lists_spans(table):
        return _read_records_or_tokens(table, raw, name, options)
    cells = read_parquet_cells(raw, name, options)
    if opened.base is None:
        raise OptionError(
            f"{name}: a span table needs the text it belongs to. Give it with --text FILE (a .vrt, or the source of "
            "the character offsets), or let the other side be that file."
        )
    return _of_parquet(place(cells, opened.base))


def _of_parquet(reading: Reading) -> Reading:
    return replace(reading, source=replace(reading.source, format="parquet"), carrier=None)


def _read_records_or_tokens(table: Any, raw: bytes, name: str, options: ReadOptions) -> Reading:
    """A table of tokens, unless its rows are records of a known kind."""
    token = next((column for column in _TOKENS if column in table.column_names and _holds_text(table, column)), None)
    tagged = [column for column in table.column_names if column != token and _holds_tags(table, column)]
    if token is None or holds_records(table) or not (tagged or options.layers or options.text_only):
        records = read_records(table, raw, name, options)
        if records is not None:
            return records
    if token is None:
        raise InputError(
            f"{name}: the columns are {', '.join(table.column_names)}. Allowed: a table of spans (start and end, "
            "start_id and end_id, or char_start and char_end), of tokens (token, a column of tags for each layer, "
            "doc_id and sentence_id where there are several), or of records (text and spans, tokens and ner_tags, or "
            "what --field names)."
        )
    return _read_tokens(table, token, raw, name, options)


def _read_tokens(table: Any, token: str, raw: bytes, name: str, options: ReadOptions) -> Reading:
    """Tokens become vertical text, which is read as such."""
    layers = _tag_columns(table, token, options.layers, name, text_only=options.text_only)
    lines = _vertical(table, token, list(layers.values()))
    inner = replace(
        options,
        layers={layer: number for number, layer in enumerate(layers, 2)},
        token_id=None,
        document_id=None,
        columns={},
        space_column=None,
        document_tag="text",
        sentence_tag="s",
    )
    reading = token_files.format_module("vrt").read(OpenedSource(name, lines), inner)
    source = replace(reading.source, format="parquet", sha256=digest(raw), columns=dict(layers))
    return replace(reading, source=source, carrier=None)


def _holds_text(table: Any, column: str) -> bool:
    types = need("pyarrow", "parquet", WHAT).types
    type_ = table.schema.field(column).type
    type_ = type_.value_type if types.is_dictionary(type_) else type_
    return bool(types.is_string(type_) or types.is_large_string(type_))


def _tag_columns(
    table: Any, token: str, wanted: Mapping[str, int | str | None], name: str, *, text_only: bool
) -> dict[str, str]:
    """The column of each layer; without layers the only one that holds tags."""
    others = [column for column in table.column_names if column != token]
    if wanted:
        found = {}
        for layer, column in wanted.items():
            said = layer if column is None else column
            if isinstance(said, int):
                said = table.column_names[said - 1] if said <= table.num_columns else str(said)
            if said not in others:
                raise OptionError(
                    f"{name}: there is no column {said!r} for layer {layer}.{did_you_mean(said, others)} "
                    f"Columns: {', '.join(others)}."
                )
            found[layer] = said
        return found
    tagged = [column for column in others if column not in {*_SENTENCES, *_DOCUMENTS} and _holds_tags(table, column)]
    if text_only:
        return {}
    if len(tagged) != 1:
        raise OptionError(
            f"{name}: {'several columns hold' if tagged else 'no column holds'} tags: {', '.join(tagged or others)}. "
            f"Choose: --layer {DEFAULT_LAYER}={(tagged or others or ['COLUMN'])[0]}."
        )
    return {DEFAULT_LAYER: tagged[0]}


def _holds_tags(table: Any, column: str) -> bool:
    if not _holds_text(table, column):
        return False
    values = {str(value) for value in table.column(column).unique().to_pylist()}
    return all(parse_tag(value) is not None for value in values) and any(value[1:2] == "-" for value in values)


def _vertical(table: Any, token: str, columns: list[str]) -> bytes:
    """The table as vertical text: document and sentence tags where the columns that name them change."""
    groups = [next((each for each in names if each in table.column_names), None) for names in (_DOCUMENTS, _SENTENCES)]
    document, sentence = (None if column is None else text_cells(table, column) for column in groups)
    cells = [text_cells(table, column) for column in (token, *columns)]
    lines: list[str] = []
    before: tuple[str, str] | None = None
    for row in range(table.num_rows):
        here = (document[row] if document else "", sentence[row] if sentence else "")
        if here != before:
            if document and (before is None or here[0] != before[0]):
                lines += ["</text>"] if before is not None else []
                lines.append(f'<text id="{_one_line(html.escape(here[0]))}">')
            elif before is not None:
                lines.append("")
            before = here
        lines.append("\t".join([_escaped(cells[0][row]), *(column[row] or "O" for column in cells[1:])]))
    if document and before is not None:
        lines.append("</text>")
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def _escaped(word: str) -> str:
    """A token as a cell; one of white space alone, or none at all, is written as references."""
    if not word:
        return "&#8203;"
    if word.isspace():
        return "".join(f"&#{ord(character)};" for character in word)
    return _one_line(html.escape(word, quote=False))


def _one_line(text: str) -> str:
    return text.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new table of spans."""
    frame = span_frame(same_extents(layers), reading.corpus, reading.annotation.scores)
    lib = need("pyarrow", "parquet", WHAT)
    return {how.name: written(lib.Table.from_pandas(frame, preserve_index=False))}
