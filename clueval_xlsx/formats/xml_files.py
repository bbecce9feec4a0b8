"""XML as it is written: its elements with their places among the bytes, and a few of them changed.

What is not changed keeps its bytes. Document types and entities are refused before anything else is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from xml.parsers import expat

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import NewSpan, Reading, SourceChange, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import InputError, counted
from clueval_xlsx.formats.collect import Collector
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.sniffing import refusal, root_element, xml_kind
from clueval_xlsx.options import ReadOptions

_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_VERSION = re.compile(rb"(<\?xml[^>]*version\s*=\s*[\"'])1\.1")
_SPACE = b" \t\r\n"
_DEEPEST = 20
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

Replacement = tuple[int, int, bytes]


@dataclass(eq=False)
class Element:
    """An element: the names of those around it, its attributes, its text, its first byte and that of its end tag."""

    name: str
    around: tuple[str, ...]
    attributes: Mapping[str, str]
    place: int
    text: str = ""
    end: int = 0


def parse_xml(raw: bytes, name: str, *, namespaces: bool = False) -> list[Element]:
    """The elements of a file in the order of their start tags; with namespaces a name is `URI NAME`."""
    elements: list[Element] = []
    inside: list[Element] = []
    texts: dict[int, list[str]] = {}
    parser = expat.ParserCreate(None, " " if namespaces else None)
    parser.buffer_text = True

    def opened(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, tuple(each.name for each in inside), attributes, parser.CurrentByteIndex)
        elements.append(element)
        inside.append(element)
        if len(inside) > _DEEPEST:
            raise InputError(f"{name}: elements are nested more than {_DEEPEST} deep. The file is refused.")

    def closed(_: str) -> None:
        element = inside.pop()
        element.end = parser.CurrentByteIndex
        element.text = "".join(texts.pop(element.place, ()))

    def characters(data: str) -> None:
        texts.setdefault(inside[-1].place, []).append(data)

    def declared(*_: object) -> None:
        raise InputError(
            f"{name}: found a DOCTYPE or ENTITY, which no such file has and which can harm. The file is refused; "
            "export it again."
        )

    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = characters, declared
    try:
        parser.Parse(_VERSION.sub(rb"\g<1>1.0", raw[:200]) + raw[200:], True)
    except expat.ExpatError as error:
        raise InputError(
            f"{name}:{error.lineno}: the XML is not well-formed ({expat.ErrorString(error.code)}). "
            "Mend it, or export it again."
        ) from None
    except (LookupError, ValueError) as error:
        raise InputError(f"{name}: {error}. Allowed: XML in UTF-8.") from None
    return elements


def refuse_characters(text: str, document: str | None) -> None:
    """Refuse a text with characters that XML cannot hold."""
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        raise InputError(
            f"document {document!r}: has the character U+{ord(forbidden[0]):04X}, which XML cannot hold. "
            "Choose another format."
        )


def start_tag(raw: bytes, place: int) -> bytes:
    """The start tag at a place where a parser found one, up to and with its `>`."""
    tag = _TAG.match(raw, place)
    assert tag is not None, "the parser found a tag here"
    return tag[0]


def tag_name(tag: bytes) -> str:
    """The name in a start tag, with its prefix."""
    name = re.match(rb"<([^\s/>]+)", tag)
    assert name is not None
    return name[1].decode("utf-8")


def before_space(raw: bytes, place: int) -> int:
    """Where the white space in front of a place begins."""
    while place > 0 and raw[place - 1 : place] in _SPACE:
        place -= 1
    return place


def removal(raw: bytes, place: int) -> Replacement:
    """What takes an element out, with the white space in front of it; no element of its name is inside it."""
    tag = start_tag(raw, place)
    end = place + len(tag)
    if not tag.endswith(b"/>"):
        close = re.compile(rb"</" + re.escape(tag_name(tag).encode()) + rb"\s*>").search(raw, end)
        assert close is not None, "the parser found the end of the element"
        end = close.end()
    return before_space(raw, place), end, b""


def with_attributes(tag: bytes, values: Mapping[str, str | None]) -> bytes:
    """A start tag with these attributes; None takes one away.

    >>> with_attributes(b'<a b="1" c="2"/>', {"b": "3", "c": None, "d": "x & y"})
    b'<a b="3" d="x &amp; y"/>'
    """
    for key, value in values.items():
        found = re.search(rb"\s" + re.escape(key.encode()) + rb"\s*=\s*(\"[^\"]*\"|'[^']*')", tag)
        new = None if value is None else f'"{attribute(value)}"'.encode("ascii", "xmlcharrefreplace")
        if found and new is not None:
            tag = tag[: found.start(1)] + new + tag[found.end(1) :]
        elif found:
            tag = tag[: found.start()] + tag[found.end() :]
        elif new is not None:
            end = len(tag) - (2 if tag.endswith(b"/>") else 1)
            kept = tag[:end].rstrip()
            tag = kept + b" " + key.encode() + b"=" + new + tag[len(kept) :]
    return tag


def attribute(value: str) -> str:
    """Text as it stands in an attribute.

    >>> attribute('a "b" & <c>')
    'a &quot;b&quot; &amp; &lt;c&gt;'
    """
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        value = value.replace(character, entity)
    return re.sub(r"[\t\r\n]", lambda match: f"&#{ord(match[0])};", value)


def replaced(raw: bytes, replacements: Sequence[Replacement]) -> bytes:
    """The bytes with these stretches replaced; none of them overlaps another."""
    pieces, done = [], 0
    for begin, end, new in sorted(replacements):
        pieces += [raw[done:begin], new]
        done = end
    return b"".join([*pieces, raw[done:]])


# ---- i2b2 and MEDDOCAN XML: the text of a document and standoff tags, in one file; also what MAE writes

TYPE, TAG = format_named("i2b2").fields
_NUMBER = re.compile(r"-?\d{1,18}")
_MAE = re.compile(r"(\d{1,18})~(\d{1,18})")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_UNTYPED = "PHI"


def tell(opened: OpenedSource) -> bool:
    """Whether the file is XML with a text and tags."""
    return root_element(opened.head) is not None and b"<TEXT" in opened.data and b"<TAGS" in opened.data


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read one document."""
    name, raw = opened.name, opened.data
    root = root_element(raw[:65536])
    if root is not None and b"<TEXT" not in raw:
        raise refusal(name, xml_kind(root))
    elements = parse_xml(raw, name)
    lists = [each for each in elements if each.name == "TAGS"]
    if not lists:
        raise refusal(name, xml_kind(elements[0].name))
    for each in elements:
        if "TEXT" in each.around and "TAGS" not in each.around:
            raise InputError(
                f"{name}: the tag <{each.name}> stands inside the text. Allowed: standoff tags behind it (<TAGS>), as "
                "i2b2 has had them since 2012. Convert the file first."
            )
    tags = [each for each in elements if len(each.around) > 1 and each.around[-1] == "TAGS"]
    collector = Collector(name, format_named("i2b2"), options)
    collector.add_document(TextDocument(None, "".join(each.text for each in elements if each.name == "TEXT")))
    collector.homes.append(())
    empty = 0
    for index, tag in enumerate(tags):
        if not _is_span(tag):
            continue
        where = f"{name}: {tag.name} {tag.attributes.get('id', index + 1)}"
        values = tag.attributes
        start, end = values.get("start", "").strip(), values.get("end", "").strip()
        if "spans" in values:
            extent = _MAE.fullmatch(values["spans"].strip())
            if extent is None:
                collector.complain(where, f"spans is {values['spans'][:60]!r}", "one stretch, such as 3~9", "Split it")
                continue
            start, end = extent[1], extent[2]
        if not _NUMBER.fullmatch(start) or not _NUMBER.fullmatch(end):
            collector.complain(where, f"start is {start[:40]!r}, end is {end[:40]!r}", "whole numbers", "Mend the tag")
            continue
        if int(start) == int(end):
            empty += 1
            continue
        collector.add(
            0,
            (int(start), int(end)),
            {TYPE: _label(tag), TAG: tag.name},
            surface=values.get("text"),
            score=values.get("score", values.get("confidence")),
            handle=(index,),
            where=where,
        )
    if empty:
        collector.notes.append(f"{name}: left alone, because they are no spans: {counted(empty, 'tag')} without width")
    layers = dict(collector.layers)
    return collector.finish(Source(name, "i2b2", digest(raw), layers), TagElements(raw, tags, lists[-1].end, layers))


def _label(tag: Element) -> str:
    """What is annotated: the type, or the element where tags have none."""
    return tag.attributes.get("TYPE") or tag.attributes.get("type") or tag.name


def _is_span(tag: Element) -> bool:
    return {"start", "end"} <= tag.attributes.keys() or "spans" in tag.attributes


@dataclass(frozen=True, eq=False)
class TagElements:
    """The file as it came, its tags, and where their list ends."""

    raw: bytes
    tags: Sequence[Element]
    end: int
    layers: Mapping[str, str]

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The file with these tags changed."""
        replacements: list[Replacement] = []
        gone, added = set(), []
        for change in changes:
            if change.old is not None and change.new is not None:
                replacements.append(self._changed(self.tags[change.old[0]], change.new))
            elif change.old is not None:
                gone.add(change.old[0])
            elif change.new is not None:
                added.append(change.new)
        ids = {self.tags[index].attributes.get("id") for index in gone} - {None}
        for index, tag in enumerate(self.tags):
            linked = set() if _is_span(tag) else {tag.attributes.get(key) for key in ("fromID", "toID")}
            if index in gone or linked & ids:
                replacements.append(removal(self.raw, tag.place))
        if added:
            replacements.append(self._added(added))
        return {PurePath(reading.source.name).name: replaced(self.raw, replacements)}

    def _changed(self, tag: Element, span: NewSpan) -> Replacement:
        old = start_tag(self.raw, tag.place)
        values: dict[str, str | None] = dict(_extent(span, mae="spans" in tag.attributes))
        if "text" in tag.attributes:
            values["text"] = _one_line(span.surface)
        name = None
        if span.label_changed:
            labels = self._labels(span)
            key = next((key for key in ("TYPE", "type") if key in tag.attributes), None)
            label = labels.get(TYPE)
            if label is not None and key is not None:
                values[key] = label
            name = labels.get(TAG) or (label if key is None else None)
        new = with_attributes(old, values)
        if name and _NAME.fullmatch(name) and old.endswith(b"/>"):
            new = b"<" + name.encode() + new[1 + len(tag.name.encode()) :]
        return tag.place, tag.place + len(old), new

    def _labels(self, span: NewSpan) -> dict[str, str | None]:
        return {self.layers[layer]: label for layer, label in span.labels.items()}

    def _added(self, spans: Sequence[NewSpan]) -> Replacement:
        """New tags behind the last one."""
        known = [re.fullmatch(r"(\D*)(\d{1,9})", tag.attributes.get("id", "")) for tag in self.tags]
        numbered = [match for match in known if match]
        number = max((int(match[2]) for match in numbered), default=-1)
        prefix = numbered[0][1] if numbered else "P"
        mae = any("spans" in tag.attributes for tag in self.tags)
        written = b""
        for span in spans:
            number += 1
            labels = self._labels(span)
            label = labels.get(TYPE) or labels.get(TAG)
            name = labels.get(TAG) or next((tag.name for tag in self.tags if _label(tag) == label), _UNTYPED)
            values = {"id": f"{prefix}{number}", **_extent(span, mae=mae), "text": _one_line(span.surface)}
            values |= {} if label is None else {"TYPE": label}
            line = "".join(f' {key}="{attribute(value)}"' for key, value in {**values, "comment": ""}.items())
            line = f"\n<{name if _NAME.fullmatch(name) else _UNTYPED}{line}/>"
            written += line.encode("ascii", "xmlcharrefreplace")
        place = before_space(self.raw, self.end)
        return place, place, written


def _extent(span: NewSpan, *, mae: bool) -> dict[str, str]:
    if mae:
        return {"spans": f"{span.start}~{span.end}"}
    return {"start": str(span.start), "end": str(span.end)}


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n\t]", " ", text)
