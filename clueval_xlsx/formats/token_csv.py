"""Token CSV: one token a row, columns separated by commas or semicolons, cells in quotation marks where they must be.

The rows become columns separated by tabs, line by line, which the reader of columns reads.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.tags import OUTSIDE_MARKS, parse_tag
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.formats.columns.cells import document_bounds, tag_cells
from clueval_xlsx.formats.columns.finding import TokenFormat
from clueval_xlsx.formats.columns.reader import read_columns
from clueval_xlsx.formats.columns.sampled_lines import TOKEN_NAMES
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.options import ReadOptions

_SEPARATORS = ",;"
_SENTENCES = frozenset({"sentence #", "sentence", "sentence_id", "sent_id", "sentence id", "sentence_idx"})
_DOCUMENTS = frozenset({"doc_id", "document_id", "document", "doc", "document id", "doc id", "file", "filename"})


def tell(opened: OpenedSource) -> bool:
    """Whether the first row has no tab and no blank around its separators, and names a token or holds a tag."""
    line = opened.first_line.lstrip("\ufeff")
    if opened.looks_like_json or "\t" in line or not any(separator in line for separator in _SEPARATORS):
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


def _cells(line: str, separator: str) -> list[tuple[int, int, str]] | None:
    """Where the cells of a row begin and end, and what they say; None where quotation marks do not close."""
    pattern = re.compile(rf'(?:"((?:[^"]|"")*)"|([^"{separator}][^{separator}]*|))(?={separator}|$)')
    found, place = [], 0
    while True:
        match = pattern.match(line, place)
        if match is None:
            return None
        value = match[1].replace('""', '"') if match[1] is not None else match[2]
        found.append((match.start(), match.end(), value))
        if match.end() == len(line):
            return found
        place = match.end() + 1


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the rows."""
    raw = opened.take()
    text = decode_text(raw, opened.name)
    separator = _separator(text.partition("\n")[0])
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        cells = _cells(line.rstrip("\r"), separator) if line.strip() else []
        if cells is None or any("\t" in value for _, _, value in cells):
            found = "a quotation mark that does not close" if cells is None else "a tab inside a cell"
            raise InputError(
                problems=[
                    Problem(f"{opened.name}:{number}", found, "one row a line, quotation marks doubled", "Mend it")
                ]
            )
        values = [value for _, _, value in cells]
        rows.append("\t".join(values) if any(values) else "")  # a row of empty cells ends a sentence
    names = [name.strip().casefold() for name in rows[0].split("\t")] if rows else []
    asked = replace(
        options,
        sentence_id=options.sentence_id or _place(names, _SENTENCES),
        document_id=options.document_id or _place(names, _DOCUMENTS),
    )
    settings = TokenFormat(asked, conll=True, tabs_only=True)
    content = "\n".join(rows).encode("utf-8", "surrogatepass")
    reading = read_columns({opened.name: content}, opened.name, settings)
    return replace(reading, source=replace(reading.source, format="token-csv", sha256=digest(raw)), carrier=None)


def _place(names: list[str], known: frozenset[str]) -> int | None:
    return next((number for number, name in enumerate(names, 1) if name in known), None)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file: document, sentence, token and a column of tags for each layer."""
    corpus = reading.corpus
    columns = tag_cells(corpus, layers, "token CSV", r"[\t\r\n]")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["doc_id", "sentence_id", "token", *layers])
    sentences = corpus.sentence_of(corpus.documents.start[:0]) if not len(corpus) else None
    for index, (first, stop) in enumerate(document_bounds(corpus)):
        for position in range(first, stop):
            sentence = int(corpus.breaks.searchsorted(position, side="right")) if sentences is None else 0
            tags = (column[position] for column in columns)
            writer.writerow([corpus.doc_ids[index], sentence, corpus.tokens[position], *tags])
    return {how.name: stream.getvalue().encode("utf-8", "replace")}
