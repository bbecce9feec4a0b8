"""A real LibreOffice that repeats every edit of the model: many workbooks, one after another, in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import eq
from pathlib import Path
from typing import Any

from tests.simulator.book import ErrorValue, Formula, Merge, Value
from tests.simulator.files import cell_name
from tests.support.office import Document, Office


class OfficeMirror:
    """One workbook in LibreOffice."""

    def __init__(self, document: Document, *, new: bool = False) -> None:
        self.document = document
        self._leftover = list(document.sheets()) if new else []  # what a new workbook brings along
        self._added: list[tuple[int, str]] = []  # new sheets, and how many edits could be undone then

    def do(self, edit: str, *arguments: Any) -> Any:
        """Carry out one edit of the model; sorting tells the order that came of it."""
        own = getattr(self, f"_{edit}", None) or getattr(self.document, edit)
        return own(*arguments)

    def mark(self) -> int:
        """How many edits can be undone."""
        return self.document.undo_depth()

    def back_to(self, mark: int) -> None:
        """Undo the edits since a mark; LibreOffice falls over when a new sheet is undone, so these are deleted."""
        while self._added and self._added[-1][0] > mark:
            depth, name = self._added.pop()
            self.document.undo_to(depth)
            self.document.delete_sheet(name)
            if depth == mark + 1:
                return
        self.document.undo_to(mark)

    def _put(self, sheet: str, row: int, column: int, value: Value) -> None:
        self.document.put(sheet, row, column, *_kind(value))

    def _sort(self, sheet: str, area: Merge, column: int, ascending: bool) -> list[int]:
        """Sort, and find out where every row went: programs order texts each in its own way."""
        address = f"{cell_name(*area[:2])}:{cell_name(*area[2:])}"
        before = self.document.values(sheet, address)
        self.document.sort(sheet, address, column - area[1], ascending=ascending)
        return _order(before, self.document.values(sheet, address))

    def _add_sheet(self, name: str) -> None:
        if self._leftover and name in self._leftover:
            self._leftover.remove(name)
            return
        self.document.add_sheet(name)
        self._added.append((self.document.undo_depth(), name))
        self._tidy()

    def _import_sheet(self, other: OfficeMirror, sheet: str) -> None:
        self.document.import_sheet(other.document, sheet)
        self._tidy()

    def _tidy(self) -> None:
        for name in self._leftover:
            self.document.delete_sheet(name)
        self._leftover = []


def _kind(value: Value) -> tuple[str, str | float]:
    if value is None:
        return "empty", ""
    if isinstance(value, Formula):
        return "formula", value.text
    if isinstance(value, ErrorValue):
        return "formula", "=NA()"
    return ("text", value) if isinstance(value, str) else ("number", float(value))


def _order(before: Sequence[Sequence[Any]], after: Sequence[Sequence[Any]]) -> list[int]:
    """For each row that stands there now, where it stood before: the one most like it, for formulas may differ."""
    left = dict(enumerate(before))
    order = []
    for row in after:
        nearest = max(left, key=lambda index: sum(map(eq, left[index], row)))
        order.append(nearest)
        del left[nearest]
    return order


class OfficeProgram:
    """LibreOffice as the program of a simulator."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._opened: list[OfficeMirror] = []

    def open(self, path: Path | None) -> OfficeMirror:
        """Open a workbook, or a new one."""
        document = self._office.new() if path is None else self._office.open(path)
        self._opened.append(OfficeMirror(document, new=path is None))
        return self._opened[-1]

    def save(self, mirror: OfficeMirror, path: Path) -> None:
        """Save a workbook; the ending says as what."""
        mirror.document.save(path)

    def close(self) -> None:
        """Close all workbooks without saving."""
        for mirror in self._opened:
            mirror.document.close()
        self._opened = []


@contextmanager
def mirrored(folder: Path) -> Iterator[OfficeProgram]:
    """A LibreOffice with its profile in a folder."""
    with Office(folder) as office:
        yield OfficeProgram(office)
