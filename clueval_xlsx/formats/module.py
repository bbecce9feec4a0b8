"""What the module of a format must offer, and what a reader is given: the opened source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol, cast

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.archives import is_archive
from clueval_xlsx.formats.json_records import Records, key_list, parse_records, shown
from clueval_xlsx.formats.options import FIELDS_OF_ONE_SIDE, WriteOptions
from clueval_xlsx.formats.recognition import binary_kind, refusal, root_element, text_kind, xml_kind
from clueval_xlsx.formats.registry import FOLDER_FORMAT, FORMATS, JSON_FORMATS, Format, format_named, formats_ending
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.strings import Strings

_LOOK = 1 << 16
_JSON_START = re.compile(rb"""(?:\xef\xbb\xbf)?\s*(?:\[\s*(?:\{|\]|$|\[\s*"|"(?:[^"\\]|\\.)*"\s*,\s*\{)|\{\s*")""")
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
# Records that are known, but not read: their keys, what they are, and what to do.
_FOREIGN = (
    (
        ("paragraphs",),
        "JSON as spaCy 2 trained on it",
        "`python -m spacy convert FILE .` makes a .spacy file of it, which is read",
    ),
    (
        ("content", "annotation"),
        "JSON as Dataturks wrote it, whose offsets include the last character",
        "Convert it to text and spans with exclusive ends, or to brat",
    ),
    (
        ("tokenized_text", "ner"),
        "JSON as GLiNER trains on it, whose offsets count tokens",
        "Convert it to tokens and ner_tags",
    ),
    (("sentences", "ner"), "JSON as SciERC and DyGIE have it, whose offsets count tokens", "Convert it to CoNLL"),
    (("sents", "vertexSet"), "JSON as DocRED has it", "Convert it to CoNLL"),
)
_TOKEN_LINE = re.compile(rb"^[^\s<][^\t\n]*\t|^<\t", re.MULTILINE)


@dataclass(eq=False)
class OpenedSource:
    """What stands in a source: the bytes of a file, or the files of a folder by their path in it.

    `texts` are the files of the folder `text_name` where texts lie elsewhere. `base` is another side on whose text
    the annotations lie, for formats that have none of their own; `known_ids` are the token IDs of the side that was
    read before. `stored` are the bytes of files, by name, that are
    packed or not in UTF-8.
    """

    name: str
    data: bytes = b""
    files: Mapping[str, bytes] | None = None
    texts: Mapping[str, bytes] | None = None
    text_name: str = ""
    base: Reading | None = None
    known_ids: Strings | None = None
    stored: Mapping[str, bytes] = field(default_factory=dict)

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
        return bool(_JSON_START.match(self.head)) or self.name.lower().endswith(_JSON_ENDINGS)

    @cached_property
    def json_records(self) -> Records:
        """The documents of a JSON file, whatever they are."""
        return parse_records(self.data, self.name)

    @cached_property
    def json_dialect(self) -> Any:
        """The dialect that the records of a JSON file look like; None where nothing tells."""
        from clueval_xlsx.formats.json_dialects import told

        return told(self.json_records)

    @property
    def first_record(self) -> Any:
        """The first document of a JSON file; None where there is none."""
        content = self.json_records.content if self.looks_like_json else []
        return next((record for record in content if record is not None), None)

    def has_keys(self, *keys: str) -> bool:
        """Whether the file is JSON and its first document has all of these keys."""
        return isinstance(self.first_record, dict) and set(keys) <= set(self.first_record)

    def take(self) -> bytes:
        """Hand the bytes over: a large file is in memory only once."""
        data, self.data = self.data, b""
        return data


class FormatModule(Protocol):
    """What reads and writes one format.

    A format that knows who annotated also has `annotators(opened)`, which lists them by name.
    """

    def tell(self, opened: OpenedSource) -> bool:
        """Whether a file whose name says nothing looks like this format."""

    def read(self, opened: OpenedSource, options: ReadOptions) -> Reading:
        """Read it, or raise with all that is wrong with it."""

    def write(self, reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
        """New files with these spans over the reading's corpus: one of the given name, or those of a folder."""


def module_of(format_: Format) -> FormatModule:
    """The module of a format, imported when it is needed."""
    module = import_module(f"clueval_xlsx.formats.{format_.module}")
    return cast("FormatModule", module.format_module(format_.name) if hasattr(module, "format_module") else module)


def find_format(opened: OpenedSource, wanted: str | None, fields: Mapping[str, str] | None = None) -> Format:
    """The format of a source: the one asked for, the one of its ending, or the one that its content looks like.

    Whoever says where the annotations or the tokens of JSON stand (`fields`) has asked for records of any keys.
    """
    asked = None if wanted is not None or opened.files is not None or not opened.looks_like_json else _asked(fields)
    if asked is not None:
        return asked
    if opened.files is not None:
        return format_named(wanted or FOLDER_FORMAT)
    kind = binary_kind(opened.data)
    found = format_named(wanted) if wanted is not None else _told(opened, binary=kind is not None)
    if kind is not None and (found is None or not found.binary or (wanted is None and _is_other(opened, found))):
        raise refusal(opened.name, kind)
    return found or FORMATS[0]


def _is_other(opened: OpenedSource, told: Format) -> bool:
    """Whether a file is no archive, and not what its ending says either: a PDF that is called .xlsx."""
    return not is_archive(opened.head) and not module_of(told).tell(opened)


def _asked(fields: Mapping[str, str] | None) -> Format | None:
    """The format of records whose keys somebody gave."""
    if not {"spans", "tokens", "tags"} & set(fields or ()):
        return None
    return format_named("json" if "spans" in (fields or ()) else "huggingface")


def told_records(opened: OpenedSource, fields: Mapping[str, str] | None = None) -> Format | None:
    """The format that records of JSON look like, whatever the name of their file says; None where nothing tells."""
    records = [each for each in FORMATS if each.name in JSON_FORMATS]
    return _asked(fields) or next((each for each in reversed(records) if module_of(each).tell(opened)), None)


def _told(opened: OpenedSource, *, binary: bool) -> Format | None:
    """The format of a file's ending, or the one that its content looks like; None where nothing tells."""
    known = formats_ending(opened.name)
    if len(known) == 1:
        return known[0]
    if binary:
        return next((each for each in FORMATS if each.binary and module_of(each).tell(opened)), None)
    # The last formats of the table are the most particular.
    for each in reversed(known or FORMATS):
        if module_of(each).tell(opened):
            _refuse_other_text(opened, each)
            return each
    if opened.looks_like_json:
        raise InputError(_unknown_json(opened))
    return None


def _refuse_other_text(opened: OpenedSource, told: Format) -> None:
    """Refuse XML and code that only look like columns because nothing else knows them."""
    kind = text_kind(opened.head) if told.columns else None
    if kind is not None:
        raise refusal(opened.name, kind)
    root = root_element(opened.head) if told.columns else None
    if root is not None and not _TOKEN_LINE.search(opened.head):
        raise refusal(opened.name, xml_kind(root))


def _unknown_json(opened: OpenedSource) -> str:
    """What a JSON file holds that no format knows, and what would read it."""
    expected = "; ".join(f"{format_named(name).sign} ({name})" for name in JSON_FORMATS)
    record = opened.first_record
    if record is None:
        return f"{opened.name}: the list of documents is empty. Check that this is the right file."
    if not isinstance(record, dict):
        place = opened.json_records.place(opened.json_records.content.index(record))
        return f"{opened.name}: {place} is {shown(record)}. Allowed: an object for each document."
    foreign = next((words for keys, *words in _FOREIGN if set(keys) <= set(record)), None)
    if foreign is not None:
        return f"{opened.name}: this is {foreign[0]}. {foreign[1]}."
    return (
        f"{opened.name}: the first document has the keys {key_list(record)}, which no known format has. "
        f"Allowed: {expected}. Say where things stand (--field text=KEY --field spans=KEY{FIELDS_OF_ONE_SIDE}), or "
        "name the format (--format)."
    )
