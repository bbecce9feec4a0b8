"""Whose row it is: the two case IDs of each row of a sheet, and what it means that they differ or are gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from clueval_xlsx.exceptions import RowProblem
from clueval_xlsx.review.case_rows import CaseRows
from clueval_xlsx.review.sheet_columns import Columns, Sections
from clueval_xlsx.review.sheet_rows import SheetContent, SheetRow
from clueval_xlsx.review.vocabulary import BLOCK_ID_COLUMN, TrustId

_TRUST = "Use --trust-id row|block to say which of the two the judgement belongs to"


class RowIds:
    """The case IDs of the rows of one sheet: the row's own, and the one inside the annotation block."""

    def __init__(self, rows: CaseRows, sections: Sections, trust: TrustId | None = None) -> None:
        self._rows, self._sections, self._trust = rows, sections, trust
        pairs = [
            (next(iter(self._in(number, "case")), None), next(iter(self._in(number, BLOCK_ID_COLUMN)), None))
            for number in rows.ids
            if number not in sections.headers
        ]
        self._own = Counter(own for own, _ in pairs)
        self._block = Counter(block for _, block in pairs)
        self._in_place = {own for own, block in pairs if own == block}
        apart = {block for own, block in pairs if own and block and own != block}
        self._sorted = any(not self._is_copied(block) for block in apart)

    def of(self, row: SheetRow, found: SheetContent) -> str | None:
        """The case of a row, or None after a complaint.

        Both IDs must agree unless one is trusted. A block that was copied from a row which still has it was filled
        down or pasted, so that the row's own ID counts; not so where other blocks stand beside foreign cases.
        """
        ids = self.of_row(row.number)
        own, block = (set(self._in(row.number, key)) for key in ("case", BLOCK_ID_COLUMN))
        if not ids:
            self._report_none(row, found)
            return None
        if len(own) > 1 or len(block) > 1 or (not own and not block and len(set(ids.values())) > 1):
            self.report_several(row, ids, found)
            return None
        self._report_beside(row, {*own, *block, *ids.values()}, found)
        if own and block and own != block:
            return self._settled(row, own.pop(), block.pop(), found)
        case = next(iter(own or block or ids.values()))
        return None if self._is_displaced(row, case, found) else case

    def of_row(self, number: int) -> dict[int, str]:
        """The IDs by which a row may be known: those in its ID columns, else those in columns of no other meaning."""
        ids, columns = self._rows.ids.get(number, {}), self._sections.of_row(number)
        own = {place: case for place, case in ids.items() if place in columns.id_places}
        return own or {place: case for place, case in ids.items() if place not in columns.known}

    def cases(self, number: int) -> set[str]:
        """The cases whose row this is: if another one's block was sorted beside it, that of the ID which is trusted."""
        found = set(self.of_row(number).values())
        own, block = (next(self._in(number, key), None) for key in ("case", BLOCK_ID_COLUMN))
        sorted_here = own and block and found == {own, block} and self._own[own] == self._block[block] == 1
        if not (own and block and sorted_here):
            return found
        return {block} if self._trust is TrustId.BLOCK else {own}

    def open_cases(self, number: int) -> set[str]:
        """The cases that a row with nothing filled in leaves open; a block that was copied there says nothing."""
        own = set(self._in(number, "case"))
        return own if len(own) == 1 and not self._sorted else set(self.of_row(number).values())

    def report_lost_block(self, row: SheetRow, found: SheetContent) -> None:
        """A row with nothing filled in beside another case's block, its own being gone from a sheet that was sorted."""
        own, block = (next(self._in(row.number, key), None) for key in ("case", BLOCK_ID_COLUMN))
        if self._trust is None and self._sorted and own and block and own != block and not self._block[own]:
            self._report_apart(row, own, block, found)

    def _in(self, number: int, key: str) -> Iterator[str]:
        """The IDs of a row in the columns of a key."""
        ids = self._rows.ids.get(number, {})
        return (ids[place] for place in self._sections.of_row(number).places.get(key, ()) if place in ids)

    def _is_copied(self, block: str) -> bool:
        """Whether a block occurs more often than its row, which still has it."""
        return block in self._in_place and self._block[block] > self._own[block]

    def _settled(self, row: SheetRow, own: str, block: str, found: SheetContent) -> str | None:
        if self._trust is not None:
            return own if self._trust is TrustId.ROW else block
        if not self._sorted:
            found.notes.append(
                f"{row.cell(BLOCK_ID_COLUMN)}: {block} was copied here from another row; the row's own ID {own} counts"
            )
            return own
        self._report_apart(row, own, block, found)
        return None

    @staticmethod
    def _report_apart(row: SheetRow, own: str, block: str, found: SheetContent) -> None:
        what = (
            f"found {block} in the annotation block, but {own} as the ID of the row: a part of the sheet was "
            "sorted or moved by itself. The row is held back"
        )
        where = row.cell(BLOCK_ID_COLUMN)
        found.problems.append(
            RowProblem(where, what, remedy=_TRUST, reason="ids_differ", value=f"{own} / {block}", case=own)
        )

    @staticmethod
    def _report_none(row: SheetRow, found: SheetContent) -> None:
        typed = next((text for key in ("case", BLOCK_ID_COLUMN) if (text := row.text(key))), "")[:60]
        what = f"found {typed!r}" if typed else "found a judged row without a case ID"
        allowed = "a case ID such as FN-7FA7VC3MGKAA" if typed else "the ID that the workbook came with"
        where = row.cell("case" if "case" in row.columns else BLOCK_ID_COLUMN)
        found.problems.append(RowProblem(where, what, allowed, reason="bad_id" if typed else "no_id", value=typed))

    @staticmethod
    def report_several(row: SheetRow, ids: Mapping[int, str], found: SheetContent) -> None:
        found.present.update(ids.values())
        found.problems += [
            RowProblem(
                row.place(place),
                f"found {case}, one of several cases in one row",
                "one case a row",
                reason="several_ids",
                value=case,
                case=case,
            )
            for place, case in ids.items()
        ]

    def _report_beside(self, row: SheetRow, own: set[str], found: SheetContent) -> None:
        """Other cases that stand in columns which nobody knows and nobody gave a header."""
        beside = {
            place: case
            for place, case in self._rows.ids.get(row.number, {}).items()
            if place not in row.columns.known and not row.columns.headers.get(place) and case not in own
        }
        self.report_several(row, beside, found)

    def _is_displaced(self, row: SheetRow, case: str, found: SheetContent) -> bool:
        """Whether cells of a row were moved or overwritten: where an ID belongs, or a correction, stands the other."""
        if (place := self._displaced(row.columns, row)) is None:
            return False
        what = f"found {row.at(place)[:60]!r} where something else belongs: cells of the row were moved or overwritten"
        found.problems.append(
            RowProblem(
                row.place(place),
                what,
                remedy=f"Put the cells of case {case} back where they were",
                reason="displaced",
                value=row.at(place)[:60],
                case=case,
            )
        )
        return True

    def _displaced(self, columns: Columns, row: SheetRow) -> int | None:
        ids = self._rows.ids.get(row.number, {})
        answers = [place for place in columns.annotations if place in ids and place in columns.fixed_annotations]
        blocks = [place for place in columns.places.get(BLOCK_ID_COLUMN, ()) if place not in ids and row.at(place)]
        elsewhere = any(place not in columns.known for place in ids)
        own = [place for place in columns.places.get("case", ()) if place not in ids and row.at(place) and elsewhere]
        return next(iter([*answers, *blocks, *own]), None)
