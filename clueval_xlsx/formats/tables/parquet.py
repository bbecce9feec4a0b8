"""Parquet tables: their cells, and the table with some rows changed; columns keep their types."""

from __future__ import annotations

import io
import json
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.registry import need
from clueval_xlsx.formats.tables.cells import PARQUET, Row, RowChanges, SpanTable, make_table
from clueval_xlsx.options import ReadOptions

WHAT = "Parquet files are read and written"
_ROOM, _ROOM_PER_BYTE = 64 << 20, 200  # bytes that a file may unfold to
_WIDTH = 8  # bytes of a value at least


def parquet_table(raw: bytes, name: str) -> Any:
    """The table of a file, read when its own description says that it unfolds in proportion to the file."""
    parquet = need("pyarrow.parquet", "parquet", WHAT)
    lib = need("pyarrow", "parquet", WHAT)
    most = _ROOM + _ROOM_PER_BYTE * len(raw)
    try:
        file = parquet.ParquetFile(io.BytesIO(raw))
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
        chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
        size = sum(max(_WIDTH * chunk.num_values, chunk.total_uncompressed_size) for chunk in chunks)
        if size <= most:  # texts that recur are counted before they are unfolded
            texts = {chunk.path_in_schema for chunk in chunks if chunk.physical_type == "BYTE_ARRAY"}
            coded = parquet.ParquetFile(io.BytesIO(raw), read_dictionary=list(texts)).read()
            size = sum(map(_unfolded, coded.columns))
        if size > most:
            raise InputError(
                f"{name}: unfolds to {size / 1e6:,.0f} MB from {len(raw) / 1e6:,.2f} MB. Allowed: {most / 1e6:,.0f} MB "
                "in a file of this size. Write it as JSON Lines or as a TSV if you trust it."
            )
        return file.read()
    except (lib.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"{name}: is no Parquet file that can be read ({reason}). Write it again.") from None


def _unfolded(column: Any) -> int:
    """How many bytes a column takes whose texts are numbers of distinct ones, when each stands in its place."""
    lib, compute = need("pyarrow", "parquet", WHAT), need("pyarrow.compute", "parquet", WHAT)
    kind = column.type
    if lib.types.is_list(kind) or lib.types.is_large_list(kind):
        return _unfolded(compute.list_flatten(column))
    if lib.types.is_struct(kind):
        return sum(_unfolded(compute.struct_field(column, [number])) for number in range(kind.num_fields))
    if not lib.types.is_dictionary(kind):
        return int(column.nbytes)
    lengths = [compute.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
    return sum(compute.sum(each).as_py() or 0 for each in lengths)


def text_cells(table: Any, column: str) -> list[str]:
    """A column as text; nothing is an empty text."""
    return [_text(value) for value in table.column(column).to_pylist()]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, default=str)


def read_parquet_cells(raw: bytes, name: str, options: ReadOptions) -> SpanTable:
    """A table of spans."""
    table = parquet_table(raw, name)
    columns = [text_cells(table, column) for column in table.column_names]
    records = [tuple(table.column_names), *zip(*columns, strict=True)]
    places = [(index, index + 1) for index in range(len(records))]
    return make_table(raw, name, kind=PARQUET, records=records, places=places, options=options)


def edited_parquet(table: SpanTable, changes: RowChanges) -> bytes:
    """The table with some rows changed; the others keep their values."""
    own = parquet_table(table.raw, table.name)
    rows = own.to_pylist()
    # Rows without any cell are no spans, so the number of a span is not that of its row.
    number = [place[0] - 1 for place in table.places]
    for index, row in changes.changed.items():
        _change(rows[number[index]], row, own.schema)
    gone = {number[index] for index in changes.removed}
    kept = [row for index, row in enumerate(rows) if index not in gone]
    for fresh in changes.added:
        empty: dict[str, Any] = dict.fromkeys(own.column_names)
        _change(empty, fresh, own.schema)
        kept.append(empty)
    return written(need("pyarrow", "parquet", WHAT).Table.from_pylist(kept, schema=own.schema))


def _change(row: dict[str, Any], new: Row, schema: Any) -> None:
    lib = need("pyarrow", "parquet", WHAT)
    for column, cell in new.items():
        if column not in row:
            continue
        type_ = schema.field(column).type
        value: Any = cell or None
        if value is not None and lib.types.is_integer(type_):
            value = int(cell)
        elif value is not None and lib.types.is_floating(type_):
            value = float(cell)
        row[column] = value


def written(table: Any) -> bytes:
    """The bytes of a file with this table."""
    buffer = io.BytesIO()
    need("pyarrow.parquet", "parquet", WHAT).write_table(table, buffer)
    return buffer.getvalue()
