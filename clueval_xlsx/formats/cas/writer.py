"""New CAS files: documents with their tokens, sentences and annotations, handed to dkpro-cassis or laid out as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.spans import label_list
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.names import document_path, escaped
from clueval_xlsx.formats.cas.fields import NAMED_ENTITY
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.registry import need

_SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
_METADATA = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
_ANNOTATION, _STRING = "uima.tcas.Annotation", "uima.cas.String"
VALUE = "value"
_WHAT = "CAS files are written"
Extent = tuple[int, int]


@dataclass(frozen=True, eq=False)
class LaidOutDocument:
    """A document to be written: extents are code points, end exclusive; spans by the type of their layer."""

    document: TextDocument
    tokens: list[Extent]
    sentences: list[tuple[int, int]]  # first token, and the one behind the last
    spans: Mapping[str, list[tuple[int, int, str | None]]]

    @property
    def text(self) -> str:
        """The document's text."""
        return self.document.text


def layer_types(layers: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """The type of each layer: a single one is that of named entities, several are types of their own."""
    if len(layers) == 1:
        return dict.fromkeys(layers, NAMED_ENTITY)
    return {layer: f"webanno.custom.{re.sub(r'[^A-Za-z0-9]+', '_', layer).strip('_') or 'Layer'}" for layer in layers}


def laid_out(reading: Reading, layers: Mapping[str, pd.DataFrame]) -> list[LaidOutDocument]:
    """The documents of a reading with their tokens, sentences and spans."""
    types = layer_types(layers)
    if len(set(types.values())) < len(types):
        raise OptionError(f"layers would have the same type: {', '.join(layers)}. Give them other names (--layer).")
    text, corpus = reading.running_text, reading.corpus
    found = []
    for index, document in enumerate(text.documents):
        first, stop = int(corpus.documents.start[index]), int(corpus.documents.stop[index])
        breaks = corpus.breaks[(corpus.breaks > first) & (corpus.breaks < stop)] - first
        borders = [0, *breaks.tolist(), stop - first]
        tokens = list(zip(text.char_start[first:stop].tolist(), text.char_end[first:stop].tolist(), strict=True))
        sentences = [(begin, end) for begin, end in pairwise(borders) if end > begin]
        found.append(LaidOutDocument(document, tokens, sentences, {type_: [] for type_ in types.values()}))
    for layer, spans in layers.items():
        ranges = text.ranges(spans)
        rows = zip(ranges.start.tolist(), ranges.end.tolist(), label_list(spans[layer]), strict=True)
        for number, row in zip(np.asarray(ranges.document).tolist(), rows, strict=True):
            found[number].spans[types[layer]].append(row)
    return found


def document_files(
    reading: Reading,
    layers: Mapping[str, pd.DataFrame],
    how: WriteOptions,
    ending: str,
    written: Callable[[LaidOutDocument], bytes],
) -> dict[str, bytes]:
    """One file of the given name for one document; for several a file each, by their IDs, in a folder."""
    documents = laid_out(reading, layers)
    if len(documents) == 1 and how.name.lower().endswith(ending):
        return {how.name: written(documents[0])}
    return {f"{name}{ending}": written(document) for name, document in named_documents(documents).items()}


def named_documents(documents: list[LaidOutDocument]) -> dict[str, LaidOutDocument]:
    """Documents by names that files can have."""
    found: dict[str, LaidOutDocument] = {}
    taken: set[str] = set()
    for number, each in enumerate(documents, 1):
        name = document_path(each.document.id or f"document-{number}")
        name = escaped(name) if name.casefold() in taken else name  # to Windows `a` and `A` are one file
        if name in found:
            raise InputError(f"two documents would be written to {name}. Document IDs must be unique.")
        taken.add(name.casefold())
        found[name] = each
    return found


def new_cas(each: LaidOutDocument) -> Any:
    """A CAS with the document's text, its metadata, tokens, sentences and annotations."""
    types = _type_system(tuple(each.spans))
    cas = need("cassis", "cas", _WHAT).Cas(types)
    cas.sofa_string, cas.sofa_mime = each.text, "text"
    title = each.document.id
    named = {} if title is None else {"documentTitle": title, "documentId": title}
    cas.add(types.get_type(_METADATA)(begin=0, end=len(each.text), **named))
    token, sentence = (types.get_type(f"{_SEGMENTATION}.{name}") for name in ("Token", "Sentence"))
    cas.add_all([token(begin=begin, end=end) for begin, end in each.tokens])
    for first, stop in each.sentences:
        cas.add(sentence(begin=each.tokens[first][0], end=each.tokens[stop - 1][1]))
    for type_, spans in each.spans.items():
        kind = types.get_type(type_)
        cas.add_all(
            [kind(begin=start, end=end, **({} if label is None else {VALUE: label})) for start, end, label in spans]
        )
    return cas


def xmi_of(each: LaidOutDocument) -> bytes:
    """The document as XMI."""
    try:
        return str(new_cas(each).to_xmi()).encode("utf-8")
    except ValueError as error:  # control characters, which XML cannot hold
        raise InputError(f"document {each.document.id!r}: cannot be written as XMI: {error}. Use cas-json.") from None


def type_system(documents: list[LaidOutDocument]) -> str:
    """The type system that belongs to these documents, as XML."""
    return str(_type_system(tuple(dict.fromkeys(type_ for each in documents for type_ in each.spans))).to_xml())


@lru_cache(maxsize=4)
def _type_system(layers: tuple[str, ...]) -> Any:
    """The types of DKPro that INCEpTION knows, and one for each layer."""
    types = need("cassis", "cas", _WHAT).TypeSystem()
    metadata = types.create_type(_METADATA, "uima.tcas.DocumentAnnotation")
    for feature in ("documentTitle", "documentId"):
        types.create_feature(metadata, feature, _STRING)
    for name in ("Token", "Sentence"):
        types.create_type(f"{_SEGMENTATION}.{name}", _ANNOTATION)
    for layer in layers:
        types.create_feature(types.create_type(layer, _ANNOTATION), VALUE, _STRING)
    return types
