"""Vertical text (`.vrt`): one token a line, columns separated by tabs, XML tags on lines of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.formats.columns.cells import document_bounds, tag_cells
from clueval_xlsx.formats.columns.finding import TokenFormat
from clueval_xlsx.formats.columns.reader import read_columns, token_lines
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.entities import written_token
from clueval_xlsx.text.strings import BoolArray

_NOT_A_NAME = re.compile(r"[^\w.-]+")


def tell(opened: OpenedSource) -> bool:
    """Whether the first token has a tab behind it."""
    return b"\t" in next(token_lines(opened.head), b"\t")


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read a file."""
    return read_columns({opened.name: opened.take()}, opened.name, TokenFormat(options), known_ids=opened.known_ids)


def read_together(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the files of a folder as one corpus."""
    files = {name: opened.part(name).data for name in opened.members}
    return read_columns(files, opened.name, TokenFormat(options), others=opened.others)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file."""
    return {how.name: vertical_text(reading.corpus, layers, sentences=how.sentences).encode("utf-8", "replace")}


def vertical_text(corpus: Corpus, layers: Mapping[str, pd.DataFrame], *, sentences: bool | None = None) -> str:
    """The text of a file: token, one column of BIO tags for each layer, and the token ID where there is one.

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
