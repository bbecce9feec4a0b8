"""JSON files with a few annotations changed: everything else keeps its bytes, keys, order and layout."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from clueval_xlsx.corpus.changes import Changes, Handle, NewSpan
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.json_source import records_of

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()

_REPEATED = frozenset(
    {"text", "value", "surface", "word", "span_text", "mention", "entity_value", "token_start", "token_end"}
)  # words that an item may repeat, but need not

Path = tuple[str | int, ...]
Values = Mapping[Path, Any]  # where in an item, and what should stand there


@dataclass
class ListEdit:
    """What changes in one list of a JSON text: items by index, and new ones at its end."""

    removed: set[int] = field(default_factory=set)
    changed: dict[int, Values] = field(default_factory=dict)
    added: list[Any] = field(default_factory=list)


def _nothing(document: int, number: int) -> dict[str, Any]:  # noqa: ARG001
    return {}


Removed = Mapping[Path, set[int]]  # by the path of a list, its number of the document first: what goes from it


def _nobody(removed: Removed) -> Removed:  # noqa: ARG001
    return {}


@dataclass(frozen=True, eq=False)
class JsonOriginal:
    """The file as it came, to be written back with only the corrected annotations changed.

    `values` says what an annotation in the list at a path of a document should say, `label_keys` which of that is its
    label; `besides` is what a new one says besides, by the number of its document and its own. `dependents` says what
    else goes with annotations that are removed, because it would refer to nothing.
    """

    name: str
    raw: bytes
    values: Callable[[NewSpan, Path, int], Values]
    label_keys: frozenset[str | int]
    besides: Callable[[int, int], dict[str, Any]] = _nothing
    dependents: Callable[[Removed], Removed] = _nobody

    def correct(self, reading: TextReading, changes: Changes) -> dict[str, bytes]:
        """The file with these changes; everything else keeps its bytes."""
        return {PurePath(self.name).name: self._corrected(reading, changes)}

    def _corrected(self, reading: TextReading, changes: Changes) -> bytes:
        documents = changes.documents()
        if not documents:
            return self.raw
        edits: dict[Path, ListEdit] = {}

        def edit_of(handle: Handle) -> ListEdit:
            return edits.setdefault((handle[0], *handle[1]), ListEdit())

        for document in documents:
            for handle in changes.removed[document]:
                edit_of(handle).removed.add(handle[2])
            for handle, span in changes.changed[document]:
                edit_of(handle).changed[handle[2]] = self._changed_values(span, handle)
            for number, span in enumerate(changes.added[document], 1):
                home = reading.homes[document]
                if home is None:
                    raise OptionError(
                        f"{reading.source.name}: document {reading.doc_ids[document]!r} has no list of annotations "
                        f"to add {span.surface!r} to. Add an empty one first."
                    )
                edit_of(home).added.append(self._new_item(span, home, document + 1, number))
        removed = {path: edit.removed for path, edit in edits.items() if edit.removed}
        for path, indices in self.dependents(removed).items():
            edits.setdefault(path, ListEdit()).removed.update(indices)
        byte_order_mark = "\ufeff" if self.raw.startswith(b"\xef\xbb\xbf") else ""
        text = self.raw.decode("utf-8-sig")
        return (byte_order_mark + edit_lists(text, edits)).encode("utf-8", "backslashreplace")

    def _new_item(self, span: NewSpan, home: Handle, document: int, number: int) -> Any:
        values = self.values(span, home[1], home[0])
        if all(isinstance(path[0], int) for path in values):  # an annotation that is a list, such as [3, 9, "PER"]
            return [values[path] for path in sorted(values, key=lambda path: path[0])]
        return _filled(self.besides(document, number), values)

    def _changed_values(self, span: NewSpan, handle: Handle) -> Values:
        """What is written into an annotation that was there: its label only where that changed."""
        values = self.values(span, handle[1], handle[0])
        return {key: value for key, value in values.items() if span.label_changed or not self.label_keys & set(key)}


def _filled(item: dict[str, Any], values: Values) -> dict[str, Any]:
    """An object with values at their paths."""
    for path, value in values.items():
        holder = item
        for step in path[:-1]:
            holder = holder.setdefault(str(step), {})
        holder[str(path[-1])] = value
    return item


def edit_lists(text: str, edits: Mapping[Path, ListEdit]) -> str:
    """Change lists, given by their paths from the top, in a JSON text; the first step is the number of a document.

    >>> edit_lists('{"a": []}\\n{"b": 1}\\n', {(1, "a"): ListEdit(added=[7])})
    '{"a": []}\\n{"b": 1, "a": [7]}\\n'
    """
    replacements: list[tuple[int, int, str]] = []
    documents = record_places(text)
    for path, edit in edits.items():
        begin = documents[int(path[0])]
        start = _find(text, begin, path[1:])
        if start is None or text[start] != "[":
            replacements.append(_new_member(text, begin, path[1:], edit, start))
            continue
        _, end = _DECODER.raw_decode(text, start)
        replacements.append((start, end, _edited_list(text, start, end, edit)))
    return _replaced(text, replacements)


def _new_member(text: str, begin: int, path: Path, edit: ListEdit, start: int | None) -> tuple[int, int, str]:
    """A list where there was none, or null: a value in place of that, or a new key of the object around it."""
    holder = _find(text, begin, path[:-1])
    style = Style.of(text, [])
    new = "[" + style.separator.join(style.write(item) for item in edit.added) + "]"
    if start is not None:
        _, stop = _DECODER.raw_decode(text, start)
        return start, stop, new
    if holder is None or text[holder] != "{":
        raise KeyError(f"no list at {path}")
    known = list(members(text, holder))
    key = f"{json.dumps(path[-1], ensure_ascii=style.ascii)}{style.colon}{new}"
    place = known[-1][2] if known else holder + 1
    return place, place, f"{style.separator}{key}" if known else key


def record_places(text: str) -> list[int]:
    """Where the documents of a JSON file begin: the items of a list, the lines of JSON Lines, or one object."""
    begin = _skip(text, 0)
    try:
        content, end = _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError:
        return []
    if _skip(text, end) < len(text):
        places = [begin]
        while (begin := _skip(text, end)) < len(text):
            places.append(begin)
            _, end = _DECODER.raw_decode(text, begin)
        return places
    records = records_of(content)
    if records.single:
        return [begin]
    start = _find(text, begin, records.path)
    assert start is not None, "the path was found when the file was read"
    return [place for place, _ in items(text, start)]


def items(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Where the items of a list begin and end."""
    position = _skip(text, position + 1)
    while text[position] != "]":
        _, end = _DECODER.raw_decode(text, position)
        yield position, end
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)


def members(text: str, position: int) -> Iterator[tuple[str, int, int]]:
    """The keys of an object, and where their values begin and end."""
    position = _skip(text, position + 1)
    while text[position] != "}":
        key, end = _DECODER.raw_decode(text, position)
        begin = _skip(text, _skip(text, end) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        yield key, begin, end
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _find(text: str, position: int, path: Path) -> int | None:
    """Where the value at a path below `position` begins; the last of keys that are given twice, as when reading."""
    for step in path:
        found = None
        if isinstance(step, int):
            found = next((begin for number, (begin, _) in enumerate(items(text, position)) if number == step), None)
        else:
            for key, begin, _ in members(text, position):
                found = begin if key == step else found
        if found is None:
            return None
        position = found
    return position


def _replaced(text: str, replacements: Sequence[tuple[int, int, str]]) -> str:
    pieces, done = [], 0
    for begin, end, new in sorted(replacements):
        pieces += [text[done:begin], new]
        done = end
    return "".join([*pieces, text[done:]])


def _edited_list(text: str, start: int, end: int, edit: ListEdit) -> str:
    places = list(items(text, start))
    style = Style.of(text, places)
    if not places:
        return (
            "[" + style.separator.join(style.write(item) for item in edit.added) + "]"
            if edit.added
            else text[start:end]
        )
    lead, trail = text[start + 1 : places[0][0]], text[places[-1][1] : end - 1]
    between = [text[left[1] : right[0]] for left, right in pairwise(places)]
    usual = between[0] if between else ("," + lead if lead else style.separator)
    written = ""
    for number, (begin, stop) in enumerate(places):
        if number in edit.removed:
            continue
        raw = text[begin:stop]
        if number in edit.changed:
            raw = _edited_item(raw, edit.changed[number], style)
        written += (between[number - 1] if written else "") + raw
    for item in edit.added:
        written += (usual if written else "") + style.write(item)
    return f"[{lead}{written}{trail}]" if written else "[]"


def _edited_item(raw: str, values: Values, style: Style) -> str:
    replacements = []
    for path, value in values.items():
        begin = _find(raw, 0, path)
        new = json.dumps(value, ensure_ascii=style.ascii)
        if begin is None:
            holder = _find(raw, 0, path[:-1])
            if value is None or holder is None or path[-1] in _REPEATED:
                continue
            *_, (_, last, stop) = members(raw, holder)
            key = json.dumps(path[-1], ensure_ascii=style.ascii)
            before = raw[raw.rfind(",", holder, last) : last] if "," in raw[holder:last] else ", "
            comma = re.match(r",\s*", before)
            replacements.append((stop, stop, f"{comma[0] if comma else ', '}{key}{style.colon}{new}"))
            continue
        old, stop = _DECODER.raw_decode(raw, begin)
        if old != value:
            replacements.append((begin, stop, new))
    return _replaced(raw, replacements)


@dataclass(frozen=True)
class Style:
    """How a file writes its JSON."""

    ascii: bool
    separator: str  # between items on one line
    colon: str
    indent: str | None = None  # None: items stand on one line
    margin: str = ""  # before the closing brace of an item

    @classmethod
    def of(cls, text: str, places: Sequence[tuple[int, int]]) -> Style:
        """The style of a list's first item, or of the file."""
        sample = text[slice(*places[0])] if places else text[:2000]
        colon = re.search(r'"\s*(:\s*)', sample)
        comma = re.search(r'["\d\]}](,[ ]*)["{\[]', sample)
        style = cls(ascii=text.isascii(), separator=comma[1] if comma else ", ", colon=colon[1] if colon else ": ")
        inner = re.match(r"\{\n([ \t]*)", sample) if places else None
        outer = re.search(r"\n([ \t]*)\}$", sample) if places else None
        if inner and outer:
            return cls(style.ascii, style.separator, style.colon, inner[1][len(outer[1]) :], outer[1])
        return style

    def write(self, item: Any) -> str:
        """A new item in this style."""
        indent = self.indent if isinstance(item, dict) else None
        separators = ("," if indent is not None else self.separator, self.colon)
        written = json.dumps(item, ensure_ascii=self.ascii, indent=indent, separators=separators)
        return written.replace("\n", f"\n{self.margin}")


def replace_items(text: str, values: Mapping[Path, Mapping[int, Any]]) -> str:
    """Other values for items of lists, which are given by their paths; the first step is the number of a document."""
    documents = record_places(text)
    ascii_only = text.isascii()
    replacements = []
    for path, items_of_list in values.items():
        start = _find(text, documents[int(path[0])], path[1:])
        assert start is not None, "the list was there when the file was read"
        for index, place in enumerate(items(text, start)):
            if index in items_of_list:
                replacements.append((*place, json.dumps(items_of_list[index], ensure_ascii=ascii_only)))
    return _replaced(text, replacements)
