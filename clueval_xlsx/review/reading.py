"""One judged workbook → who judged what: the manifest, the judge, the review sheets.

Rows are found by their case IDs, wherever they stand; sheets of the tool that only name cases are left aside.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.exceptions import InputError, Problem, RowProblem
from clueval_xlsx.files.workbooks import SheetTable, cell_text
from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement
from clueval_xlsx.review.manifest import Manifest, decode
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.review_sheets import ReviewRow, ReviewSheet, RowRules, SheetContent
from clueval_xlsx.review.sheet_columns import CASE_ID, ColumnFinder
from clueval_xlsx.review.sheet_words import SheetWords
from clueval_xlsx.review.vocabulary import LISTS_SHEET, MANIFEST_SHEET, RUN_ID_MARK, Role, TrustId
from clueval_xlsx.words import in_every_language

_OWN_SHEETS = frozenset({LISTS_SHEET, MANIFEST_SHEET})  # hidden, nobody judges there
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
    words: SheetWords,
    *,
    trust_id: TrustId | None = None,
) -> JudgedWorkbook:
    """All judged rows of a workbook. `manifest` may be that of another workbook of the same run."""
    judge = judge_name(tables) or (manifest.judge if manifest else "") or PurePath(name).stem
    rules = RowRules(judge, trust_id, final=manifest is not None and manifest.role == Role.CONFLICTS)
    sheets = review_sheets(tables, name, words, manifest)
    found = [(_is_original(table), sheet.read(rules)) for table, sheet in sheets]
    rows, copies = _once(found)
    return JudgedWorkbook(
        name=name,
        judge=judge,
        manifest=manifest,
        run_ids=tuple(find_run_ids([table for table, _ in sheets])),
        rows=tuple(rows),
        problems=tuple([problem for _, sheet in found for problem in sheet.problems] + copies),
        notes=tuple(note for _, sheet in found for note in sheet.notes),
        present=frozenset().union(*(sheet.present for _, sheet in found)),
    )


def review_sheets(
    tables: Sequence[SheetTable], name: str, words: SheetWords | None = None, manifest: Manifest | None = None
) -> list[tuple[SheetTable, ReviewSheet]]:
    """The sheets with rows of cases: those with the headers of one, and any other where such rows were put."""
    words = words or SheetWords((), JUDGEMENTS)
    finder = ColumnFinder(words, manifest.columns if manifest else ())
    others = {normalise(text) for key in _OTHER_SHEETS for text in in_every_language(f"sheet.{key}").values()}
    found = []
    for table in tables:
        if normalise(table.name) in _OWN_SHEETS:
            continue
        sheet = ReviewSheet(table, name, words, finder)
        if sheet.has_cases and (sheet.has_header or sheet.ids_twice or normalise(table.name) not in others):
            found.append((table, sheet))
    return found


def _is_original(table: SheetTable) -> bool:
    """Whether a sheet has the name that the tool gave it; a copy has another."""
    name = normalise(table.name)
    words = [normalise(text) for kind in Sheet for text in in_every_language(f"sheet.{kind.lower()}").values()]
    return any(name.startswith(word) and _FURTHER.fullmatch(name[len(word) :]) for word in words)


def _once(found: Sequence[tuple[bool, SheetContent]]) -> tuple[list[ReviewRow], list[Problem]]:
    """The rows with each judgement once, and complaints about those that stand in a copy of their sheet only.

    Of rows that say the same the first counts, those of the tool's own sheets before copies. A judgement in a copy
    whose case is open on its own sheet may be an old one that somebody took back: nobody can tell.
    """
    emptied = {case for original, sheet in found if original for case in sheet.empty}
    known = {case for original, sheet in found if original for case in sheet.present}
    emptied |= {case for original, sheet in found if not original for case in sheet.empty - sheet.judged - known}
    by_case: dict[str, list[tuple[bool, ReviewRow]]] = defaultdict(list)
    for original, sheet in sorted(found, key=lambda pair: not pair[0]):
        for row in sheet.rows:
            by_case[row.record.case_id].append((original, row))
    rows: list[ReviewRow] = []
    problems: list[Problem] = []
    for case_id, own in by_case.items():
        if case_id in emptied and not any(original for original, _ in own):
            problems += [
                RowProblem(
                    row.record.place,
                    f"found a judgement of {case_id} in a copy of the sheet; on the sheet itself the case is open",
                    remedy="Fill it in on the sheet itself, or delete the copy",
                    reason="only_in_copy",
                    case=case_id,
                )
                for _, row in own
            ]
            continue
        seen = set()
        for _, row in own:
            key = row.record.said
            if key not in seen:
                seen.add(key)
                rows.append(row)
    return rows, problems


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
    cells = {cell for table in tables for row in table.rows for cell in row if isinstance(cell, str)}
    return {cell for cell in cells if cell.startswith(f"{sheet}-") and CASE_ID.fullmatch(cell)}


def has_review_sheet(tables: Sequence[SheetTable]) -> bool:
    """Whether there is a sheet with rows of cases."""
    return bool(review_sheets(tables, ""))


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
