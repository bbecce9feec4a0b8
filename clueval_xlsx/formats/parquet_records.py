"""Parquet as data sets have it: a record in each row, with lists of tokens and tags or of annotations.

The rows become JSON Lines, which the readers of JSON read.
Numbers whose names the file itself knows (`ClassLabel` of Hugging Face) are read as these names.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import need
from clueval_xlsx.formats.sniffing import told_records
from clueval_xlsx.formats.tables.parquet import WHAT
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
    reading = format_.load().read(inner, options)
    return replace(reading, source=replace(reading.source, format="parquet", sha256=digest(raw)), carrier=None)


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
