"""The formats of JSON: told, read and written by what their dialects say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.reading import NewSpan, Reading
from clueval_xlsx.formats.json_dialects import DIALECTS, EACH, Dialect, Spans, Values
from clueval_xlsx.formats.json_lists import told
from clueval_xlsx.formats.json_reading import RecordReader
from clueval_xlsx.formats.json_records import alternatives, filled, first_of, parse_path
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import WriteOptions
from clueval_xlsx.formats.writing import AnnotatedDocument, annotated_documents
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.threads import nothing_collected


class JsonFormat:
    """The format of one name, in all dialects that go by it."""

    def __init__(self, name: str) -> None:
        self.dialects = tuple(dialect for dialect in DIALECTS if dialect.name == name)

    def tell(self, opened: OpenedSource) -> bool:
        """Whether the first records of a file look like this dialect more than like any other."""
        return opened.looks_like_json and opened.json_dialect in self.dialects

    def needs_text(self, opened: OpenedSource) -> bool:
        """Whether records come without their texts."""
        dialect = self._dialect(opened)
        sample = opened.json_records.sample
        return dialect.text_elsewhere and all(first_of(record, dialect.text)[1] is None for record in sample)

    @nothing_collected()
    def read(self, opened: OpenedSource, options: ReadOptions) -> Reading:
        """Read a file."""
        return RecordReader(opened, options, self._dialect(opened)).read()

    def annotators(self, opened: OpenedSource) -> list[str]:
        """Who annotated, by name."""
        dialect = self._dialect(opened)
        if not dialect.person and not any(spans.person or "person" in spans.keys for spans in dialect.spans):
            return []
        tasks = RecordReader(opened, ReadOptions(), dialect).find_tasks()
        return sorted({person for task in tasks for person in task.people} - {""})

    def write(self, reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
        """A new file of records."""
        dialect = self.dialects[0]
        alone = [dict([each]) for each in layers.items()]
        parts = [annotated_documents(reading, each, dialect.name) for each in (alone if dialect.control else [layers])]
        records = new_records(dialect, dict(zip(layers, parts, strict=False)))
        return {how.name: written_records(records, how.name, dialect)}

    def _dialect(self, opened: OpenedSource) -> Dialect:
        return told(opened.json_records, self.dialects) or self.dialects[0]


def format_module(name: str) -> JsonFormat:
    """What reads and writes the format of a name."""
    return JsonFormat(name)


def written_records(records: list[Any], name: str, dialect: Dialect | None = None) -> bytes:
    """A new file with these records: a line for each, or a list, as its name and the dialect ask for it."""
    ending = PurePath(name).suffix.lower()
    as_lines = ending != ".json" if dialect is None or dialect.lines else ending in {".jsonl", ".ndjson"}
    around = dialect.around if dialect is not None else None
    if as_lines and around is None:
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    else:
        content = records if around is None else around(records)
        text = json.dumps(content, ensure_ascii=False, indent=1 if dialect is None else dialect.indent) + "\n"
    return text.encode("utf-8", "backslashreplace")


# ---- new records ---------------------------------------------------------------------------------------------------


def new_records(dialect: Dialect, layers: Mapping[str, Sequence[AnnotatedDocument]]) -> list[Any]:
    """New records of documents with their annotations; several layers are controls."""
    at = next(where.replace("0", EACH) for where, what in dialect.shape.items() if what == "spans")
    spans = next(each for each in (*dialect.detected, *dialect.spans) if each.at == at or EACH not in at)
    records = []
    for count, parts in enumerate(zip(*layers.values(), strict=True), 1):
        items: list[Any] = []
        for layer, part in zip(layers, parts, strict=True):
            control = layer if len(layers) > 1 else ""
            for (start, end, label), score in part.scored_spans:
                span = NewSpan(start, end, {layer: label}, part.document.text[start:end])
                item = _new_item(dialect, spans, span, score, f"span-{count}-{len(items) + 1}")
                items.append({**item, dialect.control: control} if control else item)
        records.append(_new_record(dialect, parts[0], items, count))
    return records


def _new_item(dialect: Dialect, spans: Spans, span: NewSpan, score: float | None, name: str) -> Any:
    label: Any = span.label
    if dialect.control:
        label = [] if label is None else [label]
    said = {"start": span.start, "end": span.end, "surface": span.surface, "label": label, "score": score}
    values: Values = {}
    for role, paths in spans.keys.items():
        if role in said and (role != "score" or score is not None):
            values[alternatives(paths)[0]] = said[role]
        if role == "label" and dialect.repeated:
            values[dialect.repeated,] = span.surface
    values |= dialect.beside(None, None, span) if dialect.beside else {}
    return filled({key: name if key == "id" else value for key, value in spans.new.items()}, values)


def _new_record(dialect: Dialect, each: AnnotatedDocument, items: list[Any], number: int) -> Any:
    document = each.document
    doc_id = f"#{number}" if document.id is None else document.id
    known = {"id": document.id, "id or number": doc_id, "text": document.text, "spans": items}
    values: Values = {}
    for where, what in dialect.shape.items():
        path = parse_path(where.rstrip("."))
        if what == EACH:
            taken = {"id", *(path[-1] for path in values)}
            values |= {(*path, key): value for key, value in document.attributes.items() if key not in taken}
        else:
            value = what(each) if callable(what) else known[what]
            values |= {} if value is None else {path: value}
    return filled({}, values)
