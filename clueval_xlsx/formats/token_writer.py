"""New files in the token formats, made of a corpus and its spans: vertical text and CoNLL."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import label_list, positions
from clueval_xlsx.corpus.tags import encode
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.text.strings import BoolArray

_NOT_A_NAME = re.compile(r"[^\w.-]+")


def vertical_text(corpus: Corpus, layers: Mapping[str, pd.DataFrame], *, sentences: bool | None = None) -> str:
    """A `.vrt` file: token, one column of BIO tags for each layer, and the token ID where there is one.

    `sentences` None writes `<s>` only where the source says where sentences end: a guessed sentence end would
    close spans of other files that run over it.
    """
    with_sentences = corpus.hard_breaks if sentences is None else sentences
    return "".join(_vertical_lines(corpus, layers, with_sentences))


def _vertical_lines(corpus: Corpus, layers: Mapping[str, pd.DataFrame], sentences: bool) -> Iterator[str]:
    cells = _cells(corpus, layers, ".vrt", r"[\t\r\n]")
    glued = _glued(corpus)
    breaks = set(corpus.breaks.tolist()) if sentences else set()
    for index, (first, stop) in enumerate(_bounds(corpus)):
        yield _document_tag(corpus, index)
        for position in range(first, stop):
            if position in breaks or (sentences and position == first):
                yield "<s>\n"
            if glued[position] and position > first:
                yield "<g/>\n"
            yield "\t".join([_escaped(corpus.tokens[position]), *(column[position] for column in cells)]) + "\n"
            if sentences and (position + 1 == stop or position + 1 in breaks):
                yield "</s>\n"
        yield f"</{corpus.document_tag}>\n"


def _cells(corpus: Corpus, layers: Mapping[str, pd.DataFrame], what: str, separators: str) -> list[list[str]]:
    """The columns behind the token; a label with a separator of the format in it would be read as another."""
    columns = []
    for layer, spans in layers.items():
        labels = label_list(spans[layer])
        for label in labels:
            if label is not None and re.search(separators, label):
                raise InputError(
                    f"layer {layer}: label {label!r} has white space in it that {what} cannot hold. Rename it first."
                )
        columns.append(encode(*positions(spans), labels, len(corpus)))
    if corpus.token_ids is not None:
        columns.append(list(corpus.token_ids))
    return columns


def _bounds(corpus: Corpus) -> Iterator[tuple[int, int]]:
    return zip(corpus.documents.start.tolist(), corpus.documents.stop.tolist(), strict=True)


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
    written = "".join(f' {key}="{_escaped(value, quote=True)}"' for key, value in named.items())
    return f"<{corpus.document_tag}{written}>\n"


def _escaped(text: str, *, quote: bool = False) -> str:
    """Text with XML entities; white space that would end a cell or vanish becomes a character reference."""
    escaped = html.escape(text, quote=False) if "&" in text or "<" in text or ">" in text else text
    if quote:
        escaped = escaped.replace('"', "&quot;")
    elif text.isspace():
        return "".join(f"&#{ord(character)};" for character in text)
    return re.sub(r"[\t\r\n]", lambda match: f"&#{ord(match[0])};", escaped)


def conll_text(corpus: Corpus, layers: Mapping[str, pd.DataFrame], *, sentences: bool | None = None) -> str:
    """A CoNLL file: token and tags separated by tabs, `-DOCSTART-` before a document, blank lines after sentences."""
    with_sentences = sentences is None or sentences
    cells = _cells(corpus, layers, "CoNLL", r"[ \t\r\n]")[: len(layers)]
    breaks = set(corpus.breaks.tolist()) if with_sentences else set()
    lines = []
    for index, (first, stop) in enumerate(_bounds(corpus)):
        doc_id = corpus.documents.attributes(index).get("id")
        if doc_id is not None:
            one_line = re.sub(r"[\r\n]+", " ", doc_id)
            lines.append(f"-DOCSTART- ({one_line.replace('(', '[').replace(')', ']')})")
            lines += [""] if with_sentences else []
        elif index:
            lines.append("-DOCSTART-")
        for position in range(first, stop):
            token = corpus.tokens[position]
            if len(token.split()) != 1 or token.split()[0] != token:
                raise InputError(
                    f"document {corpus.doc_ids[index]!r}: the token {token!r} has white space in it, which CoNLL "
                    "cannot hold (an annotation begins or ends with white space). Mend it, or convert to .vrt."
                )
            if position in breaks and position > first:
                lines.append("")
            lines.append("\t".join([token, *(column[position] for column in cells)]))
        lines += [""] if with_sentences else []
    return "\n".join(lines) + ("\n" if lines else "")
