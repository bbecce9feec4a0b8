"""UIMA CAS as XMI: its text and annotations with their places among the bytes, and corrections that touch no others.

A CAS is read without its type system: an XMI file names the type of every annotation, and features that hold labels
are attributes. Document types and entities are refused before anything else is looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

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
from clueval_xlsx.formats.xml_edit import (
    Replacement,
    attribute,
    before_space,
    removal,
    replaced,
    start_tag,
    tag_name,
    with_attributes,
)
from clueval_xlsx.options.values import Unit
from clueval_xlsx.text.characters import UTF16

_XMI = "http://www.omg.org/XMI"
_CAS = "http:///uima/cas.ecore"
_NO_NAMESPACE = "http:///uima/noNamespace.ecore"
_ID = f"{_XMI} id"
_VERSION = re.compile(rb"(<\?xml[^>]*version\s*=\s*[\"'])1\.1")
_INITIAL = "_InitialView"
_DEEPEST = 20
_WHOLE = re.compile(r"-?\d{1,18}")
_METADATA = "DocumentMetaData"
_FRAME = frozenset({"uima.cas.Sofa", "uima.cas.View", "uima.cas.NULL"})


@dataclass(frozen=True)
class _Element:
    """An element below the root: its type, attributes, and first byte."""

    type: str
    attributes: Mapping[str, str]
    place: int

    @property
    def id(self) -> str:
        return self.attributes.get(_ID, "")

    @property
    def is_relation(self) -> bool:
        return bool(RELATION_ENDS & self.attributes.keys())


@dataclass(frozen=True, eq=False)
class XmiContent:
    """An XMI file that was read."""

    name: str
    raw: bytes
    text: str
    document_id: str | None
    annotations: Sequence[CasAnnotation]
    elements: Sequence[_Element] = field(repr=False, default=())
    sofa: str = ""
    skipped: Mapping[str, int] = field(default_factory=dict)
    unit: Unit = UTF16
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def edited(self, edit: CasEdit) -> bytes:
        """The file with these changes: the corrected elements and the list of the view's members are written anew."""
        return _Editor(self).edited(edit) if edit else self.raw


def looks_like_xmi(head: bytes) -> bool:
    """Whether a file begins as XMI does."""
    return re.search(rb"<(?:[\w.-]+:)?XMI[\s>]", head[:4096]) is not None


def read_xmi(raw: bytes, name: str) -> XmiContent:
    """Read an XMI file, or raise with what is wrong with it."""
    elements = _elements(raw, name)
    sofas = [element for element in elements if element.type == "uima.cas.Sofa"]
    with_text = [sofa for sofa in sofas if sofa.attributes.get("sofaString") is not None]
    if not with_text:
        raise InputError(
            f"{name}: there is no text in this CAS (no Sofa with a sofaString). Export the document again."
        )
    sofa = next((each for each in with_text if each.attributes.get("sofaID") == _INITIAL), with_text[0])
    skipped: Counter[str] = Counter()
    links = {each.id for each in elements if "begin" not in each.attributes and each.type not in _FRAME}
    chained = {each.attributes.get(key) for each in elements for key in CHAIN_REFERENCES}
    annotations = []
    for element in elements:
        values = element.attributes
        if "begin" not in values or "end" not in values:
            continue
        if element.is_relation or CHAIN_FEATURES & values.keys() or element.id in chained:
            skipped[RELATIONS if element.is_relation else CHAINS] += 1
            continue
        if values.get("sofa") not in {None, sofa.id}:
            skipped[OTHER_VIEWS] += 1
            continue
        where = f"{name}: {element.type} {element.id}"
        if not _WHOLE.fullmatch(values["begin"]) or not _WHOLE.fullmatch(values["end"]):
            raise InputError(
                f"{where}: begin is {values['begin'][:40]!r}, end is {values['end'][:40]!r}. Allowed: whole numbers."
            )
        begin, end = int(values["begin"]), int(values["end"])
        if begin == end:
            skipped[NO_WIDTH] += 1
            continue
        annotations.append(CasAnnotation(element.id, element.type, begin, end, _features(values, links), where))
    return XmiContent(
        name,
        raw,
        sofa.attributes["sofaString"],
        _document_id(elements),
        tuple(annotations),
        tuple(elements),
        sofa.id,
        skipped,
    )


def _elements(raw: bytes, name: str) -> list[_Element]:
    found: list[_Element] = []
    parser = expat.ParserCreate(None, " ")
    parser.buffer_text = True
    depth = 0

    def opened(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth == 1 and tag != f"{_XMI} XMI":
            raise InputError(f"{name}: the root element is <{tag.rpartition(' ')[2]}>. Allowed: <xmi:XMI>, a UIMA CAS.")
        if depth == 2:
            found.append(_Element(_type_name(tag), attributes, parser.CurrentByteIndex))
        if depth > _DEEPEST:
            raise InputError(
                f"{name}: elements are nested more than {_DEEPEST} deep, as in no CAS. The file is refused."
            )

    def closed(_: str) -> None:
        nonlocal depth
        depth -= 1

    def declared(*_: object) -> None:
        raise InputError(
            f"{name}: found a DOCTYPE or ENTITY, which no CAS has and which can harm. The file is refused; "
            "export it from INCEpTION again."
        )

    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    parser.StartDoctypeDeclHandler = declared
    try:
        parser.Parse(_VERSION.sub(rb"\g<1>1.0", raw[:200]) + raw[200:], True)
    except expat.ExpatError as error:
        raise InputError(
            f"{name}:{error.lineno}: the XML is not well-formed ({expat.ErrorString(error.code)}). "
            "Export the document again."
        ) from None
    except (LookupError, ValueError) as error:
        raise InputError(f"{name}: {error}. Allowed: XML in UTF-8.") from None
    return found


def _type_name(tag: str) -> str:
    """The UIMA name of an element: `http:///a/b.ecore Name` is `a.b.Name`."""
    uri, _, local = tag.rpartition(" ")
    if uri in {"", _NO_NAMESPACE}:
        return local
    package = uri.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
    return f"{package}.{local}"


def _features(values: Mapping[str, str], links: set[str]) -> dict[str, str]:
    """The features of an element that can hold a label: not what refers to elements that are no annotations."""
    return {
        key: value
        for key, value in values.items()
        if key not in {_ID, "sofa", "begin", "end"} and not set(value.split() or ["-"]) <= links
    }


def _document_id(elements: Iterable[_Element]) -> str | None:
    for element in elements:
        if element.type.endswith(f".{_METADATA}"):
            found = element.attributes.get("documentTitle") or element.attributes.get("documentId")
            if found:
                return found
    return None


class _Editor:
    """Replaces stretches of the bytes of an XMI file."""

    def __init__(self, content: XmiContent) -> None:
        self.raw = content.raw
        self.content = content
        self.by_id = {element.id: element for element in content.elements}
        self.replacements: list[Replacement] = []

    def edited(self, edit: CasEdit) -> bytes:
        gone = self._with_referring({str(key) for key in edit.removed})
        tags: dict[str, bytes] = {}
        for key, new in edit.changed.items():
            element = self.by_id[str(key)]
            values = {"begin": str(new.begin), "end": str(new.end), **new.features}
            tags[element.id] = with_attributes(self._tag(element), values)
        for element in self.content.elements:
            if element.id in gone or element.type == "uima.cas.View":
                continue
            fewer = self._without_references(element, gone)
            if fewer:
                tags[element.id] = with_attributes(tags.get(element.id, self._tag(element)), fewer)
        for key, tag in tags.items():
            place = self.by_id[key].place
            self.replacements.append((place, place + len(self._tag(self.by_id[key])), tag))
        for key in gone:
            self.replacements.append(removal(self.raw, self.by_id[key].place))
        fresh = self._add(edit.added)
        self._members(gone, fresh)
        return replaced(self.raw, self.replacements)

    def _tag(self, element: _Element) -> bytes:
        return start_tag(self.raw, element.place)

    def _with_referring(self, gone: set[str]) -> set[str]:
        """What goes with annotations that go: the relations that end at them, and the links to them."""
        more = set(gone)
        for element in self.content.elements:
            values = element.attributes
            ends = [values[key] for key in (*RELATION_ENDS, "target") if key in values]
            is_link = "target" in values and "begin" not in values
            if (element.is_relation or is_link) and gone.intersection(ends):
                more.add(element.id)
        return more

    def _without_references(self, element: _Element, gone: set[str]) -> dict[str, str | None]:
        """Attributes that list links which go, without them."""
        fewer: dict[str, str | None] = {}
        for key, value in element.attributes.items():
            parts = value.split()
            if key in {_ID, "begin", "end", "sofa", "sofaString"} or not gone.intersection(parts):
                continue
            targets = [self.by_id.get(part) for part in parts]
            if all(target is not None and "begin" not in target.attributes for target in targets):
                fewer[key] = " ".join(part for part in parts if part not in gone) or None
        return fewer

    def _add(self, added: Sequence[NewAnnotation]) -> list[str]:
        """Write new elements in front of the Sofa or the first view; returns their IDs."""
        if not added:
            return []
        ids = [int(element.id) for element in self.content.elements if element.id.isdigit()]
        number = max(ids, default=0)
        anchor = next(each for each in self.content.elements if each.type in {"uima.cas.Sofa", "uima.cas.View"})
        begin = before_space(self.raw, anchor.place)
        space = self.raw[begin : anchor.place]
        fresh, written = [], b""
        for new in added:
            number += 1
            fresh.append(str(number))
            values = {
                "xmi:id": str(number),
                "sofa": self.content.sofa,
                "begin": str(new.begin),
                "end": str(new.end),
                **new.features,
            }
            attributes = "".join(f' {key}="{attribute(value)}"' for key, value in values.items() if value is not None)
            name, namespace = self._name_of(new.type)
            written += space + f"<{name}{namespace}{attributes}/>".encode("ascii", "xmlcharrefreplace")
        self.replacements.append((begin, begin, written))
        return fresh

    def _name_of(self, type_: str) -> tuple[str, str]:
        """How an element of a type is called here, and the namespace that it must declare itself."""
        for element in self.content.elements:
            if element.type == type_:
                return tag_name(self._tag(element)), ""
        package, _, local = type_.rpartition(".")
        uri = f"http:///{package.replace('.', '/')}.ecore" if package else _NO_NAMESPACE
        root = self.raw[: self.content.elements[0].place]
        known = re.search(rb'xmlns:([\w.-]+)\s*=\s*["\']' + re.escape(uri.encode()) + rb"[\"']", root)
        if known:
            return f"{known[1].decode()}:{local}", ""
        return f"corrected:{local}", f' xmlns:corrected="{uri}"'

    def _members(self, gone: set[str], fresh: list[str]) -> None:
        """Bring the views' lists of members up to date."""
        for element in self.content.elements:
            if element.type != "uima.cas.View":
                continue
            members = element.attributes.get("members", "").split()
            kept = [member for member in members if member not in gone]
            if element.attributes.get("sofa") in {None, self.content.sofa}:
                kept += fresh
            if kept != members:
                tag = self._tag(element)
                new = with_attributes(tag, {"members": " ".join(kept)})
                self.replacements.append((element.place, element.place + len(tag), new))
