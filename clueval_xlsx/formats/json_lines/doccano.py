"""doccano: `label` as [[start, end, label]], `entities` and `relations`, or `annotations` with a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument
from clueval_xlsx.formats.json_edit import Removed
from clueval_xlsx.formats.json_keys import SpanKeys, is_triple
from clueval_xlsx.formats.json_lines.spans import Dialect, read_spans
from clueval_xlsx.formats.json_lines.writing import with_id, write_records
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.options import ReadOptions

_TRIPLES = ("label", "labels")
_OBJECTS = ("entities", "annotations")
_SKIP = (*_TRIPLES, *_OBJECTS, "relations", "Comments", "comments", "cats", "data", "annotation_approver")


def tell(opened: OpenedSource) -> bool:
    """Whether documents have a text with triples, or with annotations from start_offset to end_offset."""
    record = opened.first_record
    if not isinstance(record, dict) or not isinstance(_text(record), str):
        return False
    for key in _TRIPLES:
        value = record.get(key)
        if isinstance(value, list) and all(is_triple(item) for item in value[:5]):
            return True
    return "doc_id" not in record and any(_is_object_list(record.get(key)) for key in _OBJECTS)


def _text(record: Mapping[str, Any]) -> Any:
    return record.get("text", record.get("data"))


def _is_object_list(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and "start_offset" in first and "entity_type" not in first


def _keys(record: Any) -> SpanKeys:
    text = ("text",) if not isinstance(record, dict) or "text" in record else ("data",)
    for key in _TRIPLES:
        if isinstance(record, dict) and isinstance(record.get(key), list):
            return SpanKeys(text, (key,), 0, 1, 2, None)
    for key in _OBJECTS:
        if isinstance(record, dict) and isinstance(record.get(key), list):
            return SpanKeys(text, (key,), "start_offset", "end_offset", "label")
    return SpanKeys(text, (_TRIPLES[0],), 0, 1, 2, None)


def _relations(records: Sequence[Any], removed: Removed) -> Removed:
    """Relations whose ends are removed."""
    gone: dict[tuple[str | int, ...], set[int]] = {}
    for path, indices in removed.items():
        record = records[int(path[0])]
        entities, relations = record.get(path[-1]), record.get("relations")
        if not isinstance(relations, list) or not isinstance(entities, list):
            continue
        ids = {entities[index].get("id") for index in indices if isinstance(entities[index], dict)} - {None}
        dangling = {
            number
            for number, relation in enumerate(relations)
            if isinstance(relation, dict) and ids & {relation.get("from_id"), relation.get("to_id")}
        }
        if dangling:
            gone[path[0], "relations"] = dangling
    return gone


_DIALECT = Dialect("doccano", _keys, dependents=_relations, skip=_SKIP)


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read an export."""
    return read_spans(opened, options, _DIALECT)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file that doccano imports."""
    return write_records(reading, layers, how, what="doccano", record=_record)


def _record(each: AnnotatedDocument) -> dict[str, Any]:
    meta = {key: value for key, value in each.document.attributes.items() if key not in {"id", "text", "label"}}
    return {**with_id(each), "text": each.document.text, "label": [list(span) for span in each.spans], **meta}
