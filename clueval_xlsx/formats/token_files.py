"""Files of one token a line: `.vrt` with XML tags between, CoNLL with blank lines and `-DOCSTART-`, token CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.tags import OUTSIDE_MARKS, parse_tag
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.formats.columns.cells import document_bounds, tag_cells
from clueval_xlsx.formats.columns.layout import TOKEN_NAMES
from clueval_xlsx.formats.columns.reader import read_columns
from clueval_xlsx.formats.columns.structure import DOCSTART, has_comments
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import WriteOptions
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.strings import BoolArray, written_token

VRT, CONLL, CSV = "vrt", "conll", "token-csv"
_NOT_A_NAME = re.compile(r"[^\w.-]+")
_SEPARATORS = ",;"
_SENTENCES = frozenset({"sentence #", "sentence", "sentence_id", "sent_id", "sentence id", "sentence_idx"})
_DOCUMENTS = frozenset({"doc_id", "document_id", "document", "doc", "document id", "doc id", "file", "filename"})


class TokenFiles:
    """Tells, reads and writes the format of one name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def tell(self, opened: OpenedSource) -> bool:
        """Whether the first token line looks like this format."""
        lines = map(bytes.strip, opened.head.splitlines())
        first = next((line for line in lines if line and not line.startswith((b"<", b"#"))), b"\t")
        if self.name == VRT:
            return b"\t" in first
        if opened.looks_like_json:
            return False
        if self.name == CONLL:
            return b"\t" not in first or first.startswith((DOCSTART, b"1\t", b"0\t")) or has_comments(opened.head)
        return _is_csv(opened.first_line.lstrip("\ufeff"))

    def read(self, opened: OpenedSource, options: ReadOptions) -> Reading:
        """Read a file."""
        return self._read(opened, {opened.name: opened.take()}, options, None)

    def read_together(self, opened: OpenedSource, options: ReadOptions) -> Reading:
        """Read the files of a folder as one corpus."""
        files = {name: opened.part(name).data for name in opened.members}
        return self._read(opened, files, options, opened.others)

    def _read(
        self, opened: OpenedSource, files: dict[str, bytes], options: ReadOptions, others: dict[str, bytes] | None
    ) -> Reading:
        if self.name != CSV:
            conll, known_ids = self.name == CONLL, opened.known_ids
            return read_columns(files, opened.name, options, conll=conll, others=others, known_ids=known_ids)
        sha256 = digest(next(iter(files.values()), b""))
        files = {name: _by_tabs(raw, name) for name, raw in files.items()}
        header = next(iter(files.values()), b"").partition(b"\n")[0].decode("utf-8", "surrogatepass")
        names = [name.strip().casefold() for name in header.split("\t")]
        asked = replace(
            options,
            sentence_id=options.sentence_id or _place(names, _SENTENCES),
            document_id=options.document_id or _place(names, _DOCUMENTS),
        )
        reading = read_columns(files, opened.name, asked, conll=True, tabs_only=True, others=others)
        return replace(reading, source=replace(reading.source, format=CSV, sha256=sha256), carrier=None)

    def write(self, reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
        """A new file."""
        write = vertical_text if self.name == VRT else conll_text
        return {how.name: write(reading.corpus, layers, sentences=how.sentences).encode("utf-8", "replace")}


def format_module(name: str) -> TokenFiles:
    """What reads and writes the format of a name."""
    return TokenFiles(name)


# -- token CSV: its rows become lines whose columns are separated by tabs


def _is_csv(line: str) -> bool:
    """Whether a first row has no tab and no blank around its separators, and names a token or holds a tag."""
    if "\t" in line or not any(separator in line for separator in _SEPARATORS):
        return False
    try:
        cells = next(csv.reader([line], delimiter=_separator(line)), [])
    except csv.Error:
        return False
    if {cell.strip().casefold() for cell in cells} & TOKEN_NAMES:
        return True
    tags = [cell for cell in cells[1:] if cell in OUTSIDE_MARKS or (cell[1:2] == "-" and parse_tag(cell))]
    return bool(tags) and len(line.split()) == 1


def _separator(line: str) -> str:
    return max(_SEPARATORS, key=line.count)


def _by_tabs(raw: bytes, name: str) -> bytes:
    """The rows of a CSV as lines of cells separated by tabs; a row of empty cells ends a sentence."""
    lines = decode_text(raw, name).split("\n")
    separator = _separator(lines[0])
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            cells = next(csv.reader([line.rstrip("\r")], delimiter=separator, strict=True), [])
        except csv.Error:
            cells = ["\t"]
            found = "a quotation mark that does not close"
        else:
            found = "a tab inside a cell"
        if any("\t" in cell for cell in cells):
            allowed = "one row a line, quotation marks doubled"
            raise InputError(problems=[Problem(f"{name}:{number}", found, allowed, "Mend it")])
        rows.append("\t".join(cells) if any(cells) else "")
    return "\n".join(rows).encode("utf-8", "surrogatepass")


def _place(names: Sequence[str], known: frozenset[str]) -> int | None:
    return next((number for number, name in enumerate(names, 1) if name in known), None)


# -- written


def vertical_text(corpus: Corpus, layers: Mapping[str, pd.DataFrame], *, sentences: bool | None = None) -> str:
    """The text of a `.vrt`: token, one column of BIO tags for each layer, and the token ID where there is one.

    `sentences` None writes `<s>` only where the source says where sentences end: a guessed sentence end would
    close spans of other files that run over it.
    """
    with_sentences = corpus.hard_breaks if sentences is None else sentences
    return "".join(_vertical_lines(corpus, layers, with_sentences))


def _vertical_lines(corpus: Corpus, layers: Mapping[str, pd.DataFrame], sentences: bool) -> Iterator[str]:
    cells = tag_cells(corpus, layers, ".vrt", r"[\t\r\n]")
    if corpus.token_ids is not None:
        cells.append(list(corpus.token_ids))
    glued = _glued(corpus)
    breaks = set(corpus.breaks.tolist()) if sentences else set()
    for index, (first, stop) in enumerate(document_bounds(corpus)):
        yield _document_tag(corpus, index)
        for position in range(first, stop):
            if position in breaks or (sentences and position == first):
                yield "<s>\n"
            if glued[position] and position > first:
                yield "<g/>\n"
            yield "\t".join([written_token(corpus.tokens[position]), *(column[position] for column in cells)]) + "\n"
            if sentences and (position + 1 == stop or position + 1 in breaks):
                yield "</s>\n"
        yield f"</{corpus.document_tag}>\n"


def _glued(corpus: Corpus) -> BoolArray:
    """Tokens written without a space before them."""
    if not corpus.running_text:
        return corpus.glue_or_guess()
    tokens = corpus.tokens
    glued = np.zeros(len(tokens), dtype=bool)
    glued[1:] = tokens.start[1:] == tokens.start[:-1] + tokens.length[:-1]
    return glued


def _document_tag(corpus: Corpus, index: int) -> str:
    attributes = dict(corpus.documents.attributes(index))
    named = {"id": attributes.pop("id")} if "id" in attributes else {}
    for key, value in attributes.items():
        named.setdefault(_NOT_A_NAME.sub("_", key), value)
    written = "".join(f' {key}="{written_token(value, quote=True)}"' for key, value in named.items())
    return f"<{corpus.document_tag}{written}>\n"


def conll_text(corpus: Corpus, layers: Mapping[str, pd.DataFrame], *, sentences: bool | None = None) -> str:
    """The text of a CoNLL file: tabs between token and tags, blank lines after sentences."""
    with_sentences = sentences is None or sentences
    cells = tag_cells(corpus, layers, "CoNLL", r"[ \t\r\n]")
    breaks = set(corpus.breaks.tolist()) if with_sentences else set()
    lines = []
    for index, (first, stop) in enumerate(document_bounds(corpus)):
        doc_id = corpus.documents.attributes(index).get("id")
        if doc_id is not None:
            one_line = re.sub(r"[\r\n]+", " ", doc_id)
            lines.append(f"-DOCSTART- ({one_line.replace('(', '[').replace(')', ']')})")
            lines += [""] if with_sentences else []
        elif index:
            lines.append("-DOCSTART-")
        for position in range(first, stop):
            token = corpus.tokens[position]
            if not token or re.search(r"[ \t\r\n]", token):
                raise InputError(
                    f"document {corpus.doc_ids[index]!r}: the token {token!r} has white space in it, which CoNLL "
                    "cannot hold (an annotation begins or ends with white space). Mend it, or convert to .vrt."
                )
            if position in breaks and position > first:
                lines.append("")
            lines.append("\t".join([token, *(column[position] for column in cells)]))
        lines += [""] if with_sentences else []
    return "\n".join(lines) + ("\n" if lines else "")
