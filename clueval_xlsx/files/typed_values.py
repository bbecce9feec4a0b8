"""Typed values out of JSON and TOML that people or programs wrote: what is wrong with them is a `ValueError`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

Built = TypeVar("Built")
_MOST_DOTS = 200  # in a line of TOML: the time that Python's parser takes grows with the square of a key's parts
_SHOWN = 60
_MESSAGE = re.compile(r"(?s)(.*?)(?: - at `\$\.?([^`]*)`)?")
_EXPECTED = re.compile(r"Expected (.*), got .*")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def build(kind: type[Built], content: object, hook: Callable[[Any, Any], Any] | None = None) -> Built:
    """An instance of a dataclass or Struct; unknown keys are passed over, a value of another type is a `ValueError`.

    `hook` makes what msgspec does not know, as its `dec_hook` does.

    >>> from clueval_xlsx.review.judgements import JudgementKind
    >>> build(JudgementKind, {"code": "public", "effect": "delete", "colour": 3}).effect
    <Effect.DELETE: 'delete'>
    >>> build(JudgementKind, {"code": "public", "effect": "erase"})
    Traceback (most recent call last):
    ValueError: effect is 'erase'. Allowed: none, delete, add, boundary, label, accept, open
    """
    try:
        return msgspec.convert(content, kind, dec_hook=hook)
    except msgspec.ValidationError as error:
        raise ValueError(_sentence(str(error), content, kind)) from None


def plain(value: object, hook: Callable[[Any], Any] | None = None) -> Any:
    """The value as dicts, lists and what JSON knows; `hook` turns what it does not know into something it does."""
    return msgspec.to_builtins(value, enc_hook=hook)


def _sentence(message: str, content: object, kind: type) -> str:
    match = _MESSAGE.fullmatch(message)
    what, place = (match[1], match[2] or "") if match else (message, "")
    expected = _EXPECTED.fullmatch(what)
    allowed = expected[1].replace("`", "") if expected else ", ".join(_codes(kind, place))
    if not allowed:
        return f"{place}: {what}" if place else what
    return f"{place or 'the content'} is {_shown(content, place)}. Allowed: {allowed}"


def _shown(content: object, place: str) -> str:
    """What stands at a place; where it cannot be looked up (a key of many), words for that."""
    for step in _STEP.finditer(place):
        try:
            content = content[step[1] if step[1] else int(step[2])]  # type: ignore[index]
        except (LookupError, TypeError, ValueError):
            return "of the wrong kind"
    try:
        return repr(content)[:_SHOWN]
    except RecursionError:
        return "something nested too deeply"


def _codes(kind: type, place: str) -> list[str]:
    """The values of the enum that is expected at a place."""
    found: Any = msgspec.inspect.type_info(kind)
    for step in _STEP.finditer(place):
        found = _known(found)
        if step[1]:
            found = next((field.type for field in getattr(found, "fields", ()) if field.encode_name == step[1]), None)
        else:
            found = getattr(found, "item_type", getattr(found, "value_type", None))
    found = _known(found)
    return [member.value for member in found.cls] if isinstance(found, msgspec.inspect.EnumType) else []


def _known(found: Any) -> Any:
    """Of a type that may be null the type itself."""
    if not isinstance(found, msgspec.inspect.UnionType):
        return found
    return next((each for each in found.types if not isinstance(each, msgspec.inspect.NoneType)), None)


def parse_toml(content: bytes) -> dict[str, Any]:
    """What a TOML file holds, in bounded time.

    >>> parse_toml(b"a.b = 1")
    {'a': {'b': 1}}
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8. Save it as UTF-8") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            raise ValueError(f"line {number} has more than {_MOST_DOTS} dots. Allowed: keys of a few parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not valid TOML: {error}") from None
    except RecursionError:
        raise ValueError("a value is nested too deeply. Allowed: texts, numbers, lists and tables") from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise ValueError("found a number of thousands of digits. Allowed: numbers that an option takes") from None
