"""One judged workbook → who judged what: the manifest, the judge, the review sheets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.files.workbooks import SheetTable, cell_text
from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement
from clueval_xlsx.review.manifest import Manifest, decode
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.review_sheets import CASE_ID, ReviewRow, ReviewSheet, RowRules
from clueval_xlsx.review.sheet_words import HEADER_ROWS, SheetWords, find_header
from clueval_xlsx.review.vocabulary import MANIFEST_SHEET, RUN_ID_MARK, Role, TrustId
from clueval_xlsx.words import in_every_language


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
    words: SheetWords,
    trust_id: TrustId | None = None,
) -> JudgedWorkbook:
    """All judged rows of a workbook. `manifest` may be that of another workbook of the same run."""
    judge = judge_name(tables) or (manifest.judge if manifest else "") or PurePath(name).stem
    rules = RowRules(judge, trust_id, final=manifest is not None and manifest.role == Role.CONFLICTS)
    review = [(table, sheet) for table in tables if (sheet := ReviewSheet.find(table, name, words)) is not None]
    found = [sheet.read(rules) for _, sheet in review]
    return JudgedWorkbook(
        name=name,
        judge=judge,
        manifest=manifest,
        run_ids=tuple(find_run_ids([table for table, _ in review])),
        rows=tuple(row for sheet in found for row in sheet.rows),
        problems=tuple(problem for sheet in found for problem in sheet.problems),
        notes=tuple(note for sheet in found for note in sheet.notes),
        cases={kind: sum(sheet.cases[kind] for sheet in found) for kind in (FN, FP, AG)},
    )


def find_run_ids(tables: Sequence[SheetTable]) -> list[str]:
    """The run IDs that stand in the sheets' own cells."""
    found = []
    for table in tables:
        for row in table.rows[:HEADER_ROWS]:
            for cell in row:
                if isinstance(cell, str) and RUN_ID_MARK in cell:
                    found.append(cell.partition(RUN_ID_MARK)[2].strip())
    return list(dict.fromkeys(run for run in found if run))


def case_ids(tables: Sequence[SheetTable], sheet: str) -> set[str]:
    """The IDs of all cases of a kind that stand anywhere in a workbook."""
    cells = {cell for table in tables for row in table.rows for cell in row if isinstance(cell, str)}
    return {cell for cell in cells if cell.startswith(f"{sheet}-") and CASE_ID.fullmatch(cell)}


def has_review_sheet(tables: Sequence[SheetTable]) -> bool:
    """Whether there is a sheet with the headers of cases and judgements."""
    words = SheetWords((), JUDGEMENTS)
    return any(find_header(table, words) is not None for table in tables)


def judge_name(tables: Iterable[SheetTable]) -> str:
    """The name that was typed beside `Your name` on the guide."""
    asked = {normalise(text).rstrip(":") for text in in_every_language("guide.judge_name").values()}
    for table in tables:
        for row in table.rows[:HEADER_ROWS]:
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
