"""One sheet of cases → the rows that somebody filled in, and what is wrong with them.

Every row that carries a case ID is accounted for: it is read, found empty, or reported with its cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath

from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.files.workbooks import SheetTable, cell_name, cell_text, column_name
from clueval_xlsx.review.completeness import AnswerPart, completeness
from clueval_xlsx.review.log import JudgementRecord
from clueval_xlsx.review.sheet_columns import (
    CaseRows,
    ColumnFinder,
    Columns,
    Sections,
    filled_beyond,
    find_case_rows,
)
from clueval_xlsx.review.sheet_words import ID_COLUMNS, SheetWords
from clueval_xlsx.review.vocabulary import ANNOTATION_COLUMNS, BLOCK_ID_COLUMN, SEVERITIES, Severity, TrustId


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

    record: JudgementRecord
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


@dataclass(frozen=True)
class RowRules:
    """What holds for every row of a workbook: who judged, which case ID is trusted, and who has the last word."""

    judge: str
    trust_id: TrustId | None = None
    final: bool = False


@dataclass
class SheetContent:
    """What one sheet holds: rows with something in them, and the cases whose rows are there, filled in or not."""

    rows: list[ReviewRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    present: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)  # cases with a row in which nobody filled in anything

    @property
    def judged(self) -> set[str]:
        """Cases with a row in which somebody filled in something that could be read."""
        return {row.record.case_id for row in self.rows}


class ReviewSheet:
    """One sheet of cases, its columns found."""

    def __init__(self, table: SheetTable, name: str, words: SheetWords, finder: ColumnFinder) -> None:
        self._words = words
        self._rows: CaseRows = find_case_rows(table)
        self._table = _unmerged(table, self._rows)
        self._sections: Sections = finder.sections(table, self._rows)
        self._file = PurePath(name).name
        self.name = f"{self._file}!{table.name}"
        self._block_ids: Counter[str] = Counter()

    @cached_property
    def used_places(self) -> set[int]:
        """The columns in which some case row has something."""
        return {
            place
            for number in self._rows.ids
            for place, cell in enumerate(self._table.rows[number])
            if cell != "" and cell_text(cell).strip()
        }

    @property
    def has_header(self) -> bool:
        """Whether some row has headers of a review sheet."""
        return bool(self._sections.headers)

    @property
    def has_cases(self) -> bool:
        """Whether case IDs stand there."""
        return bool(self._rows.ids)

    @property
    def ids_twice(self) -> bool:
        """Whether a row carries its ID twice, as only rows of review sheets do."""
        return any(len(set(ids.values())) < len(ids) for ids in self._rows.ids.values())

    def read(self, rules: RowRules) -> SheetContent:
        """The rows that somebody filled in, and which cases there are."""
        found = SheetContent()
        self._block_ids.update(
            ids[place]
            for number, ids in self._rows.ids.items()
            for place in self._sections.of_row(number).places.get(BLOCK_ID_COLUMN, ())
            if place in ids
        )
        for number, row in enumerate(self._table.rows):
            if number in self._sections.headers:
                continue
            self._read_row(_Row(self, number, row, self._sections.of_row(number)), rules, found)
        self._say_columns(found)
        return found

    def _read_row(self, row: _Row, rules: RowRules, found: SheetContent) -> None:
        ids = self._ids_of(row)
        valueless = self._valueless(row) if ids else []
        if not row.filled and not valueless:
            if ids:
                empty = self._empty_case(row, ids, rules.trust_id)
                found.present.add(empty)
                found.empty.add(empty)
            return
        if not ids and not (row.number in self._between or row.is_answer(self._words)):
            return  # a title, a legend, a total: no case row
        case_id = self._case_id(row, ids, rules.trust_id, found)
        if case_id is None:
            found.present.update(ids.values())
            return
        found.present.add(case_id)
        report = _Report(row, case_id, found)
        if valueless or not row.settle_doubles(report):
            for place, what in valueless:
                report(row.place(place), f"found {what}", "a judgement, its words or its digit", "no_value", what)
            return
        self._read_answer(row, case_id, rules, report)

    def _read_answer(self, row: _Row, case_id: str, rules: RowRules, report: _Report) -> None:
        kind = case_id.partition("-")[0]
        code = self._judgement(row, kind, report)
        if code is None:
            return
        effect = self._words.judgements[code].effect if code else None
        correct_span = row.text("correct_span")
        labels = self._correct_labels(row, report)
        if completeness(effect, correct_span, labels).missing is AnswerPart.JUDGEMENT:
            key, given = ("correct_span", correct_span) if correct_span else next(_label_cells(labels))
            what = f"found the correction {given!r} without a judgement"
            report(row.cell(key), what, self._words.allowed(kind), "correction_alone", given)
            return
        record = JudgementRecord(
            case_id,
            code=code,
            effect=effect,
            correct_span=self._words.span_choice(correct_span) if correct_span else "",
            correct_labels=labels,
            severity=self._severity(row, report),
            comment=row.text("comment"),
            judge=rules.judge,
            workbook=self._file,
            place=row.cell("judgement"),
            final=rules.final,
        )
        place = SheetPlace(self.name, {key: where[0] for key, where in row.columns.places.items()})
        report.found.rows.append(ReviewRow(record, place, row.number, row.text("span")))

    def _ids_of(self, row: _Row) -> dict[int, str]:
        """The IDs by which a row may be known: those in its ID columns, else those in columns of no other meaning."""
        ids = self._rows.ids.get(row.number, {})
        places = [place for key in ID_COLUMNS for place in row.columns.places.get(key, ())]
        own = {place: ids[place] for place in places if place in ids}
        return own or {place: case for place, case in ids.items() if place not in row.columns.known}

    @cached_property
    def _between(self) -> range:
        """The rows from the first case to the last."""
        return range(min(self._rows.ids), max(self._rows.ids) + 1) if self._rows.ids else range(0)

    def _empty_case(self, row: _Row, ids: Mapping[int, str], trust: TrustId | None = None) -> str:
        """The case of a row in which nothing is filled in."""
        first = BLOCK_ID_COLUMN if trust is TrustId.BLOCK else "case"
        own = [ids[place] for place in row.columns.places.get(first, ()) if place in ids]
        return own[0] if own else next(iter(ids.values()))

    def _valueless(self, row: _Row) -> list[tuple[int, str]]:
        """Annotation cells with an error or with a formula that has no value."""
        return [
            (place, self._table.valueless[row.number, place])
            for place in row.columns.annotations
            if (row.number, place) in self._table.valueless
        ]

    def _say_columns(self, found: SheetContent) -> None:
        """What was recognised without its header, and what was not recognised although something stands there."""
        for columns in self._sections.columns:
            numbers = [number for number in self._rows.ids if self._sections.of_row(number) is columns]
            if not numbers:
                continue
            for place, key in sorted(columns.guessed.items()):
                header = columns.headers.get(place, "")
                named = f"the column {header!r}" if header else "a column without a header"
                found.notes.append(
                    f"{self.name}!{column_name(place)}: {named} was taken for {self._words.shown(key)!r}"
                )
            lost = [key for key in ANNOTATION_COLUMNS if not any(k.partition(":")[0] == key for k in columns.places)]
            strange = filled_beyond(self._table, numbers, columns, self._rows.ids)
            if "judgement" in lost:
                self._report_lost(numbers, columns, found)
            strange = {
                place: number
                for place, number in sorted(strange.items())
                if self._words.column(columns.headers.get(place, "")) is None
            }
            if strange:
                self._report_strange(strange, max(numbers), lost if columns.header is not None else ["case"], found)

    def _report_strange(self, strange: Mapping[int, int], last: int, lost: Sequence[str], found: SheetContent) -> None:
        """Columns that nobody knows: where one of ours is missing, it may be the one."""
        places, numbers = list(strange), list(strange.values())
        where = f"{self.name}!{cell_name(min(numbers), places[0])}:{cell_name(last, places[-1])}"
        text = cell_text(self._table.rows[strange[places[0]]][places[0]]).strip()
        shown = ", ".join(column_name(place) for place in places)
        what = f"found {text[:60]!r} in a column that is not known ({shown})"
        if not lost:
            found.notes.append(f"{where}: {what}; it is not read")
            return
        allowed = ", ".join(repr(self._words.shown(key)) for key in lost)
        found.problems.append(
            RowProblem(
                where,
                what,
                f"the columns that the sheet came with; there is no header for {allowed}",
                reason="unknown_column",
                value=shown,
            )
        )

    def _report_lost(self, numbers: Sequence[int], columns: Columns, found: SheetContent) -> None:
        """A sheet whose judgements nobody can find: every case of it is named."""
        cases = [self._empty_case(_Row(self, number, (), columns), self._rows.ids[number]) for number in numbers]
        first, last = cell_name(min(numbers), 0), cell_name(max(numbers), 0)
        found.problems += [
            RowProblem(
                f"{self.name}!{first}:{last}",
                f"found no column of judgements for case {case}",
                f"a column with the header {self._words.shown('judgement')!r}",
                reason="no_judgement_column",
                case=case,
            )
            for case in dict.fromkeys(cases)
        ]

    def _judgement(self, row: _Row, kind: str, report: _Report) -> str | None:
        """The code of a row's judgement, empty if there is none; None after a complaint."""
        typed = row.text("judgement")
        code = self._words.judgement(typed, kind) if typed else ""
        if code is not None:
            return code
        elsewhere = self._words.is_judgement_anywhere(typed)
        why = "which is not offered on this sheet" if elsewhere else "which is no judgement"
        reason = "not_offered" if elsewhere else "no_judgement"
        report(row.cell("judgement"), f"found {typed!r}, {why}", self._words.allowed(kind), reason, typed)
        return None

    def _case_id(self, row: _Row, ids: Mapping[int, str], trust: TrustId | None, found: SheetContent) -> str | None:
        """The case of a row, or None after a complaint.

        Both IDs must agree unless one is trusted; an ID of the block that stands elsewhere, too, was copied along, so
        that the row's own ID counts.
        """
        given = {key: ids[place] for key in ID_COLUMNS for place in row.columns.places.get(key, ()) if place in ids}
        given = given or {f"column {place}": case for place, case in ids.items()}
        anywhere = row.cell("case" if "case" in row.columns else BLOCK_ID_COLUMN)
        typed = next((text for key in ID_COLUMNS if (text := row.text(key))), "")
        if not given:
            what = f"found {typed[:60]!r}" if typed else "found a judged row without a case ID"
            allowed = "a case ID such as FN-7FA7VC3MGKAA" if typed else "the ID that the workbook came with"
            found.problems.append(
                RowProblem(anywhere, what, allowed, reason="bad_id" if typed else "no_id", value=typed[:60])
            )
            return None
        if len(set(given.values())) == 1:
            return next(iter(given.values()))
        own, block = given.get("case"), given.get(BLOCK_ID_COLUMN)
        if own is None or block is None:
            found.problems += [
                RowProblem(
                    row.place(place),
                    f"found {case}, one of several case IDs in one row of a sheet without headers",
                    "one case a row",
                    reason="ids_differ",
                    value=case,
                    case=case,
                )
                for place, case in ids.items()
            ]
            return None
        if trust is not None:
            return own if trust is TrustId.ROW else block
        if self._block_ids[block] > 1 or block not in self._own_ids:
            found.notes.append(
                f"{row.cell(BLOCK_ID_COLUMN)}: {block} was copied here from another row; the row's own ID {own} counts"
            )
            return own
        found.problems.append(
            RowProblem(
                row.cell(BLOCK_ID_COLUMN),
                f"found {block} in the annotation block, but {own} as the ID of the row: a part of the sheet was "
                "sorted or moved by itself. The row is held back",
                remedy="Use --trust-id row|block to say which of the two the judgement belongs to",
                reason="ids_differ",
                value=f"{own} / {block}",
                case=own,
            )
        )
        return None

    @cached_property
    def _own_ids(self) -> set[str]:
        """The IDs of the rows themselves."""
        return {
            ids[place]
            for number, ids in self._rows.ids.items()
            for place in self._sections.of_row(number).places.get("case", ())
            if place in ids
        }

    def _correct_labels(self, row: _Row, report: _Report) -> dict[str, str]:
        labels = {}
        for key in row.columns.places:
            if not key.startswith("correct_label:") or not (text := row.text(key)):
                continue
            layer = key.partition(":")[2]
            if layer in self._words.layers:
                labels[layer] = text
                continue
            what = f"found {text!r} under a header that names no layer"
            report(row.cell(key), what, ", ".join(self._words.layers), "no_layer", text)
        return labels

    def _severity(self, row: _Row, report: _Report) -> Severity | None:
        typed = row.text("severity")
        severity = self._words.severity(typed) if typed else None
        if typed and severity is None:
            what = f"found {typed!r}, which is no severity; the rest of the row counts"
            report(row.cell("severity"), what, ", ".join(SEVERITIES) + ", or their words", "no_severity", typed)
        return severity


class _Row:
    """One row with the columns that hold for it."""

    def __init__(self, sheet: ReviewSheet, number: int, cells: Sequence[object], columns: Columns) -> None:
        self._sheet, self._cells = sheet, cells
        self.number, self.columns = number, columns
        self._chosen: dict[str, int] = {}

    @property
    def filled(self) -> bool:
        """Whether somebody filled in something."""
        width = len(self._cells)
        return any(
            self._cells[place] != "" and cell_text(self._cells[place]).strip()
            for place in self.columns.annotations
            if place < width
        )

    def is_answer(self, words: SheetWords) -> bool:
        """Whether a row without an ID looks judged, rather than being a title or a sum below the cases."""
        typed = self.text("judgement")
        return bool(typed) and words.is_judgement_anywhere(typed)

    def text(self, key: str) -> str:
        """What stands in the column of a key."""
        places = self.columns.places.get(key, ())
        return self._at(self._chosen.get(key, places[0])) if places else ""

    def _at(self, place: int) -> str:
        return cell_text(self._cells[place]).strip() if place < len(self._cells) else ""

    def place(self, place: int) -> str:
        """The name of one of its cells."""
        return f"{self._sheet.name}!{cell_name(self.number, place)}"

    def cell(self, key: str) -> str:
        """The name of the cell of a key, or of the whole row."""
        places = self.columns.places.get(key, ())
        return self.place(self._chosen.get(key, places[0]) if places else 0)

    def settle_doubles(self, report: _Report) -> bool:
        """Choose among columns of one name: an empty column gives way, and where two differ nobody guesses."""
        good = True
        for key, places in self.columns.places.items():
            if len(places) < 2 or key.partition(":")[0] not in ANNOTATION_COLUMNS:
                continue
            used = [place for place in places if place in self._sheet.used_places]
            texts = {place: self._at(place) for place in used}
            self._chosen[key] = next((place for place, text in texts.items() if text), places[0])
            if len(set(texts.values())) > 1:
                shown = " and ".join(f"{text!r} in {column_name(place)}" for place, text in texts.items())
                what = f"found two columns for one thing, and they differ: {shown}"
                report(self.cell(key), what, "the same in both, or one column", "two_columns", shown)
                good = False
        return good


@dataclass(frozen=True)
class _Report:
    """Takes down what is wrong with one row."""

    row: _Row
    case_id: str
    found: SheetContent

    def __call__(self, where: str, what: str, allowed: str, reason: str, value: str) -> None:
        self.found.problems.append(RowProblem(where, what, allowed, reason=reason, value=value, case=self.case_id))


def _unmerged(table: SheetTable, rows: CaseRows) -> SheetTable:
    """The sheet with the value of cells that are merged downwards in every row of a case that they cover."""
    downwards = [merged for merged in table.merged if merged.last_row > merged.first_row]
    if not downwards:
        return table
    cells = [list(row) for row in table.rows]
    for merged in downwards:
        first = cells[merged.first_row] if merged.first_row < len(cells) else []
        value = first[merged.first_column] if merged.first_column < len(first) else ""
        for number in range(merged.first_row + 1, min(merged.last_row + 1, len(cells))):
            row = cells[number]
            if value != "" and number in rows.ids and merged.first_column not in rows.ids[number]:
                row += [""] * (merged.first_column + 1 - len(row))
                row[merged.first_column] = value
    return replace(table, rows=cells)


def _label_cells(labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The correct labels by the keys of their columns."""
    return ((f"correct_label:{layer}", label) for layer, label in labels.items())
