"""What every reader returns: a corpus with annotations on it, not yet compared with anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.tags import TagColumn
from clueval_xlsx.text.strings import IntArray

if TYPE_CHECKING:
    from clueval_xlsx.corpus.standoff import TextReading
    from clueval_xlsx.formats.span_table import SpanTable


@dataclass(frozen=True)
class Source:
    """Where a reading came from, for messages, hashes and for writing it back."""

    name: str
    format: str
    sha256: str
    columns: Mapping[str, int | str] = field(default_factory=dict)  # layer -> column, or field in other formats
    ends_with_newline: bool = True
    reading: Mapping[str, Any] = field(default_factory=dict)  # the options it was read with, so that it can be again
    detector: str = ""  # name, version, language and configuration of the detector that made the spans


@dataclass(frozen=True, eq=False)
class Reading:
    """A corpus and its layers: a column of tags in the token formats, a span frame in the others."""

    corpus: Corpus
    layers: Mapping[str, TagColumn | pd.DataFrame]
    source: Source
    notes: tuple[str, ...] = ()
    text: TextReading | None = None  # the running text that the tokens were cut from
    original: SpanTable | None = None  # the table that the spans come from
    token_of: IntArray | None = None  # the token of the file that each token is a part of, if any was cut


def digest(data: bytes) -> str:
    """The hash that inputs are known by."""
    return hashlib.sha256(data).hexdigest()
