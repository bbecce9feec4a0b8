"""Parquet, which is read and not written: spans on the text of another file, or records.

Records become JSON Lines, which the readers of JSON read; numbers whose names the file itself knows (`ClassLabel` of
Hugging Face) are these names.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read_folder
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import Format, need
from clueval_xlsx.formats.sniffing import PARQUET, told_records
from clueval_xlsx.formats.span_table import lists_spans, make_table, place_on
from clueval_xlsx.options import ReadOptions

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
    return lists_spans(_table(files[0] if files else opened.data, opened.name).column_names)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read a table of spans or of records: the names of its columns tell."""
    table = _table(opened.data, opened.name)
    if not lists_spans(table.column_names):
        reading = _read_records(table, opened.name, options)
        return replace(
            reading, source=replace(reading.source, format="parquet", sha256=digest(opened.data)), carrier=None
        )
    columns = [map(_text, table.column(column).to_pylist()) for column in table.column_names]
    records = [tuple(table.column_names), *zip(*columns, strict=True)]
    lines = [(index, index + 1) for index in range(len(records))]
    reading = place_on(make_table(opened.data, opened.name, "parquet", records, lines, options), opened.base)
    return replace(reading, source=replace(reading.source, format="parquet"), carrier=None)


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


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, default=str)


# ---- records -------------------------------------------------------------------------------------------------------


def _read_records(table: Any, name: str, options: ReadOptions) -> Reading:
    """Read the rows as records of JSON."""
    inner = OpenedSource(name, _json_lines(table))
    reading: Reading = _records_format(inner, table, options).load().read(inner, options)
    return reading


def read_together(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the files of a folder as one corpus of records."""
    tables = {name: _table(opened.part(name).data, name) for name in opened.members}
    files = {name: _json_lines(table) for name, table in tables.items()}
    inner = OpenedSource(opened.name, files=files, members=opened.members)
    first = opened.members[0]
    reading = read_folder(inner, _records_format(inner.part(first), tables[first], options), options)
    return replace(reading, source=replace(reading.source, format="parquet"), carrier=None)


def _json_lines(table: Any) -> bytes:
    names = _class_names(table)
    rows = [{key: _named(value, names.get(key, ())) for key, value in row.items()} for row in table.to_pylist()]
    lines = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return lines.encode("utf-8", "backslashreplace")


def _records_format(inner: OpenedSource, table: Any, options: ReadOptions) -> Format:
    format_ = told_records(inner, options.fields)
    if format_ is None:
        raise InputError(
            f"{inner.name}: the columns are {', '.join(table.column_names)}. Allowed: a table of spans (start and "
            "end, start_id and end_id, or char_start and char_end), or of records (text and spans, tokens and "
            "ner_tags, or what --field names). A table with a token in each row: save it as .csv."
        )
    return format_


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
