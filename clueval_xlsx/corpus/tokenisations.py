"""Two tokenisations of one text: where they first differ, and tokens cut at the borders of both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.text.strings import IntArray, Strings, written_characters
from clueval_xlsx.text.visible import VisibleText


def same_tokens(gold: Corpus, pred: Corpus) -> bool:
    """Whether two corpora have the same tokens, and the same documents unless the prediction says nothing of them."""
    if len(gold) != len(pred) or gold.tokens.differs(pred.tokens).any():
        return False
    return pred.nameless or np.array_equal(gold.documents.start, pred.documents.start)


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
    if pred.nameless:
        return  # the gold file's documents govern
    for index in range(max(len(gold.documents), len(pred.documents))):
        left, right = (_document(corpus, index) for corpus in (gold, pred))
        ids = {left[0], right[0]} - {None}
        if left[1:] != right[1:] or len(ids) > 1:
            raise InputError(
                f"the documents differ: document {index + 1} is {_shown(gold, index)} in {gold.name}, but "
                f"{_shown(pred, index)} in {pred.name}. Both files must hold the same documents, with the same tokens "
                "in each."
            )


def _document(corpus: Corpus, index: int) -> tuple[str | None, int, int]:
    """The ID that a document has in its file, its first position and the one behind its last."""
    documents = corpus.documents
    if index >= len(documents):
        return None, -1, -1
    return documents.attributes(index).get("id"), int(documents.start[index]), int(documents.stop[index])


def _shown(corpus: Corpus, index: int) -> str:
    _, start, stop = _document(corpus, index)
    if start < 0:
        return "missing"
    where = f" from line {corpus.line_of(start)}" if stop > start else " (empty)"
    return f"{corpus.doc_ids[index]!r}{where}, {stop - start} tokens"


def _first_difference(left: Strings, right: Strings, shared: int) -> int | None:
    head = slice(shared)
    different = np.flatnonzero(left.at(head).differs(right.at(head)))
    return int(different[0]) if different.size else None


@dataclass(frozen=True, eq=False)
class CutCorpus:
    """A corpus whose tokens were cut further.

    `first[p]` is the first part of the old token `p` (and `first[-1]` the number of parts), `origin` the old token
    of each part, `visible_end` where each part ends among the visible characters.
    """

    corpus: Corpus
    first: IntArray
    origin: IntArray
    visible_end: IntArray

    def positions(self, start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
        """Stretches of visible characters, whose bounds are cuts, as first and last part."""
        return (
            np.searchsorted(self.visible_end, start, side="right"),
            np.searchsorted(self.visible_end, end, side="left"),
        )

    def moved(self, start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
        """Spans of the old tokens as first and last part."""
        return self.first[start], self.first[end + 1] - 1


def cut_corpus(corpus: Corpus, visible: VisibleText, cuts: IntArray) -> CutCorpus:
    """Cut tokens wherever one of the places among the visible characters lies inside them."""
    start, end = visible.start, visible.end
    cuts = _between_characters(np.unique(cuts), visible.place)
    token = np.searchsorted(end, cuts, side="right")  # the token that goes on behind the cut
    token = np.minimum(token, max(len(corpus) - 1, 0))
    inside = (cuts > start[token]) & (cuts < end[token]) if len(corpus) else np.zeros(0, bool)
    cuts, token = cuts[inside], token[inside]
    parts = 1 + np.bincount(token, minlength=len(corpus)).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(parts)])
    origin = np.repeat(np.arange(len(corpus)), parts)
    visible_end = end[origin].copy()
    place = first[token] + np.arange(len(cuts)) - np.searchsorted(token, token)  # parts that end at a cut
    visible_end[place] = cuts
    if not len(cuts):
        return CutCorpus(corpus, first, origin, visible_end)

    character = visible.place[cuts] - visible.bounds[token]  # offset of the cut in its token
    tokens = _cut_tokens(corpus.tokens, parts, token, character)
    documents = corpus.documents
    follows = np.zeros(len(origin), dtype=bool)
    follows[1:] = origin[1:] == origin[:-1]
    glue = corpus.glue_or_guess()[origin] | follows
    return CutCorpus(
        replace(
            corpus,
            tokens=tokens,
            documents=replace(documents, start=first[documents.start], stop=first[documents.stop]),
            breaks=first[corpus.breaks],
            regions={
                tag: replace(regions, start=first[regions.start], stop=first[regions.stop])
                for tag, regions in corpus.regions.items()
            },
            columns={name: values.at(origin) for name, values in corpus.columns.items()},
            token_ids=None if corpus.token_ids is None else corpus.token_ids.at(origin),
            glue=glue,
        ),
        first,
        origin,
        visible_end,
    )


def _between_characters(cuts: IntArray, place: IntArray) -> IntArray:
    """Cuts that would lie inside a character, one of two that it was folded to, moved before and behind it."""
    inner = (cuts > 0) & (cuts < len(place))
    before, behind = np.maximum(cuts - 1, 0), np.minimum(cuts, max(len(place) - 1, 0))
    inside = inner & (place[before] == place[behind]) if len(place) else inner
    if not inside.any():
        return cuts
    characters = place[cuts[inside]]
    sides = [np.searchsorted(place, characters, side=side) for side in ("left", "right")]
    return np.unique(np.concatenate([cuts[~inside], *sides]))


def _cut_tokens(tokens: Strings, parts: IntArray, token: IntArray, character: IntArray) -> Strings:
    """Cut each `token` behind so many of its characters, given how many parts every token of the corpus has."""
    start, length = np.repeat(tokens.start.astype(np.int64), parts), np.repeat(tokens.length, parts)
    first = np.cumsum(parts) - parts
    borders = np.flatnonzero(np.diff(token)) + 1
    for number, offsets in zip(token[np.append(0, borders)].tolist(), np.split(character, borders), strict=True):
        text = tokens.raw(number).decode("utf-8", "surrogatepass")
        pieces = written_characters(text) if tokens.entities else list(text)
        sizes = np.cumsum([0, *(len(piece.encode("utf-8", "surrogatepass")) for piece in pieces)])
        edges = sizes[np.concatenate([[0], offsets, [len(pieces)]])]
        rows = slice(int(first[number]), int(first[number] + parts[number]))
        start[rows] = int(tokens.start[number]) + edges[:-1]
        length[rows] = np.diff(edges)
    return Strings(tokens.data, start, length, tokens.entities)
