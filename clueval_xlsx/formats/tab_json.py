"""TAB / ECHR JSON: documents with `annotations` by annotator (or one flat list) and a detector's list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.changes import NewSpan
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument, annotated_documents
from clueval_xlsx.formats.collect import Collector, choose_annotators, scalar_attributes
from clueval_xlsx.formats.json_edit import JsonOriginal, Path, Values
from clueval_xlsx.formats.json_source import label_of, required, shown
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import PRED, UNION, WriteOptions
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.options import ReadOptions

FIELDS = format_named("tab").fields
ATTRIBUTES = ("identifier_type", "entity_id")
DETECTED = "presidio_detected_pii"
_NOT_METADATA = ("doc_id", "text", "annotations", DETECTED, "id")
_FLAT = ""  # the name of the annotator where the annotations are one flat list


def tell(opened: OpenedSource) -> bool:
    """Whether documents have a text with annotations or a detector's list."""
    return opened.has_keys("text", "annotations") or opened.has_keys("text", DETECTED)


def annotators(opened: OpenedSource) -> list[str]:
    """Who annotated, by name."""
    lists = [_annotators(document, opened.name, number) for number, document in enumerate(opened.json_documents)]
    return sorted({name for names in lists for name in names if name != _FLAT})


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read a TAB file; predictions come from the detector's list if the file has one."""
    name, content = opened.name, opened.json_documents
    collector = Collector(name, format_named("tab"), options)
    for number, document in enumerate(content, 1):
        doc_id = document.get("doc_id", document.get("id"))
        text = required(document, "text", str, f"{name}: document {number}")
        collector.add_document(
            TextDocument(None if doc_id is None else str(doc_id), text, scalar_attributes(document, _NOT_METADATA))
        )
    detector = options.side == PRED and any(DETECTED in document for document in content)
    if detector:
        _add_detected(collector, content)
    else:
        _add_annotations(collector, content, options.annotator)
    source = Source(name, "tab", digest(opened.data), dict(collector.layers))
    values = partial(_values, dict(collector.layers))
    return collector.finish(
        source,
        JsonOriginal(name, opened.data, values, frozenset({*FIELDS, "label"})),
        detector=detector,
        union=options.annotator == UNION,
        attributes=() if detector else ATTRIBUTES,
    )


def _add_detected(collector: Collector, content: list[dict[str, Any]]) -> None:
    missing = [field for field in collector.layers.values() if field != FIELDS[0]]
    if missing:
        collector.notes.append(
            f"{collector.name}: {DETECTED} has no {', '.join(missing)}: its spans carry no label there"
        )
    for number, document in enumerate(content):
        mentions = document.get(DETECTED) or []
        collector.homes.append((number, (DETECTED,)) if document.get(DETECTED) is not None else None)
        for index, mention in enumerate(_items(mentions, collector.name, number, DETECTED)):
            label = mention.get("label", mention.get("entity_type"))
            collector.add(
                number,
                (mention.get("start"), mention.get("end")),
                {"entity_type": label_of(label)},
                surface=_text(mention.get("text")),
                score=mention.get("score"),
                handle=(number, (DETECTED,), index),
                where=f"{collector.name}: document {_shown(document, number)}, {DETECTED} {index + 1}",
            )


def _add_annotations(collector: Collector, content: list[dict[str, Any]], wanted: str | None) -> None:
    lists = [_annotators(document, collector.name, number) for number, document in enumerate(content)]
    chosen, unseen = choose_annotators([list(annotators) for annotators in lists], wanted, collector.name)
    if wanted is not None and unseen:
        collector.unannotated |= unseen
    for number, (document, annotators, indices) in enumerate(zip(content, lists, chosen, strict=True)):
        names = list(annotators)
        home = next((annotators[names[index]][0] for index in indices), None)
        collector.homes.append(None if home is None else (number, home))
        for annotator in (names[index] for index in indices):
            path, mentions = annotators[annotator]
            for index, mention in enumerate(_items(mentions, collector.name, number, "annotations")):
                by = f" of {annotator}" if annotator != _FLAT else ""
                collector.add(
                    number,
                    (mention.get("start_offset"), mention.get("end_offset")),
                    {field: label_of(mention.get(field)) for field in FIELDS},
                    surface=_text(mention.get("span_text")),
                    handle=(number, path, index),
                    where=f"{collector.name}: document {_shown(document, number)}, mention {index + 1}{by}",
                )


def _annotators(document: Mapping[str, Any], name: str, number: int) -> dict[str, tuple[tuple[str, ...], Any]]:
    """The lists of mentions of a document by annotator, each with its path in the document."""
    annotations = document.get("annotations")
    if annotations is None:
        return {}
    if isinstance(annotations, list):
        return {_FLAT: (("annotations",), annotations)}
    if isinstance(annotations, dict) and "entity_mentions" in annotations:
        return {_FLAT: (("annotations", "entity_mentions"), annotations["entity_mentions"])}
    found: dict[str, tuple[tuple[str, ...], Any]] = {}
    for annotator, content in annotations.items() if isinstance(annotations, dict) else [("", annotations)]:
        if not isinstance(content, dict) or "entity_mentions" not in content:
            raise InputError(
                f"{name}: document {_shown(document, number)}: annotations of {annotator!r} are "
                f"{shown(content)}. Allowed: an object with 'entity_mentions', or one list of mentions."
            )
        found[annotator] = (("annotations", annotator, "entity_mentions"), content["entity_mentions"])
    return found


def _items(mentions: Any, name: str, number: int, what: str) -> list[dict[str, Any]]:
    if not isinstance(mentions, list) or not all(isinstance(mention, dict) for mention in mentions):
        raise InputError(f"{name}: document {number + 1}: {what}: found {shown(mentions)}. Allowed: a list of objects.")
    return mentions


def _shown(document: Mapping[str, Any], number: int) -> str:
    doc_id = document.get("doc_id", document.get("id"))
    return str(number + 1) if doc_id is None else shown(doc_id)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _values(fields: Mapping[str, str], span: NewSpan, path: Path, record: int) -> Values:  # noqa: ARG001
    """What an annotation should say, given the field of each layer."""
    labels = {fields[layer]: label for layer, label in span.labels.items()}
    if path == (DETECTED,):
        return {
            ("start",): span.start,
            ("end",): span.end,
            ("label",): labels.get("entity_type"),
            ("text",): span.surface,
        }
    return {
        ("entity_type",): labels.get("entity_type"),
        ("start_offset",): span.start,
        ("end_offset",): span.end,
        ("span_text",): span.surface,
        **{(field,): label for field, label in labels.items() if field != "entity_type"},
    }


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file with a detector's list, whatever the detector is."""
    text = detected_json(annotated_documents(reading, layers, "tab"))
    return {how.name: text.encode("utf-8", "backslashreplace")}


def detected_json(documents: Sequence[AnnotatedDocument]) -> str:
    """Texts and finds; what else a document has stays with the dataset."""
    content = []
    for number, each in enumerate(documents, 1):
        text = each.document.text
        found = [
            {"start": start, "end": end, "label": label, "text": text[start:end]}
            | ({} if score is None else {"score": score})
            for (start, end, label), score in each.scored_spans
        ]
        doc_id = each.document.id if each.document.id is not None else f"#{number}"
        content.append({"doc_id": doc_id, "text": text, DETECTED: found})
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
