"""How far a workbook is judged, and who of a team has not sent theirs; needs no gold file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.review.accounting import Account, missing_cases, workbook_account
from clueval_xlsx.review.judgements import JUDGEMENTS
from clueval_xlsx.review.manifest import Manifest, refuse_without_text
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.reading import (
    JudgedWorkbook,
    has_review_sheet,
    read_judgements,
    read_manifest,
    refuse_report,
)
from clueval_xlsx.review.sheet_words import SheetWords
from clueval_xlsx.words import FALLBACK, Words


@dataclass(frozen=True)
class WorkbookProgress:
    """One workbook: whose it is, and where its cases stand."""

    name: str
    judge: str
    account: Account
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    manifest: Manifest | None

    @property
    def share(self) -> str:
        """Done, in per cent."""
        return f"{100 * self.account.done / self.account.cases:.0f}" if self.account.cases else "–"


def workbook_progress(data: bytes, name: str, password: str | None = None) -> WorkbookProgress:
    """Where the cases of a workbook stand."""
    tables = read_workbook(data, name, password).sheets
    manifest = read_manifest(tables, name)
    refuse_without_text(manifest, name)
    refuse_report(tables, name, manifest)
    if manifest is None and not has_review_sheet(tables):
        raise InputError(f"{name}: found no row with a case ID. Give workbooks that `clueval-xlsx evaluate` wrote.")
    judgements = (*JUDGEMENTS, *(manifest.judgements if manifest else ()))
    language = manifest.lang if manifest else FALLBACK
    words = SheetWords(manifest.layers if manifest else (), judgements, language, manifest.columns if manifest else ())
    book = read_judgements(tables, name, manifest, words)
    problems = (*book.problems, *_incomplete(book, Words(language)), *missing_cases([book]))
    return WorkbookProgress(name, book.judge, workbook_account(book), problems, book.notes, manifest)


def _incomplete(book: JudgedWorkbook, words: Words) -> list[Problem]:
    """Judgements that lack their correction, each with the empty cell."""
    found: list[Problem] = []
    for row in book.rows:
        lack = row.record.completeness.missing
        if lack is not None and row.record.code:
            why, remedy = words[f"unusable.{lack}"], words[f"remedy.{lack}"]
            found.append(Problem(row.where(lack), f"found nothing: {why}", remedy=remedy))
    return found


def missing_people(found: Sequence[WorkbookProgress | JudgedWorkbook]) -> list[str]:
    """Members of the team whose workbook is not there; told by whom each workbook was made for, or who signed it."""
    team: dict[str, None] = {}
    present: set[str] = set()
    for each in found:
        if each.manifest is not None:
            team.update(dict.fromkeys(each.manifest.team))
            present.add(normalise(each.manifest.judge))
        present.add(normalise(each.judge))
    return [name for name in team if normalise(name) not in present]
