"""Label Studio: tasks with annotations of several people and predictions of models, as JSON, JSON-MIN or JSON Lines.

Each label control is a layer. Results that are no labelled regions (choices, textareas, ratings, relations) are no
spans; they stay, and go with the region whose ID they share.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.changes import NewSpan
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.annotated_documents import annotated_documents
from clueval_xlsx.formats.collect import Collector, choose_annotators, scalar_attributes
from clueval_xlsx.formats.json_edit import JsonOriginal, Path, Removed, Values
from clueval_xlsx.formats.json_keys import look_up, parse_path
from clueval_xlsx.formats.json_source import Records, first_value, label_of, required, shown
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import ERROR, FIRST, LAYERS, PRED, UNION, WriteOptions, choose_fields
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions

_CONTROL = {"from_name": "label", "to_name": "text", "type": "labels"}  # of the labelling interface that is assumed
_ID_KEYS = ("doc_id", "id")
_ANNOTATIONS = ("annotations", "completions")  # the second is what old versions call them
_LABEL_KINDS = ("labels", "hypertextlabels")
_MIN_KEYS = ("annotation_id", "annotator", "lead_time", "created_at", "updated_at", "annotation_approver")


def tell(opened: OpenedSource) -> bool:
    """Whether documents are tasks, or what JSON-MIN makes of them."""
    record = opened.first_record
    if not isinstance(record, dict) or "full_text" in record:
        return False
    return isinstance(record.get("data"), dict) or _is_min(record)


def _is_min(record: Mapping[str, Any]) -> bool:
    """Whether a record is a task of JSON-MIN: regions stand under the name of their control."""
    return bool(_min_controls(record)) or sum(key in record for key in _MIN_KEYS) >= 3


def _min_controls(record: Mapping[str, Any]) -> list[str]:
    return [
        key
        for key, value in record.items()
        if isinstance(value, list)
        and value
        and all(
            isinstance(item, dict) and "start" in item and any(kind in item for kind in _LABEL_KINDS) for item in value
        )
    ]


@dataclass(frozen=True, eq=False)
class _Region:
    """One labelled region: its control, its labels, where it stands and what it says."""

    control: str
    labels: list[Any]
    place: int
    value: Mapping[str, Any]
    score: Any = None


@dataclass(frozen=True, eq=False)
class _Work:
    """What one person or model did in a task: the index of the record, the path to its results, and the regions."""

    person: str
    record: int
    path: Path
    regions: list[_Region]


@dataclass(eq=False)
class _Controls:
    """The label controls of a file by name: how their results are written, how many labels a region has at most."""

    shapes: dict[str, dict[str, Any]] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)
    flat: bool = False  # JSON-MIN: an item is the region's value itself

    def note(self, result: Mapping[str, Any], region: _Region) -> None:
        shape = {key: result[key] for key in _CONTROL if key in result}
        self.shapes.setdefault(region.control, {**shape, "kind": _kind(region.value)})
        self.most[region.control] = max(self.most.get(region.control, 1), len(region.labels))


def annotators(opened: OpenedSource) -> list[str]:
    """Who annotated, by name."""
    records, content = opened.json_records, opened.json_documents
    controls = _Controls(flat=not any("data" in task for task in content))
    works = (
        work
        for number, task in enumerate(content)
        for work in _works(task, number, opened.name, records, controls, detector=False)
    )
    return sorted({work.person for work in works})


def read(opened: OpenedSource, options: ReadOptions) -> TextReading:
    """Read an export; predictions come from `predictions` if the file has any, everything else from `annotations`.

    A file that nobody has annotated is one of predictions, whichever side it is.
    """
    name, records = opened.name, opened.json_records
    content = opened.json_documents
    controls = _Controls(flat=not any("data" in task for task in content))
    predicted = any(task.get("predictions") for task in content)
    alone = predicted and not any(task.get(key) for task in content for key in _ANNOTATIONS)
    detector = predicted and (options.side == PRED or alone)
    documents, found = [], []
    for number, task in enumerate(content):
        documents.append(_document(task, name, records, number, options))
        found.append(list(_works(task, number, name, records, controls, detector=detector)))
    documents, works = _together(documents, found, flat=controls.flat)
    layers = _layers(controls, options, name)
    collector = Collector(name, format_named("label-studio"), options, layers)
    if alone and options.side != PRED:
        collector.notes.append(f"{name}: nobody has annotated these tasks; their predictions are read")
    if len({_control_of(key) for key in layers.values()}) > 1:
        collector.sequences = {layer: _control_of(key) for layer, key in layers.items()}
    for document in documents:
        collector.add_document(document)
    people = [[each[0].person for each in of_task] for of_task in works]
    chosen, unseen = choose_annotators(people, options.annotator, name)
    if options.annotator is not None:
        collector.unannotated |= unseen
    wanted = {_control_of(key) for key in layers.values()}
    for number, (of_task, indices) in enumerate(zip(works, chosen, strict=True)):
        first = of_task[indices[0]][0] if indices else None
        collector.homes.append(None if first is None else (first.record, first.path))
        for work in (work for index in indices for work in of_task[index]):
            _add_regions(collector, number, work, wanted, options)
    source = Source(name, "label-studio", digest(opened.data), dict(collector.layers))
    original = JsonOriginal(
        name,
        opened.data,
        _Values(controls, dict(layers), content, options.several_tags),
        frozenset(_LABEL_KINDS),
        _new_id(controls),
        dependents=lambda removed: _dependents(content, removed),
    )
    return collector.finish(source, original, detector=detector, union=options.annotator == UNION)


def _document(task: dict[str, Any], name: str, records: Records, number: int, options: ReadOptions) -> TextDocument:
    """The text of a task, its ID and its metadata."""
    place = f"{name}: {records.place(number)}"
    data = required(task, "data", dict, place) if "data" in task else task
    key = _text_field(data, options, place)
    skip = (str(key[0]), *_ID_KEYS, *_MIN_KEYS)
    ids = first_value(_ID_KEYS, data, task)
    if "id" in options.fields:
        found = look_up(data, parse_path(options.fields["id"]))
        ids = None if found is None else str(found)
    return TextDocument(ids, look_up(data, key), scalar_attributes(data, skip))


def _text_field(data: Mapping[str, Any], options: ReadOptions, place: str) -> Path:
    """Where the text of a task stands: as told, under `text`, or in the only field that holds one."""
    if "text" in options.fields:
        path = parse_path(options.fields["text"].removeprefix("data."))
        if isinstance(look_up(data, path), str):
            return path
    elif isinstance(data.get("text"), str):
        return ("text",)
    else:
        texts = [key for key, value in data.items() if isinstance(value, str) and key not in {*_ID_KEYS, *_MIN_KEYS}]
        if len(texts) == 1:
            return (texts[0],)
    wanted = options.fields.get("text", "text")
    found = ", ".join(map(repr, data)) or "nothing"
    raise InputError(
        f"{place}: data has no {wanted!r}, only {found}. Allowed: a text. Say where it stands: --field text=KEY."
    )


def _works(
    task: Mapping[str, Any], number: int, name: str, records: Records, controls: _Controls, *, detector: bool
) -> Iterator[_Work]:
    """Who did something in a task; what was cancelled does not count."""
    place = f"{name}: {records.place(number)}"
    if controls.flat:
        for control in _min_controls(task):
            items = task[control]
            regions = [
                _Region(control, _labels(item), index, item, item.get("score")) for index, item in enumerate(items)
            ]
            for region in regions:
                controls.note({}, region)
            yield _Work(str(task.get("annotator", "#1")), number, (control,), regions)
        if not _min_controls(task):
            yield _Work(str(task.get("annotator", "#1")), number, ("label",), [])
        return
    key = "predictions" if detector else next((key for key in _ANNOTATIONS if key in task), _ANNOTATIONS[0])
    entries = task.get(key) or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{place}: {key} is {shown(entries)}. Allowed: a list of objects.")
    for index, entry in enumerate(entries):
        if entry.get("was_cancelled"):
            continue
        results = required(entry, "result", list, place)
        regions = []
        for spot, result in enumerate(results):
            found = _region(result, spot)
            if found is not None:
                regions.append(found)
                controls.note(result, found)
        yield _Work(_person(entry, index), number, (key, index, "result"), regions)


def _region(result: Any, place: int) -> _Region | None:
    """A labelled region; None for a choice, a textarea, a rating, a relation, or anything else."""
    value = result.get("value") if isinstance(result, dict) else None
    if not isinstance(value, dict) or "start" not in value:
        return None
    kind = result.get("type")
    if not any(name in value for name in _LABEL_KINDS) and kind is not None and not str(kind).endswith("labels"):
        return None
    if not any(name in value for name in _LABEL_KINDS) and kind is None:
        return None
    return _Region(
        str(result.get("from_name", _CONTROL["from_name"])), _labels(value), place, value, result.get("score")
    )


def _kind(value: Mapping[str, Any]) -> str:
    return next((kind for kind in _LABEL_KINDS if kind in value), _LABEL_KINDS[0])


def _labels(value: Mapping[str, Any]) -> list[Any]:
    found = value.get(_kind(value)) or []
    return found if isinstance(found, list) else [found]


def _person(entry: Mapping[str, Any], index: int) -> str:
    person = entry.get("completed_by", entry.get("model_version"))
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return f"#{index + 1}" if person is None else str(person)


def _together(
    documents: Sequence[TextDocument], works: Sequence[list[_Work]], *, flat: bool
) -> tuple[list[TextDocument], list[list[list[_Work]]]]:
    """JSON-MIN has a record for each annotation: those of one task belong together."""
    if not flat:
        return list(documents), [[[work] for work in own] for own in works]
    found: dict[Any, tuple[TextDocument, dict[str, list[_Work]]]] = {}
    for number, (document, own) in enumerate(zip(documents, works, strict=True)):
        key = (document.id, document.text) if document.id is not None else number
        by_person = found.setdefault(key, (document, {}))[1]
        for work in own:
            by_person.setdefault(work.person, []).append(work)
    return [document for document, _ in found.values()], [list(own.values()) for _, own in found.values()]


def _layers(controls: _Controls, options: ReadOptions, name: str) -> dict[str, str]:
    """Which control each layer takes its labels from; a further label of a region is a field of its own."""
    known = list(controls.shapes) or [_CONTROL["from_name"]]
    fields = []
    for control in known:
        most = controls.most.get(control, 1) if options.several_tags == LAYERS else 1
        fields += [control, *(f"{control}-{number}" for number in range(2, most + 1))]
    if options.layers or len(fields) == 1:
        return choose_fields(options.layers, tuple(fields), name, "Label Studio")
    if len(known) == 1:
        return {f"{DEFAULT_LAYER}{key.removeprefix(known[0])}": key for key in fields}
    return {key: key for key in fields}


def _control_of(key: str) -> str:
    control, dash, number = key.rpartition("-")
    return control if dash and number.isdigit() else key


def _add_regions(collector: Collector, number: int, work: _Work, wanted: set[str], options: ReadOptions) -> None:
    document = collector.documents[number]
    shown_id = number + 1 if document.id is None else repr(document.id)
    for region in work.regions:
        if region.control not in wanted:
            continue
        where = f"{collector.name}: document {shown_id}, {work.path[0]} of {work.person}, result {region.place + 1}"
        written = region.value.get(_kind(region.value))
        if written is not None and not isinstance(written, list):
            collector.complain(where, f"labels are {shown(written)}", "a list with one label")
            continue
        if len(region.labels) > 1 and options.several_tags == ERROR:
            collector.complain(
                where,
                f"several labels on one span: {', '.join(map(str, region.labels))}",
                "one label",
                "Split the span, take the first (--several-tags first), or make layers of them (--several-tags layers)",
            )
            continue
        labels = region.labels[:1] if options.several_tags == FIRST else region.labels
        values = {
            region.control if place == 0 else f"{region.control}-{place + 1}": label_of(label)
            for place, label in enumerate(labels)
        }
        start, end = _offsets(region.value)
        surface = region.value.get("text")
        collector.add(
            number,
            (start, end),
            values,
            surface=surface if isinstance(surface, str) else None,
            score=region.score,
            sequence=region.control if collector.sequences else "",
            handle=(work.record, work.path, region.place),
            where=where,
        )


def _offsets(value: Mapping[str, Any]) -> tuple[Any, Any]:
    """Where a region begins and ends; regions of HTML say it besides the path to their element."""
    outer = value.get("globalOffsets")
    if isinstance(outer, dict) and not isinstance(value.get("start"), int):
        return outer.get("start"), outer.get("end")
    return value.get("start"), value.get("end")


@dataclass(frozen=True, eq=False)
class _Values:
    """What a corrected region says."""

    controls: _Controls
    layers: Mapping[str, str]
    content: Sequence[Mapping[str, Any]]
    several: str

    def __call__(self, span: NewSpan, path: Path, record: int) -> Values:  # noqa: ARG002
        inside: Path = () if self.controls.flat else ("value",)
        keys = [self.layers[layer] for layer in span.labels]
        control = _control_of(keys[0])
        kind = self.controls.shapes.get(control, {}).get("kind", _LABEL_KINDS[0])
        if self.controls.most and kind == _LABEL_KINDS[1]:
            raise OptionError(
                "regions of HTML text say where they are by paths into it, and are not moved or added here. "
                "Correct them in Label Studio."
            )
        labels = [label for label in span.labels.values() if label is not None]
        shape = {(key,): value for key, value in self.controls.shapes.get(control, _CONTROL).items() if key != "kind"}
        return {
            **({} if self.controls.flat else {key: value for key, value in shape.items() if key == ("from_name",)}),
            (*inside, "start"): span.start,
            (*inside, "end"): span.end,
            (*inside, "text"): span.surface,
            (*inside, kind): labels,
        }


def _new_id(controls: _Controls) -> Any:
    def besides(document: int, number: int) -> dict[str, Any]:
        """What a new region says besides: Label Studio needs to know which control it belongs to."""
        if controls.flat:
            return {}
        shape = next(iter(controls.shapes.values()), _CONTROL)
        return {"id": f"corrected-{document}-{number}", **{key: shape.get(key, _CONTROL[key]) for key in _CONTROL}}

    return besides


def _dependents(content: Sequence[Mapping[str, Any]], removed: Removed) -> Removed:
    """What shares the ID of a removed region, and the relations that lead to it or from it."""
    gone: dict[Path, set[int]] = {}
    for path, indices in removed.items():
        results = look_up(content[int(path[0])], path[1:])
        if not isinstance(results, list):
            continue
        ids = {results[index].get("id") for index in indices if isinstance(results[index], dict)} - {None}
        dangling = {
            index
            for index, result in enumerate(results)
            if isinstance(result, dict) and ids & {result.get("id"), result.get("from_id"), result.get("to_id")}
        }
        if dangling:
            gone[path] = dangling
    return gone


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file: tasks for an interface with a `<Labels>` control for each layer over `<Text name="text">`."""
    parts = {layer: annotated_documents(reading, {layer: spans}, "label-studio") for layer, spans in layers.items()}
    content: list[dict[str, Any]] = []
    for number, row in enumerate(zip(*parts.values(), strict=True), 1):
        document = row[0].document
        data: dict[str, Any] = {"text": document.text}
        if document.id is not None:
            data["doc_id"] = document.id
        data.update({key: value for key, value in document.attributes.items() if key not in data})
        results: list[dict[str, Any]] = []
        for layer, each in zip(parts, row, strict=True):
            control = _CONTROL if len(parts) == 1 else {**_CONTROL, "from_name": layer}
            for (start, end, label), score in each.scored_spans:
                value = {
                    "start": start,
                    "end": end,
                    "text": document.text[start:end],
                    "labels": [label] if label else [],
                }
                scored = {} if score is None else {"score": score}
                results.append({"id": f"span-{number}-{len(results) + 1}", **control, "value": value, **scored})
        content.append({"data": data, "annotations": [{"result": results}]})
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    if how.name.lower().endswith((".jsonl", ".ndjson")):
        text = "".join(json.dumps(task, ensure_ascii=False) + "\n" for task in content)
    return {how.name: text.encode("utf-8", "backslashreplace")}
