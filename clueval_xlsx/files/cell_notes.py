"""Notes that people attached to cells of an `.xlsx`: Excel's notes and threaded comments, by sheet and cell.

A parser of values does not show them. Those of an `.ods` stand inside its cells (`valueless_cells`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from clueval_xlsx.files.markup import go_through, local
from clueval_xlsx.files.sheets import Place

_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_KINDS = ("/comments", "/threadedcomment")  # how the types of such parts end, in small letters
_ELEMENTS = {"/comments": ("comment", "t"), "/threadedcomment": ("threadedComment", "text")}
_LONGEST_NUMBER = 10  # digits
_LONGEST = 32_767  # characters, as in a cell


def notes_of(parts: Mapping[str, bytes], sheet_part: str, name: str) -> dict[Place, str]:
    """The notes of one sheet; `parts` are all parts by their names, `name` is for messages.

    A threaded comment has a note beside it that only says so to programs that know no threads: the thread counts.
    """
    folder, file = posixpath.split(sheet_part)
    own_names = {part.casefold(): part for part in parts}
    related = own_names.get(f"{folder}/_rels/{file}.rels".casefold())
    if related is None:
        return {}
    targets: dict[str, str] = {}  # one part of each kind: a sheet has no more

    def relation(tag: str, attributes: Mapping[str, str]) -> None:
        kind = next((kind for kind in _KINDS if attributes.get("Type", "").casefold().endswith(kind)), "")
        part = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", ""))).lstrip("/").casefold()
        if local(tag) == "Relationship" and kind and part in own_names:
            targets[kind] = own_names[part]

    go_through(parts[related], f"{name}, {related}", relation)
    found: dict[str, dict[Place, str]] = {}
    for kind, part in targets.items():
        notes = _Notes(*_ELEMENTS[kind])
        go_through(parts[part], f"{name}, {part}", notes.start, notes.end, notes.text)
        found[kind] = _joined(notes.found())
    return {**found.get(_KINDS[0], {}), **found.get(_KINDS[1], {})}


@dataclass
class _Notes:
    """The notes of one part, gathered while it is gone through; their markup is never kept."""

    note: str  # the element of one note
    words: str  # the element of its text
    _authors: list[str] = field(default_factory=list)
    _notes: list[tuple[str, str, list[str]]] = field(default_factory=list)  # cell, number of the author, pieces of text
    _inside: str = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        name = local(tag)
        if name == "author":
            self._authors.append("")
        elif name == self.note:
            self._notes.append((attributes.get("ref", ""), attributes.get("authorId", ""), []))
        if name in {"author", self.words}:
            self._inside = name

    def end(self, tag: str) -> None:
        """An element ends."""
        if local(tag) == self._inside:
            self._inside = ""

    def text(self, data: str) -> None:
        """Text of any element."""
        if self._inside == "author":
            self._authors[-1] += data
        elif self._inside and self._notes:
            self._notes[-1][2].append(data)

    def found(self) -> Iterator[tuple[str, str]]:
        """Cells and their notes; the name of the author, with which Excel begins them, is left out."""
        for reference, number, pieces in self._notes:
            text = "".join(pieces)
            known = number.isdecimal() and len(number) < _LONGEST_NUMBER and int(number) < len(self._authors)
            author = self._authors[int(number)].strip() if known else ""
            yield reference, text.removeprefix(f"{author}:") if author else text


def _joined(notes: Iterator[tuple[str, str]]) -> dict[Place, str]:
    """What stands at each cell; answers in a thread follow what they answer."""
    found: dict[Place, list[str]] = {}
    for reference, text in notes:
        match = _CELL.fullmatch(reference.strip())
        if match and text.strip():
            found.setdefault((int(match[2]) - 1, _column(match[1])), []).append(" ".join(text.split()))
    return {place: " / ".join(texts)[:_LONGEST] for place, texts in found.items()}


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1
