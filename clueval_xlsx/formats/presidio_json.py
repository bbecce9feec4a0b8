"""Presidio JSON: a list of `{full_text, spans: [{entity_type, start_position, end_position, entity_value}]}`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.changes import NewSpan
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument, annotated_documents
from clueval_xlsx.formats.collect import Collector, scalar_attributes
from clueval_xlsx.formats.json_edit import JsonOriginal, Path, Values
from clueval_xlsx.formats.json_lines.writing import records_text
from clueval_xlsx.formats.json_source import first_value, label_of, required, shown
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.options import ReadOptions

_ID_KEYS = ("doc_id", "sample_id", "id")
_NOT_METADATA = ("full_text", "masked", "spans", "tokens", "tags", *_ID_KEYS)


def tell(opened: OpenedSource) -> bool:
    """Whether documents have a full text."""
    return opened.has_keys("full_text")


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read Presidio's evaluation data."""
    collector = Collector(opened.name, format_named("presidio"), options)
    for number, document in enumerate(opened.json_documents):
        place = f"{opened.name}: document {number + 1}"
        text = required(document, "full_text", str, place)
        doc_id = _document_id(document)
        collector.add_document(TextDocument(doc_id, text, scalar_attributes(document, _NOT_METADATA)))
        spans = required(document, "spans", list, place) if "spans" in document else []
        collector.homes.append((number, ("spans",)) if "spans" in document else None)
        for index, span in enumerate(spans):
            where = f"{opened.name}: document {number + 1 if doc_id is None else repr(doc_id)}, span {index + 1}"
            if not isinstance(span, dict):
                collector.complain(where, f"found {shown(span)}", "an object with start_position and end_position")
                continue
            value = span.get("entity_value")
            collector.add(
                number,
                (span.get("start_position"), span.get("end_position")),
                {"entity_type": label_of(span.get("entity_type"))},
                surface=value if isinstance(value, str) else None,
                score=span.get("score"),
                handle=(number, ("spans",), index),
                where=where,
            )
    source = Source(opened.name, "presidio", digest(opened.data), dict(collector.layers))
    return collector.finish(source, JsonOriginal(opened.name, opened.data, _values, frozenset({"entity_type"})))


def _document_id(document: dict[str, Any]) -> str | None:
    metadata = document.get("metadata")
    return first_value(_ID_KEYS, document, metadata if isinstance(metadata, dict) else {})


def _values(span: NewSpan, path: Path, record: int) -> Values:  # noqa: ARG001
    return {
        ("entity_type",): span.label,
        ("entity_value",): span.surface,
        ("start_position",): span.start,
        ("end_position",): span.end,
    }


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file: a list, which Presidio's tools read, or a line for each document where its name asks for that."""
    records = _records(annotated_documents(reading, layers, "presidio"))
    if how.name.lower().endswith((".jsonl", ".ndjson")):
        return {how.name: records_text(records, how.name)}
    text = json.dumps(records, ensure_ascii=False, indent=2) + "\n"
    return {how.name: text.encode("utf-8", "backslashreplace")}


def _records(documents: Sequence[AnnotatedDocument]) -> list[dict[str, Any]]:
    """What Presidio's evaluation tools and this project read; document ID and metadata in `metadata`."""
    content: list[dict[str, Any]] = []
    for each in documents:
        text, metadata = each.document.text, dict(each.document.attributes)
        if each.document.id is not None:
            metadata = {"doc_id": each.document.id, **metadata}
        content.append(
            {
                "full_text": text,
                "spans": [
                    {
                        "entity_type": label,
                        "entity_value": text[start:end],
                        "start_position": start,
                        "end_position": end,
                        **({} if score is None else {"score": score}),
                    }
                    for (start, end, label), score in each.scored_spans
                ],
                "metadata": metadata,
            }
        )
    return content
