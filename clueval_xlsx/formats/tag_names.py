"""What tags mean that are written as numbers: names from a list, a dataset's description or a model's config."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.utf8 import decode_text


def names_in_file(source: str) -> tuple[str, ...]:
    """The names that a file lists: one a line, or JSON as datasets (`names`) and models (`id2label`) describe them."""
    path = Path(source)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{source}: cannot be read: {error.strerror or error}. --tag-names takes two or more names, or a file."
        ) from None
    text = decode_text(raw, source)
    try:
        content = json.loads(text)
    except ValueError:
        names = [line.strip() for line in text.splitlines() if line.strip()]
    else:
        names = next(_name_lists(content), [])
    if len(names) < 2:
        raise InputError(
            f"{source}: there are no names of tags in it. Allowed: one name a line, or JSON with 'names' or 'id2label'."
        )
    return tuple(names)


def _name_lists(content: Any) -> Iterator[list[str]]:
    """Every list of names in a JSON value, however deep it lies."""
    if isinstance(content, list):
        if content and all(isinstance(item, str) for item in content):
            yield content
        for item in content:
            yield from _name_lists(item)
    elif isinstance(content, dict):
        numbered = content.get("id2label")
        if isinstance(numbered, dict) and all(str(key).isdigit() for key in numbered):
            yield [str(numbered[key]) for key in sorted(numbered, key=int)]
        elif "names" in content:
            yield from _name_lists(content["names"])
        for key, value in content.items():
            if key not in {"names", "id2label"} and isinstance(value, dict | list):
                yield from _name_lists(value)
