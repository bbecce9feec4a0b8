"""What the module of a format must offer, and what a reader is given: the opened source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol, cast

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.json_source import key_list, parse_documents
from clueval_xlsx.formats.options import ReadOptions, WriteOptions
from clueval_xlsx.formats.registry import FOLDER_FORMAT, FORMATS, JSON_FORMATS, Format, format_named, formats_ending

_LOOK = 1 << 16
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*(?:\{|\]|$)|\{\s*\")")


@dataclass(eq=False)
class OpenedSource:
    """What stands in a source: the bytes of a file, or the files of a folder by their path in it.

    `texts` are the files of the folder `text_name` where texts lie elsewhere. `base` is another side on whose text
    the annotations lie, for formats that have none of their own.
    """

    name: str
    data: bytes = b""
    files: Mapping[str, bytes] | None = None
    texts: Mapping[str, bytes] | None = None
    text_name: str = ""
    base: Reading | None = None

    @cached_property
    def head(self) -> bytes:
        """How the file begins."""
        return self.data[:_LOOK]

    @property
    def first_line(self) -> str:
        """The first line."""
        lines = self.head.splitlines()
        return lines[0].decode("utf-8", "replace") if lines else ""

    @property
    def looks_like_json(self) -> bool:
        """Whether the file begins as a list of objects or an object does, or is called JSON."""
        return bool(_JSON_START.match(self.head)) or self.name.lower().endswith(".json")

    @cached_property
    def json_documents(self) -> list[dict[str, Any]]:
        """The file as a JSON list of objects."""
        return parse_documents(self.data, self.name)

    def has_keys(self, *keys: str) -> bool:
        """Whether the file is a JSON list whose first document has all of these keys."""
        return self.looks_like_json and set(keys) <= set(self.json_documents[0])

    def take(self) -> bytes:
        """Hand the bytes over: a large file is in memory only once."""
        data, self.data = self.data, b""
        return data


class FormatModule(Protocol):
    """What reads and writes one format."""

    def tell(self, opened: OpenedSource) -> bool:
        """Whether a file whose name says nothing looks like this format."""

    def read(self, opened: OpenedSource, options: ReadOptions) -> Reading:
        """Read it, or raise with all that is wrong with it."""

    def write(self, reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
        """New files with these spans over the reading's corpus: one of the given name, or those of a folder."""


def module_of(format_: Format) -> FormatModule:
    """The module of a format, imported when it is needed."""
    return cast("FormatModule", import_module(f"clueval_xlsx.formats.{format_.module}"))


def find_format(opened: OpenedSource, wanted: str | None) -> Format:
    """The format of a source: the one asked for, the one of its ending, or the one that its content looks like."""
    if wanted is not None:
        return format_named(wanted)
    if opened.files is not None:
        return format_named(FOLDER_FORMAT)
    known = formats_ending(opened.name)
    if len(known) == 1:
        return known[0]
    # The last formats of the table are the most particular.
    for each in reversed(known or FORMATS):
        if module_of(each).tell(opened):
            return each
    if opened.looks_like_json:
        expected = "; ".join(f"{format_named(name).sign} ({name})" for name in JSON_FORMATS)
        raise InputError(
            f"{opened.name}: the first document has the keys {key_list(opened.json_documents[0])}, which no known "
            f"format has. Allowed: {expected}. Convert the file, or name its format (--format)."
        )
    return FORMATS[0]
