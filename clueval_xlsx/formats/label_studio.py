"""Label Studio JSON export: tasks with `data.text`, annotations of several people, predictions of models."""

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
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.annotated_documents import AnnotatedDocument, annotated_documents
from clueval_xlsx.formats.collect import Collector, choose_annotators, scalar_attributes
from clueval_xlsx.formats.json_edit import JsonOriginal, Path, Values
from clueval_xlsx.formats.json_source import first_value, label_of, required, shown
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import PRED, UNION, ReadOptions, WriteOptions
from clueval_xlsx.formats.registry import format_named

_CONTROL = {"from_name": "label", "to_name": "text", "type": "labels"}  # of the labelling interface that is assumed
_ID_KEYS = ("doc_id", "id")
_NOT_METADATA = ("text", *_ID_KEYS)


def tell(opened: OpenedSource) -> bool:
    """Whether documents are tasks."""
    return opened.has_keys("data") and not opened.has_keys("full_text")


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read an export; predictions come from `predictions` if the file has any, everything else from `annotations`."""
    name, content = opened.name, opened.json_documents
    collector = Collector(name, format_named("label-studio"), options)
    for number, task in enumerate(content):
        data = required(task, "data", dict, f"{name}: document {number + 1}")
        text = data.get("text")
        if not isinstance(text, str):
            found = ", ".join(map(repr, data)) or "nothing"
            raise InputError(f"{name}: document {number + 1}: data has no 'text', only {found}. Allowed: data.text.")
        collector.add_document(
            TextDocument(first_value(_ID_KEYS, data, task), text, scalar_attributes(data, _NOT_METADATA))
        )
    detector = options.side == PRED and any(task.get("predictions") for task in content)
    key = "predictions" if detector else "annotations"
    lists = [_people(task, key, name, number) for number, task in enumerate(content)]
    chosen, unseen = choose_annotators([[person for person, _ in people] for people in lists], options.annotator, name)
    if options.annotator is not None:
        collector.unannotated |= unseen
    for number, (people, indices) in enumerate(zip(lists, chosen, strict=True)):
        collector.homes.append((number, (key, people[indices[0]][1], "result")) if indices else None)
        for person, index in (people[index] for index in indices):
            _add_results(collector, number, (key, index, "result"), entry=content[number][key][index], person=person)
    source = Source(name, "label-studio", digest(opened.data), dict(collector.layers))
    original = JsonOriginal(name, opened.data, _values, frozenset({"labels"}), _new_region)
    return collector.finish(source, original, detector=detector, union=options.annotator == UNION)


def _add_results(
    collector: Collector, number: int, path: tuple[str, int, str], *, entry: dict[str, Any], person: str
) -> None:
    """Take the results of one person for a document; `path` leads to them."""
    doc_id = collector.documents[number].id
    document = number + 1 if doc_id is None else repr(doc_id)
    for place, result in enumerate(required(entry, "result", list, f"{collector.name}: document {number + 1}")):
        where = f"{collector.name}: document {document}, {path[0]} of {person}, result {place + 1}"
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict) or "start" not in value:
            continue  # a relation, a choice for the whole text, a rating
        labels = value.get("labels") or value.get("hypertextlabels") or []
        if not isinstance(labels, list):
            collector.complain(where, f"labels are {shown(labels)}", "a list with one label")
            continue
        if len(labels) > 1:
            collector.complain(
                where, f"several labels on one span: {', '.join(map(str, labels))}", "one label", "Split the span"
            )
            continue
        surface = value.get("text")
        collector.add(
            number,
            (value.get("start"), value.get("end")),
            {"label": label_of(labels[0] if labels else None)},
            surface=surface if isinstance(surface, str) else None,
            handle=(number, path, place),
            where=where,
        )


def _people(task: Mapping[str, Any], key: str, name: str, number: int) -> list[tuple[str, int]]:
    """Who annotated a task, with the index of what they did; what was cancelled does not count."""
    found = []
    entries = task.get(key) or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{name}: document {number + 1}: {key} is {shown(entries)}. Allowed: a list of objects.")
    for index, entry in enumerate(entries):
        if not entry.get("was_cancelled"):
            found.append((_person(entry, index), index))
    return found


def _person(entry: Mapping[str, Any], index: int) -> str:
    person = entry.get("completed_by", entry.get("model_version"))
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return f"#{index + 1}" if person is None else str(person)


def _values(span: NewSpan, path: Path) -> Values:  # noqa: ARG001
    return {
        ("value", "start"): span.start,
        ("value", "end"): span.end,
        ("value", "text"): span.surface,
        ("value", "labels"): [] if span.label is None else [span.label],
    }


def _new_region(document: int, number: int) -> dict[str, Any]:
    """What a new region says besides: Label Studio needs to know which control it belongs to."""
    return {"id": f"corrected-{document}-{number}", **_CONTROL}


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file."""
    text = label_studio_json(annotated_documents(reading, layers, "label-studio"))
    return {how.name: text.encode("utf-8", "backslashreplace")}


def label_studio_json(documents: Sequence[AnnotatedDocument]) -> str:
    """Tasks for a labelling interface `<Labels name="label" toName="text">` over `<Text name="text">`."""
    content: list[dict[str, Any]] = []
    for number, each in enumerate(documents, 1):
        text = each.document.text
        data: dict[str, Any] = {"text": text}
        if each.document.id is not None:
            data["doc_id"] = each.document.id
        data.update({key: value for key, value in each.document.attributes.items() if key not in data})
        results = [
            {
                "id": f"span-{number}-{place}",
                **_CONTROL,
                "value": {"start": start, "end": end, "text": text[start:end], "labels": [label] if label else []},
            }
            for place, (start, end, label) in enumerate(each.spans, 1)
        ]
        content.append({"data": data, "annotations": [{"result": results}]})
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
