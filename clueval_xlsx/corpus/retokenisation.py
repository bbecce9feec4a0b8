"""A corpus whose tokens are cut further, so that they begin and end wherever those of another tokenisation do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.text.strings import IntArray, Strings, written_characters
from clueval_xlsx.text.visible import VisibleText


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
