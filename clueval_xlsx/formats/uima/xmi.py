"""UIMA CAS as XMI (`.xmi`): one document a file, read, written, and corrected without touching any other byte.

A CAS is read without its type system: an XMI file names the type of every annotation, and features that hold labels
are attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.spans import label_list
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.names import document_path, escaped
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import WriteOptions
from clueval_xlsx.formats.uima.reading import (
    NAMED_ENTITY,
    RELATION_ENDS,
    SOFA,
    VIEW,
    Cas,
    CasChange,
    FeatureStructure,
    cas_of,
    read_cas_file,
    sofa_of,
)
from clueval_xlsx.formats.xml_files import (
    Replacement,
    attribute,
    before_space,
    parse_xml,
    refuse_characters,
    removal,
    replaced,
    start_tag,
    tag_name,
    with_attributes,
)
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.characters import UTF16, from_code_points

_XMI = "http://www.omg.org/XMI"
_NO_NAMESPACE = "http:///uima/noNamespace.ecore"
_ID = f"{_XMI} id"
_FRAME = frozenset({SOFA, VIEW, "uima.cas.NULL"})
_WHOLE = re.compile(r"-?\d{1,18}")
_NO_REFERENCES = frozenset({_ID, "begin", "end", "sofa", "sofaString"})
_SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
_METADATA = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"


def looks_like_xmi(head: bytes) -> bool:
    """Whether a file begins as XMI does."""
    return re.search(rb"<(?:[\w.-]+:)?XMI[\s>]", head[:4096]) is not None


def tell(opened: OpenedSource) -> bool:
    """Whether the root element is that of XMI."""
    return looks_like_xmi(opened.head)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read one CAS."""
    return read_cas_file(opened, cas_in(opened.data, opened.name), "cas", options)


def cas_in(raw: bytes, name: str) -> Cas:
    """The CAS in a file, or what is wrong with it."""
    root, *elements = parse_xml(raw, name, namespaces=True)
    if root.name != f"{_XMI} XMI":
        raise InputError(
            f"{name}: the root element is <{root.name.rpartition(' ')[2]}>. Allowed: <xmi:XMI>, a UIMA CAS."
        )
    own = [(_type_name(each.name), each) for each in elements if len(each.around) == 1]
    links = {
        each.attributes.get(_ID, "") for type_, each in own if "begin" not in each.attributes and type_ not in _FRAME
    }
    structures = []
    for type_, each in own:
        values: dict[str, Any] = dict(each.attributes)
        for key in ("begin", "end"):
            if _WHOLE.fullmatch(values.get(key, "")):
                values[key] = int(values[key])
        features = _features(each.attributes, links)
        structures.append(FeatureStructure(values.get(_ID, ""), type_, values, features, each.place))
    return cas_of(structures, name, edited=lambda changes: _edited(raw, structures, changes))


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


# ---- correction ----------------------------------------------------------------------------------------------------


def _edited(raw: bytes, structures: Sequence[FeatureStructure], changes: Sequence[CasChange]) -> bytes:
    """The file with these changes: the corrected elements and the lists of members are written anew."""
    by_id = {each.id: each for each in structures}
    removed = {key for key, new in changes if key is not None and new is None}
    gone = removed | {each.id for each in structures if _refers(each, removed)}
    values: dict[int, dict[str, str | None]] = {}  # by the place of the element
    for key, new in changes:
        if key is not None and new is not None:
            values[by_id[key].place] = {"begin": str(new.begin), "end": str(new.end), **new.features}
    number = max((int(each.id) for each in structures if each.id.isdigit()), default=0)
    fresh = [new for key, new in changes if key is None and new is not None]
    added = {str(place): new for place, new in enumerate(fresh, number + 1)}
    sofa = sofa_of(structures, "").id
    replacements: list[Replacement] = [removal(raw, by_id[key].place) for key in gone]
    for each in structures:
        if each.type == VIEW:
            fewer = _members(each, gone, added if each.values.get("sofa") in {None, sofa} else ())
        else:
            fewer = _without_references(each, gone, by_id) if each.id not in gone else {}
        if fewer:
            values.setdefault(each.place, {}).update(fewer)
    for place, attributes in values.items():
        tag = start_tag(raw, place)
        replacements.append((place, place + len(tag), with_attributes(tag, attributes)))
    if added:
        anchor = next(each for each in structures if each.type in {SOFA, VIEW})
        begin = before_space(raw, anchor.place)
        written = b""
        for key, new in added.items():
            attributes = {"xmi:id": key, "sofa": sofa, "begin": str(new.begin), "end": str(new.end), **new.features}
            element = _element(_tag_start(raw, structures, new.type), attributes)
            written += raw[begin : anchor.place] + element.encode("ascii", "xmlcharrefreplace")
        replacements.append((begin, begin, written))
    return replaced(raw, replacements)


def _refers(each: FeatureStructure, gone: set[str]) -> bool:
    """Whether it goes with annotations that go: a relation that ends at them, or a link to them."""
    values = each.values
    ends = {values[key] for key in (*RELATION_ENDS, "target") if key in values}
    is_link = "target" in values and "begin" not in values
    return (each.is_relation or is_link) and bool(ends & gone)


def _without_references(
    each: FeatureStructure, gone: set[str], by_id: Mapping[str, FeatureStructure]
) -> dict[str, str | None]:
    """Attributes that list links which go, without them."""
    fewer: dict[str, str | None] = {}
    for key, value in each.values.items():
        parts = value.split() if key not in _NO_REFERENCES else []
        targets = [by_id.get(part) for part in parts] if gone.intersection(parts) else []
        if targets and all(target is not None and "begin" not in target.values for target in targets):
            fewer[key] = " ".join(part for part in parts if part not in gone) or None
    return fewer


def _members(view: FeatureStructure, gone: set[str], added: Iterable[str]) -> dict[str, str | None]:
    """The list of a view's members brought up to date."""
    members = view.values.get("members", "").split()
    kept = [*(member for member in members if member not in gone), *added]
    return {"members": " ".join(kept)} if kept != members else {}


def _tag_start(raw: bytes, structures: Sequence[FeatureStructure], type_: str) -> str:
    """How an element of a type is called here, with the namespace that it must declare itself."""
    for each in structures:
        if each.type == type_:
            return tag_name(start_tag(raw, each.place))
    uri, local = _namespace(type_)
    root = raw[: structures[0].place]
    known = re.search(rb'xmlns:([\w.-]+)\s*=\s*["\']' + re.escape(uri.encode()) + rb"[\"']", root)
    return f"{known[1].decode()}:{local}" if known else f'corrected:{local} xmlns:corrected="{uri}"'


def _namespace(type_: str) -> tuple[str, str]:
    package, _, local = type_.rpartition(".")
    return f"http:///{package.replace('.', '/')}.ecore" if package else _NO_NAMESPACE, local


def _element(start: str, attributes: Mapping[str, str | None]) -> str:
    written = "".join(f' {key}="{attribute(value)}"' for key, value in attributes.items() if value is not None)
    return f"<{start}{written}/>"


# ---- new files -----------------------------------------------------------------------------------------------------


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file, or one for each document."""
    types = _layer_types(layers)
    text, corpus = reading.running_text, reading.corpus
    spans: list[dict[str, list[tuple[int, int, str | None]]]] = [
        {type_: [] for type_ in types.values()} for _ in text.documents
    ]
    for layer, frame in layers.items():
        ranges = text.ranges(frame)
        rows = zip(ranges.start.tolist(), ranges.end.tolist(), label_list(frame[layer]), strict=True)
        for number, row in zip(ranges.document.tolist(), rows, strict=True):
            spans[number][types[layer]].append(row)
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    for index, document in enumerate(text.documents):
        first, stop = int(corpus.documents.start[index]), int(corpus.documents.stop[index])
        breaks = corpus.breaks[(corpus.breaks > first) & (corpus.breaks < stop)] - first
        tokens = list(zip(text.char_start[first:stop].tolist(), text.char_end[first:stop].tolist(), strict=True))
        sentences = [
            (tokens[begin][0], tokens[end - 1][1])
            for begin, end in pairwise([0, *breaks.tolist(), stop - first])
            if end > begin
        ]
        extents = {f"{_SEGMENTATION}.Token": tokens, f"{_SEGMENTATION}.Sentence": sentences}
        content = _document(document, extents, spans[index])
        if len(text.documents) == 1 and how.name.lower().endswith(".xmi"):
            return {how.name: content}
        name = document_path(document.id or f"document-{index + 1}")
        name = escaped(name) if name.casefold() in taken else name  # to Windows `a` and `A` are one file
        taken.add(name.casefold())
        if f"{name}.xmi" in files:
            raise InputError(f"two documents would be written to {name}.xmi. Document IDs must be unique.")
        files[f"{name}.xmi"] = content
    return files


def _layer_types(layers: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """The type of each layer: a single one is that of named entities, several are types of their own."""
    if len(layers) == 1:
        return dict.fromkeys(layers, NAMED_ENTITY)
    names = {layer: re.sub(r"[^A-Za-z0-9]+", "_", layer).strip("_") or "Layer" for layer in layers}
    if len(set(names.values())) < len(names):
        raise OptionError(f"layers would have the same type: {', '.join(layers)}. Give them other names (--layer).")
    return {layer: f"webanno.custom.{name}" for layer, name in names.items()}


def _document(
    document: TextDocument,
    extents: Mapping[str, Sequence[tuple[int, int]]],
    spans: Mapping[str, Sequence[tuple[int, int, str | None]]],
) -> bytes:
    """A CAS of a text with its metadata, tokens, sentences and annotations."""
    text = document.text
    title = {} if document.id is None else {"documentTitle": document.id, "documentId": document.id}
    rows: list[tuple[str, int, int, Mapping[str, str | None]]] = [(_METADATA, 0, len(text), title)]
    rows += [(type_, begin, end, {}) for type_, own in extents.items() for begin, end in own]
    rows += [(type_, begin, end, {"value": label}) for type_, own in spans.items() for begin, end, label in own]
    for value in (text, document.id or "", *(str(label) for own in spans.values() for *_, label in own)):
        refuse_characters(value, document.id)
    places = from_code_points(text, UTF16, np.array([row[1:3] for row in rows], dtype=np.int64).reshape(-1))
    spaces: dict[str, str] = {"http:///uima/cas.ecore": "cas"}
    elements = ['<cas:NULL xmi:id="0"/>']
    for number, ((type_, *_, features), (begin, end)) in enumerate(
        zip(rows, places.reshape(-1, 2).tolist(), strict=True), 2
    ):
        uri, local = _namespace(type_)
        prefix = spaces.setdefault(uri, _prefix(type_, list(spaces.values())))
        values = {"xmi:id": str(number), "sofa": "1", "begin": str(begin), "end": str(end), **features}
        elements.append(_element(f"{prefix}:{local}", values))
    sofa = {"sofaNum": "1", "sofaID": "_InitialView", "mimeType": "text", "sofaString": text}
    elements.append(_element("cas:Sofa", {"xmi:id": "1", **sofa}))
    elements.append(_element("cas:View", {"sofa": "1", "members": " ".join(map(str, range(2, len(rows) + 2)))}))
    namespaces = "".join(f' xmlns:{prefix}="{uri}"' for uri, prefix in {_XMI: "xmi", **spaces}.items())
    head = f"<?xml version='1.0' encoding='UTF-8'?>\n<xmi:XMI{namespaces} xmi:version=\"2.0\">"
    return "".join([head, *elements, "</xmi:XMI>"]).encode("utf-8")


def _prefix(type_: str, taken: Sequence[str]) -> str:
    """The last part of a package, with a number where another has the same."""
    name = type_.split(".")[-2]
    numbered = sum(each.rstrip("0123456789") == name for each in taken)
    return f"{name}{numbered - 1}" if numbered else name
