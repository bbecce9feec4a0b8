"""A workbook as an archive of XML parts, for the audit."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass
from functools import cache, cached_property
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
LAST_ROW, LAST_COLUMN = 1_048_576, 16_384
_AREA = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Z]{1,3})\$?([0-9]{1,7}))?")


@dataclass(frozen=True)
class Area:
    """A range of cells, rows and columns counted from 1."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def size(self) -> int:
        return (self.bottom - self.top + 1) * (self.right - self.left + 1)

    def meets(self, other: Area) -> bool:
        rows = self.top <= other.bottom and other.top <= self.bottom
        return rows and self.left <= other.right and other.left <= self.right

    def within(self, other: Area) -> bool:
        return (
            other.top <= self.top
            and self.bottom <= other.bottom
            and other.left <= self.left
            and self.right <= other.right
        )


@cache
def area(text: str) -> Area | None:
    """A range by its name; None if Excel knows no such cells."""
    found = _AREA.fullmatch(text)
    if not found:
        return None
    left, top = column(found[1]), int(found[2])
    right, bottom = (column(found[3]), int(found[4])) if found[3] else (left, top)
    fits = 1 <= top <= bottom <= LAST_ROW and 1 <= left <= right <= LAST_COLUMN
    return Area(top, left, bottom, right) if fits else None


def column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def units(text: str) -> int:
    """How long Excel thinks a text is."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@cache
def parsed(content: bytes) -> ElementTree.Element:
    """A part as a tree, which nobody changes."""
    return ElementTree.fromstring(content)


@dataclass(frozen=True, eq=False)
class Package:
    """The parts of a workbook, by name."""

    parts: dict[str, bytes]

    @classmethod
    def opened(cls, content: bytes) -> Package:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return cls({name: archive.read(name) for name in archive.namelist()})

    def tree(self, name: str) -> ElementTree.Element:
        return parsed(self.parts[name])

    def relations(self, name: str) -> dict[str, str]:
        """The parts that a part points at, by their IDs; those outside the workbook left aside."""
        folder, file = posixpath.split(name)
        own = f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels"
        if own not in self.parts:
            return {}
        return {
            each.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/")
            for each in self.tree(own)
            if each.get("TargetMode") != "External"
        }

    @cached_property
    def sheets(self) -> list[tuple[str, str, str]]:
        """Name, part and state of every sheet."""
        targets = self.relations("xl/workbook.xml")
        return [
            (each.get("name", ""), targets.get(each.get(f"{RELATION}id", ""), ""), each.get("state", "visible"))
            for each in self.tree("xl/workbook.xml").iter(f"{MAIN}sheet")
        ]
