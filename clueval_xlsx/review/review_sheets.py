"""One sheet of cases → the rows that somebody filled in, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.files.workbooks import SheetTable, cell_name, cell_text
from clueval_xlsx.review.completeness import AnswerPart, completeness
from clueval_xlsx.review.log import JudgementRecord
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.sheet_words import ID_COLUMNS, Header, SheetWords, find_header
from clueval_xlsx.review.vocabulary import BLOCK_ID_COLUMN, SEVERITIES, Severity, TrustId

CASE_ID = re.compile(r"(?:FN|FP|AG)-[A-Z2-7]{8,32}")


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
    """What one sheet holds; `cases` counts the case rows of each kind, judged or not."""

    rows: list[ReviewRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cases: dict[str, int] = field(default_factory=lambda: {FN: 0, FP: 0, AG: 0})


class ReviewSheet:
    """One sheet of cases, its header found."""

    def __init__(self, table: SheetTable, name: str, words: SheetWords, header: Header) -> None:
        self._table, self._words, self._header, self._columns = table, words, header, header.columns
        self._label_columns = [key for key in header.columns if key.startswith("correct_label:")]
        self._file = PurePath(name).name
        self._place = SheetPlace(f"{self._file}!{table.name}", header.columns)

    @classmethod
    def find(cls, table: SheetTable, name: str, words: SheetWords) -> ReviewSheet | None:
        """The sheet, if it has the header of one."""
        header = find_header(table, words)
        return None if header is None else cls(table, name, words, header)

    def read(self, rules: RowRules) -> SheetContent:
        """The rows that somebody filled in, and how many cases there are."""
        found = SheetContent()
        inputs, ids = self._header.annotations, self._header.ids
        for number, row in enumerate(self._table.rows[self._header.row + 1 :], self._header.row + 1):
            filled = any(row[place] != "" and cell_text(row[place]).strip() for place in inputs if place < len(row))
            if not filled:
                first = next((cell_text(row[place]) for place in ids if place < len(row) and row[place] != ""), "")
                kind = _clean_id(first).partition("-")[0]
                if kind in found.cases:
                    found.cases[kind] += 1
                continue
            self._read_row(number, row, rules, found)
        return found

    def _read_row(self, number: int, row: Sequence[object], rules: RowRules, found: SheetContent) -> None:
        width = len(row)
        texts = {key: cell_text(row[place]) if place < width else "" for key, place in self._columns.items()}
        cells = _Cells(self._place, number)
        case_id = self._case_id(texts, cells, rules.trust_id, found)
        if case_id is None:
            return
        kind = case_id.partition("-")[0]
        found.cases[kind] += 1
        code = self._judgement(texts, cells, kind, found)
        if code is None:
            return
        effect = self._words.judgements[code].effect if code else None
        correct_span = texts.get("correct_span", "").strip()
        labels = self._correct_labels(texts, cells, found)
        if completeness(effect, correct_span, labels).missing is AnswerPart.JUDGEMENT:
            key, given = ("correct_span", correct_span) if correct_span else next(_label_cells(labels))
            found.problems.append(
                RowProblem(
                    cells[key],
                    f"found the correction {given!r} without a judgement",
                    self._words.allowed(kind),
                    reason="correction_alone",
                    value=given,
                )
            )
            return
        record = JudgementRecord(
            case_id,
            code=code,
            effect=effect,
            correct_span=self._words.span_choice(correct_span) if correct_span else "",
            correct_labels=labels,
            severity=self._severity(texts, cells, found),
            comment=texts.get("comment", "").strip(),
            judge=rules.judge,
            workbook=self._file,
            place=cells["judgement"],
            final=rules.final,
        )
        found.rows.append(ReviewRow(record, self._place, number, texts.get("span", "")))

    def _judgement(self, texts: Mapping[str, str], cells: _Cells, kind: str, found: SheetContent) -> str | None:
        """The code of a row's judgement, empty if there is none; None after a complaint."""
        typed = texts["judgement"].strip()
        code = self._words.judgement(typed, kind) if typed else ""
        if code is not None:
            return code
        elsewhere = self._words.is_judgement(typed)
        why = "which is not offered on this sheet" if elsewhere else "which is no judgement"
        found.problems.append(
            RowProblem(
                cells["judgement"],
                f"found {typed!r}, {why}",
                self._words.allowed(kind),
                reason="not_offered" if elsewhere else "no_judgement",
                value=typed,
            )
        )
        return None

    def _case_id(
        self, texts: Mapping[str, str], cells: _Cells, trust_id: TrustId | None, found: SheetContent
    ) -> str | None:
        """The case of a row, or None after a complaint: both IDs must agree unless one is trusted."""
        given = {key: _clean_id(texts[key]) for key in ID_COLUMNS if texts.get(key, "").strip()}
        first = "case" if "case" in self._columns else BLOCK_ID_COLUMN
        if not given:
            found.problems.append(
                RowProblem(
                    cells[first],
                    "found a judged row without a case ID",
                    "the ID that the workbook came with",
                    reason="no_id",
                )
            )
            return None
        if len(set(given.values())) > 1:
            if trust_id is None:
                found.problems.append(
                    RowProblem(
                        cells[BLOCK_ID_COLUMN],
                        f"found {given[BLOCK_ID_COLUMN]} in the annotation block, but {given['case']} on the left of "
                        "the same row: a part of the sheet was sorted or moved by itself. The row is held back",
                        remedy="Use --trust-id left|block to say which of the two the judgement belongs to",
                        reason="ids_differ",
                        value=f"{given['case']} / {given[BLOCK_ID_COLUMN]}",
                    )
                )
                return None
            given = {trust_id: given["case" if trust_id == TrustId.LEFT else BLOCK_ID_COLUMN]}
        case_id = next(iter(given.values()))
        if not CASE_ID.fullmatch(case_id):
            found.problems.append(
                RowProblem(
                    cells[first],
                    f"found {case_id[:60]!r}",
                    "a case ID such as FN-7FA7VC3MGKAA",
                    reason="bad_id",
                    value=case_id[:60],
                )
            )
            return None
        return case_id

    def _correct_labels(self, texts: Mapping[str, str], cells: _Cells, found: SheetContent) -> dict[str, str]:
        labels = {}
        for key in self._label_columns:
            text = texts[key]
            if not text.strip():
                continue
            layer = key.partition(":")[2]
            if layer not in self._words.layers:
                allowed = ", ".join(self._words.layers)
                found.problems.append(
                    RowProblem(
                        cells[key],
                        f"found {text.strip()!r} under a header that names no layer",
                        allowed,
                        reason="no_layer",
                        value=text.strip(),
                    )
                )
                continue
            labels[layer] = text.strip()
        return labels

    def _severity(self, texts: Mapping[str, str], cells: _Cells, found: SheetContent) -> Severity | None:
        typed = texts.get("severity", "").strip()
        if not typed:
            return None
        severity = self._words.severity(typed)
        if severity is None:
            found.problems.append(
                RowProblem(
                    cells["severity"],
                    f"found {typed!r}, which is no severity; the rest of the row counts",
                    ", ".join(SEVERITIES) + ", or their words",
                    reason="no_severity",
                    value=typed,
                )
            )
        return severity


class _Cells:
    """The places of a row's cells, worked out when one is needed."""

    def __init__(self, place: SheetPlace, row: int) -> None:
        self._place, self._row = place, row

    def __getitem__(self, key: str) -> str:
        return self._place.cell(key, self._row)


def _label_cells(labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The correct labels by the keys of their columns."""
    return ((f"correct_label:{layer}", label) for layer, label in labels.items())


def _clean_id(text: str) -> str:
    return text if CASE_ID.fullmatch(text) else normalise(text).upper().replace(" ", "")
