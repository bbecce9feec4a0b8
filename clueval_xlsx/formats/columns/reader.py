"""Reads files of one token a line, whether their columns are separated by tabs or by blanks."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, LineOrigin, Regions
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.tags import OUTSIDE, OUTSIDE_MARKS, TagColumn, parse_tag
from clueval_xlsx.exceptions import counted
from clueval_xlsx.formats.columns import lines as text_lines
from clueval_xlsx.formats.columns.cells import FilePart, TagCells, TagPlace, first_tags, key_value, parts_of
from clueval_xlsx.formats.columns.layout import Layout, find_layout
from clueval_xlsx.formats.columns.lines import MOST_PROBLEMS, Column, Complaint, Complaints, line_numbers
from clueval_xlsx.formats.columns.structure import CONLL_DOCUMENT, DocumentPlace, Structure, find_structure
from clueval_xlsx.formats.registry import ERROR, FIRST
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.strings import PADDING, BoolArray, IntArray, Offsets, Strings
from clueval_xlsx.threads import in_order


def read_columns(
    files: Mapping[str, bytes],
    name: str,
    asked: ReadOptions,
    *,
    conll: bool = False,
    tabs_only: bool = False,
    others: Mapping[str, bytes] | None = None,
    known_ids: Strings | None = None,
) -> Reading:
    """Read a file, or those of a folder (which has `others`) as one corpus; raise with all that is wrong.

    `known_ids` are token IDs that somebody has checked already.
    """
    folder = others is not None
    sha256 = "" if folder else digest(next(iter(files.values())))
    data, parts, origin = _joined(files, name if folder else None)
    del files  # a large file is in memory only once
    begin = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    layout = find_layout(data, begin, asked, name, conll=conll, tabs_only=tabs_only)
    complaints = Complaints()
    tokens, named, tags, structure = _read_buffer(data, begin, layout, complaints)
    empty = tokens.start[tokens.length == 0]
    remedy = "Write the token, or leave the line empty to end the sentence"
    found = f"the token in column {layout.token} is empty"
    complaints.add([Complaint(place, found, remedy=remedy) for place in empty[:MOST_PROBLEMS].tolist()], len(empty))
    token_ids = named.get("token ID")
    if token_ids is not None:
        if known_ids is not None and len(token_ids) == len(known_ids) and not token_ids.differs(known_ids).any():
            token_ids = known_ids  # distinct, as was seen before; and nobody has to compare them again
        else:
            _check_token_ids(token_ids, complaints)
    if complaints.incomplete:  # places and tokens do not fit each other
        complaints.refuse(data, name, origin)
    documents = _documents(structure, tokens, layout, parts if folder else [], named.get("document ID"), complaints)
    complaints.refuse(data, name, origin)
    regions = Regions(
        np.array([document.start for document in documents], dtype=np.int64),
        np.array([document.stop for document in documents], dtype=np.int64),
        rows=tuple(document.attributes for document in documents),
    )
    said = structure.sentence_borders(asked.sentence_tag)
    sentences = _sentence_starts(named.get("sentence ID"), named.get("spacing"), len(tokens))
    begins = np.zeros(len(tokens) + 1, dtype=bool)  # the last one stands behind all tokens
    for borders in (said, sentences, regions.start, regions.stop, [0]):
        begins[borders] = True
    corpus = Corpus(
        tokens=tokens,
        doc_ids=tuple(document.attributes.get("id") or f"#{number}" for number, document in enumerate(documents, 1)),
        documents=regions,
        breaks=np.flatnonzero(begins[:-1]),
        hard_breaks=bool(said.size or sentences.size),
        name=name,
        regions=structure.regions(data, len(tokens), skip=asked.document_tag),
        columns={column: named[f"column {column}"] for column in asked.columns},
        token_ids=token_ids,
        glue=_glue(structure, named.get("spacing"), len(tokens)),
        document_tag=asked.document_tag,
        sentence_tag=asked.sentence_tag,
        origin=origin,
    )
    layers, outside_keys = {}, set()
    for (layer, place), cells in zip(layout.places.items(), tags, strict=True):
        layers[layer] = _tags_of(cells, place, asked.several_tags)
        if place.key and any(key_value(cell, place.key) in OUTSIDE_MARKS for cell in cells.tags):
            outside_keys.add(layer)
    separators = b" \t" if conll and not layout.tabs else b"\t"
    carrier = TagCells(layout.places, separators, frozenset(outside_keys), data, tuple(parts), others or {})
    shown = {layer: str(place) if place.key else place.column for layer, place in layout.places.items()}
    kind = "conll" if conll else "vrt"
    source = Source(name, kind, sha256, shown, folder=folder)
    return Reading(source, corpus, layers, carrier=carrier)


def _joined(files: Mapping[str, bytes], folder: str | None) -> tuple[bytes, list[FilePart], LineOrigin | None]:
    """Files in one padded buffer, one behind another; where the lines come from, if they are of a folder."""
    pieces: list[bytes] = []
    parts, first = [], []
    done, line = 0, 1
    for name, raw in files.items():
        skipped = text_lines.check_text(raw, name if folder is None else f"{folder}/{name}")
        mark = folder is not None and skipped > 0
        content = raw[skipped:] if mark else raw
        complete = content.endswith(b"\n") or not content
        pieces += [content] if complete else [content, b"\n"]
        size = len(content) + (not complete)
        parts.append(FilePart(name, done, done + size, mark, complete))
        first.append(line)
        line += content.count(b"\n") + (not complete) if folder is not None else 0
        done += size
    origin = None if folder is None else LineOrigin(tuple(first), tuple(f"{folder}/{name}" for name in files))
    return b"".join([*pieces, bytes(PADDING)]), parts, origin


@dataclass(frozen=True, eq=False)
class _Stretch:
    """One stretch of the buffer: its token columns (start, length), its tags and its structure."""

    tokens: int
    columns: list[Column]
    tags: list[TagColumn]
    structure: Structure
    complaints: Complaints


def _read_buffer(
    data: bytes, begin: int, layout: Layout, complaints: Complaints
) -> tuple[Strings, dict[str, Strings], list[TagColumn], Structure]:
    """Tokens, other columns, tags and structure, read in stretches, several at a time."""
    texts = layout.text_columns
    lines = text_lines.line_count(data, begin)
    small = len(data) < np.iinfo(np.int32).max

    def offsets() -> Offsets:
        return np.empty(lines, np.int32) if small else np.empty(lines, np.int64)

    # Space for as many tokens as there are lines; what stays empty takes no memory.
    space = [(offsets(), np.empty(lines, np.int32)) for _ in range(1 + len(texts))]
    codes = [np.empty(lines, np.int32) for _ in layout.places]
    numbers: list[dict[str, int]] = [{} for _ in layout.places]
    structures, counts, filled = [], [], 0
    bounds = text_lines.chunk_bounds(data, begin)
    for stretch in in_order(lambda bound: _read_stretch(data, bound, layout), bounds):
        here = slice(filled, filled + stretch.tokens)
        for (start, length), (starts, lengths) in zip(stretch.columns, space, strict=True):
            starts[here], lengths[here] = start, length
        for column, target, number in zip(stretch.tags, codes, numbers, strict=True):
            renumber = np.array([number.setdefault(tag, len(number)) for tag in column.tags], dtype=np.int32)
            target[here] = renumber[column.codes]
        filled = here.stop
        structures.append(stretch.structure)
        counts.append(stretch.tokens)
        complaints.join(stretch.complaints)
    tokens, *columns = (Strings(data, start[:filled], length[:filled], not layout.conll) for start, length in space)
    tags = [TagColumn(own[:filled], tuple(number)) for own, number in zip(codes, numbers, strict=True)]
    return tokens, dict(zip(texts, columns, strict=True)), tags, Structure.join(structures, counts)


def _read_stretch(data: bytes, bounds: tuple[int, int], layout: Layout) -> _Stretch:
    buffer = np.frombuffer(data, dtype=np.uint8)
    split = text_lines.split_blanks if layout.conll and not layout.tabs else text_lines.split_tabs
    lines = split(buffer, *bounds)
    structure, is_token = find_structure(data, buffer, lines, layout.rules)
    complaints = Complaints()
    rows = np.flatnonzero(is_token)
    for what, number in layout.columns.items():
        short = rows[lines.fields[rows] < number]
        described = []
        for row in short[:MOST_PROBLEMS].tolist():
            text = data[lines.start[row] : lines.end[row]].decode("utf-8")
            count = int(lines.fields[row])
            found = f"{_shown(text)} has {counted(count, 'column')}, "
            found += f"but column {number} ({what}) is asked for"
            described.append(Complaint(int(lines.start[row]), found, remedy=_missing_column_remedy(text, layout)))
        complaints.add(described, len(short))
        complaints.incomplete |= len(short) > 0
        rows = rows[lines.fields[rows] >= number]
    columns = lines.columns((layout.token, *layout.text_columns.values()), rows)
    cells = lines.columns([place.column for place in layout.places.values()], rows)
    tags = []
    for own, (layer, place) in zip(cells, layout.places.items(), strict=True):
        tags.append(_tag_column(Strings(data, *own), layer, place, layout.asked.several_tags, complaints))
    return _Stretch(len(rows), columns, tags, structure, complaints)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _missing_column_remedy(text: str, layout: Layout) -> str:
    if text.startswith("<"):
        return "If the line is meant as an XML tag, it is not well formed; a tag stands alone on its line"
    separated = "blanks or tabs" if layout.conll and not layout.tabs else "tabs"
    return f"Give the right column (--layer NAME=COLUMN), or mend the line; columns are separated by {separated}"


def _tag_column(cells: Strings, layer: str, place: TagPlace, several: str, complaints: Complaints) -> TagColumn:
    codes, tags = cells.factorise()
    wrong = [_tag_problem(tag, layer, place, several) for tag in tags]
    bad = codes[:0]
    if any(wrong):
        bad = np.flatnonzero(np.array([problem is not None for problem in wrong])[codes])
    described = []
    for index in bad[:MOST_PROBLEMS].tolist():
        problem = wrong[codes[index]]
        assert problem is not None
        described.append(Complaint(int(cells.start[index]), *problem))
    complaints.add(described, len(bad))
    return TagColumn(codes, tuple(tags))


def _tag_problem(cell: str, layer: str, place: TagPlace, several: str) -> tuple[str, str, str] | None:
    """What is wrong with a cell of tags: found, allowed, remedy; None for nothing."""
    if place.key:
        value = key_value(cell, place.key)
        cell = OUTSIDE if value is None else value
    if place.plain and not (cell[1:2] == "-" and parse_tag(cell)):
        return None
    if len(parts_of(cell)) > 1:
        if several != ERROR and not place.key:
            return None
        return (
            f"layer {layer}: {_shown(cell)} holds several tags",
            "one tag",
            "Take the first of each cell (read.several_tags=first)",
        )
    if parse_tag(cell) is not None and not place.plain:
        return None
    return (
        f"layer {layer}: {_shown(cell)} is no BIO tag" + (" among labels without prefixes" if place.plain else ""),
        "O, B-LABEL, I-LABEL (or the prefixes E S, L U of BIOES and BILOU)",
        "Check that --layer names the right column",
    )


def _check_token_ids(token_ids: Strings, complaints: Complaints) -> None:
    if token_ids.distinct():
        return
    codes, first = token_ids.numbered()
    again = np.flatnonzero(first[codes] != np.arange(len(codes)))
    shown = again[:MOST_PROBLEMS]
    lines = line_numbers(token_ids.data, token_ids.start[first[codes[shown]]].tolist())
    described = []
    for index, line in zip(shown.tolist(), lines, strict=True):
        found = f"token ID {token_ids[index]!r} was already used in line {line}"
        remedy = "Token IDs must be unique: mend the file, or check --token-id"
        described.append(Complaint(int(token_ids.start[index]), found, remedy=remedy))
    complaints.add(described, len(again))


def _documents(
    structure: Structure,
    tokens: Strings,
    layout: Layout,
    parts: Sequence[FilePart],
    id_column: Strings | None,
    complaints: Complaints,
) -> list[DocumentPlace]:
    """Documents from tags, else from the ID column, else each file of a folder; tokens between tags get their own."""
    tag = CONLL_DOCUMENT if layout.conll else layout.asked.document_tag
    found: list[DocumentPlace] = []
    whole = FilePart("", 0, len(tokens.data), mark=False, complete=True)
    for part in parts if id_column is None and parts else [whole]:
        bounds = (part.begin, part.stop)
        own, bad = structure.documents(tokens, tag, bounds, conll=layout.conll)
        complaints.add(bad)
        if not own and part.name:
            first, stop = np.searchsorted(tokens.start, bounds).tolist()
            own = [DocumentPlace(first, stop, {"id": str(PurePosixPath(part.name).with_suffix(""))}, part.begin)]
        found += own
    if not found and id_column is not None and len(tokens):
        codes, values = id_column.factorise()
        starts = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1])
        stops = np.append(starts[1:], len(tokens))
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            found.append(DocumentPlace(start, stop, {"id": values[codes[start]]}, int(id_column.start[start])))
    seen = set()
    for number, row in enumerate(found, 1):
        doc_id = row.attributes.get("id") or f"#{number}"
        if doc_id in seen:
            again = f"document {doc_id!r} starts here, but a document of this ID came before"
            remedy = "Document IDs must be unique and the tokens of a document must stand together"
            complaints.add([Complaint(row.offset, again, remedy=remedy)])
        seen.add(doc_id)
    return found or [DocumentPlace(0, len(tokens), {}, 0)]


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


def _glue(structure: Structure, spacing: Strings | None, tokens: int) -> BoolArray | None:
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


def _tags_of(cells: TagColumn, place: TagPlace, several: str) -> TagColumn:
    """The tags of a column's cells: values of a key, labels without prefixes, of several tags the first."""
    if place.key:
        values = [key_value(cell, place.key) for cell in cells.tags]
        return TagColumn(cells.codes, tuple(OUTSIDE if value is None else value for value in values))
    if place.plain:
        return replace(cells, plain=True)
    return first_tags(cells) if several == FIRST else cells
