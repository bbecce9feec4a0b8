"""Reads files of one token a line, whether their columns are separated by tabs or by blanks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, LineOrigin, Regions
from clueval_xlsx.corpus.reading import digest
from clueval_xlsx.corpus.tags import OUTSIDE, OUTSIDE_MARKS, TagColumn, parse_tag
from clueval_xlsx.corpus.token_reading import TokenReading
from clueval_xlsx.formats.columns import fields
from clueval_xlsx.formats.columns.complaints import MOST_PROBLEMS, Complaint, Complaints, line_numbers
from clueval_xlsx.formats.columns.correction import TagCells
from clueval_xlsx.formats.columns.fields import Column, Lines
from clueval_xlsx.formats.columns.finding import WantedColumns, find_columns
from clueval_xlsx.formats.columns.structure import (
    CONLL_DOCUMENT,
    DocumentPlace,
    LineRules,
    Structure,
    find_structure,
)
from clueval_xlsx.formats.columns.tag_cells import TagPlace, first_tags, key_value, layered_tags, parts_of
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import ERROR, FIRST, LAYERS, ReadOptions
from clueval_xlsx.text.strings import IntArray, Offsets, Strings
from clueval_xlsx.threads import in_order


@dataclass(frozen=True)
class TokenFormat:
    """How to read one token file. Columns are counted from 1; the token is column 1 unless `token` says otherwise.

    `layers` are columns, names that a header gives or keys of a column's cells, as they were asked for; `places` is
    where they were found.
    """

    conll: bool = False
    layers: Mapping[str, int | str | None] = field(default_factory=dict)
    token: int | str | None = None
    token_id: int | None = None
    document_id: int | None = None
    sentence_id: int | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    space_column: int | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"
    several_tags: str = ERROR
    text_only: bool = False
    tabs_only: bool = False
    origin: LineOrigin | None = None
    places: Mapping[str, TagPlace] = field(default_factory=dict)
    rules: LineRules = field(default_factory=LineRules)
    tabs: bool = True

    @classmethod
    def of(cls, options: ReadOptions, *, conll: bool = False) -> TokenFormat:
        """What of the options concerns a token file."""
        return cls(
            conll=conll,
            layers=options.layers,
            token=options.token,
            token_id=options.token_id,
            document_id=options.document_id,
            sentence_id=options.sentence_id,
            columns=options.columns,
            space_column=options.space_column,
            document_tag=options.document_tag,
            sentence_tag=options.sentence_tag,
            several_tags=options.several_tags,
            text_only=options.text_only,
        )

    def on(self, data: bytes, begin: int, name: str) -> TokenFormat:
        """The same with everything found that this file leaves to be found."""
        others = frozenset(self.wanted_as_text().values())
        wanted = WantedColumns(self.layers, self.token, others, text_only=self.text_only, tabs_only=self.tabs_only)
        found = find_columns(data, begin, wanted, name, conll=self.conll)
        placed = replace(
            self,
            places=found.layers,
            token=found.token,
            tabs=found.tabs,
            space_column=self.space_column or found.misc,
        )
        least = max([found.token, *placed.wanted().values()])
        rules = LineRules(self.conll, found.indexed, found.header, least, found.shared)
        return replace(placed, rules=rules)

    @property
    def token_column(self) -> int:
        """The column of the tokens, once it was found."""
        return self.token if isinstance(self.token, int) else 1

    def wanted(self) -> dict[str, int]:
        """Every column that is read besides the token, with the words that name it in a message."""
        return {**{f"layer {name}": place.column for name, place in self.places.items()}, **self.wanted_as_text()}

    def wanted_as_text(self) -> dict[str, int]:
        """Those of them that are not tags."""
        wanted = {f"column {name}": column for name, column in self.columns.items()}
        for name, column in (
            ("token ID", self.token_id),
            ("document ID", self.document_id),
            ("sentence ID", self.sentence_id),
            ("spacing", self.space_column),
        ):
            if column is not None:
                wanted[name] = column
        return wanted


@dataclass(frozen=True, eq=False)
class _FileChunk:
    """One stretch of the file: its token columns (start, length), its tags and its structure."""

    tokens: int
    columns: list[Column]
    tags: list[TagColumn]
    structure: Structure
    short: int  # lines that lack a column
    complaints: Complaints


class _ColumnBuffers:
    """Space for as many tokens as there are lines, filled chunk by chunk; what stays empty takes no memory."""

    def __init__(self, lines: int, columns: int, layers: int, size: int) -> None:
        small = size < np.iinfo(np.int32).max
        self._start: list[Offsets] = [
            np.empty(lines, np.int32) if small else np.empty(lines, np.int64) for _ in range(columns)
        ]
        self._length = [np.empty(lines, np.int32) for _ in range(columns)]
        self._codes = [np.empty(lines, np.int32) for _ in range(layers)]
        self._numbers: list[dict[str, int]] = [{} for _ in range(layers)]  # the tags of each layer
        self._filled = 0

    def add(self, chunk: _FileChunk) -> None:
        """Put a stretch behind those before."""
        here = slice(self._filled, self._filled + chunk.tokens)
        for (start, length), all_starts, all_lengths in zip(chunk.columns, self._start, self._length, strict=True):
            all_starts[here] = start
            all_lengths[here] = length
        for column, codes, number in zip(chunk.tags, self._codes, self._numbers, strict=True):
            renumber = np.array([number.setdefault(tag, len(number)) for tag in column.tags], dtype=np.int32)
            codes[here] = renumber[column.codes]
        self._filled = here.stop

    def columns(self, data: bytes, *, entities: bool) -> list[Strings]:
        """The columns that were filled."""
        upto = self._filled
        return [
            Strings(data, start[:upto], length[:upto], entities=entities)
            for start, length in zip(self._start, self._length, strict=True)
        ]

    def tags(self) -> list[TagColumn]:
        """The tags of each layer that were filled."""
        pairs = zip(self._codes, self._numbers, strict=True)
        return [TagColumn(codes[: self._filled], tuple(number)) for codes, number in pairs]


def token_lines(head: bytes) -> Iterator[bytes]:
    """The lines of a beginning that are neither empty nor look like a tag or a comment."""
    return (line for line in map(bytes.strip, head.splitlines()) if line and not line.startswith((b"<", b"#")))


def read_columns(opened: OpenedSource, options: TokenFormat) -> TokenReading:
    """Read a file; raise `InputError` with all that is wrong with it."""
    name, raw = opened.name, opened.take()
    begin = fields.check_text(raw, name, options.origin)
    sha256 = digest(raw)
    data = fields.pad(raw)
    complete = raw.endswith(b"\n") or not raw
    del raw
    options = options.on(data, begin, name)

    complaints = Complaints()
    plain = options.wanted_as_text()
    buffers = _ColumnBuffers(fields.line_count(data, begin), 1 + len(plain), len(options.places), len(data))
    structures, counts, incomplete = [], [], False
    for chunk in _chunks(data, begin, options):
        buffers.add(chunk)
        structures.append(chunk.structure)
        counts.append(chunk.tokens)
        complaints.join(chunk.complaints)
        incomplete |= chunk.short > 0
    structure = Structure.join(structures, counts)
    tokens, *columns = buffers.columns(data, entities=not options.conll)
    named = dict(zip(plain, columns, strict=True))
    token_ids = named.get("token ID")
    _check_tokens(tokens, complaints, options.token_column)
    if token_ids is not None and token_ids.same_as(opened.known_ids):
        token_ids = opened.known_ids  # distinct, as was seen before; and nobody has to compare them again
    elif token_ids is not None:
        _check_token_ids(token_ids, complaints)
    if incomplete:  # places and tokens do not fit each other
        complaints.refuse(data, name, options.origin)
    tag = CONLL_DOCUMENT if options.conll else options.document_tag
    documents, doc_ids = _documents(
        structure, tokens, tag, conll=options.conll, id_column=named.get("document ID"), complaints=complaints
    )
    complaints.refuse(data, name, options.origin)

    sentences = _sentence_starts(named.get("sentence ID"), named.get("spacing"), len(tokens))
    corpus = Corpus(
        tokens=tokens,
        doc_ids=doc_ids,
        documents=documents,
        breaks=_breaks(structure, documents, len(tokens), options.sentence_tag, sentences),
        hard_breaks=structure.has_sentences(options.sentence_tag) or sentences.size > 0,
        name=name,
        regions=structure.regions(data, len(tokens), skip=options.document_tag),
        columns={column: named[f"column {column}"] for column in options.columns},
        token_ids=token_ids,
        glue=_glue(structure, named.get("spacing"), len(tokens)),
        document_tag=options.document_tag,
        sentence_tag=options.sentence_tag,
        origin=options.origin,
    )
    raw_layers = dict(zip(options.places, buffers.tags(), strict=True))
    cells, layers = _tag_layers(raw_layers, options, corpus.closing_breaks)
    columns_read = {layer: _shown_place(cells.places[layer]) for layer in layers}
    source = Source(name, "conll" if options.conll else "vrt", sha256, columns_read, complete)
    return TokenReading(corpus, layers, source, original=cells)


def _shown_place(place: TagPlace) -> int | str:
    return f"{place.column}:{place.key}" if place.key else place.column


def _tag_layers(
    raw: Mapping[str, TagColumn], options: TokenFormat, breaks: IntArray
) -> tuple[TagCells, dict[str, TagColumn]]:
    """The layers that the columns hold, and how they are written: keys looked up, cells of several tags taken apart."""
    layers: dict[str, TagColumn] = {}
    places: dict[str, TagPlace] = {}
    shared: dict[str, tuple[str, ...]] = {}
    outside_keys: set[str] = set()
    for layer, cells in raw.items():
        column, place = cells, options.places[layer]
        if place.key:
            values = [key_value(cell, place.key) for cell in cells.tags]
            if any(value in OUTSIDE_MARKS for value in values):
                outside_keys.add(layer)
            column = TagColumn(cells.codes, tuple(OUTSIDE if value is None else value for value in values))
        elif place.plain:
            column = replace(cells, plain=True)
        elif options.several_tags == LAYERS and any(len(parts_of(tag)) > 1 for tag in cells.tags):
            parts = layered_tags(cells, breaks)
            names = (layer, *(f"{layer}-{number}" for number in range(2, len(parts) + 1)))
            layers.update(zip(names, parts, strict=True))
            places.update(dict.fromkeys(names, place))
            shared.update(dict.fromkeys(names, names))
            continue
        elif options.several_tags == FIRST:
            column = first_tags(cells)
        layers[layer], places[layer] = column, place
    separators = b" \t" if options.conll and not options.tabs else b"\t"
    return TagCells(places, separators, options.token_column, shared, frozenset(outside_keys)), layers


def _chunks(data: bytes, begin: int, options: TokenFormat) -> Iterator[_FileChunk]:
    """Read the file in stretches, several at a time; where they are cut depends on the file alone."""
    buffer = np.frombuffer(data, dtype=np.uint8)
    split = fields.split_blanks if options.conll and not options.tabs else fields.split_tabs

    def read_chunk(bounds: tuple[int, int]) -> _FileChunk:
        lines = split(buffer, *bounds)
        structure, is_token = find_structure(data, buffer, lines, options.rules)
        return _read_chunk(data, lines, options, structure=structure, is_token=is_token)

    return in_order(read_chunk, fields.chunk_bounds(data, begin))


def _read_chunk(
    data: bytes, lines: Lines, options: TokenFormat, *, structure: Structure, is_token: npt.NDArray[np.bool_]
) -> _FileChunk:
    complaints = Complaints()
    wanted = {"token": options.token_column, **options.wanted()} if options.token_column > 1 else options.wanted()
    rows = np.flatnonzero(is_token)
    everything = len(rows)
    for what, number in wanted.items():
        short = rows[lines.fields[rows] < number]
        described = []
        for row in short[:MOST_PROBLEMS].tolist():
            text = data[lines.start[row] : lines.end[row]].decode("utf-8")
            count = int(lines.fields[row])
            found = f"{_shown(text)} has {count} column{'s' if count != 1 else ''}, "
            found += f"but column {number} ({what}) is asked for"
            described.append(Complaint(int(lines.start[row]), found, remedy=_missing_column_remedy(text, options)))
        complaints.add(described, total=len(short))
        rows = rows[lines.fields[rows] >= number]
    columns = lines.columns((options.token_column, *options.wanted_as_text().values()), rows)
    tag_cells = lines.columns([place.column for place in options.places.values()], rows)
    tags = [
        _tag_column(Strings(data, *cells), layer, place, options.several_tags, complaints)
        for cells, (layer, place) in zip(tag_cells, options.places.items(), strict=True)
    ]
    return _FileChunk(len(rows), columns, tags, structure, everything - len(rows), complaints)


def _shown(text: str) -> str:
    text = text if len(text) <= 60 else text[:57] + "..."
    return repr(text)


def _missing_column_remedy(text: str, options: TokenFormat) -> str:
    if text.startswith("<"):
        return "If the line is meant as an XML tag, it is not well formed; a tag stands alone on its line"
    separated = "blanks or tabs" if options.conll and not options.tabs else "tabs"
    return f"Give the right column (--layer NAME=COLUMN), or mend the line; columns are separated by {separated}"


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


def _tag_column(cells: Strings, layer: str, place: TagPlace, several: str, complaints: Complaints) -> TagColumn:
    codes, tags = cells.factorise()
    wrong = [_tag_problem(tag, layer, place, several) for tag in tags]
    is_bad = np.array([problem is not None for problem in wrong], dtype=bool)
    bad = np.flatnonzero(is_bad[codes]) if is_bad.any() else codes[:0]
    complaints.add(
        (
            Complaint(int(cells.start[index]), *problem)
            for index in bad[:MOST_PROBLEMS].tolist()
            if (problem := wrong[codes[index]]) is not None
        ),
        total=len(bad),
    )
    return TagColumn(codes, tuple(tags))


def _tag_problem(cell: str, layer: str, place: TagPlace, several: str) -> tuple[str, str, str] | None:
    """What is wrong with a cell of tags: found, allowed, remedy; None for nothing."""
    if place.key:
        value = key_value(cell, place.key)
        cell = OUTSIDE if value is None else value
    if place.plain and not (cell[1:2] == "-" and parse_tag(cell)):
        return None
    parts = parts_of(cell)
    if len(parts) > 1:
        if several != ERROR and not place.key:
            return None
        return (
            f"layer {layer}: {_shown(cell)} holds several tags",
            "one tag",
            "Take the first of each cell (--several-tags first), or make layers of them (--several-tags layers)",
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
