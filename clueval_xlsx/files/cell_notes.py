"""Notes that people attached to cells of an `.xlsx`: Excel's notes and threaded comments, by sheet and cell.

A parser of values does not show them. Those of an `.ods` stand inside its cells (`valueless_cells`).
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

Place = tuple[int, int]  # row and column, both counted from 0
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_KINDS = ("/comments", "/threadedcomment")  # how the types of such parts end, in small letters
_LONGEST = 32_767  # characters, as in a cell


def notes_of(archive: zipfile.ZipFile, parts: Mapping[str, str], sheet_part: str) -> dict[Place, str]:
    """The notes of one sheet; `parts` are the names of all parts by their small letters.

    A threaded comment has a note beside it that only says so to programs that know no threads: the thread counts.
    """
    folder, name = posixpath.split(sheet_part)
    related = f"{folder}/_rels/{name}.rels"
    if related not in parts:
        return {}
    found: dict[str, dict[Place, str]] = {}
    for each in ElementTree.fromstring(archive.read(parts[related])):
        kind = next((kind for kind in _KINDS if each.get("Type", "").casefold().endswith(kind)), "")
        part = posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/").casefold()
        if kind and part in parts:
            root = ElementTree.fromstring(archive.read(parts[part]))
            found[kind] = _joined(_threads(root) if kind == _KINDS[1] else _plain(root))
    return {**found.get(_KINDS[0], {}), **found.get(_KINDS[1], {})}


def _joined(notes: Iterator[tuple[str, str]]) -> dict[Place, str]:
    """What stands at each cell; answers in a thread follow what they answer."""
    found: dict[Place, list[str]] = {}
    for reference, text in notes:
        match = _CELL.fullmatch(reference.strip())
        if match and text.strip():
            found.setdefault((int(match[2]) - 1, _column(match[1])), []).append(" ".join(text.split()))
    return {place: " / ".join(texts)[:_LONGEST] for place, texts in found.items()}


def _plain(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Notes; the name of the author, with which Excel begins them, is left out."""
    authors = ["".join(each.itertext()).strip() for each in _named(root, "author")]
    for comment in _named(root, "comment"):
        text = "".join("".join(each.itertext()) for each in _named(comment, "t"))
        number = comment.get("authorId", "")
        author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
        yield comment.get("ref", ""), text.removeprefix(f"{author}:") if author else text


def _threads(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    for comment in _named(root, "threadedComment"):
        yield comment.get("ref", ""), "".join("".join(each.itertext()) for each in _named(comment, "text"))


def _named(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (each for each in root.iter() if each.tag.rpartition("}")[2] == name)


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1
