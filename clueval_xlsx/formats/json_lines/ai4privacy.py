"""ai4privacy: `source_text` with a `privacy_mask` of value, start, end and label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument
from clueval_xlsx.formats.json_keys import SpanKeys
from clueval_xlsx.formats.json_lines.spans import Dialect, read_spans
from clueval_xlsx.formats.json_lines.writing import with_id, write_records
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.options import ReadOptions

_TEXTS = ("source_text", "unmasked_text", "text")
_MASK = "privacy_mask"
_SKIP = (*_TEXTS, _MASK, "target_text", "masked_text", "span_labels")


def tell(opened: OpenedSource) -> bool:
    """Whether documents have a text and a privacy mask."""
    return opened.has_keys(_MASK) and any(opened.has_keys(key) for key in _TEXTS)


def _keys(record: Any) -> SpanKeys:
    key = next((key for key in _TEXTS if isinstance(record, dict) and key in record), _TEXTS[0])
    return SpanKeys((key,), (_MASK,), surface="value")


_DIALECT = Dialect("ai4privacy", _keys, skip=_SKIP)


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read a data set."""
    return read_spans(opened, options, _DIALECT)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file with texts, masked texts and masks."""
    return write_records(reading, layers, how, what="ai4privacy", record=_record)


def _record(each: AnnotatedDocument) -> dict[str, Any]:
    text = each.document.text
    mask = [{"value": text[start:end], "start": start, "end": end, "label": label} for start, end, label in each.spans]
    masked, done, counts = "", 0, dict[str, int]()
    for start, end, label in each.spans:
        name = label or "X"
        counts[name] = counts.get(name, 0) + 1
        masked += f"{text[done:start]}[{name}_{counts[name]}]"
        done = end
    attributes = {key: value for key, value in each.document.attributes.items() if key not in {*_SKIP, "id", "uid"}}
    return {
        "source_text": text,
        "masked_text": masked + text[done:],
        "privacy_mask": mask,
        **with_id(each, "uid"),
        **attributes,
    }
