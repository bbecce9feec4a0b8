"""The cells of WebAnno TSV: columns that the header declares, stacked values with their IDs, what is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clueval_xlsx.exceptions import InputError

SPAN, SLOT, CHAIN, RELATION = "spans", "slots", "chains", "relations"
_LAYERS = {"#T_SP=": SPAN, "#T_CH=": CHAIN, "#T_RL=": RELATION}
NOTHING, NULL = "_", "*"
_STACK = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_NUMBERED = re.compile(r"(.*?)(?<!\\)((?:\\\\)*)\[(\d+)\]", re.DOTALL)
_ESCAPE = re.compile(r"\\\\|\\->|\\[\[\]|_;*]|\\t|\\n")
_RESERVED = re.compile(r"\\|\[|\]|\||_|->|;|\t|\n|\*")
_IN_TEXT = {"t": "\t", "n": "\n", "f": "\f", "r": "\r", "b": "\b", "\\": "\\"}
_TO_TEXT = {value: key for key, value in _IN_TEXT.items()}


@dataclass(frozen=True)
class Column:
    """A column of annotations: its layer's type, the feature it holds (none: the layer has no features), its kind."""

    type: str
    feature: str
    kind: str
    target: str = ""  # the type that a slot or relation refers to

    @property
    def is_span(self) -> bool:
        """Whether it says something about spans themselves."""
        return self.kind == SPAN


@dataclass
class StackedValue:
    """One annotation in one row: its features, its ID where it needs one, and the key it is known by."""

    values: dict[str, str | None]
    id: str = ""
    key: str = ""


def columns_of(lines: Sequence[str], name: str) -> tuple[Column, ...]:
    """The columns that the header declares."""
    found: list[Column] = []
    for number, whole in enumerate(lines[1:], 2):
        line = whole.strip("\r\n")
        kind = next((kind for start, kind in _LAYERS.items() if line.startswith(start)), None)
        if kind is None:
            if line.startswith("#T_"):
                raise InputError(f"{name}:{number}: found {line[:40]!r}. Allowed: #T_SP=, #T_CH= and #T_RL=.")
            if line.strip():
                break
            continue
        type_, *features = line.partition("=")[2].split("|")
        features = [feature for feature in features if feature] or [""]
        before = ""
        for feature in features:
            if kind == SPAN and (feature.startswith("ROLE_") or before.startswith("ROLE_")):
                found.append(Column(type_, feature, SLOT, "" if feature.startswith("ROLE_") else feature))
            elif kind == RELATION and feature.startswith("BT_"):
                found.append(Column(type_, feature, kind, feature.removeprefix("BT_")))
            else:
                found.append(Column(type_, feature, kind))
            before = feature
    return tuple(found)


def entries_of(cells: Sequence[str], columns: Sequence[Column]) -> dict[str, list[StackedValue]]:
    """The annotations of a row by the type of their layer."""
    found: dict[str, list[StackedValue]] = {}
    for cell, column in zip(cells, columns, strict=True):
        if not column.is_span or cell in {NOTHING, ""}:
            continue
        parts = stacked(cell)
        entries = found.setdefault(column.type, [])
        while len(entries) < len(parts):
            entries.append(StackedValue({}))
        for entry, part in zip(entries, parts, strict=False):
            value, number = numbered(part)
            entry.id = entry.id or number
            if column.feature:
                entry.values[column.feature] = None if value == NULL else unescaped_value(value)
    return found


def written_cells(cells: list[str], columns: Sequence[Column], type_: str, entries: Sequence[StackedValue]) -> None:
    """Write the annotations of a layer into the cells of a row."""
    for index, column in enumerate(columns):
        if column.type != type_ or column.kind not in {SPAN, SLOT}:
            continue
        if not entries:
            cells[index] = NOTHING
        elif column.is_span:
            cells[index] = "|".join(_written(entry, column.feature) for entry in entries)
        elif cells[index] == NOTHING:
            cells[index] = NULL if not column.target else NOTHING


def _written(entry: StackedValue, feature: str) -> str:
    value = entry.values.get(feature)
    return (NULL if value is None else escaped_value(value)) + (f"[{entry.id}]" if entry.id else "")


def stacked(cell: str) -> list[str]:
    """The values of a cell with several annotations.

    >>> stacked(r"PER[1]|a\\|b[2]")
    ['PER[1]', 'a\\\\|b[2]']
    """
    parts, begin = [], 0
    for found in _STACK.finditer(cell):
        parts.append(cell[begin : found.end(1)])
        begin = found.end()
    return [*parts, cell[begin:]]


def numbered(part: str) -> tuple[str, str]:
    """A value and its ID; an escaped bracket belongs to the value.

    >>> numbered("PER[12]"), numbered(r"a\\[1\\]")
    (('PER', '12'), ('a\\\\[1\\\\]', ''))
    """
    found = _NUMBERED.fullmatch(part)
    return (found[1] + found[2], found[3]) if found else (part, "")


def escaped_value(value: str) -> str:
    """A value with what has a meaning in a cell escaped."""
    named = {"\t": "\\t", "\n": "\\n"}
    return _RESERVED.sub(lambda match: named.get(match[0], "\\" + match[0]), value)


def unescaped_value(value: str) -> str:
    """A value as it is meant.

    >>> unescaped_value(escaped_value("a_b|c->d[1]")) == "a_b|c->d[1]"
    True
    """
    named = {"\\t": "\t", "\\n": "\n"}
    return _ESCAPE.sub(lambda match: named.get(match[0], match[0][1:]), value)


def escaped_text(text: str) -> str:
    """Words of the text as they stand in a row."""
    return re.sub(
        r"[\x00-\x1f\\]",
        lambda match: "\\" + _TO_TEXT.get(match[0], match[0]),
        text,
    )


def unescaped_text(text: str) -> str:
    """Words of a row or of a `#Text=` line as they are meant."""
    return re.sub(r"\\([tnfrb\\\x00-\x1f])", lambda match: _IN_TEXT.get(match[1], match[1]), text)


def unescaped_text_of_java(text: str) -> str:
    """The same in versions before 3.2, which escape as Java does."""

    def meant(match: re.Match[str]) -> str:
        if match[2]:
            return chr(int(match[2], 16))
        return _IN_TEXT.get(match[1], match[1])

    joined = re.sub(r"\\(u+([0-9A-Fa-f]{4})|.)", meant, text)
    return joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
