"""Label Studio JSON export: tasks with `data.text`, annotations of several people, predictions of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clueval_xlsx.corpus.reading import Source, digest
from clueval_xlsx.corpus.standoff import PRED, UNION, Document, TextFormat, TextReading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.collect import Collector, choose_annotators, scalar_attributes
from clueval_xlsx.formats.json_source import JsonOriginal, label_of, parse_documents, required, shown

FIELDS = ("label",)
_ID_KEYS = ("doc_id", "id")
_NOT_METADATA = ("text", *_ID_KEYS)


def read_label_studio(
    raw: bytes, name: str, options: TextFormat, documents: list[dict[str, Any]] | None = None
) -> TextReading:
    """Read an export; predictions come from `predictions` if the file has any, everything else from `annotations`."""
    content = parse_documents(raw, name) if documents is None else documents
    collector = Collector(name, "Label Studio JSON", options, FIELDS)
    for number, task in enumerate(content):
        data = required(task, "data", dict, name, number + 1)
        text = data.get("text")
        if not isinstance(text, str):
            found = ", ".join(map(repr, data)) or "nothing"
            raise InputError(f"{name}: document {number + 1}: data has no 'text', only {found}. Allowed: data.text.")
        collector.add_document(Document(_document_id(task, data), text, scalar_attributes(data, _NOT_METADATA)))
    detector = options.side == PRED and any(task.get("predictions") for task in content)
    key = "predictions" if detector else "annotations"
    lists = [_people(task, key, name, number) for number, task in enumerate(content)]
    chosen, unseen = choose_annotators([[person for person, _ in people] for people in lists], options.annotator, name)
    if options.annotator is not None:
        collector.unannotated |= unseen
    for number, (people, indices) in enumerate(zip(lists, chosen, strict=True)):
        collector.homes.append((number, (key, people[indices[0]][1], "result")) if indices else None)
        for person, index in (people[index] for index in indices):
            _add_results(collector, content[number], number, key, index, person)
    source = Source(name, "label-studio", digest(raw), dict(collector.layers))
    return collector.finish(source, JsonOriginal(name, raw), detector=detector, union=options.annotator == UNION)


def _add_results(collector: Collector, task: Mapping[str, Any], number: int, key: str, index: int, person: str) -> None:
    doc_id = collector.documents[number].id
    document = number + 1 if doc_id is None else repr(doc_id)
    for place, result in enumerate(required(task[key][index], "result", list, collector.name, number + 1)):
        where = f"{collector.name}: document {document}, {key} of {person}, result {place + 1}"
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
            value.get("start"),
            value.get("end"),
            {"label": label_of(labels[0] if labels else None)},
            surface=surface if isinstance(surface, str) else None,
            handle=(number, (key, index, "result"), place),
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


def _document_id(task: Mapping[str, Any], data: Mapping[str, Any]) -> str | None:
    for holder in (data, task):
        for key in _ID_KEYS:
            if holder.get(key) is not None:
                return str(holder[key])
    return None
