"""Lists of tokens with lists of tags become a reading, whoever listed them: a program, records or a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, LineOrigin, Regions
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.tags import OUTSIDE, OUTSIDE_MARKS, TagColumn, parse_tag
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.text.strings import PADDING, Strings

_LABEL = re.compile(r"[^\W\d_](?!-)[\w.:/+-]*")
Document = tuple[Mapping[str, str], int]  # attributes, and how many sentences


def token_corpus(
    name: str, words: Sequence[str], lengths: Sequence[int], documents: Sequence[Document], places: Sequence[str] = ()
) -> Corpus:
    """A corpus of words one after another: the length of each sentence, and how many of them each document has.

    `places` is what a message calls each sentence. Documents must have different IDs.

    >>> corpus = token_corpus("x", ["Ann", "kam", "Lee"], [2, 1], [({"id": "a"}, 1), ({}, 1)])
    >>> corpus.doc_ids, corpus.breaks.tolist(), corpus.text(0, 1)
    (('a', '#2'), [0, 2], 'Ann kam')
    """
    doc_ids = tuple(attributes.get("id") or f"#{number}" for number, (attributes, _) in enumerate(documents, 1))
    if len(set(doc_ids)) < len(doc_ids):
        again = next(doc_id for number, doc_id in enumerate(doc_ids) if doc_id in doc_ids[:number])
        raise InputError(
            f"{name}: document {again!r} is there twice. Document IDs must be unique, and what belongs to a document "
            "must stand together."
        )
    sizes = [len(word.encode("utf-8", "surrogatepass")) for word in words]
    begin = np.array([0, *accumulate(size + 1 for size in sizes)], dtype=np.int64)[:-1]
    data = "".join(f"{word}\n" for word in words).encode("utf-8", "surrogatepass") + bytes(PADDING)
    start = np.array([0, *accumulate(lengths)], dtype=np.int64)
    border = start[[0, *accumulate(count for _, count in documents)]]
    lines = tuple((start[:-1] + 1).tolist())
    return Corpus(
        tokens=Strings(data, begin, np.array(sizes, dtype=np.int32)),
        doc_ids=doc_ids,
        documents=Regions(border[:-1], border[1:], rows=[attributes for attributes, _ in documents]),
        breaks=np.unique(start[start < len(words)]),
        hard_breaks=True,
        name=name,
        origin=LineOrigin(lines, tuple(places), ", token ") if places else None,
    )


def tag_column(tags: Sequence[Any], where: Callable[[int], str]) -> TagColumn:
    """The tags of one layer, one for each token; `where` says what a message calls the place of a token.

    Labels without prefixes are tags of the scheme IO.
    """
    try:
        column = TagColumn.of(tags)
    except TypeError:  # a tag that cannot even be compared with others
        column = TagColumn(np.full(1, -1), ())
    if (column.codes >= 0).all() and all(isinstance(tag, str) for tag in column.tags):
        if all(parse_tag(tag) is not None for tag in column.tags):
            return column
        if OUTSIDE in column.tags and all(tag in OUTSIDE_MARKS or _LABEL.fullmatch(tag) for tag in column.tags):
            return replace(column, plain=True)
    wrong = next(place for place, tag in enumerate(tags) if not isinstance(tag, str) or parse_tag(tag) is None)
    raise InputError(
        f"{where(wrong)}: {tags[wrong]!r} is no tag. Allowed: O, B-LABEL, I-LABEL "
        "(or the prefixes E S, L U of BIOES and BILOU)."
    )


class TokenLists:
    """Takes sentences of tokens with tags one by one; `reading` is all of them."""

    def __init__(self, layers: Sequence[str]) -> None:
        self.words: list[str] = []
        self.lengths: list[int] = []
        self.documents: list[Document] = []
        self.tags: dict[str, list[str]] = {layer: [] for layer in layers}
        self.places: list[str] = []

    def open_document(self, attributes: Mapping[str, str]) -> None:
        """Begin a document."""
        self.documents.append((attributes, 0))

    def add(self, words: Sequence[str], tags: Sequence[Sequence[str]], place: str) -> None:
        """Take a sentence of the last document: a tag of each layer for each word."""
        attributes, count = self.documents[-1]
        self.documents[-1] = attributes, count + 1
        self.words += words
        self.lengths.append(len(words))
        self.places.append(place)
        for own, new in zip(self.tags.values(), tags, strict=True):
            own.extend(new)

    def reading(self, source: Source) -> Reading:
        """The reading, which nothing is written back to."""
        if not self.words:
            raise InputError(f"{source.name}: there is no token in it. Check that this is the right file.")
        corpus = token_corpus(source.name, self.words, self.lengths, self.documents, self.places)
        columns = {}
        for layer, tags in self.tags.items():
            columns[layer] = tag_column(tags, lambda place, layer=layer: f"{corpus.place(place)}: layer {layer}")  # type: ignore[misc]
        return Reading(source, corpus, columns)


def joined(corpora: Sequence[Corpus], name: str) -> Corpus:
    """Several corpora, one behind the other."""
    words = [word for corpus in corpora for word in corpus.tokens]
    lengths, documents = [], []
    for corpus in corpora:
        lengths += np.diff([*corpus.breaks.tolist(), len(corpus)]).tolist()
        bounds = np.searchsorted(corpus.breaks, [corpus.documents.start, corpus.documents.stop])
        counts = (bounds[1] - bounds[0]).tolist()
        documents += [(corpus.documents.attributes(index), count) for index, count in enumerate(counts)]
    return token_corpus(name, words, lengths, documents)
