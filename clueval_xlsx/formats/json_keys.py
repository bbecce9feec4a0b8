"""Where things stand in a record of JSON: paths, the keys of an annotation, the call that would fit unknown ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clueval_xlsx.formats.json_source import decoded, key_list

Step = str | int
Path = tuple[Step, ...]

ID_KEYS = ("doc_id", "document_id", "id", "uid")
_SURFACES = ("text", "value", "surface", "word", "span_text", "mention")
_STARTS = ("start", "start_offset", "start_char", "start_position", "begin", "char_start", "from", "offset_start")
_ENDS = ("end", "end_offset", "end_char", "end_position", "stop", "char_end", "to", "offset_end")
_LABELS = ("label", "labels", "type", "entity_type", "entity", "tag", "category", "class", "ner")


@dataclass(frozen=True)
class SpanKeys:
    """Where a record holds its text and its annotations, and an annotation its offsets, label, score and words."""

    text: Path = ("text",)
    spans: Path = ("spans",)
    start: Step = "start"
    end: Step = "end"
    label: Step = "label"
    score: Step | None = "score"
    surface: Step | None = None

    def overridden(self, fields: Mapping[str, str]) -> SpanKeys:
        """The same with what somebody said (`--field`)."""
        paths = {name: parse_path(fields[name]) for name in ("text", "spans") if name in fields}
        steps = {name: parse_path(fields[name])[0] for name in ("start", "end", "label", "score") if name in fields}
        return replace(self, **paths, **steps)  # type: ignore[arg-type]

    def with_surface_of(self, spans: Sequence[Any]) -> SpanKeys:
        """The same, with the key under which annotations repeat their words, if they do."""
        first = next((span for span in spans if isinstance(span, dict)), {})
        words = (key for key in _SURFACES if isinstance(first.get(key), str) and key not in {self.label, self.start})
        return replace(self, surface=next(words, self.surface))


PAIRS = SpanKeys(start=0, end=1, label=2, score=None)


def parse_path(text: str) -> Path:
    """`data.items.0` as steps; a number leads into a list.

    >>> parse_path("data.items.0")
    ('data', 'items', 0)
    """
    return tuple(int(step) if step.isascii() and step.isdigit() else step for step in text.split("."))


def look_up(record: Any, path: Path) -> Any:
    """What stands at a path; None where there is nothing."""
    for step in path:
        if isinstance(record, dict) and str(step) in record:
            record = record[str(step)]
        elif isinstance(record, list) and isinstance(step, int) and step < len(record):
            record = record[step]
        else:
            return None
    return record


def is_offset(value: Any) -> bool:
    """Whether a value can be an offset."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_triple(value: Any) -> bool:
    """Whether an annotation is written as [start, end, label]."""
    return isinstance(value, list) and len(value) >= 3 and is_offset(value[0]) and is_offset(value[1])


def fitting_call(record: Any) -> str:
    """What is in a record that no format knows, and the `--field` call that would read it, if one would."""
    if not isinstance(record, dict):
        return ""
    record = {key: decoded(value) for key, value in record.items()}
    tokens = [key for key, value in record.items() if _is_list_of(value, str)]
    strings = {key: len(value) for key, value in record.items() if isinstance(value, str)}
    spans = [(key, value) for key, value in record.items() if isinstance(value, list) and _first_span(value)]
    if strings and spans:
        text = max(strings, key=lambda key: strings[key])
        key, value = spans[0]
        return _call(text=text, spans=key, **_span_fields(value))
    inner = [
        (f"{key}.{name}", value)
        for key, part in record.items()
        if isinstance(part, dict)
        for name, value in part.items()
    ]
    nested = [(path, value) for path, value in inner if isinstance(value, list) and _first_span(value)]
    texts = [path for path, value in inner if isinstance(value, str)]
    if nested and (strings or texts):
        text = max(strings, key=lambda key: strings[key]) if strings else texts[0]
        return _call(text=text, spans=nested[0][0], **_span_fields(nested[0][1]))
    if len(tokens) > 1 or (tokens and len(record) > 1):
        same = [
            key for key, value in record.items() if isinstance(value, list) and len(value) == len(record[tokens[0]])
        ]
        if len(same) > 1:
            return _call(tokens=same[0], tags=next(key for key in same if key != same[0]))
    return ""


def unknown_keys(record: Any) -> str:
    """The keys of a record, and those of its first annotation-like item."""
    if not isinstance(record, dict):
        return "no keys"
    inner = [
        f"{key}: {key_list(value[0])}"
        for key, value in record.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]
    return key_list(record) + (f" (in {'; in '.join(inner[:3])})" if inner else "")


def _call(**fields: Step) -> str:
    return " ".join(f"--field {name}={key}" for name, key in fields.items())


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, kind) for item in value)


def _first_span(values: list[Any]) -> bool:
    first = values[0] if values else None
    if isinstance(first, dict):
        return sum(is_offset(value) for value in first.values()) >= 2
    return is_triple(first)


def _span_fields(values: list[Any]) -> dict[str, Step]:
    first = values[0]
    if isinstance(first, list):
        return {"start": 0, "end": 1, "label": 2}
    numbers = [key for key, value in first.items() if is_offset(value)]
    words = [key for key, value in first.items() if isinstance(value, str)]
    start = next((key for key in _STARTS if key in numbers), numbers[0])
    end = next((key for key in _ENDS if key in numbers), next(key for key in numbers if key != start))
    label = next((key for key in _LABELS if key in words), words[0] if words else "label")
    return {"start": start, "end": end, "label": label}
