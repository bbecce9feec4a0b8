"""Reads files of one token a line, whether their columns are separated by tabs or by blanks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.reading import digest
from clueval_xlsx.corpus.tags import OUTSIDE, OUTSIDE_MARKS, TagColumn
from clueval_xlsx.corpus.token_reading import TokenReading
from clueval_xlsx.formats.columns import fields
from clueval_xlsx.formats.columns.chunks import ColumnBuffers, file_chunks
from clueval_xlsx.formats.columns.complaints import MOST_PROBLEMS, Complaint, Complaints, line_numbers
from clueval_xlsx.formats.columns.correction import TagCells
from clueval_xlsx.formats.columns.structure import (
    CONLL_DOCUMENT,
    DocumentPlace,
    Structure,
)
from clueval_xlsx.formats.columns.tag_cells import TagPlace, first_tags, key_value, layered_tags, parts_of
from clueval_xlsx.formats.columns.token_format import TokenFormat
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import FIRST, LAYERS
from clueval_xlsx.text.strings import IntArray, Strings


def token_lines(head: bytes) -> Iterator[bytes]:
    """The lines of a beginning that are neither empty nor look like a tag or a comment."""
    return (line for line in map(bytes.strip, head.splitlines()) if line and not line.startswith((b"<", b"#")))


def read_columns(opened: OpenedSource, how: TokenFormat) -> TokenReading:
    """Read a file; raise `InputError` with all that is wrong with it."""
    name, raw = opened.name, opened.take()
    begin = fields.check_text(raw, name, how.origin)
    sha256 = digest(raw)
    data = fields.pad(raw)
    complete = raw.endswith(b"\n") or not raw
    del raw
    how = how.on(data, begin, name)

    complaints = Complaints()
    plain = how.wanted_as_text()
    buffers = ColumnBuffers(fields.line_count(data, begin), 1 + len(plain), len(how.places), len(data))
    structures, counts, incomplete = [], [], False
    for chunk in file_chunks(data, begin, how):
        buffers.add(chunk)
        structures.append(chunk.structure)
        counts.append(chunk.tokens)
        complaints.join(chunk.complaints)
        incomplete |= chunk.short > 0
    structure = Structure.join(structures, counts)
    tokens, *columns = buffers.columns(data, entities=not how.conll)
    named = dict(zip(plain, columns, strict=True))
    token_ids = named.get("token ID")
    _check_tokens(tokens, complaints, how.token_column)
    if token_ids is not None and token_ids.same_as(opened.known_ids):
        token_ids = opened.known_ids  # distinct, as was seen before; and nobody has to compare them again
    elif token_ids is not None:
        _check_token_ids(token_ids, complaints)
    if incomplete:  # places and tokens do not fit each other
        complaints.refuse(data, name, how.origin)
    tag = CONLL_DOCUMENT if how.conll else how.asked.document_tag
    documents, doc_ids = _documents(
        structure, tokens, tag, conll=how.conll, id_column=named.get("document ID"), complaints=complaints
    )
    complaints.refuse(data, name, how.origin)

    sentences = _sentence_starts(named.get("sentence ID"), named.get("spacing"), len(tokens))
    corpus = Corpus(
        tokens=tokens,
        doc_ids=doc_ids,
        documents=documents,
        breaks=_breaks(structure, documents, len(tokens), how.asked.sentence_tag, sentences),
        hard_breaks=structure.has_sentences(how.asked.sentence_tag) or sentences.size > 0,
        name=name,
        regions=structure.regions(data, len(tokens), skip=how.asked.document_tag),
        columns={column: named[f"column {column}"] for column in how.asked.columns},
        token_ids=token_ids,
        glue=_glue(structure, named.get("spacing"), len(tokens)),
        document_tag=how.asked.document_tag,
        sentence_tag=how.asked.sentence_tag,
        origin=how.origin,
    )
    raw_layers = dict(zip(how.places, buffers.tags(), strict=True))
    cells, layers = _tag_layers(raw_layers, how, corpus.closing_breaks)
    columns_read = {layer: _shown_place(cells.places[layer]) for layer in layers}
    source = Source(name, "conll" if how.conll else "vrt", sha256, columns_read, complete)
    return TokenReading(corpus, layers, source, original=cells)


def _shown_place(place: TagPlace) -> int | str:
    return f"{place.column}:{place.key}" if place.key else place.column


def _tag_layers(
    raw: Mapping[str, TagColumn], how: TokenFormat, breaks: IntArray
) -> tuple[TagCells, dict[str, TagColumn]]:
    """The layers that the columns hold, and how they are written: keys looked up, cells of several tags taken apart."""
    layers: dict[str, TagColumn] = {}
    places: dict[str, TagPlace] = {}
    shared: dict[str, tuple[str, ...]] = {}
    outside_keys: set[str] = set()
    for layer, cells in raw.items():
        column, place = cells, how.places[layer]
        if place.key:
            values = [key_value(cell, place.key) for cell in cells.tags]
            if any(value in OUTSIDE_MARKS for value in values):
                outside_keys.add(layer)
            column = TagColumn(cells.codes, tuple(OUTSIDE if value is None else value for value in values))
        elif place.plain:
            column = replace(cells, plain=True)
        elif how.asked.several_tags == LAYERS and any(len(parts_of(tag)) > 1 for tag in cells.tags):
            parts = layered_tags(cells, breaks)
            names = (layer, *(f"{layer}-{number}" for number in range(2, len(parts) + 1)))
            layers.update(zip(names, parts, strict=True))
            places.update(dict.fromkeys(names, place))
            shared.update(dict.fromkeys(names, names))
            continue
        elif how.asked.several_tags == FIRST:
            column = first_tags(cells)
        layers[layer], places[layer] = column, place
    separators = b" \t" if how.conll and not how.tabs else b"\t"
    return TagCells(places, separators, how.token_column, shared, frozenset(outside_keys)), layers


def _check_tokens(tokens: Strings, complaints: Complaints, column: int) -> None:
    empty = np.flatnonzero(tokens.length == 0)
    found, remedy = (
        f"the token in column {column} is empty",
        "Write the token, or leave the line empty to end the sentence",
    )
    complaints.add(
        (Complaint(offset, found, remedy=remedy) for offset in tokens.start[empty[:MOST_PROBLEMS]].tolist()),
        total=len(empty),
    )


def _check_token_ids(token_ids: Strings, complaints: Complaints) -> None:
    if token_ids.distinct():
        return
    codes, first = token_ids.numbered()
    again = np.flatnonzero(first[codes] != np.arange(len(codes)))
    shown = again[:MOST_PROBLEMS]
    lines = line_numbers(token_ids.data, token_ids.start[first[codes[shown]]].tolist())
    complaints.add(
        (
            Complaint(
                int(token_ids.start[index]),
                f"token ID {token_ids[index]!r} was already used in line {line}",
                remedy="Token IDs must be unique: mend the file, or check --token-id",
            )
            for index, line in zip(shown.tolist(), lines, strict=True)
        ),
        total=len(again),
    )


def _documents(
    structure: Structure, tokens: Strings, tag: str, *, conll: bool, id_column: Strings | None, complaints: Complaints
) -> tuple[Regions, tuple[str, ...]]:
    """Documents from tags, else from the ID column, else the whole file; tokens between tags get their own."""
    found, bad = structure.documents(tokens, tag, conll=conll)
    if not found and id_column is not None and len(tokens):
        codes, values = id_column.factorise()
        starts = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1])
        stops = np.append(starts[1:], len(tokens))
        found = [
            DocumentPlace(start, stop, {"id": values[codes[start]]}, int(id_column.start[start]))
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
        ]
    if not found:
        found = [DocumentPlace(0, len(tokens), {}, 0)]
    doc_ids = tuple(row.attributes.get("id") or f"#{number}" for number, row in enumerate(found, 1))
    seen: set[str] = set()
    for doc_id, row in zip(doc_ids, found, strict=True):
        if doc_id in seen:
            bad.append(
                Complaint(
                    row.offset,
                    f"document {doc_id!r} starts here, but a document of this ID came before",
                    remedy="Document IDs must be unique and the tokens of a document must stand together",
                )
            )
        seen.add(doc_id)
    complaints.add(bad)
    regions = Regions(
        np.array([row.start for row in found], dtype=np.int64),
        np.array([row.stop for row in found], dtype=np.int64),
        rows=tuple(row.attributes for row in found),
    )
    return regions, doc_ids


def _breaks(structure: Structure, documents: Regions, tokens: int, sentence_tag: str, sentences: IntArray) -> IntArray:
    """Positions at which a sentence begins: behind every sentence tag, blank line and document border."""
    borders = structure.sentence_borders(sentence_tag)
    places = np.concatenate([borders, sentences, documents.start, documents.stop, [0]])
    begins = np.zeros(tokens + 1, dtype=bool)  # the last one stands behind all tokens
    begins[places] = True
    return np.flatnonzero(begins[:-1])


def _sentence_starts(ids: Strings | None, spacing: Strings | None, tokens: int) -> IntArray:
    """Where a column of sentence IDs changes (an empty cell is as the one before), or says that a sentence ended."""
    if ids is not None and tokens:
        codes, values = ids.factorise()
        said = np.flatnonzero(np.array([bool(value.strip()) for value in values], dtype=bool)[codes])
        changed = np.flatnonzero(np.diff(codes[said])) + 1
        return said[np.append(0, changed)] if len(said) else said
    if spacing is not None and tokens:
        codes, values = spacing.factorise()
        ends = np.array(["EndOfSentence" in value for value in values], dtype=bool)
        after = np.flatnonzero(ends[codes]) + 1
        return after[after < tokens]
    return np.empty(0, np.int64)


def _glue(structure: Structure, spacing: Strings | None, tokens: int) -> npt.NDArray[np.bool_] | None:
    """True where a token follows the one before without a space, from `<g/>` or the spacing column."""
    glue = np.zeros(tokens, dtype=bool)
    if spacing is not None:
        codes, values = spacing.factorise()
        tight = np.array([_no_space_after(value) for value in values], dtype=bool)
        glue[1:] = tight[codes[:-1]]
        return glue
    places = structure.places("g")
    if not places.size:
        return None
    glue[places[places < tokens]] = True
    return glue


def _no_space_after(value: str) -> bool:
    return "SpaceAfter=No" in value or "NoSpaceAfter" in value or value.strip().lower() in {"0", "no", "false", "n"}
