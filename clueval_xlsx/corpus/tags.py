"""BIO tags ⇄ spans: the one decoder and the one encoder, their rules as data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from clueval_xlsx.text.strings import BoolArray, IntArray

OUTSIDE = "O"
OUTSIDE_MARKS = frozenset({OUTSIDE, "_", "-"})

# What a prefix means, whatever the scheme calls it: opens a span, goes on, closes it, or does all at once.
_OPENS, _GOES_ON, _CLOSES, _SINGLE = 1, 2, 3, 4
_MEANING = {"B": _OPENS, "I": _GOES_ON, "E": _CLOSES, "L": _CLOSES, "S": _SINGLE, "U": _SINGLE}
_TAG = re.compile(r"([BIESLU])(?:-(.+))?")

_ENOUGH = 10  # spans without any B: then nobody forgot it

# scheme -> prefixes of the first, a middle, the last and an only token of a span
SCHEMES = {
    "BIO": ("B", "I", "I", "B"),
    "BIOES": ("B", "I", "E", "S"),
    "BILOU": ("B", "I", "L", "U"),
    "IOB1": ("I", "I", "I", "I"),  # B only where a span follows another of its label at once
    "IO": ("", "", "", ""),  # labels without prefixes
}


@dataclass(frozen=True, eq=False)
class TagColumn:
    """One column of tags: `codes[position]` is an index into `tags`; `plain` says that these are labels alone."""

    codes: npt.NDArray[np.integer[Any]]
    tags: tuple[str, ...]
    plain: bool = False

    @classmethod
    def of(cls, tags: Sequence[str]) -> TagColumn:
        """Number the distinct tags of an ordinary sequence."""
        import pandas as pd

        codes, distinct = pd.factorize(np.fromiter(tags, dtype=object, count=len(tags)))
        return cls(codes.astype(np.int64, copy=False), tuple(distinct))

    def tag(self, position: int) -> str:
        """The tag of a token."""
        return self.tags[int(self.codes[position])]

    @property
    def parsed(self) -> list[tuple[str, str | None]]:
        """Prefix and label of each tag; a label without a prefix goes on where it can."""
        if self.plain:
            return [(OUTSIDE, None) if tag in OUTSIDE_MARKS else ("I", tag) for tag in self.tags]
        return [parse_tag(tag) or (OUTSIDE, None) for tag in self.tags]

    @cached_property
    def outside(self) -> str:
        """The mark that most tokens outside of spans have."""
        marks = [code for code, tag in enumerate(self.tags) if tag in OUTSIDE_MARKS]
        counts = np.bincount(self.codes, minlength=len(self.tags))
        return self.tags[max(marks, key=lambda code: counts[code])] if marks else OUTSIDE

    def scheme(self, breaks: IntArray) -> str:
        """The scheme the tags are written in, told by their prefixes and, for IOB1, by where B stands."""
        if self.plain:
            return "IO"
        prefixes = {prefix for prefix, _ in self.parsed}
        if prefixes & {"L", "U"}:
            return "BILOU"
        if prefixes & {"E", "S"}:
            return "BIOES"
        return "IOB1" if decode(self, breaks).openings.needless_openings == 0 else "BIO"


@dataclass(frozen=True)
class OpeningCounts:
    """How the spans of a layer begin: what tells IOB1 from tags that continue nothing; counts of several files add up.

    In IOB1, B stands only between neighbours of one label, so that I is how a span begins.
    """

    continuations: int = 0  # spans that I (or E/L) opens
    needless: int = 0  # B where no span of its label goes before
    openings: int = 0  # B
    spans: int = 0
    ends: int = 0  # E/L and S/U

    def __add__(self, other: OpeningCounts) -> OpeningCounts:
        return OpeningCounts(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def needless_openings(self) -> int:
        """Needless B; 0 in IOB1, -1 where I opens no span."""
        return self.needless if self.continuations and not self.ends else -1

    @property
    def orphans(self) -> int:
        """The tags that continue nothing and so open a span."""
        iob1 = self.needless_openings == 0 and (self.openings > 0 or self.spans >= _ENOUGH)
        return 0 if iob1 else self.continuations


@dataclass(frozen=True, eq=False)
class DecodedSpans:
    """Spans of one layer; `label` indexes `labels`, -1 is a span without a label."""

    start: IntArray
    end: IntArray
    label: IntArray
    labels: tuple[str, ...]
    orphans: IntArray  # positions of the tags that continue nothing and so open a span
    openings: OpeningCounts = OpeningCounts()


def parse_tag(tag: str) -> tuple[str, str | None] | None:
    """Split a tag into prefix and label; None if it is no BIO tag.

    >>> parse_tag("B-PER-PART"), parse_tag("I"), parse_tag("_"), parse_tag("PER")
    (('B', 'PER-PART'), ('I', None), ('O', None), None)
    """
    if tag in OUTSIDE_MARKS:
        return OUTSIDE, None
    match = _TAG.fullmatch(tag)
    return (match[1], match[2]) if match else None


def decode(column: TagColumn, breaks: IntArray) -> DecodedSpans:
    """Tags to spans, the way conlleval and seqeval's default read them.

    A span opens at B (or S/U), and at I (or E/L) where no span of the same label goes on. It ends before
    O, before the next opening, behind E/L, and at every break. In IOB1, where B stands only between neighbours of
    one label, and where labels have no prefix at all, I is how a span begins and no orphan.
    """
    parsed = column.parsed
    labels = tuple(sorted({label for _, label in parsed if label is not None}))
    number = {label: code for code, label in enumerate(labels)}
    meaning_of = np.array([_MEANING.get(prefix, 0) for prefix, _ in parsed] + [0], dtype=np.int8)
    label_of = np.array([number.get(label, -1) if label else -1 for _, label in parsed] + [-1], dtype=np.int64)

    marked = np.flatnonzero(meaning_of[column.codes])
    meaning, label = meaning_of[column.codes[marked]], label_of[column.codes[marked]]
    is_break = np.zeros(len(column.codes) + 1, dtype=bool)
    is_break[breaks] = True

    goes_on: BoolArray = np.zeros(len(marked), dtype=bool)  # the token before is in the same span
    goes_on[1:] = (
        (np.diff(marked) == 1)
        & ~is_break[marked[1:]]
        & (label[1:] == label[:-1])
        & ((meaning[:-1] == _OPENS) | (meaning[:-1] == _GOES_ON))
        & ((meaning[1:] == _GOES_ON) | (meaning[1:] == _CLOSES))
    )
    first = np.flatnonzero(~goes_on)
    last = np.append(first[1:], len(marked)) - 1
    opened_by_continuation = (meaning[first] == _GOES_ON) | (meaning[first] == _CLOSES)
    touches: BoolArray = np.zeros(len(marked), dtype=bool)  # the token before is in a span of the same label
    touches[1:] = (np.diff(marked) == 1) & ~is_break[marked[1:]] & (label[1:] == label[:-1])
    openings = OpeningCounts(
        continuations=0 if column.plain else int(opened_by_continuation.sum()),
        needless=int(((meaning == _OPENS) & ~touches).sum()),
        openings=int((meaning == _OPENS).sum()),
        spans=len(first),
        ends=int(((meaning == _CLOSES) | (meaning == _SINGLE)).sum()),
    )
    return DecodedSpans(
        start=marked[first],
        end=marked[last] if len(first) else marked[:0],
        label=label[first],
        labels=labels,
        orphans=marked[first[opened_by_continuation]] if openings.orphans else marked[:0],
        openings=openings,
    )


def properly_tagged(column: TagColumn, start: IntArray, end: IntArray) -> BoolArray:
    """The decoded spans that a strict reader of the column's scheme sees, too.

    Strict readers (seqeval's strict mode with IOB2) take a span only if it begins with B (or S/U); where the
    scheme marks ends, it must also end with E/L (or be S/U). They pass over every other tag.
    """
    meaning = np.array([_MEANING.get(prefix, 0) for prefix, _ in column.parsed], dtype=np.int8)
    if not len(start):
        return np.empty(0, dtype=bool)
    first, last = meaning[column.codes[start]], meaning[column.codes[end]]
    proper: BoolArray = (first == _OPENS) | (first == _SINGLE)
    ends = {"E", "S", "L", "U"} & {prefix for prefix, _ in column.parsed}
    return proper & ((last == _CLOSES) | (last == _SINGLE)) if ends else proper


def encode(
    start: IntArray, end: IntArray, labels: Sequence[str | None], length: int, *, scheme: str = "BIO"
) -> list[str]:
    """Spans to the tags of a corpus of `length` tokens.

    >>> import numpy as np
    >>> encode(np.array([1, 3]), np.array([2, 3]), ["PER", None], 5)
    ['O', 'B-PER', 'I-PER', 'B', 'O']
    """
    tags = [OUTSIDE] * length
    for begin, last, label in zip(start.tolist(), end.tolist(), labels, strict=True):
        tags[begin : last + 1] = span_tags(last - begin + 1, label, scheme)
    return tags


def span_tags(tokens: int, label: str | None, scheme: str) -> list[str]:
    """The tags of one span.

    >>> span_tags(3, "LOC", "BILOU")
    ['B-LOC', 'I-LOC', 'L-LOC']
    """
    opening, middle, closing, single = SCHEMES[scheme]
    prefixes = [single] if tokens == 1 else [opening, *[middle] * (tokens - 2), closing]
    if scheme == "IO":
        return [label or "I"] * tokens
    return [prefix if label is None else f"{prefix}-{label}" for prefix in prefixes]
