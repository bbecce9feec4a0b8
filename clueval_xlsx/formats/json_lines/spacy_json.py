"""spaCy's training pairs `[text, {"entities": [[start, end, label]]}]`, and documents with `ents` or `entities`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument
from clueval_xlsx.formats.json_keys import ID_KEYS, Path, SpanKeys, is_triple, look_up
from clueval_xlsx.formats.json_lines.spans import Dialect, read_spans
from clueval_xlsx.formats.json_lines.writing import write_records
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.options import ReadOptions

_PLACES = ("entities", "ents")


def tell(opened: OpenedSource) -> bool:
    """Whether documents are pairs of a text and its entities, or objects with a text and entities."""
    record = opened.first_record
    if isinstance(record, list):
        return len(record) == 2 and isinstance(record[0], str) and isinstance(record[1], dict)
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return False
    return any(_is_entity_list(record.get(key)) for key in _PLACES)


def _is_entity_list(value: Any) -> bool:
    return isinstance(value, list) and all(
        is_triple(item) or (isinstance(item, dict) and "start" in item and "label" in item) for item in value[:5]
    )


def _keys(record: Any) -> SpanKeys:
    if isinstance(record, list):
        return _keys_at(record, (0,), (1, "entities"))
    key = next((key for key in _PLACES if isinstance(record.get(key), list)), _PLACES[0])
    return _keys_at(record, ("text",), (key,))


def _keys_at(record: Any, text: Path, spans: Path) -> SpanKeys:
    found = look_up(record, spans)
    first = found[0] if isinstance(found, list) and found else []
    return SpanKeys(text, spans) if isinstance(first, dict) else SpanKeys(text, spans, 0, 1, 2, None)


_IDS = (*((1, key) for key in ID_KEYS), *((key,) for key in ID_KEYS), *(("meta", key) for key in ID_KEYS))
_DIALECT = Dialect("spacy-json", _keys, ids=_IDS, skip=(*_PLACES, "tokens", "sents", "cats", "spans", "links"))


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read training data."""
    return read_spans(opened, options, _DIALECT)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file of pairs."""
    return write_records(reading, layers, how, what="spacy-json", record=_record)


def _record(each: AnnotatedDocument) -> list[Any]:
    beside = {} if each.document.id is None else {"id": each.document.id}
    return [each.document.text, {"entities": [list(span) for span in each.spans], **beside}]
