"""Two tokenisations of one text: compared by their visible characters, and cut at the boundaries of both.

The *flow* of a side is the sequence of its characters without white space. Where two flows are the same, every
token and every annotation of either side is a stretch of it, whatever the spacing and the tokens were.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.text.strings import IntArray, Strings, decode_entities
from clueval_xlsx.text.tokenise import CodePoints, Ranges, visible_characters

_CHARACTER = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);|.", re.DOTALL)
_AROUND = 25


@dataclass(frozen=True, eq=False)
class Flow:
    """The visible characters of one side, where its documents begin in them, and how to get back.

    `before[i]` is the number of visible characters before character `i` of the side, `place[k]` the character
    that the k-th visible one is, `bounds` the first character of each document (or token) and the total.
    """

    points: CodePoints
    before: IntArray
    place: IntArray
    bounds: IntArray
    documents: IntArray  # bounds of the documents in the flow

    def of_ranges(self, ranges: Ranges) -> tuple[IntArray, IntArray]:
        """Character ranges of documents as stretches of the flow."""
        base = self.bounds[ranges.document]
        return self.before[base + ranges.start], self.before[base + ranges.end]

    def to_ranges(self, start: IntArray, end: IntArray) -> Ranges:
        """Stretches of the flow (not empty) as character ranges of documents."""
        first, last = self.place[start], self.place[end - 1] + 1
        document = np.searchsorted(self.documents, start, side="right") - 1
        base = self.bounds[document]
        return Ranges(document, first - base, last - base)


@dataclass(frozen=True, eq=False)
class TokenFlow:
    """The flow of a token corpus: each token's stretch of it."""

    flow: Flow

    @property
    def start(self) -> IntArray:
        """Where each token begins in the flow."""
        return self.flow.before[self.flow.bounds[:-1]]

    @property
    def end(self) -> IntArray:
        """Where each token ends in the flow."""
        return self.flow.before[self.flow.bounds[1:]]


def text_flow(texts: Sequence[str]) -> Flow:
    """The flow of running text, document by document."""
    points = _points("".join(texts))
    bounds = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    return _flow(points, bounds, None)


def token_flow(corpus: Corpus) -> TokenFlow:
    """The flow of a corpus of tokens, their entities decoded."""
    tokens = corpus.tokens
    length = tokens.length.astype(np.int64)
    ends = np.cumsum(length)
    index = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(tokens.start - (ends - length), length)
    data = np.frombuffer(tokens.data, dtype=np.uint8)[index].tobytes()
    if tokens.entities and b"&" in data:
        data, length = _decoded(tokens, data, ends - length, length)
        ends = np.cumsum(length)
    lead = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80  # first bytes of characters
    characters = np.concatenate([[0], np.cumsum(lead)])
    bounds = characters[np.concatenate([[0], ends]).astype(np.int64)]
    return TokenFlow(_flow(_points(data.decode("utf-8", "surrogatepass")), bounds, corpus.documents))


def _flow(points: CodePoints, bounds: IntArray, documents: Regions | None) -> Flow:
    visible = visible_characters(points)
    before = np.concatenate([[0], np.cumsum(visible)]).astype(np.int64)
    of_documents = bounds if documents is None else bounds[np.append(documents.start, len(bounds) - 1)]
    return Flow(points[visible], before, np.flatnonzero(visible), bounds, before[of_documents])


def _points(text: str) -> CodePoints:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _decoded(tokens: Strings, data: bytes, starts: IntArray, length: IntArray) -> tuple[bytes, IntArray]:
    """Replace the entities in joined tokens; returns the new bytes and lengths."""
    length = length.copy()
    ampersand = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("&"))
    pieces, done = [], 0
    for token in np.unique(np.searchsorted(starts, ampersand, side="right") - 1).tolist():
        raw = tokens.raw(token)
        plain = decode_entities(raw.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")
        begin = int(starts[token])
        pieces += [data[done:begin], plain]
        done = begin + len(raw)
        length[token] = len(plain)
    return b"".join([*pieces, data[done:]]), length


def check_same_flow(gold: Flow, pred: Flow, names: tuple[str, str], doc_ids: Sequence[str], whole: bool) -> None:
    """Raise at the first visible character in which two sides differ, with what stands around it on both.

    With `whole` the prediction has no documents of its own and is compared as one text.
    """
    if not whole and len(gold.documents) != len(pred.documents):
        raise InputError(
            f"the documents differ: {names[0]} has {len(gold.documents) - 1}, {names[1]} has "
            f"{len(pred.documents) - 1}. Both sides must hold the same documents."
        )
    shared = min(len(gold.points), len(pred.points))
    different = np.flatnonzero(gold.points[:shared] != pred.points[:shared])
    place = int(different[0]) if different.size else shared
    moved = np.empty(0, np.int64) if whole else np.flatnonzero(gold.documents != pred.documents)
    if place == len(gold.points) == len(pred.points) and not moved.size:
        return
    document = max(min(int(np.searchsorted(gold.documents, place, side="right")) - 1, len(doc_ids) - 1), 0)
    if moved.size:  # a document that ends elsewhere differs, even if the next goes on with the same characters
        end = min(int(gold.documents[moved[0]]), int(pred.documents[moved[0]]))
        if end <= place:
            place, document = end, int(moved[0]) - 1
    stops = [int(flow.documents[document + 1]) if not whole else len(flow.points) for flow in (gold, pred)]
    left, right = (_around(flow, place, stop) for flow, stop in zip((gold, pred), stops, strict=True))
    raise InputError(
        f"the texts differ in document {doc_ids[document]!r}: {names[0]} has {left}, {names[1]} has {right} "
        "(⟦ marks the place; white space is not compared). Both sides must hold the same text."
    )


def _around(flow: Flow, place: int, stop: int) -> str:
    def text(low: int, high: int) -> str:
        return flow.points[max(low, 0) : max(high, 0)].tobytes().decode("utf-32-le", "surrogatepass")

    rest = text(place, min(place + _AROUND, stop))
    return repr(f"{text(place - _AROUND, place)}⟦{rest or 'end of the document'}")


@dataclass(frozen=True, eq=False)
class CutCorpus:
    """A corpus whose tokens were cut further.

    `first[p]` is the first part of the old token `p` (and `first[-1]` the number of parts), `origin` the old token
    of each part, `flow_end` where each part ends in the flow.
    """

    corpus: Corpus
    first: IntArray
    origin: IntArray
    flow_end: IntArray

    def positions(self, start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
        """Stretches of the flow, whose bounds are cuts, as first and last part."""
        return (
            np.searchsorted(self.flow_end, start, side="right"),
            np.searchsorted(self.flow_end, end, side="left"),
        )

    def moved(self, start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
        """Spans of the old tokens as first and last part."""
        return self.first[start], self.first[end + 1] - 1


def cut_corpus(corpus: Corpus, flow: TokenFlow, cuts: IntArray) -> CutCorpus:
    """Cut tokens wherever one of the places in the flow lies inside them."""
    start, end = flow.start, flow.end
    cuts = np.unique(cuts)
    token = np.searchsorted(end, cuts, side="right")  # the token that goes on behind the cut
    token = np.minimum(token, max(len(corpus) - 1, 0))
    inside = (cuts > start[token]) & (cuts < end[token]) if len(corpus) else np.zeros(0, bool)
    cuts, token = cuts[inside], token[inside]
    parts = 1 + np.bincount(token, minlength=len(corpus)).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(parts)])
    origin = np.repeat(np.arange(len(corpus)), parts)
    flow_end = end[origin].copy()
    place = first[token] + np.arange(len(cuts)) - np.searchsorted(token, token)  # parts that end at a cut
    flow_end[place] = cuts
    if not len(cuts):
        return CutCorpus(corpus, first, origin, flow_end)

    byte_start, byte_length = corpus.tokens.start[origin].copy(), corpus.tokens.length[origin].copy()
    character = flow.flow.place[cuts] - flow.flow.bounds[token]  # offset of the cut in its token
    _cut_bytes(corpus.tokens, token, character, first, byte_start, byte_length)
    documents = corpus.documents
    follows = np.zeros(len(origin), dtype=bool)
    follows[1:] = origin[1:] == origin[:-1]
    glue = corpus.glue_or_guess()[origin] | follows
    return CutCorpus(
        replace(
            corpus,
            tokens=Strings(corpus.tokens.data, byte_start, byte_length, corpus.tokens.entities),
            documents=replace(documents, start=first[documents.start], stop=first[documents.stop]),
            breaks=first[corpus.breaks],
            regions={
                tag: replace(regions, start=first[regions.start], stop=first[regions.stop])
                for tag, regions in corpus.regions.items()
            },
            columns={name: _taken(values, origin) for name, values in corpus.columns.items()},
            token_ids=None if corpus.token_ids is None else _taken(corpus.token_ids, origin),
            glue=glue,
        ),
        first,
        origin,
        flow_end,
    )


def _taken(values: Strings, rows: IntArray) -> Strings:
    return Strings(values.data, values.start[rows], values.length[rows], values.entities)


def _cut_bytes(
    tokens: Strings,
    token: IntArray,
    character: IntArray,
    first: IntArray,
    byte_start: IntArray,
    byte_length: npt.NDArray[np.int32],
) -> None:
    """Set the bytes of the parts of every token that is cut."""
    borders = np.flatnonzero(np.diff(token)) + 1
    for number, offsets in zip(token[np.append(0, borders)].tolist(), np.split(character, borders), strict=True):
        text = tokens.raw(number).decode("utf-8", "surrogatepass")
        pieces = _CHARACTER.findall(text) if tokens.entities else list(text)
        sizes = np.cumsum([0, *(len(piece.encode("utf-8", "surrogatepass")) for piece in pieces)])
        edges = sizes[np.concatenate([[0], offsets, [len(pieces)]])]
        rows = slice(int(first[number]), int(first[number + 1]))
        byte_start[rows] = int(tokens.start[number]) + edges[:-1]
        byte_length[rows] = np.diff(edges)
