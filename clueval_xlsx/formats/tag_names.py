"""What tags mean that are written as numbers: names from a list, a dataset's description or a model's config."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clueval_xlsx.corpus.tags import parse_tag
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.stored import decode_text

_USUAL = "ner_tags"
_CARD = re.compile(r"---\r?\n(.*?)\r?\n---", re.DOTALL)  # the head of a dataset card (README.md)
_CARD_LINE = re.compile(r"\s*-\s+name:\s*(?P<column>\S+)\s*|\s*'?(?P<number>\d+)'?:\s*(?P<name>\S.*)")


def names_in_file(source: str, column: str | None = None) -> tuple[str, ...]:
    """The names that a file lists: one a line, or as datasets (`names`, a card) and models (`id2label`) describe them.

    Where a dataset describes several columns, those of `column` count, else those of `ner_tags`, else names of tags.
    """
    path = Path(source)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{source}: cannot be read: {error.strerror or error}. read.tag_names takes two or more names, or a file."
        ) from None
    text = decode_text(raw, source)
    card = _CARD.match(text)
    try:
        content = json.loads(text)
    except ValueError:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        described = list(_card_lists(card[1])) if card else [("", lines)]
    else:
        described = list(_name_lists(content))
    names = max(described, key=lambda each: _fit(each[0], each[1], column), default=("", []))[1]
    if len(names) < 2:
        raise InputError(
            f"{source}: there are no names of tags in it. Allowed: one name a line, JSON with 'names' or 'id2label', "
            "or the card of a data set."
        )
    return tuple(names)


def _fit(key: str, names: list[str], column: str | None) -> int:
    """How well a list of names fits: by its column, or by what it holds."""
    return 4 * (key == column) + 2 * (key == _USUAL) + all(parse_tag(name) is not None for name in names)


def _card_lists(text: str) -> Iterator[tuple[str, list[str]]]:
    """The names of each column that a card describes, in the order of their numbers."""
    column, names = "", list[str]()
    for line in text.splitlines():
        match = _CARD_LINE.fullmatch(line)
        if match is None:
            continue
        if match["column"] is not None:
            if names:
                yield column, names
            column, names = match["column"], []
        elif int(match["number"]) == len(names):
            names.append(match["name"].strip().strip("'\""))
    if names:
        yield column, names


def _name_lists(content: Any, key: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every list of names in a JSON value, however deep it lies, with the key of the column that it is about."""
    if isinstance(content, list):
        if content and all(isinstance(item, str) for item in content):
            yield key, content
        for item in content:
            yield from _name_lists(item, key)
    elif isinstance(content, dict):
        numbered = content.get("id2label")
        if isinstance(numbered, dict) and all(str(number).isdigit() for number in numbered):
            yield key, [str(numbered[number]) for number in sorted(numbered, key=int)]
        elif "names" in content:
            yield from _name_lists(content["names"], key)
        for name, value in content.items():
            if name not in {"names", "id2label"} and isinstance(value, dict | list):
                yield from _name_lists(value, key if name in {"feature", "class_label", "sequence"} else name)
