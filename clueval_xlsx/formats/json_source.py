"""What the JSON formats share: parsing with a message, and telling them apart by their keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clueval_xlsx.exceptions import InputError

# The keys by which a document of each format is known: all of one group must be there.
_SIGNS: dict[str, tuple[frozenset[str], ...]] = {
    "presidio": (frozenset({"full_text"}),),
    "label-studio": (frozenset({"data"}),),
    "tab": (frozenset({"text", "annotations"}), frozenset({"text", "presidio_detected_pii"})),
}
_EXPECTED = {
    "presidio": "full_text, spans",
    "label-studio": "data, annotations (or predictions)",
    "tab": "doc_id, text, annotations (or presidio_detected_pii)",
}
_SHOWN = 60
_KINDS = {"str": "a text", "list": "a list", "dict": "an object"}


@dataclass(frozen=True, eq=False)
class JsonOriginal:
    """The file as it came, to be written back with only the corrected annotations changed."""

    name: str
    raw: bytes


def parse_documents(raw: bytes, name: str) -> list[dict[str, Any]]:
    """A JSON list of objects; anything else is refused with what was found."""
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}:{line}: byte 0x{raw[error.start]:02X} is not UTF-8. Save the file as UTF-8."
        ) from None
    except json.JSONDecodeError as error:
        hint = " One object a line is JSON Lines: wrap the lines in a list." if "Extra data" in error.msg else ""
        raise InputError(f"{name}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno}).{hint}") from None
    except RecursionError:
        raise InputError(f"{name}: the JSON is nested too deeply to be a list of documents.") from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise InputError(f"{name}: found a number of thousands of digits. Allowed: offsets in the text.") from None
    if not isinstance(content, list):
        found = f"an object with the keys {_keys(content)}" if isinstance(content, dict) else shown(content)
        raise InputError(f"{name}: the JSON is not a list, but {found}. Allowed: a list of documents.")
    for number, document in enumerate(content, 1):
        if not isinstance(document, dict):
            raise InputError(f"{name}: document {number} is {shown(document)}. Allowed: an object for each document.")
    if not content:
        raise InputError(f"{name}: the list of documents is empty. Check that this is the right file.")
    return content


def json_format(documents: Sequence[dict[str, Any]], name: str) -> str:
    """Which JSON format this is, told by the keys of the first document."""
    keys = set(documents[0])
    for found, groups in _SIGNS.items():
        if any(group <= keys for group in groups):
            return found
    expected = "; ".join(f"{keys} ({found})" for found, keys in _EXPECTED.items())
    raise InputError(
        f"{name}: the first document has the keys {_keys(documents[0])}, which no known format has. "
        f"Allowed: {expected}. Convert the file, or name its format (--format)."
    )


def required(document: dict[str, Any], key: str, kind: type, name: str, number: int) -> Any:
    """A key that must be there and be of the kind."""
    value = document.get(key)
    if not isinstance(value, kind):
        words = _KINDS[kind.__name__]
        found = f"{key!r} is {shown(value)}" if key in document else f"there is no {key!r}, only {_keys(document)}"
        raise InputError(f"{name}: document {number}: {found}. Allowed: {key!r} with {words}.")
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


def _keys(document: dict[str, Any]) -> str:
    return ", ".join(repr(key) for key in list(document)[:10]) or "(none)"
