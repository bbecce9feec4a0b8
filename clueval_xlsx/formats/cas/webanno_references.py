"""Slots and relations of WebAnno TSV that refer to annotations which go, begin elsewhere or get an ID."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from clueval_xlsx.formats.cas.webanno_cells import NOTHING, RELATION, SLOT, Column, stacked

_REFERENCE = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)(?:_(\d+))?\])?")
_ANY = "uima.tcas.Annotation"


class _HasCells(Protocol):
    number: str
    cells: list[str]


@dataclass(frozen=True)
class _Reference:
    """What a cell refers to: the first row of an annotation, and its ID where the row alone does not tell."""

    row: str
    source: str
    target: str

    def __str__(self) -> str:
        numbers = f"{self.source}_{self.target}" if self.target else self.source
        return f"{self.row}[{numbers}]" if numbers else self.row


def _reference(part: str) -> _Reference | None:
    found = _REFERENCE.fullmatch(part)
    return None if found is None else _Reference(found[1], found[2] or "", found[3] or "")


class References:
    """Collects what became of annotations, and then brings the cells that refer to them up to date."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.moves: list[tuple[str, tuple[str, str], tuple[str, str] | None]] = []

    def forget(self, type_: str, row: str, key: str) -> None:
        """An annotation goes, and with it what refers to it."""
        self.moves.append((type_, (row, key), None))

    def move(self, type_: str, old: tuple[str, str], new: tuple[str, str]) -> None:
        """An annotation begins elsewhere or has another ID now."""
        if old[0] != new[0] or (old[1] != new[1] and (new[1] or "/" not in old[1])):
            self.moves.append((type_, old, new))

    def name(self, type_: str, row: str, number: str) -> None:
        """An annotation has an ID now that had none."""
        self.moves.append((type_, (row, f"{row}/0"), (row, number)))

    def ids(self, rows: Sequence[_HasCells]) -> list[int]:
        """The IDs that slots and relations use."""
        found = []
        for index, column in enumerate(self.columns):
            if column.kind in {SLOT, RELATION} and column.target:
                for row in rows:
                    found += [int(number) for number in re.findall(r"\[(\d+)", row.cells[index])]
                    found += [int(number) for number in re.findall(r"_(\d+)\]", row.cells[index])]
        return found

    def apply(self, rows: Sequence[_HasCells]) -> set[int]:
        """Bring the cells up to date; returns the rows that changed."""
        changed: set[int] = set()
        for move in self.moves:
            for index, column in enumerate(self.columns):
                if column.target and column.target in {move[0], _ANY}:
                    changed |= self._slots(rows, index, move) if column.kind == SLOT else set()
                    changed |= self._relations(rows, index, move) if column.kind == RELATION else set()
        return changed

    def _slots(
        self,
        rows: Sequence[_HasCells],
        index: int,
        move: tuple[str, tuple[str, str], tuple[str, str] | None],
    ) -> set[int]:
        """Slots: the roles stand in the column before, both lists are separated by semicolons."""
        changed = set()
        for number, row in enumerate(rows):
            roles = re.split(r"(?<!\\);", row.cells[index - 1])
            targets = re.split(r"(?<!\\);", row.cells[index])
            kept = [(role, _moved(target, move)) for role, target in zip(roles, targets, strict=False)]
            kept = [(role, target) for role, target in kept if target is not None]
            if [target for _, target in kept] != targets and row.cells[index] != NOTHING:
                row.cells[index - 1] = ";".join(role for role, _ in kept) or "*"
                row.cells[index] = ";".join(str(target) for _, target in kept) or NOTHING
                changed.add(number)
        return changed

    def _relations(
        self,
        rows: Sequence[_HasCells],
        index: int,
        move: tuple[str, tuple[str, str], tuple[str, str] | None],
    ) -> set[int]:
        """Relations: they stand in the row of their target, the last column refers to their source."""
        type_ = self.columns[index].type
        own = [place for place, column in enumerate(self.columns) if column.type == type_ and place != index]
        _, (old_row, old_key), new = move
        changed: set[int] = set()
        carried: list[list[str]] = []
        for number, row in enumerate(rows):
            if row.cells[index] in {NOTHING, ""}:
                continue
            parts = stacked(row.cells[index])
            columns = [stacked(row.cells[place]) for place in own]
            kept: list[list[str]] = []
            for place, part in enumerate(parts):
                entry = [column[place] if place < len(column) else "*" for column in columns]
                reference = _reference(part)
                ends_here = row.number == old_row and (
                    reference is None or reference.target in {"", "0"} or reference.target == old_key
                )
                target = _moved(part, move)
                if target is None or (ends_here and new is None):
                    continue
                if ends_here and new is not None and new[0] != old_row:
                    carried.append([*entry, target])
                    continue
                kept.append([*entry, target])
            if len(kept) != len(parts) or [each[-1] for each in kept] != parts:
                _write(row, own, index, kept)
                changed.add(number)
        if carried and new is not None:
            for number, row in enumerate(rows):
                if row.number == new[0]:
                    parts = [] if row.cells[index] == NOTHING else stacked(row.cells[index])
                    columns = [stacked(row.cells[place]) for place in own]
                    here = [[*(column[place] for column in columns), part] for place, part in enumerate(parts)]
                    _write(row, own, index, here + carried)
                    changed.add(number)
        return changed


def _write(row: _HasCells, own: Sequence[int], index: int, entries: Sequence[Sequence[str]]) -> None:
    for position, place in enumerate([*own, index]):
        row.cells[place] = "|".join(entry[position] for entry in entries) or NOTHING


def _moved(part: str, move: tuple[str, tuple[str, str], tuple[str, str] | None]) -> str | None:
    """A reference after a move; None where what it refers to is gone."""
    _, (old_row, old_key), new = move
    found = _reference(part)
    if found is None or found.row != old_row:
        return part
    if found.source not in {"", "0"} and found.source != old_key:
        return part
    if new is None:
        return None
    source = new[1] or ("0" if found.target else "")
    return str(_Reference(new[0], source, found.target))
