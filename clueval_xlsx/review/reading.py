"""One judged workbook → who judged what: the manifest, the judge, the review sheets.

Rows are found by their case IDs, wherever they stand; sheets of the tool that only name cases are left aside.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from msgspec import structs

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.exceptions import InputError, Problem, RowProblem
from clueval_xlsx.files.sheets import SheetTable, cell_text
from clueval_xlsx.review.case_rows import find_case_rows, iterate_case_rows
from clueval_xlsx.review.judgements import JUDGEMENTS, Filled, JudgementKind
from clueval_xlsx.review.manifest import Manifest, decode, is_manifest
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.review_sheets import ReviewSheet, RowRules, answered_rows
from clueval_xlsx.review.sheet_columns import ColumnFinder
from clueval_xlsx.review.sheet_rows import PARTED, ReviewRow, SheetContent
from clueval_xlsx.review.sheet_words import SheetWords
from clueval_xlsx.review.stranded_answers import parted_columns, stranded_columns, stranded_judgements
from clueval_xlsx.review.vocabulary import (
    FIGURES_SHEET,
    LISTS_SHEET,
    MANIFEST_SHEET,
    REPORT_SHEET,
    RUN_ID_MARK,
    Role,
    TrustId,
)
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
    judge = named or PurePath(name).stem
    rules = RowRules(judge, trust_id, manifest is not None and manifest.role == Role.CONFLICTS, sha256)
    sheets = review_sheets(tables, name, words, manifest)
    found = [(_kind(table), sheet.read(rules)) for table, sheet in sheets]
    rows, copies = _once(found)
    parted = _parted_answers(tables, sheets, [content for _, content in found], words, PurePath(name).name)
    previous = manifest.previous if manifest else {}
    rows, untouched = _with_their_judges(rows, previous)
    book = JudgedWorkbook(
        name=name,
        judge=judge,
        manifest=manifest,
        run_ids=tuple(find_run_ids([table for table, _ in sheets])),
        rows=tuple(rows),
        problems=(*_without_found([sheet for _, sheet in found]), *copies, *parted),
        notes=(
            *(note for _, sheet in found for note in sheet.notes),
            *([] if named or len(rows) == len(untouched) else [_named_by_file(name, judge)]),
        ),
        present=frozenset().union(*(sheet.present for _, sheet in found)),
        answers_alone=frozenset().union(*(sheet.answers_alone for _, sheet in found)),
        at_home=frozenset().union(*(_at_home(kind, sheet.present) for kind, sheet in found)),
        open_at_home=frozenset().union(*(_at_home(kind, sheet.unjudged) for kind, sheet in found)),
        unjudged=frozenset().union(*(sheet.unjudged for _, sheet in found)),
        sha256=sha256,
    )
    overruled = book.present & previous.keys() - untouched - book.unusable.keys()
    return replace(book, overruled={case: previous[case].judge for case in overruled})


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


def _at_home(kind: str, cases: Iterable[str]) -> set[str]:
    """The cases that came on the sheet of a kind."""
    return {case for case in cases if _is_home(kind, case)}


def _is_home(kind: str, case: str) -> bool:
    return kind == case.partition("-")[0]


def review_sheets(
    tables: Sequence[SheetTable], name: str, words: SheetWords | None = None, manifest: Manifest | None = None
) -> list[tuple[SheetTable, ReviewSheet]]:
    """The sheets with rows of cases, and those with the headers of such rows, be their IDs gone."""
    words = words or SheetWords((), JUDGEMENTS)
    finder = ColumnFinder(words, manifest.columns if manifest else ())
    found = []
    for table in tables:
        if normalise(table.name) in _OWN_SHEETS:
            continue
        rows = find_case_rows(table)
        rows = answered_rows(table, rows, words) if normalise(table.name) in _other_sheets() else rows
        sheet = ReviewSheet(table, rows, name, words, finder)
        if rows.ids or sheet.has_answers:
            found.append((table, sheet))
    return found


def _parted_answers(
    tables: Sequence[SheetTable],
    sheets: Sequence[tuple[SheetTable, ReviewSheet]],
    found: Sequence[SheetContent],
    words: SheetWords,
    file: str,
) -> list[Problem]:
    """Columns and judgements that were moved away from their cases."""
    own = {table.name for table, _ in sheets}
    named = _OWN_SHEETS | _other_sheets()
    others = [table for table in tables if table.name not in own and normalise(table.name) not in named]
    columns = [column for table in others for column in stranded_columns(table, file, words)]
    unjudged = set().union(*(content.unjudged for content in found)) - set().union(*(each.judged for each in found))
    return [
        *parted_columns([sheet.column_state for _, sheet in sheets], columns, words),
        *stranded_judgements(others, file, words, unjudged),
    ]


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


def _without_found(found: Sequence[SheetContent]) -> list[Problem]:
    """What is wrong with the sheets; not that answers were cut away from a case where they were found elsewhere."""
    elsewhere = {case for sheet in found for case in sheet.answers_alone}
    return [
        problem
        for sheet in found
        for problem in sheet.problems
        if not (isinstance(problem, RowProblem) and problem.reason == PARTED and problem.case in elsewhere)
    ]


def _once(found: Sequence[tuple[str, SheetContent]]) -> tuple[list[ReviewRow], list[Problem]]:
    """The rows with each judgement once, and complaints about those that stand in a copy of their row only.

    Of rows that say the same the first counts, those on the sheet that the case came on before copies. A judgement in a
    copy whose case is open on its own sheet, or cannot be read there, may be an old one that somebody took back; where
    the answers were cut away from the sheet, those that carry the case's ID alone are its own.
    """

    parted = {case for kind, sheet in found for case in _at_home(kind, sheet.parted)}
    open_cases = parted | {case for kind, sheet in found for case in _at_home(kind, sheet.unjudged | sheet.unusable)}
    open_cases |= {case for kind, sheet in found for case in _at_home(kind, sheet.incomplete)}
    known = {case for kind, sheet in found for case in _at_home(kind, sheet.present)}
    for _, sheet in found:
        open_cases |= (sheet.unjudged | sheet.unusable) - sheet.judged - known
    by_case: dict[str, list[tuple[bool, ReviewRow]]] = defaultdict(list)
    for kind, sheet in found:
        for row in sheet.rows:
            case = row.record.case_id
            own = _is_home(kind, case) or (case in parted and case in sheet.answers_alone)
            by_case[case].append((own, row))
    rows: list[ReviewRow] = []
    problems: list[Problem] = []
    for case_id, pairs in by_case.items():
        if len(pairs) == 1 and pairs[0][0]:  # as nearly all are
            rows.append(pairs[0][1])
            continue
        ordered = sorted(pairs, key=lambda pair: not pair[0])
        judged = [row for original, row in ordered if row.record.code and not original]
        if case_id in open_cases and not any(original and row.record.completeness.judged for original, row in ordered):
            problems += map(only_in_copy, judged)
        else:
            judged = _scopes_of_copies(ordered)
            problems += map(_scope_only_in_copy, judged)
        said = {row.record.said: row for _, row in reversed(ordered) if row not in judged}
        rows += reversed(said.values())
    return rows, problems


def _scopes_of_copies(ordered: Sequence[tuple[bool, ReviewRow]]) -> list[ReviewRow]:
    """Copies that say of the same judgement that it holds for twins, where the row on the case's own sheet does not."""
    own = [row.record for original, row in ordered if original and row.record.code]
    known = {(record.said[:3], record.applies_to) for record in own}
    return [
        row
        for original, row in ordered
        if not original and row.record.applies_to and row.record.said[:3] in {said for said, _ in known}
        if (row.record.said[:3], row.record.applies_to) not in known
    ]


def _scope_only_in_copy(row: ReviewRow) -> Problem:
    case = row.record.case_id
    return RowProblem(
        row.where("applies_to"),
        f"found in a copy of the sheet what the judgement of {case} applies to, but not on the sheet itself",
        remedy="Fill it in on the sheet itself, or delete the copy",
        reason="only_in_copy",
        value=str(row.record.applies_to),
        case=case,
    )


def only_in_copy(row: ReviewRow) -> Problem:
    """The complaint about a judgement that may be an old one, since its case is open where it belongs."""
    case = row.record.case_id
    return RowProblem(
        row.record.place,
        f"found a judgement of {case} in a copy of the sheet, but none on the sheet itself",
        remedy="Fill it in on the sheet itself, or delete the copy",
        reason="only_in_copy",
        case=case,
    )


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
            if any(not twice or len(set(ids.values())) < len(ids) for _, ids in iterate_case_rows(table)):
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
