"""Reading back is a difference: every filled cell of a sheet is as written, or read, or left over.

A row is known by its case ID, a column by its header. What neither tells is listed with its cell; nothing is guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from clueval_xlsx.exceptions import RowProblem
from clueval_xlsx.files.sheets import SheetTable, cell_name, column_name
from clueval_xlsx.review.case_sheet import CALCULATED, HELPERS, TOLD, WrittenCells
from clueval_xlsx.review.judgements import BLOCK_ID_COLUMN, TAKES_LABEL, Judgement, TrustId
from clueval_xlsx.review.review_rows import ReadRows, ReviewRow, RowRules
from clueval_xlsx.review.review_sheets import (
    ID_COLUMNS,
    NO_HEADER,
    CaseSheet,
    ColumnHeader,
    Row,
    RowIds,
    SheetWords,
    is_for_judging,
)
from clueval_xlsx.text.cells import key, normalise

_SHOWN = 60  # characters of a cell that a message shows
_NOT_COMPARED = CALCULATED | TOLD
_TRUST = "Use --trust-id row|block to say which of the two the judgement belongs to"


class SheetReader:
    """Reads the sheets of one workbook into `content`; `written` is what their cells came with."""

    def __init__(self, words: SheetWords, written: WrittenCells, rules: RowRules) -> None:
        self.words, self.written, self.rules = words, written, rules
        self.content = ReadRows()
        self.name = self.kind = ""
        self._shifted: dict[tuple[str, int], ColumnHeader] = {}  # by sheet and how far they moved
        self._helpers = {*HELPERS, *(f"{name}:{layer}" for name in HELPERS for layer in words.layers)}

    def read(self, sheets: Iterable[CaseSheet]) -> None:
        """Read all rows of the sheets."""
        self._parted = self._find_parted([sheet for sheet in sheets if not sheet.foreign])
        for sheet in sheets:
            self._read_sheet(sheet)

    def _read_sheet(self, sheet: CaseSheet) -> None:
        table, case_rows = sheet.table, sheet.case_rows
        self.name, self.kind, self.sheet = f"{self.rules.workbook}!{table.name}", sheet.kind, sheet
        self._used = {place for number in case_rows for place, text in enumerate(table.texts[number]) if text}
        self._own: dict[int, list[tuple[Row, str]]] = defaultdict(list)  # cells of a judge's own columns, with cases
        self._notes: dict[int, list[str]] = defaultdict(list)
        for (number, place), text in sorted(table.notes.items()):
            self._notes[number].append(text)
            if number not in case_rows:
                where = f"{self.name}!{cell_name(number, place)}"
                note = f"{where}: the note {text[:_SHOWN]!r} is attached to no row of a case; it is not read"
                self.content.notes.append(note)
        valueless: dict[int, dict[int, str]] = defaultdict(dict)
        for (number, place), what in table.valueless.items():
            valueless[number][place] = what
        titles = {header.row for header in sheet.headers}
        strange = not (sheet.foreign or table.hidden)
        for number, cells in enumerate(table.texts):
            row, ids = Row(number, cells, sheet.header_of(number)), case_rows.get(number)
            if number in titles:
                if ids is not None:
                    self._hold_cases(row, ids)
            elif ids is not None:
                self._read_case(row, ids, valueless.get(number, {}))
            elif any(cells):
                self._read_other(row, words=strange and bool(case_rows))
        if strange and not case_rows and not sheet.headers:
            self._find_repeated_judgements(table)
        self._say_columns(sheet.headers)

    def _find_parted(self, sheets: Iterable[CaseSheet]) -> set[str]:
        """Columns for judging that one sheet lacks and another place has too much: moved there, away from its cases."""
        gone: dict[str, list[str]] = defaultdict(list)
        found: dict[str, list[str]] = defaultdict(list)
        for sheet in sheets:
            for name, place in sheet.columns_too_many(self.words):
                found[name].append(f"{self.rules.workbook}!{place}")
            for name, place in sheet.columns_gone(self.words):
                gone[name].append(f"{self.rules.workbook}!{place}")
        parted = gone.keys() & found.keys()
        for name in sorted(parted):
            for where in (*gone[name], *found[name]):
                why, remedy = self.words.said["unusable.moved_column"], self.words.said["remedy.moved_column"]
                shown = self.words.shown(name)
                problem = RowProblem(
                    where,
                    f"found {self.words.said('quoted', text=shown)}: {why}",
                    "",
                    remedy,
                    reason="moved_column",
                    value=shown,
                )
                self.content.problems.append(problem)
        return parted

    # ---- what is left over

    def _where(self, row: Row, place: int) -> str:
        return f"{self.name}!{cell_name(row.number, place)}"

    def _report(self, row: Row, place: int, reason: str, case: str = "", allowed: str = "") -> None:
        """List a cell; with a `case` its row is held back."""
        said, text = self.words.said, row.at(place)[:_SHOWN]
        found = f"found {said('quoted', text=text) if text else '–'}: {said[f'unusable.{reason}']}"
        where, remedy = self._where(row, place), said[f"remedy.{reason}"]
        problem = RowProblem(where, found, allowed, remedy, reason=reason, value=text, case=case)
        self.content.problems.append(problem)
        if case:
            self.content.held.add((self.kind, case))

    def _hold_cases(self, row: Row, ids: RowIds) -> None:
        """A row of several cases: each of them is named."""
        for place, case in ids.items():
            self.content.present.add((self.kind, case))
            self._report(row, place, "several_ids", case)

    def _read_other(self, row: Row, *, words: bool) -> None:
        """A row without a case: a title or a legend, unless something stands where judgements do, or reads like one."""
        below = row.header.row is not None and row.number > row.header.row
        for place, text in enumerate(row.cells):
            judged = below and place in row.header.judging_places
            if text and (judged or (words and self.words.says_judgement(text))):
                self._report(row, place, "no_id")
                return

    def _find_repeated_judgements(self, table: SheetTable) -> None:
        """Judgements in words on a sheet without cases: a column with one of them twice was copied from its cases."""
        columns: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for number, row in enumerate(table.texts):
            for place, text in enumerate(row):
                if text and self.words.says_judgement(text):
                    columns[place].append((number, text))
        for place, cells in columns.items():
            if len({normalise(text) for _, text in cells}) < len(cells):
                for number, _ in cells:
                    self._report(Row(number, table.texts[number], NO_HEADER), place, "no_id")

    def _say_columns(self, headers: Sequence[ColumnHeader]) -> None:
        """What was recognised without its exact header, and what stands in columns of the judge's own."""
        for header in headers:
            for place, name in header.names.items():
                title = header.titles.get(place, "")
                if self.words.column(title) != name:
                    named = f"the column {title!r}" if title else "a column without a header"
                    meant = self.words.shown(name) if is_for_judging(name) or name in ID_COLUMNS else name
                    self.content.notes.append(f"{self.name}!{column_name(place)}: {named} was taken for {meant!r}")
        for place, cells in sorted(self._own.items()):
            judging = all(self.words.is_judgement(row.at(place)) for row, _ in cells)
            for row, case in cells:
                text = row.at(place)
                if not row.text("judgement") and (judging or self.words.says_judgement(text)):
                    self._report(row, place, "elsewhere", case)
            first = cells[0][0]
            title = first.header.titles.get(place, "")
            self.content.notes.append(
                f"{self._where(first, place)}: the column {title!r} is not one of the workbook's; it is not read"
            )

    # ---- rows of cases

    def _read_case(self, row: Row, ids: RowIds, valueless: Mapping[int, str]) -> None:
        swapped = row.header.swapped
        if not row.header.id_places & ids.keys() or (swapped and 2 * sum(map(is_for_judging, swapped)) == len(swapped)):
            row.header = self._aligned(row, ids) or row.header  # the texts of the row prove it
        content, own = self.content, self._own_ids(row, ids)
        cases = self._settled(row, own)
        if len(cases) != 1:
            self._read_parted(row, own or ids)
            return
        case = cases[0]
        here = (self.kind, case)
        content.present.add(here)
        lacking = [name for name in ID_COLUMNS if name in row.header.places and not row.of(name, ids)]
        if lacking and self.sheet.is_sorted and self.rules.trust_id is None:
            self._report(row, row.header.first[lacking[0]], "ids_differ", case)
        doubtful = self._compare(row, ids, case, *row.of("case", own))
        header = row.header
        filled = [place for place in sorted(header.judging_places) if row.at(place) or place in valueless]
        if "judgement" in header.judging and len(own) == 1:
            content.alone.add(case)
        if "judgement" not in header.judging:
            content.parted.add(case)
            if header.judging or header is NO_HEADER:
                self._report(row, min(ids), "no_judgement_column", case)
        elif "judgement" in self._parted and not row.text("judgement"):
            self._report(row, header.first["judgement"], "moved_column", case)
        for place in filled:
            if place in valueless:
                self._report(row, place, "no_value", case)
        chosen = self._choose(row, case)
        if here in content.held or ("judgement" not in header.judging and not filled):
            return
        if filled or row.number in self._notes:
            lost = [name for name in self.words.wanted if name.startswith("correct_") and name not in header.judging]
            self._read_answer(row, case, chosen, doubtful if lost else [])
        else:
            content.open.add(here)

    def _aligned(self, row: Row, ids: RowIds) -> ColumnHeader | None:
        """The columns as they were written, if the row holds all that it came with, moved by so many places."""
        layout = self.words.columns
        for at, case in ids.items():
            for shift in (at - layout.index(name) for name in ID_COLUMNS if name in layout):
                texts = {name: row.at(place + shift) for place, name in enumerate(layout) if not is_for_judging(name)}
                known = all(self.written.as_written(case, name, text) for name, text in texts.items())
                if known and all(texts.get(name) == case for name in ID_COLUMNS):
                    names = {place + shift: name for place, name in enumerate(layout) if place + shift >= 0}
                    if (self.name, shift) not in self._shifted:
                        note = f"{self.name}: headers are gone or moved; rows were read as their columns were written"
                        self.content.notes.append(note)
                        self._shifted[self.name, shift] = ColumnHeader(None, names, {})
                    return self._shifted[self.name, shift]
        return None

    def _own_ids(self, row: Row, ids: RowIds) -> dict[int, str]:
        """The IDs by which a row is known: those in the columns of IDs, and those in columns without any header."""
        header = row.header
        return {
            place: case
            for place, case in ids.items()
            if place in header.id_places or (place not in header.names and not header.titles.get(place))
        }

    def _settled(self, row: Row, own: RowIds) -> list[str]:
        """The cases of a row: of two that differ the one that is trusted, or the row's own if a block was copied."""
        cases = list(dict.fromkeys(own.values()))
        rows, blocks = row.of("case", own), row.of(BLOCK_ID_COLUMN, own)
        if len(cases) != 2 or not rows or not blocks or rows[0] == blocks[0]:
            return cases
        if self.rules.trust_id is not None:
            return rows[:1] if self.rules.trust_id is TrustId.ROW else blocks[:1]
        if self.sheet.is_sorted:
            return cases
        where = self._where(row, row.header.first[BLOCK_ID_COLUMN])
        note = f"{where}: {blocks[0]} was copied here from another row; the row's own ID {rows[0]} counts"
        self.content.notes.append(note)
        return rows[:1]

    def _read_parted(self, row: Row, ids: RowIds) -> None:
        """A row with the IDs of two cases, or with one in a strange place: held back if anything was filled in."""
        content, header = self.content, row.header
        rows, blocks = row.of("case", ids), row.of(BLOCK_ID_COLUMN, ids)
        if not rows or not blocks or len(set(ids.values())) != 2:
            self._hold_cases(row, ids)
            return
        here = (self.kind, rows[0])
        content.present.add(here)
        filled = any(map(row.at, header.judging_places | (header.titles.keys() - header.names.keys())))
        if filled or (self.sheet.is_sorted and rows[0] not in self.sheet.blocks):
            self._report(row, header.first[BLOCK_ID_COLUMN], "ids_differ", rows[0], _TRUST)
            return
        content.open.add(here)
        if not header.judging:
            content.parted.add(rows[0])

    def _compare(self, row: Row, ids: RowIds, case: str, *own: str) -> list[int]:
        """Report what is neither as written nor read; gives the places of what may be an answer.

        The cells are those of the row's `own` case, if it has one, though its answers may be those of another. The row
        is held back if a cell holds what belongs to another column of the case: then cells or headers slipped.
        """
        header, words, written = row.header, self.words, self.written
        came, kind = own[0] if own else case, case.partition("-")[0]
        judged = row.text("judgement")
        found: list[tuple[int, str, bool]] = []  # place, reason, whether the row is held back
        doubtful: list[int] = []
        for place, text in enumerate(row.cells if header is not NO_HEADER else ()):
            name = header.names.get(place, "")
            if not text or place in header.judging_places or name in self._helpers:
                continue
            if place in ids and (ids[place] == case or name in ID_COLUMNS):
                continue
            looks_judged = not judged and words.is_judgement(text)
            if not name:
                doubtful.append(place)
                if not header.titles.get(place):
                    other = words.says_judgement(text) and words.judgement(text, kind) != words.judgement(judged, kind)
                    found.append((place, "left_over", other or looks_judged))
            elif name in _NOT_COMPARED:
                if words.says_judgement(text) or (name == "state" and words.is_judgement(text)):
                    found.append((place, "elsewhere", not judged))
            elif not written.as_written(came, name, text):
                slipped = bool(written.columns_of(came, text))
                aligned = self._aligned(row, ids) if slipped else None
                if aligned is not None:  # the row has all that it came with: it is the header that slipped
                    row.header = aligned
                    return self._compare(row, ids, case, *own)
                if slipped:
                    found = [(place, "displaced", True)]
                    break
                found.append((place, "left_over", looks_judged))
        for place, reason, held in found:
            self._report(row, place, reason, case if held else "")
        self._compare_own(row, [place for place in doubtful if header.titles.get(place)], case)
        return doubtful

    def _compare_own(self, row: Row, places: Iterable[int], case: str) -> None:
        """Columns of the judge's own; `Judgement (Anna)` beside `Judgement` must not say something else."""
        for place in places:
            name, kind = row.header.rivals.get(place, "comment"), case.partition("-")[0]
            said = self.words.entry(name, row.at(place), kind)
            if said is not None and said != self.words.entry(name, row.text(name), kind):
                self._report(row, place, "two_columns", case)
            else:
                self._own[place].append((row, case))

    def _choose(self, row: Row, case: str) -> dict[str, int]:
        """One place for each column for judging: empty ones give way, and two that differ are left over."""
        chosen = dict(row.header.first)
        for name in row.header.swapped:
            if row.text(name):
                self._report(row, chosen[name], "swapped", case)
                break
        for name, places in row.header.judging.items():
            if len(places) == 1:
                continue
            # What a judgement applies to may have been taken back in the one and live on in its copy.
            kept = [place for place in places if place in self._used or name == "applies_to"] or places[:1]
            chosen[name] = next((place for place in kept if row.at(place)), kept[0])
            moved = name in self._parted and row.at(chosen[name])
            if moved or len({normalise(row.at(place)) for place in kept}) > 1:
                self._report(row, chosen[name], "two_columns", case)
        return chosen

    def _read_answer(self, row: Row, case: str, at: Mapping[str, int], doubtful: Sequence[int]) -> None:
        """What a row says. `doubtful` are places of what may be a correction."""
        kind, words = case.partition("-")[0], self.words
        texts = {name: row.at(at[name]) for name in row.header.judging}
        texts = {name: text if key(text) else "" for name, text in texts.items()}  # else only what nobody sees
        typed, comment = texts.get("judgement", ""), texts.get("comment", "")
        code = words.judgement(typed, kind) if typed else ""
        if code is None:
            reason = "not_offered" if words.is_judgement(typed) else "no_judgement"
            self._report(row, at["judgement"], reason, case, words.allowed(kind))
            return
        effect = words.judgements[code].effect if code else None
        alone = [name for name, text in texts.items() if text and name not in {"severity", "comment"}]
        severity, scope = words.severity(texts.get("severity", "")), words.scope(texts.get("applies_to", ""))
        wrong = ""
        if not code and alone:
            wrong, place = ("applies_alone" if alone == ["applies_to"] else "correction_alone"), at[alone[0]]
        elif not code and words.is_judgement(comment):
            wrong, place = "elsewhere", at["comment"]
        elif texts.get("severity") and severity is None:
            wrong, place = "no_severity", at["severity"]
        elif texts.get("applies_to") and scope is None:
            wrong, place = "no_scope", at["applies_to"]
        elif effect in TAKES_LABEL and doubtful:  # it may be the correction, whose column is not there any more
            wrong, place = "left_over", doubtful[0]
        if wrong:
            self._report(row, place, wrong, case)
            return
        span = texts.get("correct_span", "")
        record = Judgement(
            code,
            case_id=case,
            effect=effect,
            correct_span=words.span_choice(span) if span else "",
            correct_labels={name.partition(":")[2]: texts[name] for name in alone if name.startswith("correct_label")},
            severity=severity,
            comment=" / ".join(text for text in (comment, *self._notes.get(row.number, ())) if text),
            judge=self.rules.judge,
            workbook=self.rules.workbook,
            workbook_sha256=self.rules.sha256,
            place=self._where(row, at.get("judgement", 0)),
            final=self.rules.final,
            applies_to=scope,
        )
        self.content.rows.append((self.kind, ReviewRow(record, at, row.number)))
        if not code:
            self.content.open.add((self.kind, case))
