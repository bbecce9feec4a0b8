"""CoNLL: token and tags separated by spaces or tabs, blank lines between sentences, `-DOCSTART-` before documents."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.columns.cells import document_bounds, tag_cells
from clueval_xlsx.formats.columns.finding import TokenFormat
from clueval_xlsx.formats.columns.reader import read_columns, token_lines
from clueval_xlsx.formats.columns.structure import DOCSTART, has_comments
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.options import ReadOptions


def tell(opened: OpenedSource) -> bool:
    """Whether the first token has no tab behind it, or documents, comments or counted tokens are CoNLL's."""
    first = next(token_lines(opened.head), b"\t")
    if opened.looks_like_json:
        return False
    return b"\t" not in first or first.startswith((DOCSTART, b"1\t", b"0\t")) or has_comments(opened.head)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read a file."""
    return read_columns(
        {opened.name: opened.take()}, opened.name, TokenFormat(options, conll=True), known_ids=opened.known_ids
    )


def read_together(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the files of a folder as one corpus."""
    files = {name: opened.part(name).data for name in opened.members}
    return read_columns(files, opened.name, TokenFormat(options, conll=True), others=opened.others)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file."""
    return {how.name: conll_text(reading.corpus, layers, sentences=how.sentences).encode("utf-8", "replace")}


def conll_text(corpus: Corpus, layers: Mapping[str, pd.DataFrame], *, sentences: bool | None = None) -> str:
    """The text of a file: tabs between token and tags, `-DOCSTART-` before documents, blank lines after sentences."""
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
