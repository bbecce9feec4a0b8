"""One row of a review sheet: its cells by the keys of their columns, and what is taken down about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.files.sheets import cell_name, column_name
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.sheet_columns import Columns

PARTED = "parted"  # the reason of a row whose answers were cut away from it


@dataclass(frozen=True)
class SheetPlace:
    """Where a review sheet's columns are, so that a cell can be named when somebody asks."""

    name: str  # file!sheet
    columns: Mapping[str, int]

    def cell(self, key: str, row: int) -> str:
        """The place of a column's cell in a row."""
        return f"{self.name}!{cell_name(row, self.columns[key])}"


@dataclass(frozen=True)
class ReviewRow:
    """One row with something filled in: the record, and where it stands."""

    record: Judgement
    sheet: SheetPlace | None = None
    row: int = 0
    span: str = ""  # the words shown in the row, to notice that somebody edited them

    def where(self, column: str) -> str:
        """The place of a column's cell, or of the judgement if the column is missing."""
        if self.sheet is None:
            return self.record.place
        known = [key for key in self.sheet.columns if key == column or key.startswith(f"{column}:")]
        filled = [key for key in known if key.partition(":")[2] in {"", *self.record.correct_labels}]
        return self.sheet.cell((filled or known)[0], self.row) if known else self.record.place


@dataclass
class SheetContent:
    """What one sheet holds: rows with something in them, and the cases whose rows are there, filled in or not."""

    rows: list[ReviewRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    present: set[str] = field(default_factory=set)
    unjudged: set[str] = field(default_factory=set)  # cases with a row in which nobody judged, be there a comment
    answers_alone: set[str] = field(default_factory=set)  # cases with a row of answers that was cut away from its case

    @property
    def unusable(self) -> set[str]:
        """Cases with a row that was complained about, unless nothing can stand in it any more."""
        return {
            problem.case for problem in self.problems if isinstance(problem, RowProblem) and problem.reason != PARTED
        } - {""}

    @property
    def parted(self) -> set[str]:
        """Cases whose answers were cut away from their row."""
        return {each.case for each in self.problems if isinstance(each, RowProblem) and each.reason == PARTED}

    @property
    def incomplete(self) -> set[str]:
        """Cases with a row whose judgement lacks its correction."""
        return {row.record.case_id for row in self.rows if row.record.completeness.missing is not None}

    @property
    def judged(self) -> set[str]:
        """Cases with a row that holds a judgement which could be read."""
        return {row.record.case_id for row in self.rows if row.record.code}


class SheetRow:
    """One row with the columns that hold for it, its cells as text; `sheet` is `file!sheet`."""

    def __init__(self, sheet: str, number: int, cells: Sequence[str], columns: Columns) -> None:
        self._sheet, self._cells = sheet, cells
        self.number, self.columns = number, columns
        self._chosen: dict[str, int] = {}

    @property
    def filled(self) -> bool:
        """Whether somebody filled in something."""
        return any(self.at(place) for place in self.columns.annotations)

    def text(self, key: str) -> str:
        """What stands in the column of a key."""
        place = self._place(key)
        return "" if place is None else self.at(place)

    def at(self, place: int) -> str:
        """What stands in one of its cells."""
        return self._cells[place] if place < len(self._cells) else ""

    def from_judgement(self, count: int) -> list[str]:
        """What stands in the cell of the judgement and in those to its right."""
        first = self._place("judgement") or 0
        return [self.at(place) for place in range(first, first + count)]

    def place(self, place: int) -> str:
        """The name of one of its cells."""
        return f"{self._sheet}!{cell_name(self.number, place)}"

    def cell(self, key: str) -> str:
        """The name of the cell of a key, or of the row's first one."""
        return self.place(self._place(key) or 0)

    def _place(self, key: str) -> int | None:
        return self._chosen[key] if key in self._chosen else self.columns.first.get(key)

    def settle_doubles(self, report: RowReport, used: Callable[[int], bool]) -> bool:
        """Choose among columns of one name: an empty column gives way, and where two differ nobody guesses.

        `used` says whether a column has anything in it.
        """
        good = True
        for key in self.columns.doubled:
            places = self.columns.places[key]
            # What a judgement applies to may have been taken back in the one and live on in its copy.
            texts = {place: self.at(place) for place in places if key == "applies_to" or used(place)}
            self._chosen[key] = next((place for place, text in texts.items() if text), places[0])
            if len(set(texts.values())) > 1:
                shown = " and ".join(f"{text!r} in {column_name(place)}" for place, text in texts.items())
                what = f"found two columns for one thing, and they differ: {shown}"
                report(self.cell(key), what, "the same in both, or one column", "two_columns", shown)
                good = False
        return good


@dataclass(frozen=True)
class RowReport:
    """Takes down what is wrong with one row."""

    case_id: str
    found: SheetContent

    def __call__(self, where: str, what: str, allowed: str, reason: str, value: str) -> None:
        self.found.problems.append(RowProblem(where, what, allowed, reason=reason, value=value, case=self.case_id))
