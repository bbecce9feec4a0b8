"""One sheet of cases → the rows that somebody filled in, and what is wrong with them.

Every row that carries a case ID is accounted for: it is read, found empty, or reported with its cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

import msgspec

from clueval_xlsx.files.sheets import SheetTable, cell_name
from clueval_xlsx.review.case_rows import CaseRows
from clueval_xlsx.review.column_reports import ColumnReports
from clueval_xlsx.review.judgements import TAKES_LABEL, TAKES_SPAN, AnswerPart, Judgement, completeness
from clueval_xlsx.review.misplaced_answers import MisplacedAnswers
from clueval_xlsx.review.row_ids import RowIds
from clueval_xlsx.review.sheet_columns import ColumnFinder, Sections
from clueval_xlsx.review.sheet_rows import ReviewRow, RowReport, SheetContent, SheetPlace, SheetRow
from clueval_xlsx.review.sheet_words import SheetWords
from clueval_xlsx.review.stranded_answers import AnswerColumns
from clueval_xlsx.review.vocabulary import SCOPES, SEVERITIES, Effect, Scope, Severity, TrustId

_CORRECTIONS = ("correct_span", "correct_label")
_MOST_WORDS = 12  # of a judgement


@dataclass(frozen=True)
class RowRules:
    """What holds for every row of a workbook: who judged, which case ID is trusted, and who has the last word."""

    judge: str
    trust_id: TrustId | None = None
    final: bool = False
    sha256: str = ""  # of the workbook's file as it was given


class ReviewSheet:
    """One sheet of cases, its columns found."""

    def __init__(self, table: SheetTable, rows: CaseRows, name: str, words: SheetWords, finder: ColumnFinder) -> None:
        self._words, self._rows = words, rows
        self._table = _unmerged(table, rows)
        self._sections: Sections = finder.sections(table, rows)
        self._file = PurePath(name).name
        self.name = f"{self._file}!{table.name}"
        self._used: dict[int, bool] = {}
        self._misplaced = MisplacedAnswers(self._table, rows, words)
        self._reports = ColumnReports(self.name, self._table, rows, self._sections, words, finder.wanted)

    @property
    def has_answers(self) -> bool:
        """Whether there are judgements below the headers of a review sheet, be the case IDs gone."""
        return bool(self._sections.headers) and any(
            self._is_answer(SheetRow(self.name, number, cells, self._sections.of_row(number)))
            for number, cells in enumerate(self._table.texts)
            if number not in self._sections.headers
        )

    @property
    def ids_twice(self) -> bool:
        """Whether a row carries its ID twice, as only rows of review sheets do."""
        return bool(self._rows.twice.ids)

    @property
    def column_state(self) -> AnswerColumns:
        """Which of its columns for judging are gone, and which stand there twice."""
        return self._reports.state()

    def read(self, rules: RowRules) -> SheetContent:
        """The rows that somebody filled in, and which cases there are."""
        found = SheetContent()
        ids = RowIds(self._rows, self._sections, rules.trust_id)
        for number, cells in enumerate(self._table.texts):
            row = SheetRow(self.name, number, cells, self._sections.of_row(number))
            if number not in self._sections.headers:
                self._read_row(row, ids, rules, found)
            elif number in self._rows.ids:
                ids.report_several(row, self._rows.ids[number], found)
            if len(own := ids.of_row(number)) == 1 and "judgement" in row.columns:
                found.answers_alone.update(own.values())
        self._reports.say(ids, found)
        for (number, place), text in self._table.notes.items():
            if number not in self._rows.ids:
                where = f"{self.name}!{cell_name(number, place)}"
                found.notes.append(f"{where}: the note {text[:60]!r} is attached to no row of a case; it is not read")
        return found

    def _is_used(self, place: int) -> bool:
        """Whether some case row has something in a column."""
        if place not in self._used:
            self._used[place] = self._reports.used(place, self._rows.ids)
        return self._used[place]

    def _read_row(self, row: SheetRow, ids: RowIds, rules: RowRules, found: SheetContent) -> None:
        own = ids.of_row(row.number)
        valueless = self._valueless(row) if own else []
        elsewhere = self._misplaced.judgement(row) if own else None
        if not row.filled and not valueless and elsewhere is None and not (own and row.number in self._notes):
            cases = set(own.values())
            found.present |= ids.cases(row.number)
            if len(cases) > 2 or (len(cases) == 2 and not row.columns.id_places):
                ids.report_several(row, own, found)
            elif not row.columns.stripped:
                found.unjudged |= ids.open_cases(row.number)
                ids.report_lost_block(row, found)
            return
        if not own and not (row.number in self._between or self._is_answer(row)):
            return  # a title, a legend, a total: no case row
        case_id = ids.of(row, found)
        found.present.update({case_id} if case_id is not None else own.values())
        if case_id is None:
            return
        report = RowReport(case_id, found)
        if elsewhere is not None:
            text = row.at(elsewhere)
            what = f"found {text!r} in a column that is not for judgements, but looks like one"
            allowed = f"judgements in the column {self._words.shown('judgement')!r}"
            report(row.place(elsewhere), what, allowed, "elsewhere", text)
        if row.text("severity") and not row.text("judgement"):
            found.notes.append(f"{row.cell('severity')}: a severity without a judgement; the case counts as open")
        for place, what in valueless:
            report(row.place(place), f"found {what}", "a judgement, its words or its digit", "no_value", what)
        if row.settle_doubles(report, self._is_used) and not valueless:
            self._read_answer(row, case_id, rules, report)

    def _read_answer(self, row: SheetRow, case_id: str, rules: RowRules, report: RowReport) -> None:
        kind = case_id.partition("-")[0]
        code = self._judgement(row, kind, report)
        if code is None:
            return
        if code and self._contradicts(row, kind, code, report):
            return
        effect = self._words.judgements[code].effect if code else None
        if effect in TAKES_SPAN | TAKES_LABEL and self._may_be_corrected(row, report):
            return
        correct_span = row.text("correct_span")
        labels, applies = self._correct_labels(row, report), row.text("applies_to")
        if labels is None:
            return
        if completeness(effect, correct_span, labels, applies=bool(applies)).missing is AnswerPart.JUDGEMENT:
            given = {"correct_span": correct_span, **dict(_label_cells(labels)), "applies_to": applies}
            key, text = next((key, text) for key, text in given.items() if text)
            reason = "applies_alone" if key == "applies_to" else "correction_alone"
            what = f"found {text!r} in {self._words.shown(key)!r} without a judgement"
            report(row.cell(key), what, self._words.allowed(kind), reason, text)
            return
        if self._is_misplaced(row, effect, labels, report):
            return
        record = Judgement(
            code,
            case_id=case_id,
            effect=effect,
            correct_span=self._words.span_choice(correct_span) if correct_span else "",
            correct_labels=labels,
            severity=self._severity(row, report),
            comment=" / ".join(text for text in (row.text("comment"), *self._notes.get(row.number, ())) if text),
            judge=rules.judge,
            workbook=self._file,
            workbook_sha256=rules.sha256,
            place=row.cell("judgement"),
            final=rules.final,
            applies_to=self._scope(row, report),
        )
        place = SheetPlace(self.name, row.columns.first)
        report.found.rows.append(ReviewRow(record, place, row.number, row.text("span")))
        if not code:
            report.found.unjudged.add(case_id)

    @cached_property
    def _notes(self) -> dict[int, list[str]]:
        """The notes that are attached to cells of each row, from left to right."""
        found: dict[int, list[str]] = {}
        for (number, _), text in sorted(self._table.notes.items()):
            found.setdefault(number, []).append(text)
        return found

    @cached_property
    def _between(self) -> range:
        """The rows from the first case to the last."""
        return range(min(self._rows.ids), max(self._rows.ids) + 1) if self._rows.ids else range(0)

    def _valueless(self, row: SheetRow) -> list[tuple[int, str]]:
        """Annotation cells with an error or with a formula that has no value."""
        return [
            (place, self._table.valueless[row.number, place])
            for place in row.columns.annotations
            if (row.number, place) in self._table.valueless
        ]

    def _is_answer(self, row: SheetRow) -> bool:
        """Whether a row without an ID looks judged, rather than being a title or a sum below the cases."""
        typed = row.text("judgement")
        return bool(typed) and self._words.is_judgement_anywhere(typed)

    def _may_be_corrected(self, row: SheetRow, report: RowReport) -> bool:
        """Whether a correction may stand in a column that nobody knows, one for corrections being lost: held back."""
        lost = [key for key in self._reports.lost(row.columns) if key.partition(":")[0] in _CORRECTIONS]
        places = [place for place in self._reports.strange(row.columns, [row.number]) if row.at(place)] if lost else []
        for place in places[:1]:
            what = f"found {row.at(place)[:60]!r} in a column that is not known: it may be a correction"
            allowed = "a column with the header " + " or ".join(repr(self._words.shown(key)) for key in lost)
            report(row.place(place), what, allowed, "unknown_column", row.at(place)[:60])
        return bool(places)

    def _contradicts(self, row: SheetRow, kind: str, code: str, report: RowReport) -> bool:
        """Whether another judgement stands in a column without a header, which may be the one that counts."""
        for place in self._reports.strange(row.columns, [row.number]):
            text = row.at(place)
            if row.columns.headers.get(place) or text.isdigit() or not self._words.is_whole_judgement(text):
                continue
            if self._words.judgement(text, kind) != code:
                what = f"found {text!r} in a column without a header, but {row.text('judgement')!r} as the judgement"
                report(row.place(place), what, "the same in both, or one column", "two_columns", text)
                return True
        return False

    def _is_misplaced(self, row: SheetRow, effect: Effect | None, labels: Mapping[str, str], report: RowReport) -> bool:
        """Whether an entry stands in the wrong column and would have changed gold: the row is held back."""
        decisive = False
        for entry in self._misplaced.answers(row, effect, labels):
            shown, meant = self._words.shown(entry.key), self._words.shown(entry.meant)
            what = f"found {entry.text[:60]!r} in {shown!r}, which looks like an entry of {meant!r}"
            rest = "The row is held back" if entry.decisive else "The rest of the row counts"
            report(row.cell(entry.key), f"{what}. {rest}", "each entry in its own column", "misplaced", entry.text[:60])
            decisive |= entry.decisive
        return decisive

    def _judgement(self, row: SheetRow, kind: str, report: RowReport) -> str | None:
        """The code of a row's judgement, empty if there is none; None after a complaint."""
        typed = row.text("judgement")
        pieces = row.from_judgement(_MOST_WORDS) if typed and self._words.begins_judgement(typed) else []
        for count in range(2, len(pieces) + 1):
            whole = " ".join(pieces[:count])
            if pieces[count - 1] and self._words.is_whole_judgement(whole):
                what = f"found {whole!r} split over {count} columns"
                report(row.cell("judgement"), what, "a judgement in one cell", "split", whole)
                return None
        code = self._words.judgement(typed, kind) if typed else ""
        if code is not None:
            return code
        elsewhere = self._words.is_judgement_anywhere(typed)
        why = "which is not offered on this sheet" if elsewhere else "which is no judgement"
        reason = "not_offered" if elsewhere else "no_judgement"
        report(row.cell("judgement"), f"found {typed!r}, {why}", self._words.allowed(kind), reason, typed)
        return None

    def _correct_labels(self, row: SheetRow, report: RowReport) -> dict[str, str] | None:
        """The correct labels by layer; None after a complaint."""
        labels = {}
        for key, layer in row.columns.correct_labels.items():
            if not (text := row.text(key)):
                continue
            if layer in self._words.layers:
                labels[layer] = text
                continue
            what = f"found {text!r} under a header that names no layer"
            report(row.cell(key), what, ", ".join(self._words.layers), "no_layer", text)
            return None
        return labels

    def _severity(self, row: SheetRow, report: RowReport) -> Severity | None:
        typed = row.text("severity")
        severity = self._words.severity(typed) if typed else None
        if typed and severity is None:
            what = f"found {typed!r}, which is no severity; the rest of the row counts"
            report(row.cell("severity"), what, ", ".join(SEVERITIES) + ", or their words", "no_severity", typed)
        return severity

    def _scope(self, row: SheetRow, report: RowReport) -> Scope | None:
        typed = row.text("applies_to")
        scope = self._words.scope(typed) if typed else None
        if typed and scope is None:
            what = f"found {typed!r}, which says no twins; the judgement counts for its own case"
            report(row.cell("applies_to"), what, ", ".join(SCOPES) + ", or their words", "no_scope", typed)
        return scope


def answered_rows(table: SheetTable, rows: CaseRows, words: SheetWords) -> CaseRows:
    """Rows on a sheet that only names cases which somebody put there: with their ID twice, or with a judgement.

    A digit is one only where judgements stand, left of the ID.
    """
    found = {}
    for number, ids in rows.ids.items():
        judged = [
            place
            for place, text in enumerate(table.texts[number])
            if words.is_whole_judgement(text) and (not text.isdigit() or place + 1 in ids)
        ]
        if judged or len(set(ids.values())) < len(ids):
            found[number] = ids
    return CaseRows(found)


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
    return msgspec.structs.replace(table, rows=cells)


def _label_cells(labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The correct labels by the keys of their columns."""
    return ((f"correct_label:{layer}", label) for layer, label in labels.items())
