"""spaCy's DocBin (`.spacy`): documents with their entities and span groups, read through spaCy itself."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.collect import Collector
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import format_named, need
from clueval_xlsx.formats.sniffing import looks_like_docbin
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions
from clueval_xlsx.text.characters import CODE_POINTS

ENTITIES = "ents"
_ID_KEYS = ("doc_id", "id", "document_id")
_ROOM, _MOST_RATIO = 256 * 1024 * 1024, 200
_WHAT = "spaCy's files are read"


def tell(opened: OpenedSource) -> bool:
    """Whether the bytes are packed as spaCy packs them."""
    return looks_like_docbin(opened.data)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the entities of every document, or the span groups that layers name."""
    name, raw = opened.name, opened.data
    docs = _docs(raw, name)
    if not docs:
        raise InputError(f"{name}: there is no document in it. Check that this is the right file.")
    layers = _layers(options.layers, docs, name)
    collector = Collector(name, format_named("docbin"), replace(options, offsets=CODE_POINTS), layers)
    if len(set(layers.values())) > 1:
        collector.sequences = dict(layers)
    for number, doc in enumerate(docs):
        collector.add_document(TextDocument(_document_id(doc), doc.text))
        for group in dict.fromkeys(layers.values()):
            scores = _scores(doc, group)
            for index, span in enumerate(_spans(doc, group)):
                collector.add(
                    number,
                    (span.start_char, span.end_char),
                    {group: span.label_ or None},
                    score=scores[index] if index < len(scores) else None,
                    sequence=group,
                    where=f"{name}: document {collector.documents[number].id or number + 1}, {group} {index + 1}",
                )
    source = Source(name, "docbin", digest(raw), dict(layers))
    return collector.finish(source, None)


def _docs(raw: bytes, name: str) -> list[Any]:
    tokens = need("spacy.tokens", "spacy", _WHAT)
    vocab = need("spacy.vocab", "spacy", _WHAT).Vocab()
    most = _ROOM + _MOST_RATIO * len(raw)
    try:
        unpacker = zlib.decompressobj()
        if len(unpacker.decompress(raw, most + 1)) > most:
            raise InputError(f"{name}: unpacks to more than {most / 1e6:,.0f} MB, more than such a file may hold.")
        docs = list(tokens.DocBin().from_bytes(raw).get_docs(vocab))
        for doc in docs:
            len(doc.ents)  # only then are its tags looked at
        return docs
    except InputError:
        raise
    except Exception as error:  # spaCy raises whatever its parts raise
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise InputError(
            f"{name}: is no DocBin that spaCy can read ({reason}). Allowed: what DocBin.to_disk writes. Save it again."
        ) from None


def _layers(wanted: Mapping[str, int | str | None], docs: Sequence[Any], name: str) -> dict[str, str]:
    """The group of each layer: entities, or a span group by its key."""
    groups = list(dict.fromkeys(key for doc in docs for key in doc.spans))
    known = [ENTITIES, *groups]
    if not wanted:
        if not any(doc.ents for doc in docs) and len(groups) == 1:
            return {DEFAULT_LAYER: groups[0]}
        return {DEFAULT_LAYER: ENTITIES}
    found = {}
    for layer, group in wanted.items():
        said = layer if group is None else str(group)
        if said not in known:
            if group is None and len(wanted) == 1:
                found[layer] = ENTITIES
                continue
            raise OptionError(
                f"{name}: --layer {layer}={said}: there is no group of spans of this name. Groups: {', '.join(known)}."
            )
        found[layer] = said
    return found


def _spans(doc: Any, group: str) -> list[Any]:
    return list(doc.ents) if group == ENTITIES else list(doc.spans[group]) if group in doc.spans else []


def _scores(doc: Any, group: str) -> list[Any]:
    found = doc.spans[group].attrs.get("scores") if group != ENTITIES and group in doc.spans else None
    return [] if found is None else [float(score) for score in list(found)]


def _document_id(doc: Any) -> str | None:
    return next((str(doc.user_data[key]) for key in _ID_KEYS if doc.user_data.get(key) is not None), None)
