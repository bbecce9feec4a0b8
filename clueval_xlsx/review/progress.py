"""How far a workbook is judged, and who of a team has not sent theirs; needs no gold file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.review.judgements import JUDGEMENTS
from clueval_xlsx.review.manifest import Manifest
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.reading import JudgedWorkbook, has_review_sheet, read_judgements, read_manifest
from clueval_xlsx.review.sheet_words import SheetWords


@dataclass(frozen=True)
class Progress:
    """One workbook: whose it is, and how much of it is judged."""

    name: str
    judge: str
    judged: int
    cases: int
    unusable: int
    manifest: Manifest | None

    @property
    def share(self) -> str:
        """Judged, in per cent."""
        return f"{100 * self.judged / self.cases:.0f}" if self.cases else "–"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "workbook": self.name,
            "judge": self.judge,
            "judged": self.judged,
            "cases": self.cases,
            "unusable": self.unusable,
            "run": self.manifest.run_id if self.manifest else None,
        }


def workbook_progress(data: bytes, name: str, password: str | None = None) -> Progress:
    """Count the judged rows of a workbook."""
    tables = read_workbook(data, name, password)
    if not has_review_sheet(tables):
        raise InputError(
            f"{name}: no review sheet was found: a header row with Case and Judgement is missing. "
            "Give workbooks that `clueval-xlsx evaluate` wrote."
        )
    manifest = read_manifest(tables, name)
    judgements = (*JUDGEMENTS, *(manifest.judgements if manifest else ()))
    book = read_judgements(tables, name, manifest, SheetWords(manifest.layers if manifest else (), judgements))
    states = [(row.record.case_id, row.record.completeness) for row in book.rows]
    return Progress(
        name=name,
        judge=book.judge,
        judged=len({case_id for case_id, state in states if state.judged}),
        cases=sum(book.cases.values()),
        unusable=len(book.problems) + sum(state.missing is not None for _, state in states),
        manifest=manifest,
    )


def missing_people(found: Sequence[Progress | JudgedWorkbook]) -> list[str]:
    """Members of the team whose workbook is not there; told by whom each workbook was made for, or who signed it."""
    team: dict[str, None] = {}
    present: set[str] = set()
    for each in found:
        if each.manifest is not None:
            team.update(dict.fromkeys(each.manifest.team))
            present.add(normalise(each.manifest.judge))
        present.add(normalise(each.judge))
    return [name for name in team if normalise(name) not in present]
