"""New files of records: one object a line, or a list where the name ends in `.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument, annotated_documents
from clueval_xlsx.formats.options import WriteOptions


def write_records(
    reading: Reading,
    layers: Mapping[str, pd.DataFrame],
    how: WriteOptions,
    *,
    what: str,
    record: Callable[[AnnotatedDocument], Any],
) -> dict[str, bytes]:
    """A file with one record for each document."""
    return {how.name: records_text([record(each) for each in annotated_documents(reading, layers, what)], how.name)}


def records_text(records: list[Any], name: str) -> bytes:
    """Records as the name of their file asks for them."""
    if name.lower().endswith(".json"):
        text = json.dumps(records, ensure_ascii=False, indent=1) + "\n"
    else:
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return text.encode("utf-8", "backslashreplace")


def with_id(each: AnnotatedDocument, key: str = "id") -> dict[str, Any]:
    """The ID of a document, where it has one."""
    return {} if each.document.id is None else {key: each.document.id}


def scored(span: dict[str, Any], score: float | None) -> dict[str, Any]:
    """An annotation with its score, where it has one."""
    return span if score is None else {**span, "score": score}
