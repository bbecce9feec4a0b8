"""Reads files of one token a line, whether their columns are separated by tabs or by blanks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.reading import digest
from clueval_xlsx.corpus.tags import TagColumn, parse_tag
from clueval_xlsx.corpus.token_reading import TokenReading
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.columns import fields
from clueval_xlsx.formats.columns.complaints import MOST_PROBLEMS, Complaint, Complaints, line_numbers
from clueval_xlsx.formats.columns.correction import TagCells
from clueval_xlsx.formats.columns.fields import Lines
from clueval_xlsx.formats.columns.structure import (
    CONLL_DOCUMENT,
    DOCSTART,
    DocumentPlace,
    Structure,
    find_structure,
    is_comment,
)
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import DEFAULT_COLUMN, DEFAULT_LAYER, ReadOptions
from clueval_xlsx.text.strings import IntArray, Strings, first_of_each
from clueval_xlsx.threads import in_order

LAST_COLUMN = -1  # "the last column", the default place of CoNLL tags


@dataclass(frozen=True)
class TokenFormat:
    """How to read one token file. Columns are counted from 1; the token is column 1."""

    conll: bool = False
    layers: Mapping[str, int] = field(default_factory=dict)
    token_id: int | None = None
    document_id: int | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    space_column: int | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"

    @classmethod
    def of(cls, options: ReadOptions, name: str, *, conll: bool = False, default_column: int) -> TokenFormat:
        """What of the options concerns a token file; without layers there is one, in the default column."""
        return cls(
            conll=conll,
            layers=_layer_columns(options.layers, name) or {DEFAULT_LAYER: default_column},
            token_id=options.token_id,
            document_id=options.document_id,
            columns=options.columns,
            space_column=options.space_column,
            document_tag=options.document_tag,
            sentence_tag=options.sentence_tag,
        )

    def wanted(self) -> dict[str, int]:
        """Every column that is read besides the token, with the words that name it in a message."""
        return {**{f"layer {name}": column for name, column in self.layers.items()}, **self.wanted_as_text()}

    def wanted_as_text(self) -> dict[str, int]:
        """Those of them that are not tags."""
        wanted = {f"column {name}": column for name, column in self.columns.items()}
        for name, column in (
            ("token ID", self.token_id),
            ("document ID", self.document_id),
            ("spacing", self.space_column),
        ):
            if column is not None:
                wanted[name] = column
        return wanted


def _layer_columns(layers: Mapping[str, int | str | None], name: str) -> dict[str, int]:
    found = {}
    for layer, column in layers.items():
        if not isinstance(column, int):
            raise OptionError(
                f"{name}: --layer {layer}{f'={column}' if column else ''}: here a layer is a column of tags. Give its "
                f"number, such as {layer}={DEFAULT_COLUMN} (--gold-layer, --pred-layer for one side)."
            )
        found[layer] = column
    return found


@dataclass(frozen=True, eq=False)
class _FileChunk:
    """One stretch of the file: its token columns (start, length), its tags and its structure."""

    tokens: int
    columns: list[tuple[IntArray, npt.NDArray[np.int32]]]
    tags: list[TagColumn]
    structure: Structure
    short: int  # lines that lack a column
    complaints: Complaints


class _ColumnBuffers:
    """Space for as many tokens as there are lines, filled chunk by chunk; what stays empty takes no memory."""

    def __init__(self, lines: int, columns: int, layers: int) -> None:
        self._start = [np.empty(lines, np.int64) for _ in range(columns)]
        self._length = [np.empty(lines, np.int32) for _ in range(columns)]
        self._codes = [np.empty(lines, np.int64) for _ in range(layers)]
        self._numbers: list[dict[str, int]] = [{} for _ in range(layers)]  # the tags of each layer
        self._filled = 0

    def add(self, chunk: _FileChunk) -> None:
        """Put a stretch behind those before."""
        here = slice(self._filled, self._filled + chunk.tokens)
        for (start, length), all_starts, all_lengths in zip(chunk.columns, self._start, self._length, strict=True):
            all_starts[here] = start
            all_lengths[here] = length
        for column, codes, number in zip(chunk.tags, self._codes, self._numbers, strict=True):
            renumber = np.array([number.setdefault(tag, len(number)) for tag in column.tags], dtype=np.int64)
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
    begin = fields.check_text(raw, name)
    sha256 = digest(raw)
    data = fields.pad(raw)
    complete = raw.endswith(b"\n") or not raw
    del raw
    if options.conll and LAST_COLUMN in options.layers.values():
        options = _with_last_column(data, begin, options)

    complaints = Complaints()
    plain = options.wanted_as_text()
    buffers = _ColumnBuffers(data.count(b"\n", begin), 1 + len(plain), len(options.layers))
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
    layers = dict(zip(options.layers, buffers.tags(), strict=True))
    token_ids = named.get("token ID")
    _check_tokens(tokens, complaints)
    if token_ids is not None:
        _check_token_ids(token_ids, complaints)
    if incomplete:  # places and tokens do not fit each other
        complaints.refuse(data, name)
    tag = CONLL_DOCUMENT if options.conll else options.document_tag
    documents, doc_ids = _documents(structure, tokens, tag, id_column=named.get("document ID"), complaints=complaints)
    complaints.refuse(data, name)

    corpus = Corpus(
        tokens=tokens,
        doc_ids=doc_ids,
        documents=documents,
        breaks=_breaks(structure, documents, len(tokens), options.sentence_tag),
        hard_breaks=structure.has_sentences(options.sentence_tag),
        name=name,
        regions=structure.regions(data, len(tokens), skip=options.document_tag),
        columns={column: named[f"column {column}"] for column in options.columns},
        token_ids=token_ids,
        glue=_glue(structure, named.get("spacing"), len(tokens)),
        document_tag=options.document_tag,
        sentence_tag=options.sentence_tag,
    )
    source = Source(name, "conll" if options.conll else "vrt", sha256, dict(options.layers), complete)
    return TokenReading(corpus, layers, source, original=TagCells())


def _with_last_column(data: bytes, begin: int, options: TokenFormat) -> TokenFormat:
    """Replace "the last column" by the number of columns of the first token line."""
    for line in data[begin : begin + fields.CHUNK_BYTES].splitlines():
        parts = line.split()
        if len(parts) > 1 and not line.startswith(DOCSTART) and not is_comment(line):
            layers = {name: len(parts) if column == LAST_COLUMN else column for name, column in options.layers.items()}
            return replace(options, layers=layers)
    return replace(options, layers=dict.fromkeys(options.layers, 2))


def _chunks(data: bytes, begin: int, options: TokenFormat) -> Iterator[_FileChunk]:
    """Read the file in stretches, several at a time; where they are cut depends on the file alone."""
    buffer = np.frombuffer(data, dtype=np.uint8)
    split = fields.split_blanks if options.conll else fields.split_tabs

    def read_chunk(bounds: tuple[int, int]) -> _FileChunk:
        lines = split(buffer, *bounds)
        structure, is_token = find_structure(data, buffer, lines, conll=options.conll)
        return _read_chunk(data, lines, options, structure=structure, is_token=is_token)

    return in_order(read_chunk, fields.chunk_bounds(data, begin))


def _read_chunk(
    data: bytes, lines: Lines, options: TokenFormat, *, structure: Structure, is_token: npt.NDArray[np.bool_]
) -> _FileChunk:
    complaints = Complaints()
    wanted = options.wanted()
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
            described.append(Complaint(int(lines.start[row]), found, remedy=_missing_column_remedy(text)))
        complaints.add(described, total=len(short))
        rows = rows[lines.fields[rows] >= number]
    columns = [lines.column(number, rows) for number in (1, *options.wanted_as_text().values())]
    tags = [
        _tag_column(Strings(data, *lines.column(number, rows)), layer, complaints)
        for layer, number in options.layers.items()
    ]
    return _FileChunk(len(rows), columns, tags, structure, everything - len(rows), complaints)


def _shown(text: str) -> str:
    text = text if len(text) <= 60 else text[:57] + "..."
    return repr(text)


def _missing_column_remedy(text: str) -> str:
    if text.startswith("<"):
        return "If the line is meant as an XML tag, it is not well formed; a tag stands alone on its line"
    return "Give the right column (--layer NAME=COLUMN), or mend the line; columns are separated by tabs"


def _check_tokens(tokens: Strings, complaints: Complaints) -> None:
    empty = np.flatnonzero(tokens.length == 0)
    found, remedy = "the token in column 1 is empty", "Write the token, or leave the line empty to end the sentence"
    complaints.add(
        (Complaint(offset, found, remedy=remedy) for offset in tokens.start[empty[:MOST_PROBLEMS]].tolist()),
        total=len(empty),
    )


def _tag_column(cells: Strings, layer: str, complaints: Complaints) -> TagColumn:
    codes, tags = cells.factorise()
    is_bad = np.array([parse_tag(tag) is None for tag in tags], dtype=bool)
    bad = np.flatnonzero(is_bad[codes]) if is_bad.any() else codes[:0]
    complaints.add(
        (
            Complaint(
                int(cells.start[index]),
                f"layer {layer}: {_shown(tags[codes[index]])} is no BIO tag",
                "O, B-LABEL, I-LABEL (or the prefixes E S, L U of BIOES and BILOU)",
                "Check that --layer names the right column",
            )
            for index in bad[:MOST_PROBLEMS].tolist()
        ),
        total=len(bad),
    )
    return TagColumn(codes, tuple(tags))


def _check_token_ids(token_ids: Strings, complaints: Complaints) -> None:
    if token_ids.distinct():
        return
    codes = token_ids.codes()
    first = first_of_each(codes)
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
    structure: Structure, tokens: Strings, tag: str, *, id_column: Strings | None, complaints: Complaints
) -> tuple[Regions, tuple[str, ...]]:
    """Documents from tags, else from the ID column, else the whole file; tokens between tags get their own."""
    found, bad = structure.documents(tokens, tag)
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


def _breaks(structure: Structure, documents: Regions, tokens: int, sentence_tag: str) -> IntArray:
    """Positions at which a sentence begins: behind every sentence tag, blank line and document border."""
    places = np.concatenate([structure.sentence_borders(sentence_tag), documents.start, documents.stop, [0]])
    return np.unique(places[places < tokens]).astype(np.int64)


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
    return "SpaceAfter=No" in value or value.strip().lower() in {"0", "no", "false", "n"}
