"""JSON as it is written: the records of a file, paths into values, and how a message shows what is there."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.threads import nothing_collected

Path = tuple[str | int, ...]
_SHOWN = 60
_BOM = b"\xef\xbb\xbf"
_TEXT_KEYS = ("text", "full_text", "tokens", "data", "source_text")
_LINES_HEAD = 1_000_000  # JSON Lines are known by two of them in so many bytes
_LINES = re.compile(rb"\}[ \r]*\n\{")
_NO_KEY = re.compile(rb'":(?<=[\s:,\[{\\]":)')  # a text that begins with a colon, or has a quotation mark before one
SAMPLE = 20  # records that are looked at to tell what a file is


# ---- paths ---------------------------------------------------------------------------------------------------------


@cache
def parse_path(text: str) -> Path:
    """`data.items.0` as steps; a number leads into a list.

    >>> parse_path("data.items.0")
    ('data', 'items', 0)
    """
    if not text:
        return ()
    return tuple(int(step) if step.isascii() and step.isdigit() else step for step in text.split("."))


@cache
def alternatives(text: str) -> tuple[Path, ...]:
    """`a.b|c` as paths."""
    return tuple(parse_path(path) for path in text.split("|")) if text else ()


def look_up(value: Any, path: Path) -> Any:
    """What stands at a path; None where there is nothing."""
    for step in path:
        if isinstance(value, dict):
            value = value[step] if step in value else value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def first_of(value: Any, paths: str) -> tuple[Path, Any]:
    """The first of several paths where something stands, and what; the first of all where nothing does."""
    known = alternatives(paths)
    for path in known:
        there = look_up(value, path)
        if there is not None:
            return path, there
    return known[0], None


def column(items: Sequence[Any], path: Path) -> list[Any]:
    """What stands at a path in each item."""
    if len(path) == 1 and items:
        key = path[0]
        try:  # all items are alike, nearly always
            if isinstance(key, int) or key in items[0]:
                return [item[key] for item in items]
            return [item.get(key) for item in items]
        except (AttributeError, IndexError, KeyError, TypeError):
            pass
    return [look_up(item, path) for item in items]


def filled(item: Any, values: Mapping[Path, Any]) -> Any:
    """An object with values at their paths; objects whose keys are numbers are lists."""
    for path, value in values.items():
        holder = item
        for step in path[:-1]:
            holder = holder.setdefault(step, {})
        holder[path[-1]] = value
    return _with_lists(item)


def _with_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _with_lists(each) for key, each in value.items()}
    if inner and all(isinstance(key, int) for key in inner):
        return [inner[key] for key in sorted(inner)]
    return inner


# ---- values --------------------------------------------------------------------------------------------------------


def is_offset(value: Any) -> bool:
    """Whether a value can be an offset."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_pair(value: Any) -> bool:
    """Whether a value is a text with its annotations, as spaCy has them."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict)


def decoded(value: Any) -> Any:
    """The list that a text holds, as JSON or as Python writes it; anything else as it is.

    >>> decoded("[{'start': 0}]"), decoded("[1, 2]"), decoded("Mira")
    ([{'start': 0}], [1, 2], 'Mira')
    """
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    for parse in (json.loads, ast.literal_eval):
        try:
            content = parse(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return content if isinstance(content, list) else value
    return value


def label_text(value: Any) -> Any:
    """A label as text; null is none. What can be no label stays as it is, for the message."""
    if value is None or value == "":
        return None
    return str(value) if isinstance(value, str | int | float) else value


def shown(value: Any) -> str:
    """A value of a JSON file as a message shows it, however deeply it is nested."""
    try:
        return repr(value)[:_SHOWN]
    except RecursionError:
        return "a list or object nested too deeply"


def key_list(record: Any) -> str:
    """The keys of a record, and those of the first item of each list of objects in it, as a message shows them."""
    if not isinstance(record, dict):
        return "no keys"
    inner = [
        f"{key}: {_keys(value[0])}"
        for key, value in record.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]
    return _keys(record) + (f" (in {'; in '.join(inner[:3])})" if inner else "")


def _keys(record: Mapping[str, Any]) -> str:
    return ", ".join(repr(key) for key in list(record)[:10]) or "(none)"


# ---- records -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Records:
    """The documents of a JSON file: a list, the lines of JSON Lines, or one object; `path` leads to an inner list."""

    content: list[Any]
    lines: tuple[int, ...] = ()  # the line of each, in JSON Lines
    path: Path = ()
    single: bool = False
    keys_around: int = 0  # how many keys stand outside the list

    def place(self, number: int) -> str:
        """How a message names a document by its index."""
        return f"line {self.lines[number]}" if self.lines else f"document {number + 1}"

    @property
    def sample(self) -> list[Any]:
        """The first records that are any."""
        return [record for record in self.content[: 10 * SAMPLE] if record is not None][:SAMPLE]


@nothing_collected()
def parse_records(raw: bytes, name: str) -> Records:
    """The documents of a file, whatever they are; anything that is no JSON is refused with its line.

    msgspec reads what is plain JSON in half the time; what it does not read, Python's reader does, or says where it
    is wrong.
    """
    body = raw.removeprefix(_BOM)
    try:
        if body.startswith(b"{") and _LINES.search(body, 0, _LINES_HEAD):
            decode = msgspec.json.Decoder().decode
            lines = [(number, line) for number, line in enumerate(body.split(b"\n"), 1) if line.strip()]
            return Records([decode(line) for _, line in lines], tuple(number for number, _ in lines))
        return _records_in(msgspec.json.decode(body), name)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        text = decode_text(raw, name)
    if not text or text.isspace():
        raise InputError(f"{name}: the file is empty. Check that this is the right file.")
    try:
        return _records_in(json.loads(text), name)
    except json.JSONDecodeError as error:
        if "Extra data" not in error.msg:
            raise _invalid(name, error, error.lineno) from None
    except (RecursionError, ValueError) as error:
        raise _unreadable(name, error) from None
    return _parse_lines(text, name)


def _parse_lines(text: str, name: str) -> Records:
    content, lines = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            content.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise _invalid(name, error, number) from None
        except (RecursionError, ValueError) as error:
            raise _unreadable(f"{name}:{number}", error) from None
        lines.append(number)
    return Records(content, tuple(lines))


def _invalid(name: str, error: json.JSONDecodeError, line: int) -> InputError:
    return InputError(f"{name}:{line}: not valid JSON: {error.msg} (column {error.colno}).")


def _unreadable(name: str, error: Exception) -> InputError:
    if isinstance(error, RecursionError):
        return InputError(f"{name}: the JSON is nested too deeply to be a list of documents.")
    # Python reads no number of more than 4,300 digits.
    return InputError(f"{name}: found a number of thousands of digits. Allowed: offsets in the text.")


def _records_in(content: Any, name: str) -> Records:
    """The documents of a JSON value: a list, the only list of documents in an object, or the value itself."""
    if not isinstance(content, dict | list):
        raise InputError(f"{name}: the JSON is {shown(content)}. Allowed: a list of documents.")
    if isinstance(content, list):
        return Records([content], single=True) if is_pair(content) else Records(content)
    inner = [key for key, value in content.items() if _is_document_list(value)]
    if len(inner) == 1 and not any(isinstance(content.get(key), str) for key in ("text", "full_text", "data")):
        around = {key: value for key, value in content.items() if key != inner[0]}
        return Records(content[inner[0]], path=(inner[0],), keys_around=_count_keys(around) + 1)
    return Records([content], single=True)


def _is_document_list(value: Any) -> bool:
    """Whether a value is a list of documents: of objects that hold a text or tokens, or of spaCy's pairs."""
    if not isinstance(value, list):
        return False
    sample = [item for item in value if item is not None][:SAMPLE]
    for item in sample:
        if not is_pair(item) and not (isinstance(item, dict) and any(key in item for key in _TEXT_KEYS)):
            return False
    return bool(sample) and not all(isinstance(item, dict) and "start" in item for item in sample)


# ---- keys that are given twice -------------------------------------------------------------------------------------


def repeated_keys(raw: bytes, records: Records) -> list[str]:
    """Keys that an object of the file has twice, of which the last counts, the most frequent first.

    The keys that were read are counted against those that are written, which takes a tenth of the time of reading;
    the objects themselves are looked at only where the numbers differ.
    """
    read = _count_keys(records.content) + records.keys_around
    signs = np.frombuffer(raw, dtype=np.uint8)  # 58 is a colon, 34 a quotation mark
    written = np.count_nonzero(signs[np.flatnonzero(signs == 58) - 1] == 34)
    if read == written or read == written - len(_NO_KEY.findall(raw)):
        return []
    repeated: Counter[str] = Counter()

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            repeated.update(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return made

    text = raw.decode("utf-8-sig")
    for part in text.split("\n") if records.lines else [text]:
        if part.strip():
            json.loads(part, object_pairs_hook=note)
    return [key for key, _ in repeated.most_common()]


def _count_keys(value: Any) -> int:
    """How many keys the objects in a value have; items of a list are taken to be like the first."""
    if isinstance(value, dict):
        return len(value) + sum(_count_keys(inner) for inner in value.values() if type(inner) in (dict, list))
    if not isinstance(value, list) or not value or not isinstance(value[0], dict | list):
        return 0
    try:
        plain = isinstance(value[0], dict) and not any(type(inner) in (dict, list) for inner in value[0].values())
        return sum(map(len, value)) if plain else sum(map(_count_keys, value))
    except TypeError:
        return -1
