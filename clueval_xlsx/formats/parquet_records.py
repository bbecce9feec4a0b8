"""Parquet as data sets have it: a record in each row, with lists of tokens and tags or of annotations.

The rows become JSON Lines, which the readers of JSON read; a correction changes the columns that hold the annotations.
Numbers whose names the file itself knows (`ClassLabel` of Hugging Face) are read as these names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.extras import need
from clueval_xlsx.formats.module import OpenedSource, module_of, told_records
from clueval_xlsx.formats.tables.parquet import WHAT, parquet_table, written
from clueval_xlsx.options import ReadOptions

_FEATURES = b"huggingface"  # the key of the file's metadata under which the names of numbers stand


def holds_records(table: Any) -> bool:
    """Whether a row is a record: one of its cells is a list or an object."""
    types = need("pyarrow", "parquet", WHAT).types
    return any(types.is_nested(field.type) for field in table.schema)


def read_records(table: Any, raw: bytes, name: str, options: ReadOptions) -> Reading | None:
    """Read the rows as records of JSON; None where they are records of no known kind."""
    names = _class_names(table)
    rows = [{key: _named(value, names.get(key, ())) for key, value in row.items()} for row in table.to_pylist()]
    lines = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    inner = OpenedSource(name, lines.encode("utf-8", "backslashreplace"))
    format_ = told_records(inner, options.fields)
    if format_ is None:
        return None
    reading: Any = module_of(format_).read(inner, options)
    source = replace(reading.source, format="parquet", sha256=digest(raw))
    return replace(reading, source=source, original=_Rows(raw, lines, names, reading.original))


def _class_names(table: Any) -> dict[str, tuple[str, ...]]:
    """The names of numbers by column, as Hugging Face keeps them beside the table."""
    try:
        known = json.loads((table.schema.metadata or {}).get(_FEATURES, b"{}"))
        features = known["info"]["features"]
        return {key: tuple(found) for key, value in features.items() if (found := _names_of(value))}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _names_of(feature: Any) -> list[str]:
    while isinstance(feature, dict):
        names = feature.get("names")
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
        feature = feature.get("feature")
    return []


def _named(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names)
    return names[value] if known else value


@dataclass(frozen=True, eq=False)
class _Rows:
    """The table as it came, and the lines that were made of it."""

    raw: bytes
    lines: str
    names: Mapping[str, tuple[str, ...]]
    inner: Any

    def correct(self, reading: Any, changes: Any) -> Any:
        """The table with corrected annotations: columns without any keep their values."""
        after = self.inner.correct(reading, changes)
        if not isinstance(after, dict):
            return self._table(after, reading.source.name)
        return {name: self._table(content, reading.source.name) for name, content in after.items()}

    def _table(self, content: bytes, name: str) -> bytes:
        if content.decode("utf-8") == self.lines:
            return self.raw
        lib = need("pyarrow", "parquet", WHAT)
        table = parquet_table(self.raw, name)
        old, new = ([json.loads(line) for line in text.splitlines()] for text in (self.lines, content.decode("utf-8")))
        for index, column in enumerate(table.column_names):
            if [row.get(column) for row in old] != [row.get(column) for row in new]:
                field = table.schema.field(index)
                values = [self._numbered(row.get(column), self.names.get(column, ()), name) for row in new]
                table = table.set_column(index, field, lib.array(values, field.type))
        return written(table)

    def _numbered(self, value: Any, names: tuple[str, ...], name: str) -> Any:
        if not names:
            return value
        if isinstance(value, list):
            return [self._numbered(item, names, name) for item in value]
        if isinstance(value, str) and value not in names:
            raise InputError(
                f"{name}: {value!r} has no number. Names: {', '.join(names)}. Choose a label that the file knows."
            )
        return names.index(value) if isinstance(value, str) else value
