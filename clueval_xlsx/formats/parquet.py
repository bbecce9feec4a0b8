"""Parquet, which is read and not written: spans on the text of another file, tokens with tags, or records.

Records become JSON Lines, which the readers of JSON read; numbers whose names the file itself knows (`ClassLabel` of
Hugging Face) are these names.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.tags import parse_tag
from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean
from clueval_xlsx.formats import span_table
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import need
from clueval_xlsx.formats.sniffing import PARQUET, told_records
from clueval_xlsx.formats.tables.cells import CHARACTERS, DOCUMENT_COLUMNS, IDS, POSITIONS, make_table
from clueval_xlsx.formats.token_lists import TokenLists
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions

_TOKENS = ("token", "word", "form", "TOKEN", "Token", "text")
_SENTENCES = ("sentence_id", "sent_id", "sentence", "Sentence #")
_DOCUMENTS = (*DOCUMENT_COLUMNS, "document_id", "doc")
_FEATURES = b"huggingface"  # the key of the file's metadata under which the names of numbers stand
_WHAT = "Parquet files are read"
_ROOM, _ROOM_PER_BYTE = 64 << 20, 200  # bytes that a file may unfold to
_WIDTH = 8  # bytes of a value at least


def tell(opened: OpenedSource) -> bool:
    """Whether the first bytes say so."""
    return opened.head.startswith(PARQUET)


def needs_text(opened: OpenedSource) -> bool:
    """Whether this is a table of spans, whose text lies elsewhere."""
    files = [data for data in (opened.files or {}).values() if data.startswith(PARQUET)]
    return _lists_spans(_table(files[0] if files else opened.data, opened.name))


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read a table of spans, of tokens or of records: the names and types of its columns tell."""
    table = _table(opened.data, opened.name)
    if _lists_spans(table):
        columns = [_cells(table, column) for column in table.column_names]
        records = [tuple(table.column_names), *zip(*columns, strict=True)]
        lines = [(index, index + 1) for index in range(len(records))]
        cells = make_table(opened.data, opened.name, kind="parquet", records=records, places=lines, options=options)
        reading = span_table.place_on(cells, opened.base)
    else:
        reading = _read_records_or_tokens(table, opened.name, options)
    source = replace(reading.source, format="parquet")
    if not _lists_spans(table):
        source = replace(source, sha256=digest(opened.data))
    return replace(reading, source=source, carrier=None)


def _table(raw: bytes, name: str) -> Any:
    """The table of a file; how much it unfolds to is known before anything is unfolded."""
    parquet, lib = need("pyarrow.parquet", "parquet", _WHAT), need("pyarrow", "parquet", _WHAT)
    try:
        metadata = parquet.read_metadata(io.BytesIO(raw))
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        chunks = [group.column(index) for group in groups for index in range(group.num_columns)]
        widths = [max(_WIDTH, metadata.schema.column(index).length or 0) for index in range(metadata.num_columns)]
        unfolded = 0
        for group in groups:
            for index, width in enumerate(widths):
                chunk = group.column(index)
                unfolded += max(width * chunk.num_values, chunk.total_uncompressed_size)
        _check_size(unfolded, raw, name)
        texts = sorted({chunk.path_in_schema for chunk in chunks if chunk.physical_type == "BYTE_ARRAY"})
        table = parquet.ParquetFile(io.BytesIO(raw), read_dictionary=texts).read()
    except (lib.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"{name}: is no Parquet file that can be read ({reason}). Write it again.") from None
    _check_size(sum(_text_size(chunk, lib) for column in table.columns for chunk in column.chunks), raw, name)
    return table


def _check_size(size: int, raw: bytes, name: str) -> None:
    most = _ROOM + _ROOM_PER_BYTE * len(raw)
    if size > most:
        raise InputError(
            f"{name}: unfolds to {size / 1e6:,.0f} MB from {len(raw) / 1e6:,.2f} MB. Allowed: {most / 1e6:,.0f} MB in "
            "a file of this size. Write it as JSON Lines or as a TSV if you trust it."
        )


def _text_size(array: Any, lib: Any) -> int:
    """How many bytes texts have that are kept once, however often they occur."""
    if lib.types.is_dictionary(array.type):
        lengths = need("pyarrow.compute", "parquet", _WHAT).binary_length(array.dictionary)
        return int(lengths.take(array.indices).cast("int64").sum().as_py() or 0)
    if lib.types.is_list(array.type) or lib.types.is_large_list(array.type):
        return _text_size(array.flatten(), lib)
    if lib.types.is_struct(array.type):
        return sum(_text_size(each, lib) for each in array.flatten())
    return 0


def _lists_spans(table: Any) -> bool:
    return any(set(pair) <= set(table.column_names) for pair in (POSITIONS, IDS, CHARACTERS))


def _cells(table: Any, column: str) -> list[str]:
    """A column as text; nothing is an empty text."""
    return [_text(value) for value in table.column(column).to_pylist()]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _read_records_or_tokens(table: Any, name: str, options: ReadOptions) -> Reading:
    """A table of tokens, unless its rows are records of a known kind."""
    types = need("pyarrow", "parquet", _WHAT).types
    nested = any(types.is_nested(field.type) for field in table.schema)
    token = next((column for column in _TOKENS if column in table.column_names and _holds_text(table, column)), None)
    tagged = [column for column in table.column_names if column != token and _holds_tags(table, column)]
    if token is None or nested or not (tagged or options.layers or options.text_only):
        reading = _read_records(table, name, options)
        if reading is not None:
            return reading
    if token is None:
        raise InputError(
            f"{name}: the columns are {', '.join(table.column_names)}. Allowed: a table of spans (start and end, "
            "start_id and end_id, or char_start and char_end), of tokens (token, a column of tags for each layer, "
            "doc_id and sentence_id where there are several), or of records (text and spans, tokens and ner_tags, or "
            "what --field names)."
        )
    return _read_tokens(table, token, name, options)


# ---- records -------------------------------------------------------------------------------------------------------


def _read_records(table: Any, name: str, options: ReadOptions) -> Reading | None:
    """Read the rows as records of JSON; None where they are records of no known kind."""
    names = _class_names(table)
    rows = [{key: _named(value, names.get(key, ())) for key, value in row.items()} for row in table.to_pylist()]
    lines = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    inner = OpenedSource(name, lines.encode("utf-8", "backslashreplace"))
    format_ = told_records(inner, options.fields)
    return None if format_ is None else format_.load().read(inner, options)


def _class_names(table: Any) -> dict[str, Sequence[str]]:
    """The names of numbers by column, as Hugging Face keeps them beside the table."""
    try:
        features = json.loads((table.schema.metadata or {}).get(_FEATURES, b"{}"))["info"]["features"]
        return {key: _names_of(feature) for key, feature in features.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _names_of(feature: Any) -> Sequence[str]:
    while isinstance(feature, dict):
        names = feature.get("names")
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
        feature = feature.get("feature")
    return ()


def _named(value: Any, names: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names)
    return names[value] if known else value


# ---- tokens --------------------------------------------------------------------------------------------------------


def _read_tokens(table: Any, token: str, name: str, options: ReadOptions) -> Reading:
    """A document or sentence ends where the columns that name them change."""
    layers = _tag_columns(table, token, options.layers, name, text_only=options.text_only)
    groups = [next((each for each in names if each in table.column_names), None) for names in (_DOCUMENTS, _SENTENCES)]
    names = [[""] * table.num_rows if column is None else _cells(table, column) for column in groups]
    words = [word or "\u200b" for word in _cells(table, token)]
    tags = [[tag or "O" for tag in _cells(table, column)] for column in layers.values()]
    keys = list(zip(*names, strict=True))
    lists = TokenLists(list(layers))
    first = 0
    for row in range(1, len(keys) + 1):
        if row < len(keys) and keys[row] == keys[first]:
            continue
        if first == 0 or keys[first][0] != keys[first - 1][0]:
            lists.open_document({} if groups[0] is None else {"id": keys[first][0]})
        place = f"{name}, row {first + 1}"
        lists.add(words[first:row], [column[first:row] for column in tags], place)
        first = row
    return lists.reading(Source(name, "parquet", "", dict(layers)))


def _holds_text(table: Any, column: str) -> bool:
    types = need("pyarrow", "parquet", _WHAT).types
    type_ = table.schema.field(column).type
    type_ = type_.value_type if types.is_dictionary(type_) else type_
    return bool(types.is_string(type_) or types.is_large_string(type_))


def _tag_columns(
    table: Any, token: str, wanted: Mapping[str, int | str | None], name: str, *, text_only: bool
) -> dict[str, str]:
    """The column of each layer; without layers the only one that holds tags."""
    others = [column for column in table.column_names if column != token]
    if wanted:
        chosen = {}
        for layer, column in wanted.items():
            said = layer if column is None else column
            if isinstance(said, int):
                said = table.column_names[said - 1] if said <= table.num_columns else str(said)
            if said not in others:
                raise OptionError(
                    f"{name}: there is no column {said!r} for layer {layer}.{did_you_mean(said, others)} "
                    f"Columns: {', '.join(others)}."
                )
            chosen[layer] = said
        return chosen
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
