"""The token formats: vertical text (`.vrt`) and CoNLL, one token a line, layers as columns of BIO tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from clueval_xlsx.bio import TagColumn, parse_tag
from clueval_xlsx.corpus import Corpus, Regions
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.readers import fields
from clueval_xlsx.readers.fields import Lines
from clueval_xlsx.readers.reading import Reading, Source, digest
from clueval_xlsx.readers.structure import CONLL_DOCUMENT, Structure, find_structure
from clueval_xlsx.strings import IntArray, Strings, first_of_each

_MOST_PROBLEMS = 1000
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

    def wanted(self) -> dict[str, int]:
        """Every column that is read besides the token, with the words that name it in a message."""
        wanted = {f"layer {name}": column for name, column in self.layers.items()}
        wanted.update({f"column {name}": column for name, column in self.columns.items()})
        for name, column in (
            ("token ID", self.token_id),
            ("document ID", self.document_id),
            ("spacing", self.space_column),
        ):
            if column is not None:
                wanted[name] = column
        return wanted


@dataclass(frozen=True, eq=False)
class _Chunk:
    """One stretch of the file: its token columns (start, length) and its structure."""

    tokens: int
    columns: list[tuple[IntArray, npt.NDArray[np.int32]]]
    structure: Structure
    problems: list[Problem]


def read_vertical(stream: BinaryIO, name: str, options: TokenFormat) -> Reading:
    """Read a `.vrt` or CoNLL file; raise `InputError` with all that is wrong with it."""
    raw = stream.read()
    begin = fields.check_text(raw, name)
    sha256 = digest(raw)
    data = fields.pad(raw)
    complete = raw.endswith(b"\n") or not raw
    del raw
    if options.conll and LAST_COLUMN in options.layers.values():
        options = _with_last_column(data, begin, options)

    chunks = list(_chunks(data, begin, name, options))
    columns = [
        Strings(
            data,
            np.concatenate([chunk.columns[index][0] for chunk in chunks]) if chunks else np.empty(0, np.int64),
            np.concatenate([chunk.columns[index][1] for chunk in chunks]) if chunks else np.empty(0, np.int32),
            entities=not options.conll,
        )
        for index in range(1 + len(options.wanted()))
    ]
    structure = Structure.join([chunk.structure for chunk in chunks], [chunk.tokens for chunk in chunks])
    tokens, named = columns[0], dict(zip(options.wanted(), columns[1:], strict=True))
    problems = [problem for chunk in chunks for problem in chunk.problems]
    problems += _empty_tokens(tokens, name)

    layers = {}
    for layer in options.layers:
        layers[layer], bad = _tag_column(named[f"layer {layer}"], name, layer)
        problems += bad
    token_ids = named.get("token ID")
    if token_ids is not None:
        problems += _repeated_ids(token_ids, name)
    documents, doc_ids, bad = _documents(structure, tokens, named.get("document ID"), name, options)
    problems += bad
    if problems:
        raise InputError(problems=problems[:_MOST_PROBLEMS])

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
    return Reading(corpus, layers, source)


def _with_last_column(data: bytes, begin: int, options: TokenFormat) -> TokenFormat:
    """Replace "the last column" by the number of columns of the first token line."""
    for line in data[begin : begin + fields.CHUNK_BYTES].splitlines():
        parts = line.split()
        if len(parts) > 1 and not line.startswith((b"-DOCSTART-", b"# ")):
            layers = {name: len(parts) if column == LAST_COLUMN else column for name, column in options.layers.items()}
            return replace(options, layers=layers)
    return replace(options, layers=dict.fromkeys(options.layers, 2))


def _chunks(data: bytes, begin: int, name: str, options: TokenFormat) -> Iterator[_Chunk]:
    buffer = np.frombuffer(data, dtype=np.uint8)
    split = fields.split_blanks if options.conll else fields.split_tabs
    lines_before = 0
    for lower, upper in fields.chunk_bounds(data, begin):
        lines = split(buffer, lower, upper)
        structure, is_token = find_structure(data, buffer, lines, conll=options.conll)
        yield _read_chunk(data, lines, lines_before, is_token, structure, name, options)
        lines_before += len(lines.start)


def _read_chunk(
    data: bytes,
    lines: Lines,
    lines_before: int,
    is_token: npt.NDArray[np.bool_],
    structure: Structure,
    name: str,
    options: TokenFormat,
) -> _Chunk:
    wanted = options.wanted()
    rows = np.flatnonzero(is_token)
    problems = []
    for what, number in wanted.items():
        short = rows[lines.fields[rows] < number]
        for row in short[:_MOST_PROBLEMS].tolist():
            text = data[lines.start[row] : lines.end[row]].decode("utf-8")
            count = int(lines.fields[row])
            problems.append(
                Problem(
                    f"{name}:{lines_before + row + 1}",
                    f"{_shown(text)} has {count} column{'s' if count != 1 else ''}, "
                    f"but column {number} ({what}) is asked for",
                    remedy=_missing_column_remedy(text),
                )
            )
        rows = rows[lines.fields[rows] >= number]
    columns = [lines.column(number, rows) for number in (1, *wanted.values())]
    return _Chunk(len(rows), columns, structure, problems)


def _line_of(cells: Strings, index: int) -> int:
    return cells.data.count(b"\n", 0, int(cells.start[index])) + 1


def _shown(text: str) -> str:
    text = text if len(text) <= 60 else text[:57] + "..."
    return repr(text)


def _missing_column_remedy(text: str) -> str:
    if text.startswith("<"):
        return "If the line is meant as an XML tag, it is not well formed; a tag stands alone on its line"
    return "Give the right column (--layer NAME=COLUMN), or mend the line; columns are separated by tabs"


def _empty_tokens(tokens: Strings, name: str) -> list[Problem]:
    empty = np.flatnonzero(tokens.length == 0)[:_MOST_PROBLEMS]
    return [
        Problem(
            f"{name}:{_line_of(tokens, index)}",
            "the token in column 1 is empty",
            remedy="Write the token, or leave the line empty to end the sentence",
        )
        for index in empty.tolist()
    ]


def _tag_column(cells: Strings, name: str, layer: str) -> tuple[TagColumn, list[Problem]]:
    codes, tags = Strings(cells.data, cells.start, cells.length).factorise()
    problems = []
    for code, tag in enumerate(tags):
        if parse_tag(tag) is None:
            for index in np.flatnonzero(codes == code)[:_MOST_PROBLEMS].tolist():
                problems.append(
                    Problem(
                        f"{name}:{_line_of(cells, index)}",
                        f"layer {layer}: {_shown(tag)} is no BIO tag",
                        "O, B-LABEL, I-LABEL (or the prefixes E S, L U of BIOES and BILOU)",
                        "Check that --layer names the right column",
                    )
                )
                if len(problems) >= _MOST_PROBLEMS:
                    break
    return TagColumn(codes, tuple(tags)), problems


def _repeated_ids(token_ids: Strings, name: str) -> list[Problem]:
    codes = token_ids.codes()
    first = first_of_each(codes)
    if len(first) == len(codes):
        return []
    again = np.flatnonzero(first[codes] != np.arange(len(codes)))[:_MOST_PROBLEMS]
    return [
        Problem(
            f"{name}:{_line_of(token_ids, index)}",
            f"token ID {token_ids[index]!r} was already used in line {_line_of(token_ids, int(first[codes[index]]))}",
            remedy="Token IDs must be unique: mend the file, or check --token-id",
        )
        for index in again.tolist()
    ]


def _documents(
    structure: Structure, tokens: Strings, id_column: Strings | None, name: str, options: TokenFormat
) -> tuple[Regions, tuple[str, ...], list[Problem]]:
    """Documents from tags, else from the ID column, else the whole file; tokens between tags get their own."""
    tag = CONLL_DOCUMENT if options.conll else options.document_tag
    found, problems = structure.documents(tokens.data, len(tokens), tag, name)
    if not found and id_column is not None and len(tokens):
        codes, values = id_column.factorise()
        starts = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1])
        stops = np.append(starts[1:], len(tokens))
        found = [
            (start, stop, {"id": values[codes[start]]})
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
        ]
    if not found:
        found = [(0, len(tokens), {})]
    doc_ids = tuple(row.get("id") or f"#{number}" for number, (_, _, row) in enumerate(found, 1))
    seen: set[str] = set()
    for doc_id, (start, _, _) in zip(doc_ids, found, strict=True):
        if doc_id in seen:
            line = _line_of(tokens, min(start, len(tokens) - 1)) if len(tokens) else 1
            problems.append(
                Problem(
                    f"{name}:{line}",
                    f"document {doc_id!r} starts here, but a document of this ID came before",
                    remedy="Document IDs must be unique and the tokens of a document must stand together",
                )
            )
        seen.add(doc_id)
    regions = Regions(
        np.array([start for start, _, _ in found], dtype=np.int64),
        np.array([stop for _, stop, _ in found], dtype=np.int64),
        rows=tuple(row for _, _, row in found),
    )
    return regions, doc_ids, problems


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
