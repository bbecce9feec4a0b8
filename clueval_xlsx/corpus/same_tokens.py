"""Whether two corpora have the same tokens and documents, and where they first differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.text.strings import Strings


def nameless(corpus: Corpus) -> bool:
    """Whether a token file says nothing about documents, so that the other side's govern."""
    return len(corpus.documents) == 1 and not corpus.documents.attributes(0)


def same_tokens(gold: Corpus, pred: Corpus) -> bool:
    """Whether two corpora have the same tokens, and the same documents unless the prediction says nothing of them."""
    if len(gold) != len(pred) or gold.tokens.differs(pred.tokens).any():
        return False
    return nameless(pred) or np.array_equal(gold.documents.start, pred.documents.start)


def check_same_tokens(gold: Corpus, pred: Corpus) -> None:
    """Raise at the first token, token ID or document in which two corpora differ, showing both places."""
    shared = min(len(gold), len(pred))
    token = _first_difference(gold.tokens, pred.tokens, shared)
    ids = None
    if gold.token_ids is not None and pred.token_ids is not None and gold.token_ids is not pred.token_ids:
        ids = _first_difference(gold.token_ids, pred.token_ids, shared)
        if ids is not None and (token is None or ids < token):
            left, right = gold.token_ids[ids], pred.token_ids[ids]
            raise InputError(
                f"the token IDs differ: {gold.place(ids)} has {left!r}, {pred.place(ids)} has {right!r} "
                f"(token {gold.tokens[ids]!r}). Both files must hold the same tokens in the same order."
            )
    if token is not None:
        raise InputError(
            f"the tokens differ: {gold.place(token)} has {gold.tokens[token]!r}, {pred.place(token)} has "
            f"{pred.tokens[token]!r}. Both files must hold the same tokens in the same order; "
            "if only the tokenisation differs, use --align text."
        )
    if len(gold) != len(pred):
        longer, shorter = (gold, pred) if len(gold) > len(pred) else (pred, gold)
        end = f"after {shorter.place(shared - 1)}" if shared else "at once"
        raise InputError(
            f"the files have different numbers of tokens: {gold.name} has {len(gold)}, {pred.name} has "
            f"{len(pred)}. {shorter.name} ends {end}, where {longer.place(shared)} goes on with "
            f"{longer.tokens[shared]!r}. Both files must hold the same tokens in the same order."
        )
    _check_same_documents(gold, pred)


def _check_same_documents(gold: Corpus, pred: Corpus) -> None:
    if nameless(pred):
        return  # the gold file's documents govern
    for index in range(max(len(gold.documents), len(pred.documents))):
        left, right = (_extent(corpus, index) for corpus in (gold, pred))
        named = left.given_id is not None and right.given_id is not None
        if left.extent != right.extent or (named and left.given_id != right.given_id):
            raise InputError(
                f"the documents differ: document {index + 1} is {left} in {gold.name}, "
                f"but {right} in {pred.name}. Both files must hold the same documents, with the same tokens in each."
            )


class _DocumentExtent(NamedTuple):
    corpus: Corpus
    number: int
    given_id: str | None
    extent: tuple[int, int]

    def __str__(self) -> str:
        start, stop = self.extent
        if start < 0:
            return "missing"
        where = f" from line {self.corpus.line_of(start)}" if stop > start else " (empty)"
        return f"{self.corpus.doc_ids[self.number]!r}{where}, {stop - start} tokens"


def _extent(corpus: Corpus, index: int) -> _DocumentExtent:
    if index >= len(corpus.documents):
        return _DocumentExtent(corpus, index, None, (-1, -1))
    start, stop = int(corpus.documents.start[index]), int(corpus.documents.stop[index])
    return _DocumentExtent(corpus, index, corpus.documents.attributes(index).get("id"), (start, stop))


def _first_difference(left: Strings, right: Strings, shared: int) -> int | None:
    head = slice(shared)
    different = np.flatnonzero(left.at(head).differs(right.at(head)))
    return int(different[0]) if different.size else None
