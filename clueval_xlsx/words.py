"""The words people read, from one TOML file a language under `templates/words`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.resources import resource_folder

FALLBACK = "en"


class Words:
    """The words of one language; what it lacks is taken from English.

    >>> Words("de")["column.case"], Words("en")("progress", done=3, total=9)
    ('Fall', '3 of 9 judged')
    """

    def __init__(self, language: str) -> None:
        if language not in languages():
            raise OptionError(f"unknown language {language!r}. Allowed: {', '.join(languages())}.")
        self.language = language
        self._own = _table(language)

    def __getitem__(self, key: str) -> str:
        return self._own.get(key) or _table(FALLBACK)[key]

    def __call__(self, key: str, /, **values: object) -> str:
        return self[key].format_map(values)

    def get(self, key: str, default: str = "") -> str:
        """The words of a key, or the default if no language has it."""
        return self._own.get(key) or _table(FALLBACK).get(key, default)

    def __contains__(self, key: str) -> bool:
        return key in self._own or key in _table(FALLBACK)

    def section(self, name: str) -> dict[str, str]:
        """All words whose key begins with `name.`, by the rest of the key."""
        prefix = f"{name}."
        return {key.removeprefix(prefix): self[key] for key in _table(FALLBACK) if key.startswith(prefix)}

    def missing(self) -> list[str]:
        """Keys that this language does not have."""
        return [key for key in _table(FALLBACK) if not self._own.get(key)]


def languages() -> list[str]:
    """The languages there are, English first."""
    found = sorted(path.stem for path in _folder().glob("*.toml"))
    return sorted(found, key=lambda language: language != FALLBACK)


def in_every_language(key: str) -> dict[str, str]:
    """One word in all languages that have it."""
    return {language: table[key] for language in languages() if key in (table := _table(language))}


def _folder() -> Path:
    return resource_folder("templates") / "words"


@cache
def _table(language: str) -> Mapping[str, str]:
    path = _folder() / f"{language}.toml"
    try:
        return dict(_flatten(tomllib.loads(path.read_text("utf-8"))))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: the language file cannot be read: {error}.") from None


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    flat: list[tuple[str, str]] = []
    for key, value in tree.items():
        flat += _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", str(value))]
    return flat
