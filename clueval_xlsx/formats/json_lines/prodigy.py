"""Prodigy: `text`, `tokens` and `spans`, an `answer`, hashes and whatever else; only accepted answers are documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.changes import NewSpan
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument
from clueval_xlsx.formats.json_edit import Values
from clueval_xlsx.formats.json_keys import ID_KEYS, SpanKeys, is_offset
from clueval_xlsx.formats.json_lines.spans import Dialect, read_spans
from clueval_xlsx.formats.json_lines.writing import scored, write_records
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.options import ReadOptions

_SIGNS = ("_input_hash", "_task_hash", "_view_id", "_session_id", "_annotator_id", "answer")
_SKIP = (*_SIGNS, "tokens", "spans", "options", "accept", "config", "relations", "_is_binary", "_timestamp", "html")


def tell(opened: OpenedSource) -> bool:
    """Whether documents have a text and what Prodigy adds."""
    record = opened.first_record
    return isinstance(record, dict) and "text" in record and any(key in record for key in _SIGNS)


def _accepted(record: Any) -> bool:
    return not isinstance(record, dict) or record.get("answer", "accept") == "accept"


def _annotator(record: Any) -> str | None:
    found = record.get("_annotator_id") or record.get("_session_id") if isinstance(record, dict) else None
    return None if found is None else str(found)


def _token_bounds(record: Any, span: NewSpan) -> Values:
    """The first and last token of a span, where documents carry their tokens."""
    tokens = record.get("tokens") if isinstance(record, dict) else None
    if not isinstance(tokens, list) or not all(
        isinstance(token, dict) and is_offset(token.get("start")) and is_offset(token.get("end")) for token in tokens
    ):
        return {}
    inside = [index for index, token in enumerate(tokens) if token["end"] > span.start and token["start"] < span.end]
    if not inside:
        return {}
    first, last = inside[0], inside[-1]
    return {
        ("token_start",): tokens[first].get("id", first),
        ("token_end",): tokens[last].get("id", last),
    }


_DIALECT = Dialect(
    "prodigy",
    lambda record: SpanKeys(),  # noqa: ARG005
    counts=_accepted,
    left_out="were not accepted (answer: reject or ignore) and are left out",
    annotator=_annotator,
    beside=_token_bounds,
    ids=(*((key,) for key in ID_KEYS), *(("meta", key) for key in ID_KEYS), ("_input_hash",)),
    skip=_SKIP,
)


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read what `prodigy db-out` wrote."""
    _refuse_single_answers(opened)
    return read_spans(opened, options, _DIALECT)


def _refuse_single_answers(opened: OpenedSource) -> None:
    """Refuse answers about one span each, of which a text has several: none of them is the whole of it."""
    seen = set()
    for index, record in enumerate(opened.json_records.content):
        if not isinstance(record, dict) or not _accepted(record) or record.get("_input_hash") is None:
            continue
        task = (record["_input_hash"], _annotator(record))
        single = record.get("_is_binary") or record.get("_view_id") == "ner"
        if task in seen and single:
            raise InputError(
                f"{opened.name}: {opened.json_records.place(index)}: another answer about the same text. These are "
                "answers about one span each (as ner.teach asks for them), not documents. Make whole "
                "documents of them first: `prodigy data-to-spacy` writes a .spacy file, which is read."
            )
        seen.add(task)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file for `prodigy db-in`."""
    return write_records(reading, layers, how, what="prodigy", record=_record)


def _record(each: AnnotatedDocument) -> dict[str, Any]:
    text, meta = each.document.text, dict(each.document.attributes)
    if each.document.id is not None:
        meta = {"id": each.document.id, **meta}
    spans = [
        scored({"start": start, "end": end, "label": label}, score) for (start, end, label), score in each.scored_spans
    ]
    number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:4], "big", signed=True)
    return {"text": text, "spans": spans, "meta": meta, "_input_hash": number, "answer": "accept"}
