"""The conflict workbook: only the cases in conflict, with what everybody said about them, for a person who decides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP, UM
from clueval_xlsx.outputs.xlsx.options import Handout
from clueval_xlsx.outputs.xlsx.review import write_workbook
from clueval_xlsx.review.adjudication_words import judgements_of, reasons_by_case
from clueval_xlsx.review.assignment import Sample
from clueval_xlsx.review.vocabulary import Role
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication


def write_conflicts(
    run: Adjudication,
    target: Path | BinaryIO,
    *,
    lang: str,
    contact: str = "",
    blind: bool = False,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Write the review workbook of the cases in conflict; it comes back through the same command and has the last word.

    It goes back to `contact`, by default whom the judges sent theirs to. A `blind` one does not say who judged, and
    lists the judgements in an order that tells nothing. `labels` says what labels mean.
    """
    judgements = judgements_of(run)
    wanted = set(run.cases_in_conflict)
    shown: dict[str, pd.DataFrame] = {
        sheet: run.raw.with_contexts(table[table["case_id"].isin(wanted)].reset_index(drop=True))
        for sheet, table in zip((FN, FP), run.raw.bare_cases, strict=True)
    }
    for sheet, table in ((UM, run.raw.unmarked_cases), (AG, run.book.agreed)):
        disputed = None if table is None else table[table["case_id"].isin(wanted)].reset_index(drop=True)
        if disputed is not None and len(disputed):
            shown[sheet] = run.raw.with_contexts(disputed)
    # Names of files often are names of people.
    sources = () if blind else tuple(Path(book.name).name for book in run.workbooks)
    options = Handout(
        lang=lang,
        contact=contact or (run.manifest.contact if run.manifest else ""),
        judgements=judgements,
        why=reasons_by_case(run, Words(lang), blind=blind),
        label_words=labels or {},
        blind=blind,
        role=Role.CONFLICTS,
        sources=sources,
        team=() if blind else run.team,
        sample=run.manifest.sample if run.manifest else Sample(),
    )
    write_workbook(run.raw, target, options, cases=shown)
