"""Tokens, documents, sentences and metadata of one corpus; immutable, and no file is opened here."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.exceptions import OptionError, did_you_mean
from clueval_xlsx.text.rendering import RenderedTokens, guessed_glue, portions, render_tokens
from clueval_xlsx.text.strings import BoolArray, IntArray, Strings, decode_entities, inside

ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")

_SENTENCE_FINAL = frozenset(".!?") | {"..."}


def tag_attributes(tag: str) -> dict[str, str]:
    """The attributes of one XML start tag.

    >>> tag_attributes('<text id="a1" domain="tax &amp; law">')
    {'id': 'a1', 'domain': 'tax & law'}
    """
    return {key: decode_entities(double or single) for key, double, single in ATTRIBUTE.findall(tag)}


@dataclass(frozen=True, eq=False)
class Regions:
    """Stretches of tokens with attributes: documents, sentences, or any other XML element.

    `start` is the first position of each, `stop` the one behind its last; an empty region has both equal.
    Attributes are either given as dicts or read from the start tags when somebody asks.
    """

    start: IntArray
    stop: IntArray
    tags: Strings | None = None
    rows: Sequence[Mapping[str, str]] | None = None

    def __len__(self) -> int:
        return len(self.start)

    def attributes(self, index: int) -> Mapping[str, str]:
        """The attributes of one region."""
        if self.rows is not None:
            return self.rows[index]
        return tag_attributes(self.tags[index]) if self.tags is not None else {}

    def find(self, positions: IntArray) -> IntArray:
        """The index of the region that holds each position, or -1."""
        index = np.searchsorted(self.start, positions, side="right") - 1
        held = index >= 0
        held[held] = positions[held] < self.stop[index[held]]
        return np.where(held, index, -1)


@dataclass(frozen=True)
class LineOrigin:
    """Where the lines of a text come from that was put together: `names` from the lines `first` on, counted from 1."""

    first: tuple[int, ...]
    names: tuple[str, ...]
    separator: str = ":"

    def place(self, line: int) -> str:
        """The source of a line and its number there.

        >>> LineOrigin((1, 4), ("a.conll", "b.conll")).place(5)
        'b.conll:2'
        """
        index = max(bisect_right(self.first, line) - 1, 0)
        return f"{self.names[index]}{self.separator}{line - self.first[index] + 1}"


@dataclass(frozen=True, eq=False)
class Corpus:
    """One corpus.

    `breaks` are the positions at which a sentence begins, in order. `hard_breaks` says that they were in the
    source and so close a span; derived ones only bound a context. `glue` is True where a token is written
    without a space before it; None means that nobody knows and punctuation decides. With `running_text` the
    tokens lie in the original text, which then gives every space and line break.
    """

    tokens: Strings
    doc_ids: tuple[str, ...]
    documents: Regions
    breaks: IntArray
    hard_breaks: bool
    name: str = ""
    regions: Mapping[str, Regions] = field(default_factory=dict)
    columns: Mapping[str, Strings] = field(default_factory=dict)
    token_ids: Strings | None = None
    glue: BoolArray | None = None
    running_text: bool = False
    char_start: IntArray | None = None
    char_end: IntArray | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"
    origin: LineOrigin | None = None  # where lines come from, if not from one file

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def nameless(self) -> bool:
        """Whether nothing is said about documents, so that those of another side govern."""
        return len(self.documents) == 1 and not self.documents.attributes(0)

    def __repr__(self) -> str:
        """Its size, and no word of it."""
        return f"<Corpus: {len(self.documents)} documents, {len(self)} tokens>"

    def document_of(self, positions: IntArray) -> IntArray:
        """The index of the document of each position."""
        # Empty documents share their start with the next one; `side="right"` picks the last, which has tokens.
        return np.searchsorted(self.documents.start, positions, side="right") - 1

    @property
    def document_numbers(self) -> IntArray:
        """The index of the document of every token."""
        return np.repeat(np.arange(len(self.documents)), self.documents.stop - self.documents.start)

    def sentence_of(self, positions: IntArray) -> IntArray:
        """The running number of the sentence of each position."""
        return np.searchsorted(self.breaks, positions, side="right") - 1

    def metadata_keys(self) -> list[str]:
        """Everything metrics can be grouped by, the documents' attributes first."""
        keys = dict.fromkeys(key for index in range(len(self.documents)) for key in self.documents.attributes(index))
        for tag, regions in self.regions.items():
            first = regions.attributes(0) if len(regions) else {}
            keys.update(dict.fromkeys(f"{tag}_{key}" for key in first))
        keys.update(dict.fromkeys(self.columns))
        return list(keys)

    def metadata(self, key: str, positions: IntArray) -> pd.Categorical:
        """The value of a metadata key at each position; missing where there is none.

        A key is an attribute of the document tag (`domain`, or `text_domain`), an attribute of another element
        (`s_id`), or a named column.
        """
        source = self.metadata_source(key)
        if source is None:
            raise no_metadata(self.name, key, self.metadata_keys())
        tag, name = source
        if not tag:
            codes, values = self.columns[name].factorise()
            return _categorical(codes[positions], values)
        if tag == self.document_tag:
            per_document = [self.documents.attributes(index).get(name) for index in range(len(self.documents))]
            return _spread(per_document, self.document_of(positions))
        regions = self.regions[tag]
        per_region = [regions.attributes(index).get(name) for index in range(len(regions))]
        return _spread(per_region, regions.find(positions))

    def metadata_source(self, key: str) -> tuple[str, str] | None:
        """Where the values of a metadata key stand: element (none: a column) and name; None where there are none."""
        if key in self.columns:
            return "", key
        for name in (key, key.removeprefix(f"{self.document_tag}_")):
            if any(name in self.documents.attributes(index) for index in range(len(self.documents))):
                return self.document_tag, name
        for tag, regions in self.regions.items():
            name = key.removeprefix(f"{tag}_")
            if name != key and any(name in regions.attributes(index) for index in range(len(regions))):
                return tag, name
        return None

    def line_of(self, position: int) -> int:
        """The line of a token in its source file, counted from 1."""
        return self.tokens.data.count(b"\n", 0, int(self.tokens.start[position])) + 1

    def place(self, position: int) -> str:
        """A token's file and line, for messages."""
        line = self.line_of(position)
        return f"{self.name}:{line}" if self.origin is None else self.origin.place(line)

    @property
    def closing_breaks(self) -> IntArray:
        """The positions at which no span goes on: sentence starts where the source gives them, else document starts."""
        breaks = self.breaks if self.hard_breaks else self.documents.start
        return breaks[breaks < len(self)]

    def rendered(self, first: IntArray, stop: IntArray) -> RenderedTokens:
        """Many stretches of tokens (`stop` is the position behind the last) the way people write them."""
        return render_tokens(self.tokens, first, stop, running=self.running_text, glue=self.glue)

    def text(self, first: int, last: int) -> str:
        """The words from one position to another (both inclusive) the way people write them."""
        return self.texts(np.array([first], dtype=np.int64), np.array([last], dtype=np.int64))[0]

    def texts(self, first: IntArray, last: IntArray) -> list[str]:
        """The same for many stretches at once, much faster."""
        found: list[str] = []
        for portion in portions(last + 1 - first):
            found += self.rendered(first[portion], last[portion] + 1).texts()
        return found

    def glue_or_guess(self) -> BoolArray:
        """`glue`, or where nobody knows, the way punctuation is usually written."""
        return guessed_glue(self.tokens.packed()) if self.glue is None else self.glue

    def derived_breaks(self, spans: Sequence[tuple[IntArray, IntArray]]) -> IntArray:
        """Sentence starts guessed from sentence-final punctuation, never inside one of the spans.

        The rule: a sentence ends behind a token `.`, `!`, `?` or `...` unless the next token is known to be
        written without a space, and at the end of its document.
        """
        codes, words = self.tokens.factorise()
        final = np.array([word in _SENTENCE_FINAL for word in words], dtype=bool)
        after = np.flatnonzero(final[codes]) + 1 if len(codes) else np.empty(0, dtype=np.int64)
        after = after[after < len(self)]
        keep = np.ones(len(after), dtype=bool) if self.glue is None else ~self.glue[after]
        for start, end in spans:
            keep &= ~inside(after, start, end + 1)
        return np.union1d(after[keep], self.documents.start[self.documents.start < len(self)])


def no_metadata(name: str, key: str, known: Sequence[str]) -> OptionError:
    """What to say where nothing has a metadata key."""
    hint = did_you_mean(key, known)
    return OptionError(f"{name}: there is no metadata called {key!r}.{hint} Known here: {', '.join(known) or 'none'}.")


def _spread(values: Sequence[str | None], index: IntArray) -> pd.Categorical:
    """One value for each region → one value for each position, given the position's region (or -1)."""
    known = list(dict.fromkeys(value for value in values if value is not None))
    number = {value: code for code, value in enumerate(known)}
    codes = np.array([number.get(value, -1) if value is not None else -1 for value in values] + [-1])
    return _categorical(codes[index], known)


def _categorical(codes: npt.NDArray[np.int64], values: Sequence[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories=pd.Index(values, dtype=object))
