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
_MOST_ROWS = 200_000_000


def parquet_table(raw: bytes, name: str) -> Any:
    """The table of a file."""
    parquet = need("pyarrow.parquet", "parquet", WHAT)
    lib = need("pyarrow", "parquet", WHAT)
    try:
        file = parquet.ParquetFile(io.BytesIO(raw))
        if file.metadata.num_rows > _MOST_ROWS:
            raise InputError(f"{name}: says that it has {file.metadata.num_rows:,} rows. Allowed: {_MOST_ROWS:,}.")
        return file.read()
    except (lib.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"{name}: is no Parquet file that can be read ({reason}). Write it again.") from None


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
