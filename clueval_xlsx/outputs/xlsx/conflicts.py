"""The conflict workbook: only the open cases, with what everybody said about them, for a person who decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.outputs.xlsx.review import ReviewOptions, write_workbook
from clueval_xlsx.review.log import JudgementRecord
from clueval_xlsx.review.manifest import CONFLICTS
from clueval_xlsx.review.vocabulary import JUDGEMENTS, SPAN_CHOICES, Judgement, words_of
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
    own = run.manifest.judgements if run.manifest else ()
    judgements = (*JUDGEMENTS, *own)
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
    earlier = {case_id: said(cast, judgements, words) for case_id, cast in votes.items()}
    # Names of files often are names of people.
    sources = () if blind else tuple(Path(book.name).name for book in run.workbooks)
    options = ReviewOptions(
        lang=lang,
        contact=contact,
        judgements=judgements,
        earlier=earlier,
        role=CONFLICTS,
        sources=sources,
        team=() if blind else run.team,
        sample=run.manifest.sample if run.manifest else {},
    )
    write_workbook(run.raw, target, options, cases=shown)


def _unnamed(votes: Iterable[Vote], words: Words) -> tuple[Vote, ...]:
    """The votes on a case under letters, ordered by what was said, so that nobody's place gives them away."""
    ordered = sorted(votes, key=lambda vote: (vote.record.code, vote.record.correct_span, vote.record.comment))
    return tuple(
        replace(vote, record=replace(vote.record, annotator=words("adjudicated.judge", letter=chr(ord("A") + place))))
        for place, vote in enumerate(ordered)
    )


def said(votes: Iterable[Vote], judgements: Iterable[Judgement], words: Words) -> str:
    """What everybody said about a case, one line a person."""
    known = tuple(judgements)
    return "\n".join(dict.fromkeys(answered(vote.record, known, words) for vote in votes))


def answered(record: JudgementRecord, judgements: Iterable[Judgement], words: Words) -> str:
    """One judgement in words: who, what, the corrections, the comment."""
    standard = words.section("judgement")
    names = {judgement.code: words_of(judgement, words.language, standard) for judgement in judgements}
    chosen = record.correct_span
    parts = [words[f"span_choice.{chosen}"] if chosen in SPAN_CHOICES else f"„{chosen}“" if chosen else ""]
    parts += [f"{layer}: {label}" for layer, label in record.correct_labels.items()]
    extra = ", ".join(part for part in parts if part)
    comment = f" – {record.comment}" if record.comment else ""
    return f"{record.annotator}: {names.get(record.code, record.code)}{f' ({extra})' if extra else ''}{comment}"
