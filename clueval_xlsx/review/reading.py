"""One judged workbook → who judged what: the manifest, the judge, the review sheets.

Rows are found by their case IDs, wherever they stand; sheets of the tool that only name cases are left aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from msgspec import structs

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.corpus.reading import digest
from clueval_xlsx.exceptions import InputError, Problem, RowProblem
from clueval_xlsx.files.sheets import SheetTable, cell_text
from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.review.case_sheet import WrittenCells
from clueval_xlsx.review.judgements import (
    FIGURES_SHEET,
    JUDGEMENTS,
    LISTS_SHEET,
    MANIFEST_SHEET,
    REPORT_SHEET,
    RUN_ID_MARK,
    Filled,
    JudgementKind,
    Role,
    TrustId,
)
from clueval_xlsx.review.manifest import Manifest, decode, is_manifest, refuse_without_text
from clueval_xlsx.review.review_rows import ReviewRow, RowRules, each_once, only_in_copy
from clueval_xlsx.review.review_sheets import CaseSheet, SheetWords, iterate_case_rows, stands_twice
from clueval_xlsx.review.sheet_reading import SheetReader
from clueval_xlsx.text.cells import normalise
from clueval_xlsx.words import in_every_language

_OWN_SHEETS = frozenset({LISTS_SHEET, FIGURES_SHEET, MANIFEST_SHEET, REPORT_SHEET})  # hidden, nobody judges there
_OTHER_SHEETS = ("guide", "metrics", "documents", "confusion")
_GUIDE_ROWS = 200  # how far down the judge's name is looked for
_FURTHER = re.compile(r"(?: \d+)?")  # what a continued sheet is called


@dataclass(frozen=True, eq=False)
class JudgedWorkbook:
    """What one workbook says."""

    name: str
    judge: str
    manifest: Manifest | None
    run_ids: tuple[str, ...]  # of its review sheets
    rows: tuple[ReviewRow, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()
    present: frozenset[str] = frozenset()  # cases that have a row somewhere, judged or not
    answers_alone: frozenset[str] = frozenset()  # cases of which there are answers, cut away from elsewhere
    at_home: frozenset[str] = frozenset()  # cases with a row on the sheet that they came on
    open_at_home: frozenset[str] = frozenset()  # those of them that nobody judged there
    unjudged: frozenset[str] = frozenset()  # cases with a row anywhere in which nobody judged
    sha256: str = ""  # of the file as it was given
    saved: str = ""  # when that was, as the file itself has it
    overruled: Mapping[str, str] = field(default_factory=dict)  # cases whose row came with another judgement, and whose

    @property
    def unusable(self) -> dict[str, Problem]:
        """The cases of which a row could not be used, each with the first reason."""
        found: dict[str, Problem] = {}
        for problem in self.problems:
            if isinstance(problem, RowProblem) and problem.case:
                found.setdefault(problem.case, problem)
        return found


def read_manifest(tables: Sequence[SheetTable], name: str) -> Manifest | None:
    """The manifest of a workbook, from its hidden sheet or from a sheet that holds its text under another name."""
    named = [table for table in tables if normalise(table.name) == MANIFEST_SHEET]
    for table in named or tables:
        text = "".join(cell_text(row[0]) if row else "" for row in table.rows)
        if text and (named or is_manifest(text)):
            return decode(text, f"{name}!{table.name}")
    return None


def refuse_report(tables: Sequence[SheetTable], name: str, manifest: Manifest | None) -> None:
    """Refuse the report of a re-import: it lists judgements of others, and each would count a second time."""
    if manifest is None and any(normalise(table.name) == REPORT_SHEET for table in tables):
        raise InputError(
            f"{name}: is the report of a re-import (--report), which nobody judges. Give the workbooks that people "
            "judged; name them one by one where *.xlsx takes in the report, too."
        )


def read_judgements(
    tables: Sequence[SheetTable],
    name: str,
    manifest: Manifest | None,
    words: SheetWords,
    *,
    trust_id: TrustId | None = None,
    sha256: str = "",
) -> JudgedWorkbook:
    """All judged rows of a workbook. `manifest` may be that of another workbook of the same run."""
    named = judge_name(tables) or (manifest.judge if manifest else "")
    file = PurePath(name).name
    final = manifest is not None and manifest.role == Role.CONFLICTS
    rules = RowRules(named or PurePath(name).stem, trust_id, final, file, sha256)
    written = WrittenCells(manifest.case_list.ids, manifest.written) if manifest else WrittenCells((), {})
    reader = SheetReader(words, written, rules)
    shown = [table for table in tables if normalise(table.name) not in _OWN_SHEETS]
    others = _other_sheets()
    reader.read([CaseSheet.of(each, _kind(each), words, foreign=normalise(each.name) in others) for each in shown])
    content = reader.content
    rows, copies = each_once(content.rows, {case for _, case in content.open | content.held})
    judged = {row.record.case_id for _, row in content.rows}
    gone = content.parted - judged - {case for _, case in content.open | content.held}
    previous = manifest.previous if manifest else {}
    rows, untouched = _with_their_judges(rows, previous)
    book = JudgedWorkbook(
        name=name,
        judge=rules.judge,
        manifest=manifest,
        run_ids=tuple(find_run_ids(tables)),
        rows=tuple(rows),
        problems=(*content.problems, *copies, *(_without_column(file, case) for case in sorted(gone))),
        notes=(*content.notes, *([] if named or len(rows) == len(untouched) else [_named_by_file(name, rules.judge)])),
        present=frozenset(case for _, case in content.present),
        answers_alone=frozenset(content.alone),
        at_home=_at_home(content.present),
        open_at_home=_at_home(content.open),
        unjudged=frozenset(case for _, case in content.open),
        sha256=sha256,
    )
    overruled = book.present & previous.keys() - untouched - book.unusable.keys()
    return replace(book, overruled={case: previous[case].judge for case in overruled})


def _without_column(file: str, case: str) -> Problem:
    what = f"found no column of judgements for case {case}"
    return RowProblem(file, what, reason="no_judgement_column", case=case)


def _at_home(cases: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The cases on the sheet that they came on."""
    return frozenset(case for kind, case in cases if kind == case.partition("-")[0])


def _with_their_judges(rows: Sequence[ReviewRow], previous: Mapping[str, Filled]) -> tuple[list[ReviewRow], set[str]]:
    """The rows, those under their own names and dates that say what the workbook came with; and the cases of these."""
    found, untouched = [], set()
    for row in rows:
        filled, record, own = previous.get(row.record.case_id), row.record, row
        if filled is not None and record.filled.print == filled.print:
            own = replace(row, record=structs.replace(record, judge=filled.judge, when=filled.when))
            untouched.add(record.case_id)
        found.append(own)
    return found, untouched


def _named_by_file(name: str, judge: str) -> str:
    return (
        f"{name}: nobody typed a name into the Guide, so its judgements are recorded under the name of the file, "
        f"{judge!r}. To record another name, type it there, or rename the file"
    )


def without_stale_copies(books: Sequence[JudgedWorkbook], whole: Sequence[bool]) -> list[JudgedWorkbook]:
    """The workbooks of a run without judgements that stand only in a copy of a row; these are reported.

    `whole` says which workbooks came with a manifest of their own. One without it was cut off or copied from another
    one: where the case has a row on its own sheet that says nothing, or was moved to a new workbook and says nothing
    there, a judgement that was left in a copy does not count.
    """
    found = []
    for book, own in zip(books, whole, strict=True):
        stale: set[str] = set()
        for other, others_own in zip(books, whole, strict=True):
            if other is book:
                continue
            stale |= book.answers_alone & other.open_at_home
            if not (own and others_own):
                stale |= other.unjudged - {row.record.case_id for row in other.rows if row.record.code}
        stale -= book.at_home
        rows: dict[bool, list[ReviewRow]] = {True: [], False: []}
        for row in book.rows:
            rows[bool(row.record.code) and row.record.case_id in stale].append(row)
        problems = (*book.problems, *map(only_in_copy, rows[True]))
        found.append(replace(book, rows=tuple(rows[False]), problems=problems))
    return found


def _other_sheets() -> frozenset[str]:
    """The names of the tool's sheets that may name cases, but hold no rows of theirs unless somebody put them there."""
    return frozenset(normalise(text) for key in _OTHER_SHEETS for text in in_every_language(f"sheet.{key}").values())


def _kind(table: SheetTable) -> str:
    """Whose cases a sheet came with, by the name that the tool gave it; empty for a copy, which has another."""
    name = normalise(table.name)
    for kind in Sheet:
        for text in in_every_language(f"sheet.{kind.lower()}").values():
            word = normalise(text)
            if name.startswith(word) and _FURTHER.fullmatch(name[len(word) :]):
                return kind
    return ""


def find_run_ids(tables: Sequence[SheetTable]) -> list[str]:
    """The run IDs that stand in the sheets' own cells."""
    found = []
    for table in tables:
        for row in table.rows:
            for cell in row:
                if cell and isinstance(cell, str) and RUN_ID_MARK in cell:
                    found.append(cell.partition(RUN_ID_MARK)[2].strip())
    return list(dict.fromkeys(run for run in found if run))


def case_ids(tables: Sequence[SheetTable], sheet: str) -> set[str]:
    """The IDs of all cases of a kind that stand anywhere in a workbook."""
    cases = {case for table in tables for _, ids in iterate_case_rows(table) for case in ids.values()}
    return {case for case in cases if case.startswith(f"{sheet}-")}


def has_review_sheet(tables: Sequence[SheetTable]) -> bool:
    """Whether there is a sheet with rows of cases; the first such row tells."""
    for table in tables:
        if normalise(table.name) not in _OWN_SHEETS:
            twice = normalise(table.name) in _other_sheets()
            if any(not twice or stands_twice(ids) for _, ids in iterate_case_rows(table)):
                return True
    return False


def judge_name(tables: Iterable[SheetTable]) -> str:
    """The name that was typed beside `Your name` on the guide."""
    asked = {normalise(text).rstrip(":") for text in in_every_language("guide.judge_name").values()}
    for table in tables:
        for row in table.rows[:_GUIDE_ROWS]:
            for column, cell in enumerate(row):
                if cell and isinstance(cell, str) and normalise(cell).rstrip(":") in asked:
                    typed = [cell_text(value).strip() for value in row[column + 1 :]]
                    return " ".join(next((text for text in typed if text), "").split())
    return ""


def all_judgements(
    manifests: Iterable[Manifest], more: Sequence[JudgementKind] = (), where: str = "manifest"
) -> tuple[JudgementKind, ...]:
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


# Whole files


@dataclass(frozen=True, eq=False)
class OpenedWorkbook:
    """A workbook before its judgements are read: its tables, and what it says about its run."""

    name: str
    tables: Sequence[SheetTable]
    manifest: Manifest | None
    run_id: str
    sha256: str = ""  # of the file as it was given
    saved: str = ""  # when the file was saved, as it says itself

    @property
    def gold_hash(self) -> str:
        """The hash of the gold file that it was made from; without its manifest only what the run ID has of it."""
        return self.run_id.partition("-")[0] if self.manifest is None else self.manifest.gold.sha256


def open_workbook(data: bytes, name: str, password: str | None = None) -> OpenedWorkbook:
    """Read a workbook's tables and find out which run it belongs to; raises if it is no review workbook."""
    workbook = read_workbook(data, name, password)
    tables = workbook.sheets
    manifest = read_manifest(tables, name)
    refuse_without_text(manifest, name)
    refuse_report(tables, name, manifest)
    without_cases = manifest is not None and not any(manifest.cases.values())
    if not without_cases and not has_review_sheet(tables):
        raise InputError(
            f"{name}: found no sheet with cases ({', '.join(table.name for table in tables) or 'no sheet at all'}). "
            "Allowed: a sheet whose rows carry case IDs. Send the workbook that `evaluate` wrote."
        )
    found = find_run_ids(tables)
    known = dict.fromkeys([*([manifest.run_id] if manifest else []), *found])
    if len(known) > 1:
        raise InputError(
            f"{name}: holds sheets of different runs ({', '.join(known)}). "
            "Put the sheets of each run into a workbook of its own."
        )
    return OpenedWorkbook(name, tables, manifest, next(iter(known), ""), digest(data), workbook.saved)


def group_by_run(workbooks: Sequence[OpenedWorkbook]) -> dict[str, list[OpenedWorkbook]]:
    """Workbooks by their run, in the order given."""
    runs: dict[str, list[OpenedWorkbook]] = {}
    for workbook in workbooks:
        run = workbook.run_id or _run_by_cases(workbook, workbooks)
        runs.setdefault(run, []).append(replace(workbook, run_id=run))
    return runs


def _run_by_cases(workbook: OpenedWorkbook, others: Sequence[OpenedWorkbook]) -> str:
    """The run of a workbook that says nothing of it, such as rows that were moved to a new one: told by its cases."""
    own = {case for sheet in Sheet for case in case_ids(workbook.tables, sheet)}
    found = {
        other.run_id for other in others if other.manifest is not None and own <= set(other.manifest.case_list.ids)
    }
    if len(found) != 1:
        raise InputError(
            f"{workbook.name}: found neither the hidden sheet {MANIFEST_SHEET} nor a run ID on a review sheet, so "
            "nobody can tell which files it belongs to. Give it along with the workbook that `evaluate` wrote."
        )
    return next(iter(found))


def manifest_of(workbooks: Sequence[OpenedWorkbook]) -> Manifest | None:
    """The manifest of a run: every workbook of the run has the same, if it has one."""
    return next((workbook.manifest for workbook in workbooks if workbook.manifest is not None), None)


def manifest_place(workbooks: Sequence[OpenedWorkbook]) -> str:
    """Where the manifest of a run stands, for a message."""
    return next((f"{book.name}!{MANIFEST_SHEET}" for book in workbooks if book.manifest is not None), "manifest")
