"""Records of any keys: `text` and `spans` with `start`, `end`, `label`, or whatever `--field` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument
from clueval_xlsx.formats.json_keys import SpanKeys, is_triple, look_up
from clueval_xlsx.formats.json_lines.spans import Dialect, read_spans
from clueval_xlsx.formats.json_lines.writing import scored, with_id, write_records
from clueval_xlsx.formats.json_source import decoded
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.options import ReadOptions


def tell(opened: OpenedSource) -> bool:
    """Whether documents have a text, and spans with start and end."""
    record = opened.first_record
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return False
    spans = decoded(record.get("spans"))
    return isinstance(spans, list) and all(isinstance(span, dict) and "start" in span for span in spans[:5])


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read records whose keys are given, or are the plain ones."""
    path = SpanKeys().overridden(options.fields).spans

    def keys(record: Any) -> SpanKeys:
        spans = decoded(look_up(record, path))
        first = spans[0] if isinstance(spans, list) and spans else None
        return SpanKeys(start=0, end=1, label=2, score=None) if is_triple(first) else SpanKeys()

    return read_spans(opened, options, Dialect("json", keys))


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file of plain records."""
    return write_records(reading, layers, how, what="json", record=_record)


def _record(each: AnnotatedDocument) -> dict[str, Any]:
    text = each.document.text
    spans = [
        scored({"start": start, "end": end, "label": label, "text": text[start:end]}, score)
        for (start, end, label), score in each.scored_spans
    ]
    attributes = {key: value for key, value in each.document.attributes.items() if key not in {"id", "text", "spans"}}
    return {**with_id(each), "text": text, "spans": spans, **attributes}
