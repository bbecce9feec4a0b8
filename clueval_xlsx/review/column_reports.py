"""What is said about the columns of a review sheet: those that were guessed, are missing, or that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clueval_xlsx.exceptions import RowProblem
from clueval_xlsx.files.sheets import SheetTable, cell_name, column_name
from clueval_xlsx.review.case_rows import CaseRows
from clueval_xlsx.review.row_ids import RowIds
from clueval_xlsx.review.sheet_columns import Columns, Sections, filled_beyond
from clueval_xlsx.review.sheet_rows import PARTED, SheetContent
from clueval_xlsx.review.sheet_words import SheetWords
from clueval_xlsx.review.stranded_answers import AnswerColumns


@dataclass(frozen=True)
class ColumnReports:
    """Looks at the columns of one sheet; `name` is `file!sheet`."""

    name: str
    table: SheetTable
    rows: CaseRows
    sections: Sections
    words: SheetWords
    wanted: Sequence[str]  # the columns for judging that the sheet came with

    def lost(self, columns: Columns) -> list[str]:
        """The columns for judging that were not found."""
        return [key for key in self.wanted if key not in columns.places]

    def gone(self, columns: Columns, numbers: Sequence[int]) -> list[str]:
        """The columns for judging that were not found, or of which neither the header nor an entry is left.

        Where all headers are gone an empty column says nothing.
        """
        if columns.header is None:
            return []
        blank = [
            key
            for key, places in columns.places.items()
            if key in self.wanted
            and not any(columns.headers.get(place) or self.used(place, numbers) for place in places)
        ]
        return [*self.lost(columns), *blank]

    def state(self) -> AnswerColumns:
        """Which columns for judging are gone from the sheet, and which it has twice."""
        gone: dict[str, str] = {}
        doubled: dict[str, str] = {}
        for columns in self.sections.columns:
            numbers = [number for number in self.rows.ids if self.sections.of_row(number) is columns]
            if not numbers or columns.stripped:
                continue
            for key in self.gone(columns, numbers):
                place = columns.places.get(key, (0,))[0]
                gone[key] = f"{self.name}!{cell_name(min(numbers), place)}:{cell_name(max(numbers), place)}"
            for key, places in columns.places.items():
                below = range((columns.header or 0) + 1, len(self.table.rows))
                used = [place for place in places if self.used(place, below)]
                if key in self.wanted and len(places) > 1 and used:
                    last = used[-1]
                    doubled[key] = f"{self.name}!{cell_name(min(numbers), last)}:{cell_name(max(numbers), last)}"
        return AnswerColumns(gone, doubled)

    def used(self, place: int, numbers: Iterable[int]) -> bool:
        """Whether something stands in a column of these rows."""
        rows = (self.table.texts[number] for number in numbers)
        return any(place < len(row) and row[place] for row in rows)

    def strange(self, columns: Columns, numbers: Sequence[int]) -> dict[int, int]:
        """Columns that nobody knows although something stands there: place → the first such row."""
        beyond = filled_beyond(self.table, numbers, columns, self.rows.ids)
        return {
            place: number
            for place, number in sorted(beyond.items())
            if self.words.column(columns.headers.get(place, "")) is None
        }

    def say(self, ids: RowIds, found: SheetContent) -> None:
        """What was recognised without its header, and what was not recognised although something stands there."""
        for columns in self.sections.columns:
            numbers = [number for number in self.rows.ids if self.sections.of_row(number) is columns]
            if not numbers:
                continue
            for place, key in sorted(columns.guessed.items()):
                header = columns.headers.get(place, "")
                named = f"the column {header!r}" if header else "a column without a header"
                found.notes.append(f"{self.name}!{column_name(place)}: {named} was taken for {self.words.shown(key)!r}")
                if self.words.is_whole_judgement(header):
                    self._report_header(columns, place, key, found)
            lost, strange = self.lost(columns), self.strange(columns, numbers)
            if "judgement" in self.gone(columns, numbers) or "judgement" in lost:
                self._report_lost(numbers, ids, PARTED if columns.stripped else "no_judgement_column", found)
            if strange:
                self._report_strange(strange, max(numbers), lost if columns.header is not None else ["case"], found)
                if "judgement" not in lost:
                    self._report_judging(strange, numbers, columns, ids, found)

    def _report_header(self, columns: Columns, place: int, key: str, found: SheetContent) -> None:
        """A judgement that was typed over a header: nobody can tell which case it is about."""
        where, typed = f"{self.name}!{cell_name(columns.header or 0, place)}", columns.headers[place]
        what = f"found {typed!r} in the header, which looks like a judgement of one of the cases"
        allowed = f"the header {self.words.shown(key)!r}"
        found.problems.append(RowProblem(where, what, allowed, reason="elsewhere", value=typed))

    def _report_strange(self, strange: Mapping[int, int], last: int, lost: Sequence[str], found: SheetContent) -> None:
        """Columns that nobody knows: where one of ours is missing, it may be the one."""
        places, numbers = list(strange), list(strange.values())
        where = f"{self.name}!{cell_name(min(numbers), places[0])}:{cell_name(last, places[-1])}"
        text = self.table.texts[strange[places[0]]][places[0]]
        letters = ", ".join(column_name(place) for place in places)
        what = f"found {text[:60]!r} in a column that is not known ({letters})"
        if not lost:
            found.notes.append(f"{where}: {what}; it is not read")
            return
        absent = ", ".join(repr(self.words.shown(key)) for key in lost)
        allowed = f"the columns that the sheet came with; there is no header for {absent}"
        found.problems.append(RowProblem(where, what, allowed, reason="unknown_column", value=letters))

    def _report_judging(
        self,
        strange: Mapping[int, int],
        numbers: Sequence[int],
        columns: Columns,
        ids: RowIds,
        found: SheetContent,
    ) -> None:
        """Rows that are open, but for a judgement in a column that is none of ours; there a digit may be anything."""
        for number in numbers:
            texts = dict(enumerate(self.table.texts[number]))
            if any(texts.get(place) for place in columns.places.get("judgement", ())):
                continue
            for place in strange:
                text = texts.get(place, "")
                digit = text.isdigit() and columns.headers.get(place)
                if text and not digit and self.words.is_whole_judgement(text):
                    found.problems.append(
                        RowProblem(
                            f"{self.name}!{cell_name(number, place)}",
                            f"found {text!r} in a column that is not known, which looks like a judgement",
                            f"judgements in the column {self.words.shown('judgement')!r}",
                            reason="elsewhere",
                            value=text,
                            case=next(iter(ids.of_row(number).values()), ""),
                        )
                    )

    def _report_lost(self, numbers: Sequence[int], ids: RowIds, reason: str, found: SheetContent) -> None:
        """A sheet whose judgements nobody can find: every case of it is named."""
        cases = [case for number in numbers for case in (ids.of_row(number) or self.rows.ids[number]).values()]
        first, last = cell_name(min(numbers), 0), cell_name(max(numbers), 0)
        found.problems += [
            RowProblem(
                f"{self.name}!{first}:{last}",
                f"found no column of judgements for case {case}",
                f"a column with the header {self.words.shown('judgement')!r}",
                reason=reason,
                case=case,
            )
            for case in dict.fromkeys(cases)
        ]
