"""The words people read, from one TOML file a language under `templates/words`."""

from __future__ import annotations

import os
import string
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.files.typed_values import parse_toml
from clueval_xlsx.resources import resource_folder

FALLBACK = "en"
TERMINAL = "en"  # messages and tables in a terminal
FOLDER_VARIABLE = "CLUEVAL_WORDS"  # names a folder with further language files
# How long words may be where they go into a workbook: Excel calls a file damaged over these.
LONGEST_TITLE, LONGEST_MESSAGE = 32, 255  # of what a cell says about its list
_LONGEST_SHEET_NAME, _LONGEST_IN_FORMULA = 31, 255
_LIMITS = {
    "cases.error_title": LONGEST_TITLE,
    "cases.free_title": LONGEST_TITLE,
    "cases.error_message": LONGEST_MESSAGE,
    "cases.free_span": LONGEST_MESSAGE,
    "cases.free_label": LONGEST_MESSAGE,
    "cases.type_digit": LONGEST_TITLE,
    "progress": _LONGEST_IN_FORMULA,
    "open_questions": _LONGEST_IN_FORMULA,
    "undefined": _LONGEST_IN_FORMULA,
}
_SECTION_LIMITS = {"sheet": _LONGEST_SHEET_NAME, "state": _LONGEST_IN_FORMULA}


class Words:
    """The words of one language; what it lacks is taken from English.

    >>> Words("de")["column.case"], Words("en")("progress", done=3, total=9)
    ('Fall-ID', '3 of 9 done')
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._own = _table(language)

    def __getitem__(self, key: str) -> str:
        return self._own.get(key) or _table(FALLBACK)[key]

    def __call__(self, key: str, /, **values: object) -> str:
        try:
            return self[key].format_map(values)
        except (KeyError, ValueError, IndexError):  # braces nobody fills: `validate` says so, English helps meanwhile
            return _table(FALLBACK)[key].format_map(values)

    def counted(self, key: str, number: float, /, **values: object) -> str:
        """The words of a key, or those under `KEY_one` where they speak of one thing and the language tells it apart.

        >>> Words("en").counted("guide.sheet_fp", 1, count="1")
        '1 passage that only the model marked'
        """
        one = f"{key}_one"
        return self(one if number == 1 and (one in self._own or key not in self._own) else key, **values)

    def get(self, key: str, default: str = "") -> str:
        """The words of a key, or the default if no language has it."""
        return self._own.get(key) or _table(FALLBACK).get(key, default)

    def __contains__(self, key: str) -> bool:
        return key in self._own or key in _table(FALLBACK)

    def section(self, name: str) -> dict[str, str]:
        """All words whose key begins with `name.`, by the rest of the key."""
        prefix = f"{name}."
        return {key.removeprefix(prefix): self[key] for key in _keys(_files()[FALLBACK], prefix)}

    def missing(self) -> list[str]:
        """Keys that this language does not have."""
        return [key for key in _table(FALLBACK) if not self._own.get(key)]


def languages() -> list[str]:
    """The languages there are, English first."""
    return sorted(_files(), key=lambda language: (language != FALLBACK, language))


def known_language(language: str) -> str:
    """A language if there are words for it here, else English: a workbook may come from where there are more."""
    return language if language in _files() else FALLBACK


def in_every_language(key: str) -> dict[str, str]:
    """One word in all languages that have it."""
    return {language: table[key] for language in languages() if key in (table := _table(language))}


def check_language(content: bytes, name: str) -> list[Problem]:
    """What is wrong with a language file: words that are missing, keys nobody asks for, `{braces}` that differ."""
    try:
        own = dict(_flatten(parse_toml(content)))
    except ValueError as error:
        return [Problem(name, str(error))]
    standard = _table(FALLBACK)
    problems = []
    for key, words in standard.items():
        if not own.get(key):
            problems.append(Problem(name, f"{key} is missing", remedy=f"Until then English is shown: {words!r}"))
            continue
        problems += [Problem(name, f"{key} {what}", allowed) for what, allowed in _differences(key, own[key], words)]
    unknown = [key for key in own if key not in standard]
    return problems + [Problem(name, f"{key} is no key of a language file", remedy="Remove it") for key in unknown]


def _differences(key: str, own: str, english: str) -> list[tuple[str, str]]:
    """What is wrong with the words of a key, and what is allowed: placeholders, length."""
    found = []
    wanted, given = _placeholders(english) or [], _placeholders(own)
    allowed = ", ".join(f"{{{name}}}" for name in wanted) or "none"
    if given is None:
        found.append((f"has a brace that opens or closes nothing: {own!r}", allowed))
    elif missing := [name for name in dict.fromkeys(wanted) if name not in given]:
        found.append((f"lacks {', '.join(f'{{{name}}}' for name in missing)}: {own!r}", allowed))
    elif set(given) - set(wanted):
        found.append((f"has other braces than the English words: {own!r}", allowed))
    limit = _LIMITS.get(key) or _SECTION_LIMITS.get(key.partition(".")[0], 0)
    if limit and len(own.encode("utf-16-le", "surrogatepass")) // 2 > limit:
        found.append((f"is too long for a workbook: {own!r}", f"{limit} characters"))
    return found


def _placeholders(words: str) -> list[str] | None:
    """The names in braces that are filled in; doubled braces are text. None where braces do not fit."""
    try:
        return [field for _, field, _, _ in string.Formatter().parse(words) if field is not None]
    except ValueError:
        return None


def _files() -> Mapping[str, Path]:
    """The file of each language: those that come with the package, and before them those of the user's own folder."""
    return _files_with(os.environ.get(FOLDER_VARIABLE))


@cache
def _files_with(own: str | None) -> Mapping[str, Path]:
    folders = [resource_folder("templates") / "words", *([Path(own)] if own else [])]
    return {path.stem: path for folder in folders for path in folder.glob("*.toml")}


def _table(language: str) -> Mapping[str, str]:
    path = _files().get(language)
    if path is None:
        raise OptionError(f"unknown language {language!r}. Allowed: {', '.join(languages())}.")
    return _load(path)


@cache
def _load(path: Path) -> Mapping[str, str]:
    try:
        return dict(_flatten(parse_toml(path.read_bytes())))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the language file cannot be read: {error}.") from None


@cache
def _keys(path: Path, prefix: str) -> list[str]:
    return [key for key in _load(path) if key.startswith(prefix)]


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    flat: list[tuple[str, str]] = []
    for key, value in tree.items():
        flat += _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", str(value))]
    return flat
