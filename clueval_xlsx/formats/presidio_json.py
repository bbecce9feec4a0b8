"""Presidio JSON: a list of `{full_text, spans: [{entity_type, start_position, end_position, entity_value}]}`."""

from __future__ import annotations

from typing import Any

from clueval_xlsx.corpus.reading import Source, digest
from clueval_xlsx.corpus.standoff import Document, TextFormat, TextReading
from clueval_xlsx.formats.collect import Collector, scalar_attributes
from clueval_xlsx.formats.json_source import JsonOriginal, label_of, parse_documents, required, shown

FIELDS = ("entity_type",)
_ID_KEYS = ("doc_id", "sample_id", "id")
_NOT_METADATA = ("full_text", "masked", "spans", "tokens", "tags", *_ID_KEYS)


def read_presidio(
    raw: bytes, name: str, options: TextFormat, documents: list[dict[str, Any]] | None = None
) -> TextReading:
    """Read Presidio's evaluation data."""
    content = parse_documents(raw, name) if documents is None else documents
    collector = Collector(name, "Presidio JSON", options, FIELDS)
    for number, document in enumerate(content):
        text = required(document, "full_text", str, name, number + 1)
        doc_id = _document_id(document)
        collector.add_document(Document(doc_id, text, scalar_attributes(document, _NOT_METADATA)))
        spans = required(document, "spans", list, name, number + 1) if "spans" in document else []
        collector.homes.append((number, ("spans",)) if "spans" in document else None)
        for index, span in enumerate(spans):
            where = f"{name}: document {number + 1 if doc_id is None else repr(doc_id)}, span {index + 1}"
            if not isinstance(span, dict):
                collector.complain(where, f"found {shown(span)}", "an object with start_position and end_position")
                continue
            value = span.get("entity_value")
            collector.add(
                number,
                span.get("start_position"),
                span.get("end_position"),
                {"entity_type": label_of(span.get("entity_type"))},
                surface=value if isinstance(value, str) else None,
                handle=(number, ("spans",), index),
                where=where,
            )
    source = Source(name, "presidio", digest(raw), dict(collector.layers))
    return collector.finish(source, JsonOriginal(name, raw))


def _document_id(document: dict[str, Any]) -> str | None:
    metadata = document.get("metadata")
    for holder in (document, metadata if isinstance(metadata, dict) else {}):
        for key in _ID_KEYS:
            if holder.get(key) is not None:
                return str(holder[key])
    return None
