"""JSON files with a few annotations changed: everything else keeps its bytes, keys, order and layout.

Where values stand is asked of Python's own JSON scanner, item by item, and only on the way to what changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from clueval_xlsx.corpus.reading import NewSpan, Reading, SourceChange
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.json_dialects import PLAIN, TRIPLE, Dialect, Keys, Spans, Values
from clueval_xlsx.formats.json_lists import keys_of
from clueval_xlsx.formats.json_records import Path, Records, column, filled, look_up

_SPACE = re.compile(r"[ \t\n\r]*")
_scan = json.JSONDecoder().raw_decode
_STYLE_HEAD = 2000
# What an item may repeat of its text, but need not: it is brought up to date, and not added.
_REPEATED = frozenset(
    {"text", "value", "surface", "word", "span_text", "mention", "entity_value", "token_start", "token_end", "entityId"}
)


# ---- correction ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Work:
    """What one person or model marked in a list of annotations: the items, and their numbers in the list."""

    record: int
    path: Path
    spans: Spans
    keys: Keys
    person: str
    items: Sequence[Any] = ()
    places: Sequence[int] = ()
    control: str = ""  # what the list is called, where its name is the layer
    encoded: bool = False  # whether the list is written as a text that holds JSON

    def column(self, role: str) -> list[Any]:
        """What all items have in a role."""
        return column(self.items, self.keys[role]) if role in self.keys else [None] * len(self.items)


@dataclass(eq=False)
class JsonFile:
    """A file as it came, and what its way of writing annotations is known by, to correct them in place."""

    name: str
    raw: bytes
    records: Records
    dialect: Dialect
    works: dict[tuple[int, Path], Work] = field(default_factory=dict)  # by record and path
    layers: Mapping[str, str] = field(default_factory=dict)  # layer -> field, or control
    first: dict[str, tuple[Any, Work]] = field(default_factory=dict)  # by control: the first item, and where it stands
    people: dict[str, Any] = field(default_factory=dict)  # who annotated single items, and how they are written
    surface: Path | None = None  # where items repeat their words, if any does
    numbers: bool = False  # whether labels are numbers
    lists: bool = False  # whether labels are lists of one
    detector: bool = False  # whether a model's finds were read
    annotator: str = ""  # whose annotations were asked for
    together: Work | None = None  # all annotations, where records are alike and no list has a work of its own

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The file with these changes; everything else stays."""
        return {PurePath(self.name).name: self._spliced(reading, changes)}

    def _spliced(self, reading: Reading, changes: Sequence[SourceChange]) -> bytes:
        name, raw = reading.source.name, self.raw
        if not changes:
            return raw
        if any(work.encoded for work in self.works.values()):
            raise OptionError(
                f"{name}: its annotations are written as texts that hold JSON, and are not corrected in place. "
                "Convert the file first (clueval-xlsx convert), and evaluate the new one."
            )
        edits: dict[Path, ListEdit] = {}
        numbers: dict[int, int] = {}
        for change in changes:
            home = change.old or reading.homes[change.document]
            if home is None:
                assert change.new is not None, "what was there has a place"
                raise OptionError(
                    f"{name}: document {reading.doc_ids[change.document]!r} has no list of annotations to add "
                    f"{change.new.surface!r} to. Add an empty one first."
                )
            edit = edits.setdefault((home[0], *home[1]), ListEdit())
            work = self._work(home[0], home[1])
            if change.new is None:
                edit.removed.add(home[2])
            elif change.old is not None:
                item = look_up(self.records.content[home[0]], (*home[1], home[2]))
                edit.changed[home[2]] = self._values(change.new, work, item)
            else:
                number = numbers[change.document] = numbers.get(change.document, 0) + 1
                edit.added.append(self._new_item(change.new, work, f"corrected-{change.document + 1}-{number}"))
        for path, edit in list(edits.items()):
            if edit.removed:
                self._remove_links(path, edit, edits)
        text = edit_lists(raw.decode("utf-8-sig"), self.records, edits)
        if self.dialect.totals:
            text = set_values(text, self.dialect.totals(json.loads(text)))
        mark = "\ufeff" if raw.startswith(b"\xef\xbb\xbf") else ""
        return (mark + text).encode("utf-8", "backslashreplace")

    def _work(self, record: int, path: Path) -> Work:
        if self.together is None:
            return self.works[record, path]
        return replace(self.together, record=record, items=look_up(self.records.content[record], path))

    def _values(self, span: NewSpan, work: Work, item: Any) -> Values:
        """What an annotation should say, in the order of the dialect; `item` is the old one, if there was any."""
        dialect = self.dialect
        fields = [self.layers[layer] for layer in span.labels]
        like = item
        if like is None:
            first, where = self.first.get(fields[0] if dialect.control else "", (None, work))
            like = work.items[0] if work.items and not dialect.control else first if where.spans is work.spans else None
        keys = keys_of(work.spans, like)
        if keys["label"][-1:] == ("hypertextlabels",):
            raise OptionError(
                "regions of HTML text say where they are by paths into it, and are not moved or added here. "
                "Correct them in Label Studio."
            )
        pairs = isinstance(keys["start"][0], int)
        if self.surface is not None and not pairs:
            keys.setdefault("surface", self.surface)
        label = self._label(list(span.labels.values()))
        said = {"start": span.start, "end": span.end, "surface": span.surface, "label": label}
        order = PLAIN if work.spans.keys is TRIPLE and not pairs else work.spans.keys
        values: dict[Path, Any] = {}
        for role in dict.fromkeys((*order, *keys)):
            if role in keys and role in said and (role != "label" or span.label_changed):
                values[keys[role]] = said[role]
        if span.label_changed and not dialect.control and not self.detector:
            others = list(zip(fields, span.labels.values(), strict=True))[1:]
            values |= {(key,): value for key, value in others}
        beside = dialect.beside(self.records.content[work.record], item, span) if dialect.beside else {}
        return {**values, **beside}

    def _label(self, labels: Sequence[str | None]) -> Any:
        """A label as this file writes it."""
        if self.dialect.control:
            return [label for label in labels if label is not None]
        label: Any = labels[0]
        if label is None:
            return None
        if self.numbers and label.isdigit():
            label = int(label)
        return [label] if self.lists else label

    def _new_item(self, span: NewSpan, work: Work, name: str) -> Any:
        values = dict(self._values(replace(span, label_changed=True), work, None))
        if all(isinstance(path[0], int) for path in values):  # such as [3, 9, "PER"]
            return [values[path] for path in sorted(values)]
        control = self.layers[next(iter(span.labels))] if self.dialect.control else ""
        sample, _ = self.first.get(control, (None, work))
        item = {}
        for key, value in work.spans.new.items() if not work.control else ():
            usual = look_up(sample, (key,)) if isinstance(value, str) else None
            item[key] = name if key == "id" else value if usual is None else usual
        if control and not work.control:
            item[self.dialect.control] = control
        if "person" in work.keys and self.people:
            first = work.person or self.annotator
            values[work.keys["person"]] = self.people.get(first, next(iter(self.people.values())))
        return filled(item, values)

    def _remove_links(self, path: Path, edit: ListEdit, edits: dict[Path, ListEdit]) -> None:
        """Remove what would refer to annotations that go, and renumber what counts them."""
        dialect, record = self.dialect, self.records.content[int(path[0])]
        items = look_up(record, path[1:])
        if dialect.linked:
            ids = {look_up(items[index], ("id",)) for index in edit.removed} - {None}
            there = path if dialect.linked == "." else (path[0], dialect.linked)
            ends = ("id", "from_id", "to_id") if there == path else ("from_id", "to_id")
            linked = look_up(record, there[1:])
            gone = {
                number
                for number, item in enumerate(linked if isinstance(linked, list) else ())
                if any(look_up(item, (key,)) in ids for key in ends)
            }
            if gone:
                edits.setdefault(there, ListEdit()).removed.update(gone)
        if dialect.relations:
            kept = [index for index in range(len(items)) if index not in edit.removed]
            number = {index: new for new, index in enumerate(kept)}
            for index in kept:
                links = look_up(items[index], (dialect.relations,)) or []
                new = [{**link, "to": number[link["to"]]} for link in links if link.get("to") in number]
                if new != links:
                    edit.changed[index] = {**edit.changed.get(index, {}), (dialect.relations,): new}


# ---- the splicer ---------------------------------------------------------------------------------------------------


@dataclass
class ListEdit:
    """What changes in one list of a JSON text: items by their numbers, and new ones at its end."""

    removed: set[int] = field(default_factory=set)
    changed: dict[int, Values] = field(default_factory=dict)
    added: list[Any] = field(default_factory=list)


def edit_lists(text: str, records: Records, edits: Mapping[Path, ListEdit]) -> str:
    """Change lists, given by their paths in the records of a file; the first step is the number of a record.

    >>> edit_lists('{"a": []}\\n{"b": 1}\\n', Records([], lines=(1, 2)), {(1, "a"): ListEdit(added=[7])})
    '{"a": []}\\n{"b": 1, "a": [7]}\\n'
    """
    places = _record_places(text, records)
    pieces = []
    for (number, *steps), edit in edits.items():
        begin = places[int(number)]
        place = find(text, begin, tuple(steps))
        if place is not None and text[place[0]] == "[":
            pieces.append((*place, _edited_list(text, place, edit)))
            continue
        style = Style.of(text, ())
        new = "[" + style.separator.join(style.write(item) for item in edit.added) + "]"
        holder = find(text, begin, tuple(steps[:-1]))
        if place is not None:
            pieces.append((*place, new))
        elif holder is not None and text[holder[0]] == "{":
            pieces.append(_new_member(text, holder[0], steps[-1], new, style))
        else:
            raise OptionError(f"there is no object for {'.'.join(map(str, steps))!r}. Mend the file first.")
    return _replaced(text, pieces)


def set_values(text: str, values: Values) -> str:
    """A JSON text with other values at these paths, as far as something stands there.

    >>> set_values('{"counts": {"a": 1}}', {("counts", "a"): 2, ("counts", "b"): 3})
    '{"counts": {"a": 2}}'
    """
    begin = _after_space(text, 0)
    pieces = []
    for path, value in values.items():
        place = find(text, begin, path)
        if place is not None and _scan(text, place[0])[0] != value:
            pieces.append((*place, json.dumps(value)))
    return _replaced(text, pieces)


# ---- places --------------------------------------------------------------------------------------------------------


def children(text: str, position: int) -> Iterator[tuple[Any, int, int]]:
    """Number or key, begin and end of each value in the list or object that begins here."""
    closing = "]" if text[position] == "[" else "}"
    number = 0
    position = _after_space(text, position + 1)
    while text[position] != closing:
        key: Any = number
        if closing == "}":
            key, position = _scan(text, position)
            position = _after_space(text, _after_space(text, position) + 1)
        _, end = _scan(text, position)
        yield key, position, end
        number += 1
        position = _after_space(text, end)
        if text[position] == ",":
            position = _after_space(text, position + 1)


def find(text: str, position: int, path: Path) -> tuple[int, int] | None:
    """Begin and end of the value at a path below the one that begins here; of keys that are given twice, the last."""
    if not path:
        return position, _scan(text, position)[1]
    place = None
    for step in path:
        if text[position] not in "[{":
            return None
        place = None
        for key, begin, end in children(text, position):
            if key == step:
                place = begin, end
        if place is None:
            return None
        position = place[0]
    return place


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _record_places(text: str, records: Records) -> list[int]:
    """Where the records begin."""
    begin = _after_space(text, 0)
    if records.single:
        return [begin]
    if not records.lines:
        place = find(text, begin, records.path)
        assert place is not None, "the list was there when the file was read"
        return [begin for _, begin, _ in children(text, place[0])]
    places = []
    while begin < len(text):
        places.append(begin)
        _, end = _scan(text, begin)
        begin = _after_space(text, end)
    return places


# ---- pieces --------------------------------------------------------------------------------------------------------


def _replaced(text: str, pieces: Sequence[tuple[int, int, str]]) -> str:
    """A text with other pieces in place of some."""
    parts, done = [], 0
    for begin, end, new in sorted(pieces):
        parts += [text[done:begin], new]
        done = end
    return "".join([*parts, text[done:]])


def _new_member(text: str, holder: int, key: Any, new: str, style: Style) -> tuple[int, int, str]:
    """A new member of an object, at its end, separated as its others are."""
    known = list(children(text, holder))
    member = f"{json.dumps(key, ensure_ascii=style.ascii)}{style.colon}{new}"
    if not known:
        return holder + 1, holder + 1, member
    end = known[-1][2]
    return end, end, f"{style.separator}{member}"


def _edited_list(text: str, place: tuple[int, int], edit: ListEdit) -> str:
    start, end = place
    places = [(begin, stop) for _, begin, stop in children(text, start)]
    style = Style.of(text, places)
    if not places:
        if not edit.added:
            return text[start:end]
        return "[" + style.separator.join(style.write(item) for item in edit.added) + "]"
    lead, trail = text[start + 1 : places[0][0]], text[places[-1][1] : end - 1]
    between = [text[left[1] : right[0]] for left, right in pairwise(places)]
    usual = between[0] if between else ("," + lead if lead else style.separator)
    written = ""
    for number, (begin, stop) in enumerate(places):
        if number in edit.removed:
            continue
        item = text[begin:stop]
        if number in edit.changed:
            item = _edited_item(item, edit.changed[number], style)
        written += (between[number - 1] if written else "") + item
    for new in edit.added:
        written += (usual if written else "") + style.write(new)
    return f"[{lead}{written}{trail}]" if written else "[]"


def _edited_item(item: str, values: Values, style: Style) -> str:
    """An item with other values at these paths; one that is not there is added, unless it only repeats the text."""
    pieces = []
    for path, value in values.items():
        place = find(item, 0, path)
        new = json.dumps(value, ensure_ascii=style.ascii)
        if place is not None:
            if _scan(item, place[0])[0] != value:
                pieces.append((*place, new))
            continue
        holder = find(item, 0, path[:-1])
        if value is None or holder is None or path[-1] in _REPEATED:
            continue
        *_, (_, last, _) = children(item, holder[0])
        before = item[max(item.rfind(",", holder[0], last), holder[0]) : last]
        comma = re.match(r",\s*", before)
        own = replace(style, separator=comma[0] if comma else ", ")
        pieces.append(_new_member(item, holder[0], path[-1], new, own))
    return _replaced(item, pieces)


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
        """The style of a list's first item, or of the head of the file."""
        sample = text[slice(*places[0])] if places else text[:_STYLE_HEAD]
        colon = re.search(r'"\s*(:\s*)', sample)
        comma = re.search(r'["\d\]}](,[ ]*)["{\[]', sample)
        style = cls(text.isascii(), comma[1] if comma else ", ", colon[1] if colon else ": ")
        inner = re.match(r"\{\n([ \t]*)", sample) if places else None
        outer = re.search(r"\n([ \t]*)\}$", sample) if places else None
        if inner and outer:
            return replace(style, indent=inner[1][len(outer[1]) :], margin=outer[1])
        return style

    def write(self, item: Any) -> str:
        """A new item in this style."""
        indent = self.indent if isinstance(item, dict) else None
        separators = ("," if indent is not None else self.separator, self.colon)
        written = json.dumps(item, ensure_ascii=self.ascii, indent=indent, separators=separators)
        return written.replace("\n", f"\n{self.margin}")
