"""What the JSON formats share: documents from a list, lines or one object, and values that must be there."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.utf8 import decode_text

_SHOWN = 60
_KINDS = {"str": "a text", "list": "a list", "dict": "an object"}


@dataclass(frozen=True, eq=False)
class Records:
    """The documents of a JSON file: a list, the lines of JSON Lines, or one object; `path` leads to an inner list."""

    content: list[Any]
    lines: tuple[int, ...] = ()  # the line of each, in JSON Lines
    path: tuple[str, ...] = ()
    single: bool = False

    def place(self, number: int) -> str:
        """How a message names a document by its index."""
        return f"line {self.lines[number]}" if self.lines else f"document {number + 1}"


def parse_records(raw: bytes, name: str) -> Records:
    """The documents of a file, whatever they are; anything that is no JSON is refused with its line."""
    text = decode_text(raw, name)
    if not text or text.isspace():
        raise InputError(f"{name}: the file is empty. Check that this is the right file.")
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        if "Extra data" in error.msg:
            return _parse_lines(text, name)
        raise _invalid(name, error, error.lineno) from None
    except (RecursionError, ValueError) as error:
        raise _unreadable(name, error) from None
    if not isinstance(content, dict | list):
        raise InputError(f"{name}: the JSON is {shown(content)}. Allowed: a list of documents.")
    return records_of(content)


def records_of(content: Any) -> Records:
    """The documents of a JSON value: a list, the only list of documents in an object, or the value itself."""
    if isinstance(content, list):
        if len(content) == 2 and isinstance(content[0], str) and isinstance(content[1], dict):
            return Records([content], single=True)
        return Records(content)
    if isinstance(content, dict):
        inner = [key for key, value in content.items() if _is_document_list(value)]
        if len(inner) == 1 and not any(isinstance(content.get(key), str) for key in ("text", "full_text", "data")):
            return Records(content[inner[0]], path=(inner[0],))
    return Records([content], single=True)


def _is_document_list(value: Any) -> bool:
    """Whether a value is a list of documents: of objects that hold a text or tokens, or of spaCy's pairs."""
    if not isinstance(value, list):
        return False
    found = [item for item in value if item is not None]
    return (
        bool(found)
        and all(
            (
                isinstance(item, dict)
                and any(key in item for key in ("text", "full_text", "tokens", "data", "source_text"))
            )
            or (isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], dict))
            for item in found[:20]
        )
        and not all(isinstance(item, dict) and "start" in item for item in found[:20])
    )


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


def objects(records: Records, name: str) -> list[dict[str, Any]]:
    """The documents, each of which must be an object."""
    for number, document in enumerate(records.content):
        if not isinstance(document, dict):
            place = records.place(number)
            raise InputError(f"{name}: {place} is {shown(document)}. Allowed: an object for each document.")
    if not records.content:
        raise InputError(f"{name}: the list of documents is empty. Check that this is the right file.")
    return records.content


def required(document: dict[str, Any], key: str, kind: type, where: str) -> Any:
    """A key that must be there and be of the kind."""
    value = document.get(key)
    if not isinstance(value, kind):
        words = _KINDS[kind.__name__]
        found = f"{key!r} is {shown(value)}" if key in document else f"there is no {key!r}, only {key_list(document)}"
        raise InputError(f"{where}: {found}. Allowed: {key!r} with {words}.")
    return value


def decoded(value: Any) -> Any:
    """The list that a text holds, as JSON or as Python writes it; anything else as it is.

    >>> decoded("[{'start': 0}]"), decoded("[1, 2]"), decoded("Mira")
    ([{'start': 0}], [1, 2], 'Mira')
    """
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return found if isinstance(found, list) else value
    return value


def label_of(value: Any) -> Any:
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


def key_list(document: dict[str, Any]) -> str:
    """The keys of an object as a message shows them."""
    return ", ".join(repr(key) for key in list(document)[:10]) or "(none)"


def first_value(keys: Sequence[str], *holders: Mapping[str, Any]) -> str | None:
    """The first of these keys that one of the objects has, as text; None where none has."""
    return next((str(holder[key]) for holder in holders for key in keys if holder.get(key) is not None), None)
