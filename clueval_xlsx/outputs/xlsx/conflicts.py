"""The conflict workbook: only the open cases, with what everybody said about them, for a person who decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.outputs.xlsx.options import ReviewOptions
from clueval_xlsx.outputs.xlsx.review import write_workbook
from clueval_xlsx.review.sample import Sample
from clueval_xlsx.review.vocabulary import Role
from clueval_xlsx.views.judgement_words import judgement_names, judgements_of, what_was_said
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.resolution import Vote


def write_conflicts(
    run: Adjudication, target: Path | BinaryIO, *, lang: str, contact: str = "", blind: bool = False
) -> None:
    """Write the review workbook of the open cases; it comes back through the same command and has the last word.

    A `blind` one does not say who judged, and lists the judgements in an order that tells nothing.
    """
    judgements = judgements_of(run)
    wanted = set(run.open_cases)
    shown: dict[str, pd.DataFrame] = {
        sheet: run.raw.with_contexts(table[table["case_id"].isin(wanted)].reset_index(drop=True))
        for sheet, table in zip((FN, FP), run.raw.bare_cases, strict=True)
    }
    agreed = run.book.agreed[run.book.agreed["case_id"].isin(wanted)].reset_index(drop=True)
    if len(agreed):
        shown[AG] = run.raw.with_contexts(agreed)
    words = Words(lang)
    votes = {case_id: run.resolutions[case_id].votes for case_id in wanted}
    if blind:
        votes = {case_id: _unnamed(cast, words) for case_id, cast in votes.items()}
    names = judgement_names(judgements, words)
    earlier = {case_id: what_was_said(cast, names, words) for case_id, cast in votes.items()}
    # Names of files often are names of people.
    sources = () if blind else tuple(Path(book.name).name for book in run.workbooks)
    options = ReviewOptions(
        lang=lang,
        contact=contact,
        judgements=judgements,
        earlier=earlier,
        role=Role.CONFLICTS,
        sources=sources,
        team=() if blind else run.team,
        sample=run.manifest.sample if run.manifest else Sample(),
    )
    write_workbook(run.raw, target, options, cases=shown)


def _unnamed(votes: Iterable[Vote], words: Words) -> tuple[Vote, ...]:
    """The votes on a case under letters, ordered by what was said, so that nobody's place gives them away."""
    ordered = sorted(votes, key=lambda vote: (vote.record.code, vote.record.correct_span, vote.record.comment))
    return tuple(
        replace(vote, record=replace(vote.record, judge=words("adjudicated.judge", letter=chr(ord("A") + place))))
        for place, vote in enumerate(ordered)
    )
