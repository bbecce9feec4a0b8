"""UIMA CAS as JSON: its text and annotations, and corrections that leave every other feature structure alone."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.cas.content import (
    CHAIN_FEATURES,
    CHAIN_REFERENCES,
    CHAINS,
    NO_WIDTH,
    OTHER_VIEWS,
    RELATION_ENDS,
    RELATIONS,
    CasAnnotation,
    CasEdit,
    NewAnnotation,
)
from clueval_xlsx.formats.json_records import shown
from clueval_xlsx.formats.json_splicing import Style, children
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.options.values import Unit
from clueval_xlsx.text.characters import UTF16

STRUCTURES, VIEWS, TYPES = "%FEATURE_STRUCTURES", "%VIEWS", "%TYPES"
_ID, _TYPE, _SOFA, _MEMBERS = "%ID", "%TYPE", "@sofa", "%MEMBERS"
_SOFA_TYPE = "uima.cas.Sofa"
_INITIAL = "_InitialView"


@dataclass(frozen=True, eq=False)
class JsonContent:
    """A CAS JSON file that was read."""

    name: str
    raw: bytes
    text: str
    document_id: str | None
    annotations: Sequence[CasAnnotation]
    structures: Sequence[dict[str, Any]] = field(repr=False, default=())
    views: Mapping[str, Any] = field(repr=False, default_factory=dict)
    sofa: Any = None
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    unit: Unit = UTF16

    def edited(self, edit: CasEdit) -> bytes:
        """The file with these changes in its lists of feature structures and members."""
        if not edit:
            return self.raw
        place = {structure.get(_ID): index for index, structure in enumerate(self.structures)}
        gone = self._with_referring(set(edit.removed))
        changed = {place[key]: _values(new) for key, new in edit.changed.items()}
        for index, structure in enumerate(self.structures):
            fewer = _without_links(structure, gone) if structure.get(_ID) not in gone else {}
            if fewer:
                changed[index] = {**changed.get(index, {}), **fewer}
        last = max((key for key in place if isinstance(key, int)), default=0)
        added: list[Any] = []
        for number, new in enumerate(edit.added, last + 1):
            item = {_ID: number, _TYPE: new.type, _SOFA: self.sofa, **_values(new)}
            added.append({key: value for key, value in item.items() if value is not None})
        edits: dict[tuple[str, ...], _ListEdit] = {}
        edits[(STRUCTURES,)] = _ListEdit({place[key] for key in gone}, changed, added)
        edits |= self._member_edits(gone, [item[_ID] for item in added])
        mark = "\ufeff" if self.raw.startswith(b"\xef\xbb\xbf") else ""
        return (mark + _edited(self.raw.decode("utf-8-sig"), edits)).encode("utf-8", "backslashreplace")

    def _with_referring(self, gone: set[Any]) -> set[Any]:
        """What goes with annotations that go: relations that end at them, and links to them."""
        more = set(gone)
        for structure in self.structures:
            ends = [structure.get(f"@{end}") for end in RELATION_ENDS]
            if "begin" not in structure:
                ends.append(structure.get("@target"))
            if gone.intersection(end for end in ends if isinstance(end, int)):
                more.add(structure.get(_ID))
        return more

    def _member_edits(self, gone: set[Any], fresh: list[Any]) -> dict[tuple[str, ...], _ListEdit]:
        edits: dict[tuple[str, ...], _ListEdit] = {}
        for name, view in self.views.items():
            known = view.get(_MEMBERS) if isinstance(view, dict) else None
            if isinstance(known, list):
                removed = {index for index, member in enumerate(known) if member in gone}
                edits[(VIEWS, name, _MEMBERS)] = _ListEdit(removed, {}, fresh if view.get("%SOFA") == self.sofa else [])
        return edits


@dataclass(frozen=True)
class _ListEdit:
    """What changes in a list: items that go, keys of items that change (None: the key goes), new items."""

    removed: set[int]
    changed: Mapping[int, Mapping[str, Any]]
    added: Sequence[Any]


def _edited(text: str, edits: Mapping[tuple[str, ...], _ListEdit]) -> str:
    """A JSON text with some of its lists changed; everything else keeps its characters."""
    replacements = []
    for path, edit in edits.items():
        if not (edit.removed or edit.changed or edit.added):
            continue
        start = len(text) - len(text.lstrip())
        for step in path:
            start = [begin for key, begin, _ in children(text, start) if key == step][-1]
        replacements += _list_replacements(text, start, edit)
    pieces, done = [], 0
    for begin, end, new in sorted(replacements):
        pieces += [text[done:begin], new]
        done = end
    return "".join([*pieces, text[done:]])


def _list_replacements(text: str, start: int, edit: _ListEdit) -> list[tuple[int, int, str]]:
    places = [(begin, stop) for _, begin, stop in children(text, start)]
    style = Style.of(text, places)
    found = []
    for index, values in edit.changed.items():
        begin, stop = places[index]
        found.append((begin, stop, _edited_item(text[begin:stop], values, style)))
    kept = [index for index in range(len(places)) if index not in edit.removed]
    for index in edit.removed:
        # An item goes with the comma and the space behind it; what is last goes with those in front.
        later = next((each for each in kept if each > index), None)
        if later is not None:
            found.append((places[index][0], places[index + 1][0], ""))
        else:
            found.append((places[index - 1][1] if index else places[0][0], places[index][1], ""))
    if edit.added:
        between = text[places[0][1] : places[1][0]] if len(places) > 1 else style.separator
        new = between.join(style.write(item) if isinstance(item, dict) else json.dumps(item) for item in edit.added)
        end = places[-1][1] if places else start + 1
        found.append((end, end, (between if kept else "") + new))
    return found


def _edited_item(raw: str, values: Mapping[str, Any], style: Style) -> str:
    """An object with these keys changed."""
    known = list(children(raw, 0))
    names = [key for key, _, _ in known]
    replacements = []
    fresh = ""
    for key, value in values.items():
        new = json.dumps(value, ensure_ascii=style.ascii)
        if key not in names:
            if value is not None:
                comma = re.match(r",\s*", raw[known[-2][2] :]) if len(known) > 1 else None
                fresh += f"{comma[0] if comma else ', '}{json.dumps(key, ensure_ascii=style.ascii)}{style.colon}{new}"
            continue
        place = names.index(key)
        _, begin, stop = known[place]
        if value is None:
            replacements.append((known[place - 1][2], stop, ""))
        elif json.loads(raw[begin:stop]) != value:
            replacements.append((begin, stop, new))
    if fresh:
        replacements.append((known[-1][2], known[-1][2], fresh))
    pieces, done = [], 0
    for begin, stop, new in sorted(replacements):
        pieces += [raw[done:begin], new]
        done = stop
    return "".join([*pieces, raw[done:]])


def looks_like_cas_json(head: bytes) -> bool:
    """Whether a file begins as CAS JSON does."""
    return re.match(rb'(?:\xef\xbb\xbf)?\s*\{\s*"%(?:TYPES|FEATURE_STRUCTURES|VIEWS|HEADER|FLAGS)"', head) is not None


def read_cas_json(raw: bytes, name: str) -> JsonContent:
    """Read a CAS JSON file, or raise with what is wrong with it."""
    content = _parsed(raw, name)
    structures = content.get(STRUCTURES)
    if not isinstance(structures, list) or not all(isinstance(each, dict) for each in structures):
        raise InputError(
            f"{name}: {STRUCTURES} is {shown(structures)}. Allowed: a list of objects, as UIMA CAS JSON 0.4 has it. "
            "Export the document again, or as UIMA CAS XMI."
        )
    sofas = [each for each in structures if each.get(_TYPE) == _SOFA_TYPE and isinstance(each.get("sofaString"), str)]
    if not sofas:
        raise InputError(f"{name}: there is no text in this CAS (no {_SOFA_TYPE} with a sofaString). Export it again.")
    sofa = next((each for each in sofas if each.get("sofaID") == _INITIAL), sofas[0])
    chained = {str(each.get(f"@{key}")) for each in structures for key in CHAIN_REFERENCES}
    annotations = []
    skipped: Counter[str] = Counter()
    for structure in structures:
        if "begin" not in structure or "end" not in structure:
            continue
        names = {str(key).removeprefix("@") for key in structure}
        if names & RELATION_ENDS or names & CHAIN_FEATURES or str(structure.get(_ID, "")) in chained:
            skipped[RELATIONS if names & RELATION_ENDS else CHAINS] += 1
            continue
        if structure.get(_SOFA) not in {None, sofa.get(_ID)}:
            skipped[OTHER_VIEWS] += 1
            continue
        where = f"{name}: {structure.get(_TYPE)} {structure.get(_ID)}"
        begin, end = structure["begin"], structure["end"]
        if type(begin) is not int or type(end) is not int:
            raise InputError(f"{where}: begin is {shown(begin)}, end is {shown(end)}. Allowed: whole numbers.")
        if begin == end:
            skipped[NO_WIDTH] += 1
            continue
        key, type_ = structure.get(_ID), structure.get(_TYPE)
        if type(key) is not int or not isinstance(type_, str):
            raise InputError(f"{where}: %ID is {shown(key)}, %TYPE is {shown(type_)}. Allowed: a number and a name.")
        annotations.append(CasAnnotation(key, type_, begin, end, _features(structure), where))
    views = content.get(VIEWS)
    return JsonContent(
        name,
        raw,
        sofa["sofaString"],
        _document_id(structures),
        tuple(annotations),
        tuple(structures),
        views if isinstance(views, dict) else {},
        sofa.get(_ID),
        _declared(content.get(TYPES)),
        skipped,
    )


def _parsed(raw: bytes, name: str) -> dict[str, Any]:
    try:
        content = json.loads(decode_text(raw, name))
    except json.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno}).") from None
    except (RecursionError, ValueError):
        raise InputError(f"{name}: the JSON is nested too deeply, or has a number that no CAS has.") from None
    if not isinstance(content, dict):
        raise InputError(f"{name}: the JSON is {shown(content)}. Allowed: an object with {STRUCTURES}.")
    return content


def _features(structure: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for key, value in structure.items():
        if key[:1] not in "%@^" and key not in {"begin", "end"} and isinstance(value, str | int | float):
            found[key] = value if isinstance(value, str) else json.dumps(value)
    return found


def _declared(types: Any) -> dict[str, tuple[str, ...]]:
    """The types that a file declares as annotations, with their features of text."""
    found = {}
    for name, entry in types.items() if isinstance(types, dict) else ():
        if not isinstance(entry, dict) or entry.get("%SUPER_TYPE") != "uima.tcas.Annotation":
            continue
        features = {key: value.get("%RANGE") for key, value in entry.items() if isinstance(value, dict)}
        if RELATION_ENDS & features.keys() or CHAIN_FEATURES & features.keys():
            continue
        found[name] = tuple(key for key, range_ in features.items() if range_ == "uima.cas.String")
    return found


def _document_id(structures: Sequence[Mapping[str, Any]]) -> str | None:
    for structure in structures:
        if str(structure.get(_TYPE)).endswith(".DocumentMetaData"):
            found = structure.get("documentTitle") or structure.get("documentId")
            if isinstance(found, str):
                return found
    return None


def _values(new: NewAnnotation) -> dict[str, Any]:
    return {"begin": new.begin, "end": new.end, **new.features}


def _without_links(structure: Mapping[str, Any], gone: set[Any]) -> dict[str, Any]:
    """Lists of references without what goes."""
    found: dict[str, Any] = {}
    for key, value in structure.items():
        if (key == "%ELEMENTS" or key.startswith("@")) and isinstance(value, list):
            kept = [each for each in value if each not in gone]
            if len(kept) < len(value):
                found[key] = kept
    return found
