"""What the JSON formats share: parsing with a message, and values that must be there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.utf8 import decode_text

_SHOWN = 60
_KINDS = {"str": "a text", "list": "a list", "dict": "an object"}


def parse_documents(raw: bytes, name: str) -> list[dict[str, Any]]:
    """A JSON list of objects; anything else is refused with what was found."""
    text = decode_text(raw, name)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        hint = " One object a line is JSON Lines: wrap the lines in a list." if "Extra data" in error.msg else ""
        raise InputError(f"{name}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno}).{hint}") from None
    except RecursionError:
        raise InputError(f"{name}: the JSON is nested too deeply to be a list of documents.") from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise InputError(f"{name}: found a number of thousands of digits. Allowed: offsets in the text.") from None
    if not isinstance(content, list):
        found = f"an object with the keys {key_list(content)}" if isinstance(content, dict) else shown(content)
        raise InputError(f"{name}: the JSON is not a list, but {found}. Allowed: a list of documents.")
    for number, document in enumerate(content, 1):
        if not isinstance(document, dict):
            raise InputError(f"{name}: document {number} is {shown(document)}. Allowed: an object for each document.")
    if not content:
        raise InputError(f"{name}: the list of documents is empty. Check that this is the right file.")
    return content


def required(document: dict[str, Any], key: str, kind: type, where: str) -> Any:
    """A key that must be there and be of the kind."""
    value = document.get(key)
    if not isinstance(value, kind):
        words = _KINDS[kind.__name__]
        found = f"{key!r} is {shown(value)}" if key in document else f"there is no {key!r}, only {key_list(document)}"
        raise InputError(f"{where}: {found}. Allowed: {key!r} with {words}.")
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
