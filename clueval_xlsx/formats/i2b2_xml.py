"""i2b2 and MEDDOCAN XML: the text of a document and standoff tags, in one file; also what MAE writes.

Offsets count characters of the text as XML gives it: line ends are LF, whatever the file has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from xml.parsers import expat

import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import NewSpan, Reading, SourceChange, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.names import document_path, escaped
from clueval_xlsx.formats.collect import Collector
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.sniffing import refusal, root_element, xml_kind
from clueval_xlsx.formats.writing import AnnotatedDocument, annotated_documents
from clueval_xlsx.formats.xml_edit import (
    Replacement,
    attribute,
    before_space,
    removal,
    replaced,
    start_tag,
    with_attributes,
)
from clueval_xlsx.options import ReadOptions

TYPE, TAG = format_named("i2b2").fields
_DEEPEST = 20
_NUMBER = re.compile(r"-?\d{1,18}")
_MAE = re.compile(r"(\d{1,18})~(\d{1,18})")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_UNTYPED = "PHI"


@dataclass(frozen=True)
class _Tag:
    """A standoff tag: its element, its attributes, and its first byte."""

    name: str
    attributes: Mapping[str, str]
    place: int

    @property
    def label(self) -> str:
        """What is annotated: the type, or the element where tags have none."""
        return self.attributes.get("TYPE") or self.attributes.get("type") or self.name

    @property
    def is_span(self) -> bool:
        return ("start" in self.attributes and "end" in self.attributes) or "spans" in self.attributes


@dataclass(frozen=True)
class _Parsed:
    text: str
    tags: Sequence[_Tag]
    end: int  # where the list of tags ends


def tell(opened: OpenedSource) -> bool:
    """Whether the file is XML with a text and tags."""
    return root_element(opened.head) is not None and b"<TEXT" in opened.data and b"<TAGS" in opened.data


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read one document."""
    name, raw = opened.name, opened.data
    parsed = _parsed(raw, name)
    collector = Collector(name, format_named("i2b2"), options)
    collector.add_document(TextDocument(None, parsed.text))
    collector.homes.append(())
    empty = 0
    for index, tag in enumerate(parsed.tags):
        if not tag.is_span:
            continue
        where = f"{name}: {tag.name} {tag.attributes.get('id', index + 1)}"
        values = tag.attributes
        start, end = values.get("start", ""), values.get("end", "")
        if "spans" in values:
            parts = [_MAE.fullmatch(part.strip()) for part in values["spans"].split(",")]
            if len(parts) > 1 or parts[0] is None:
                collector.complain(where, f"spans is {values['spans'][:60]!r}", "one stretch, such as 3~9", "Split it")
                continue
            start, end = parts[0][1], parts[0][2]
        if not _NUMBER.fullmatch(start.strip()) or not _NUMBER.fullmatch(end.strip()):
            collector.complain(where, f"start is {start[:40]!r}, end is {end[:40]!r}", "whole numbers", "Mend the tag")
            continue
        if int(start) == int(end):
            empty += 1
            continue
        collector.add(
            0,
            (int(start), int(end)),
            {TYPE: tag.label, TAG: tag.name},
            surface=values.get("text"),
            score=values.get("score", values.get("confidence")),
            handle=(index,),
            where=where,
        )
    if empty:
        collector.notes.append(f"{name}: {empty} tags without width are left alone, because they are no spans")
    source = Source(name, "i2b2", digest(raw), dict(collector.layers))
    return collector.finish(source, TagElements(raw, parsed, dict(collector.layers)))


def _parsed(raw: bytes, name: str) -> _Parsed:
    text: list[str] = []
    tags: list[_Tag] = []
    path: list[str] = []
    ends: list[int] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def opened(tag: str, attributes: dict[str, str]) -> None:
        path.append(tag)
        if len(path) > _DEEPEST:
            raise InputError(f"{name}: elements are nested more than {_DEEPEST} deep. The file is refused.")
        if len(path) >= 3 and path[-2] == "TAGS":
            tags.append(_Tag(tag, attributes, parser.CurrentByteIndex))
        if len(path) > 2 and "TEXT" in path[:-1] and "TAGS" not in path:
            raise InputError(
                f"{name}: the tag <{tag}> stands inside the text. Allowed: standoff tags behind it (<TAGS>), as i2b2 "
                "has had them since 2012. Convert the file first."
            )

    def closed(tag: str) -> None:
        path.pop()
        if tag == "TAGS":
            ends.append(parser.CurrentByteIndex)

    def characters(data: str) -> None:
        if path[-1:] == ["TEXT"]:
            text.append(data)

    def declared(*_: object) -> None:
        root = root_element(raw)
        if root is not None and b"<TEXT" not in raw:
            raise refusal(name, xml_kind(root))
        raise InputError(f"{name}: found a DOCTYPE or ENTITY, which such files have not and which can harm. Refused.")

    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = characters, declared
    root = root_element(raw[:65536])
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise InputError(
            f"{name}:{error.lineno}: the XML is not well-formed ({expat.ErrorString(error.code)}). Mend or copy it."
        ) from None
    except (LookupError, ValueError) as error:
        raise InputError(f"{name}: {error}. Allowed: XML in UTF-8.") from None
    if not ends or b"<TEXT" not in raw:
        if root is not None:
            raise refusal(name, xml_kind(root))
        raise InputError(f"{name}: has no <TEXT> and <TAGS>. Allowed: XML as i2b2 and MEDDOCAN have it.")
    return _Parsed("".join(text), tuple(tags), ends[-1])


@dataclass(frozen=True, eq=False)
class TagElements:
    """The file as it came."""

    raw: bytes
    parsed: _Parsed
    layers: Mapping[str, str]

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The file with these tags changed."""
        raw, tags = self.raw, self.parsed.tags
        replacements: list[Replacement] = []
        gone, added = set(), []
        for change in changes:
            if change.old is not None and change.new is not None:
                replacements.append(self._changed(tags[change.old[0]], change.new))
            elif change.old is not None:
                gone.add(change.old[0])
            elif change.new is not None:
                added.append(change.new)
        ids = {tags[index].attributes.get("id") for index in gone} - {None}
        for index, tag in enumerate(tags):
            linked = {tag.attributes.get(key) for key in ("fromID", "toID")} if not tag.is_span else set()
            if index in gone or linked & ids:
                replacements.append(removal(raw, tag.place))
        if added:
            replacements.append(self._added(added))
        return {PurePath(reading.source.name).name: replaced(raw, replacements)}

    def _changed(self, tag: _Tag, span: NewSpan) -> Replacement:
        old = start_tag(self.raw, tag.place)
        values: dict[str, str | None] = {}
        if "spans" in tag.attributes:
            values["spans"] = f"{span.start}~{span.end}"
        else:
            values |= {"start": str(span.start), "end": str(span.end)}
        if "text" in tag.attributes:
            values["text"] = _one_line(span.surface)
        new = with_attributes(old, values)
        if span.label_changed:
            label = self._labels(span).get(TYPE)
            key = next((key for key in ("TYPE", "type") if key in tag.attributes), None)
            if label is not None and key is not None:
                new = with_attributes(new, {key: label})
            name = self._labels(span).get(TAG) or (label if key is None else None)
            if name and _NAME.fullmatch(name) and old.endswith(b"/>"):
                new = b"<" + name.encode() + new[1 + len(tag.name.encode()) :]
        return tag.place, tag.place + len(old), new

    def _labels(self, span: NewSpan) -> dict[str, str | None]:
        return {self.layers[layer]: label for layer, label in span.labels.items()}

    def _added(self, spans: Sequence[NewSpan]) -> Replacement:
        """New tags behind the last one."""
        known = [tag.attributes.get("id", "") for tag in self.parsed.tags]
        numbers = [re.fullmatch(r"(\D*)(\d{1,9})", each) for each in known]
        number = max((int(found[2]) for found in numbers if found), default=-1)
        prefix = next((found[1] for found in numbers if found), "P")
        mae = any("spans" in tag.attributes for tag in self.parsed.tags)
        place = before_space(self.raw, self.parsed.end)
        written = b""
        for span in spans:
            number += 1
            labels = self._labels(span)
            label = labels.get(TYPE) or labels.get(TAG)
            name = labels.get(TAG) or next((tag.name for tag in self.parsed.tags if tag.label == label), _UNTYPED)
            line = _tag_line((span.start, span.end), span.surface, label, f"{prefix}{number}", name=name, mae=mae)
            written += b"\n" + line.encode("ascii", "xmlcharrefreplace")
        return place, place, written


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n\t]", " ", text)


def _tag_line(
    extent: tuple[int, int], text: str, label: str | None, number: str, *, name: str, mae: bool = False
) -> str:
    place = f'spans="{extent[0]}~{extent[1]}"' if mae else f'start="{extent[0]}" end="{extent[1]}"'
    typed = "" if label is None else f' TYPE="{attribute(label)}"'
    name = name if _NAME.fullmatch(name) else _UNTYPED
    return f'<{name} id="{number}" {place} text="{attribute(_one_line(text))}"{typed} comment=""/>'


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file, or one for each document."""
    documents = annotated_documents(reading, layers, "i2b2")
    if len(documents) == 1 and how.name.lower().endswith(".xml"):
        return {how.name: _document(documents[0])}
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    for number, each in enumerate(documents, 1):
        name = document_path(each.document.id or f"document-{number}")
        name = escaped(name) if name.casefold() in taken else name
        taken.add(name.casefold())
        if f"{name}.xml" in files:
            raise InputError(f"two documents would be written to {name}.xml. Document IDs must be unique.")
        files[f"{name}.xml"] = _document(each)
    return files


def _document(each: AnnotatedDocument) -> bytes:
    """A document; carriage returns are written as references, because XML takes them for line ends."""
    text = each.document.text
    forbidden = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]", text)
    if forbidden:
        raise InputError(
            f"document {each.document.id!r}: has the character U+{ord(forbidden[0]):04X}, which XML cannot hold. "
            "Choose another format."
        )
    content = f"<![CDATA[{text}]]>"
    if "\r" in text or "]]>" in text:
        content = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    lines = ['<?xml version="1.0" encoding="UTF-8" ?>', "<deIdi2b2>", f"<TEXT>{content}</TEXT>", "<TAGS>"]
    for number, (start, end, label) in enumerate(each.spans):
        name = label if label is not None and _NAME.fullmatch(label) else _UNTYPED
        lines.append(_tag_line((start, end), text[start:end], label, f"P{number}", name=name))
    return "\n".join([*lines, "</TAGS>", "</deIdi2b2>", ""]).encode("utf-8")
