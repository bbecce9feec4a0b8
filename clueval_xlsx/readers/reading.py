"""What every reader returns: a corpus with annotations on it, not yet compared with anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from clueval_xlsx.bio import TagColumn
from clueval_xlsx.corpus import Corpus


@dataclass(frozen=True)
class Source:
    """Where a reading came from, for messages, hashes and for writing it back."""

    name: str
    format: str
    sha256: str
    columns: Mapping[str, int] = field(default_factory=dict)  # layer -> column, in the token formats
    ends_with_newline: bool = True
    reading: Mapping[str, Any] = field(default_factory=dict)  # the options it was read with, so that it can be again


@dataclass(frozen=True, eq=False)
class Reading:
    """A corpus and its layers: a column of tags in the token formats, a span frame in the others."""

    corpus: Corpus
    layers: Mapping[str, TagColumn | pd.DataFrame]
    source: Source
    notes: tuple[str, ...] = ()


def digest(data: bytes) -> str:
    """The hash that inputs are known by."""
    return hashlib.sha256(data).hexdigest()
