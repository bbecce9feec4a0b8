"""TOML from files that people write: parsed in bounded time, everything wrong with it one kind of exception."""

from __future__ import annotations

import tomllib
from typing import Any

_MOST_DOTS = 200  # in a line: the time that Python's parser takes grows with the square of a key's parts


def parse_toml(content: bytes) -> dict[str, Any]:
    """Parse a file; a `ValueError` says what is wrong.

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
