"""One judged workbook → the rows somebody filled in, and what is wrong with them; columns by header, rows by ID."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.exceptions import InputError, Problem, RowProblem
from clueval_xlsx.files.workbooks import SheetTable, cell_name, cell_text
from clueval_xlsx.review.log import JudgementRecord
from clueval_xlsx.review.manifest import CONFLICTS, Manifest, decode
from clueval_xlsx.review.vocabulary import (
    BLOCK_ID_COLUMN,
    JUDGEMENTS,
    MANIFEST_SHEET,
    RUN_ID_MARK,
    SEVERITIES,
    SPAN_CHOICES,
    Judgement,
    normalise,
)
from clueval_xlsx.words import in_every_language

LEFT, BLOCK = "left", "block"
_CASE_ID = re.compile(r"(?:FN|FP|AG)-[A-Z2-7]{8,32}")
_HEADER_ROWS = 200  # how far down a header is looked for
_KNOWN_COLUMNS = ("case", BLOCK_ID_COLUMN, "judgement", "correct_span", "severity", "comment", "span", "document")


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


@dataclass(frozen=True, eq=False)
class JudgedWorkbook:
    """What one workbook says."""

    name: str
    annotator: str
    manifest: Manifest | None
    run_ids: tuple[str, ...]  # of its review sheets
    rows: tuple[ReviewRow, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()
    cases: Mapping[str, int] = field(default_factory=dict)  # case rows by kind, judged or not


def read_manifest(tables: Sequence[SheetTable], name: str) -> Manifest | None:
    """The manifest of a workbook, from its hidden sheet or from a sheet that holds its text under another name."""
    named = [table for table in tables if normalise(table.name) == MANIFEST_SHEET]
    for table in named or tables:
        pieces = [cell_text(row[0]) if row else "" for row in table.rows]
        if not named and not (pieces and pieces[0].startswith("{") and '"run_id"' in "".join(pieces)):
            continue
        text = "".join(pieces)
        if text:
            return decode(text, f"{name}!{table.name}")
    return None


def read_judgements(
    tables: Sequence[SheetTable],
    name: str,
    manifest: Manifest | None,
    layers: Sequence[str],
    judgements: Sequence[Judgement] = JUDGEMENTS,
    trust_id: str | None = None,
) -> JudgedWorkbook:
    """All judged rows of a workbook. `manifest` may be that of another workbook of the same run."""
    annotator = judge_name(tables) or (manifest.annotator if manifest else "") or PurePath(name).stem
    final = manifest is not None and manifest.role == CONFLICTS
    vocabulary = _Vocabulary(layers, judgements)
    sheets = [sheet for table in tables if (sheet := _ReviewSheet.find(table, name, vocabulary)) is not None]
    rows: list[ReviewRow] = []
    problems: list[Problem] = []
    notes: list[str] = []
    cases: dict[str, int] = {FN: 0, FP: 0, AG: 0}
    for sheet in sheets:
        found = sheet.read(annotator, trust_id, final=final)
        rows += found.rows
        problems += found.problems
        notes += found.notes
        for kind, count in found.cases.items():
            cases[kind] += count
    run_ids = tuple(dict.fromkeys(run for sheet in sheets for run in sheet.run_ids()))
    return JudgedWorkbook(name, annotator, manifest, run_ids, tuple(rows), tuple(problems), tuple(notes), cases)


def find_run_ids(tables: Sequence[SheetTable]) -> list[str]:
    """The run IDs that stand in the sheets' own cells."""
    found = []
    for table in tables:
        for row in table.rows[:_HEADER_ROWS]:
            for cell in row:
                if isinstance(cell, str) and RUN_ID_MARK in cell:
                    found.append(cell.partition(RUN_ID_MARK)[2].strip())
    return list(dict.fromkeys(run for run in found if run))


def case_ids(tables: Sequence[SheetTable], sheet: str) -> set[str]:
    """The IDs of all cases of a kind that stand anywhere in a workbook."""
    cells = {cell for table in tables for row in table.rows for cell in row if isinstance(cell, str)}
    return {cell for cell in cells if cell.startswith(f"{sheet}-") and _CASE_ID.fullmatch(cell)}


def has_review_sheet(tables: Sequence[SheetTable]) -> bool:
    """Whether there is a sheet with the headers of cases and judgements."""
    vocabulary = _Vocabulary((), JUDGEMENTS)
    return any(_ReviewSheet.find(table, "", vocabulary) is not None for table in tables)


def judge_name(tables: Iterable[SheetTable]) -> str:
    """The name that was typed beside `Your name` on the guide."""
    asked = {normalise(text).rstrip(":") for text in in_every_language("guide.judge_name").values()}
    for table in tables:
        for row in table.rows[:_HEADER_ROWS]:
            for column, cell in enumerate(row):
                if cell and isinstance(cell, str) and normalise(cell).rstrip(":") in asked:
                    typed = [cell_text(value).strip() for value in row[column + 1 :]]
                    return " ".join(next((text for text in typed if text), "").split())
    return ""


class _Vocabulary:
    """The words of headers and values in all languages, as codes."""

    def __init__(self, layers: Sequence[str], judgements: Sequence[Judgement]) -> None:
        self.layers = tuple(layers)
        self.judgements = {judgement.code: judgement for judgement in judgements}
        self.headers = {
            normalise(text): key for key in _KNOWN_COLUMNS for text in in_every_language(f"column.{key}").values()
        }
        self._correct_label = [normalise(text) for text in in_every_language("column.correct_label").values()]
        self._judgements: dict[str, str] = {}
        self._seen: dict[str, str | None] = {}  # texts as they stand in cells, which recur
        for judgement in judgements:
            standard = in_every_language(f"judgement.{judgement.code}") if not judgement.words else judgement.words
            for text in (judgement.code, *standard.values()):
                self._judgements.setdefault(normalise(text), judgement.code)
        self._spans = _values("span_choice", SPAN_CHOICES)
        self._severities = _values("severity", SEVERITIES)

    def column(self, header: str) -> str | None:
        """The key of a header; those of correct labels carry their layer: `correct_label:risk`."""
        text = normalise(header)
        if text in self.headers:
            return self.headers[text]
        for word in self._correct_label:
            if text == word:
                return f"correct_label:{self.layers[0]}" if len(self.layers) == 1 else "correct_label:"
            if text.startswith(f"{word}:"):
                rest = text.removeprefix(f"{word}:").strip()
                layer = next((layer for layer in self.layers if normalise(layer) == rest), "")
                return f"correct_label:{layer}"
        return None

    def judgement(self, text: str) -> str | None:
        """The code of a judgement."""
        if text not in self._seen:
            self._seen[text] = self._judgements.get(normalise(text))
        return self._seen[text]

    def span_choice(self, text: str) -> str:
        """The code of a choice, or the words as they were typed."""
        return self._spans.get(normalise(text), text.strip())

    def severity(self, text: str) -> str | None:
        """The code of a severity."""
        return self._severities.get(normalise(text))

    def offered(self, sheet: str) -> list[Judgement]:
        """The judgements of a kind of sheet."""
        return [judgement for judgement in self.judgements.values() if sheet in judgement.sheets]

    def allowed(self, sheet: str) -> str:
        """The judgements of a kind of sheet, for a message."""
        return ", ".join(judgement.code for judgement in self.offered(sheet)) + ", or their words"


def _values(section: str, codes: Sequence[str]) -> dict[str, str]:
    found = {normalise(code): code for code in codes}
    for code in codes:
        found.update({normalise(text): code for text in in_every_language(f"{section}.{code}").values()})
    return found


@dataclass
class _Found:
    rows: list[ReviewRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cases: dict[str, int] = field(default_factory=lambda: {FN: 0, FP: 0, AG: 0})


class _ReviewSheet:
    """One sheet of cases, its header found."""

    def __init__(
        self, table: SheetTable, name: str, vocabulary: _Vocabulary, header: int, columns: Mapping[str, int]
    ) -> None:
        self._table, self._name, self._words = table, name, vocabulary
        self._header, self._columns = header, columns
        self._label_columns = [key for key in columns if key.startswith("correct_label:")]
        self._file = PurePath(name).name
        self._place = SheetPlace(f"{self._file}!{table.name}", columns)

    @classmethod
    def find(cls, table: SheetTable, name: str, vocabulary: _Vocabulary) -> _ReviewSheet | None:
        """The sheet, if some row has the headers of a case and of a judgement."""
        for number, row in enumerate(table.rows[:_HEADER_ROWS]):
            columns: dict[str, int] = {}
            for place, cell in enumerate(row):
                key = vocabulary.column(cell) if cell and isinstance(cell, str) else None
                if key is not None:
                    columns.setdefault(key, place)
            if "judgement" in columns and ("case" in columns or BLOCK_ID_COLUMN in columns):
                return cls(table, name, vocabulary, number, columns)
        return None

    def run_ids(self) -> list[str]:
        return find_run_ids([self._table])

    def read(self, annotator: str, trust_id: str | None, *, final: bool) -> _Found:
        found = _Found()
        inputs = [
            place for key, place in self._columns.items() if key not in {"case", BLOCK_ID_COLUMN, "span", "document"}
        ]
        ids = [self._columns[key] for key in ("case", BLOCK_ID_COLUMN) if key in self._columns]
        for number, row in enumerate(self._table.rows[self._header + 1 :], self._header + 1):
            filled = any(row[place] != "" and cell_text(row[place]).strip() for place in inputs if place < len(row))
            if not filled:
                first = next((cell_text(row[place]) for place in ids if place < len(row) and row[place] != ""), "")
                kind = _clean_id(first).partition("-")[0]
                if kind in found.cases:
                    found.cases[kind] += 1
                continue
            self._read_row(number, row, annotator, trust_id, found, final=final)
        return found

    def _read_row(
        self, number: int, row: Sequence[object], annotator: str, trust_id: str | None, found: _Found, *, final: bool
    ) -> None:
        width = len(row)
        texts = {key: cell_text(row[place]) if place < width else "" for key, place in self._columns.items()}
        cells = _Cells(self._place, number)
        case_id = self._case_id(texts, cells, trust_id, found)
        if case_id is None:
            return
        kind = case_id.partition("-")[0]
        found.cases[kind] += 1
        typed = texts["judgement"].strip()
        code = self._words.judgement(typed) if typed else ""
        if code is None or (code and kind not in self._words.judgements[code].sheets):
            why = "which is not offered on this sheet" if code else "which is no judgement"
            found.problems.append(
                RowProblem(
                    cells["judgement"],
                    f"found {typed!r}, {why}",
                    self._words.allowed(kind),
                    reason="not_offered" if code else "no_judgement",
                    value=typed,
                )
            )
            return
        correct_span = texts.get("correct_span", "").strip()
        labels = self._correct_labels(texts, cells, found)
        if not code and (correct_span or labels):
            place = cells["correct_span"] if correct_span else cells[f"correct_label:{next(iter(labels))}"]
            given = correct_span or next(iter(labels.values()))
            found.problems.append(
                RowProblem(
                    place,
                    f"found the correction {given!r} without a judgement",
                    self._words.allowed(kind),
                    reason="correction_alone",
                    value=given,
                )
            )
            return
        severity = self._severity(texts, cells, found)
        record = JudgementRecord(
            case_id,
            code,
            self._words.judgements[code].effect if code else "",
            self._words.span_choice(correct_span) if correct_span else "",
            labels,
            severity,
            texts.get("comment", "").strip(),
            annotator,
            self._file,
            cells["judgement"],
            final,
        )
        found.rows.append(ReviewRow(record, self._place, number, texts.get("span", "")))

    def _case_id(self, texts: Mapping[str, str], cells: _Cells, trust_id: str | None, found: _Found) -> str | None:
        """The case of a row, or None after a complaint: both IDs must agree unless one is trusted."""
        given = {key: _clean_id(texts[key]) for key in ("case", BLOCK_ID_COLUMN) if texts.get(key, "").strip()}
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
            given = {trust_id: given["case" if trust_id == LEFT else BLOCK_ID_COLUMN]}
        case_id = next(iter(given.values()))
        if not _CASE_ID.fullmatch(case_id):
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

    def _correct_labels(self, texts: Mapping[str, str], cells: _Cells, found: _Found) -> dict[str, str]:
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

    def _severity(self, texts: Mapping[str, str], cells: _Cells, found: _Found) -> str:
        typed = texts.get("severity", "").strip()
        if not typed:
            return ""
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
        return severity or ""


class _Cells:
    """The places of a row's cells, worked out when one is needed."""

    def __init__(self, place: SheetPlace, row: int) -> None:
        self._place, self._row = place, row

    def __getitem__(self, key: str) -> str:
        return self._place.cell(key, self._row)


def _clean_id(text: str) -> str:
    return text if _CASE_ID.fullmatch(text) else normalise(text).upper().replace(" ", "")


def all_judgements(
    manifests: Iterable[Manifest], more: Sequence[Judgement] = (), where: str = "manifest"
) -> tuple[Judgement, ...]:
    """The tool's judgements and those that the workbooks bring along; one code may not mean two things."""
    found = {judgement.code: judgement for judgement in JUDGEMENTS}
    for judgement in [*(each for manifest in manifests for each in manifest.judgements), *more]:
        known = found.setdefault(judgement.code, judgement)
        if known.effect != judgement.effect:
            raise InputError(
                f"{where}: judgement {judgement.code!r} means {judgement.effect} here and {known.effect} elsewhere. "
                "Use workbooks of one run, or give the judgement one meaning."
            )
    return tuple(found.values())
