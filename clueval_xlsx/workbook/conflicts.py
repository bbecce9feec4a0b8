"""The conflict workbook: only the open cases, with what everybody said about them, for a person who decides."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from clueval_xlsx.judgements import JudgementRecord
from clueval_xlsx.layout import FN, FP, JUDGEMENTS, SPAN_CHOICES, Judgement, words_of
from clueval_xlsx.manifest import CONFLICTS
from clueval_xlsx.words import Words
from clueval_xlsx.workbook.review import ReviewOptions, write_workbook

if TYPE_CHECKING:
    from clueval_xlsx.reimport.adjudication import Adjudication
    from clueval_xlsx.reimport.resolution import Vote


def write_conflicts(run: Adjudication, target: Path | BinaryIO, *, lang: str, contact: str = "") -> None:
    """Write the review workbook of the open cases; it comes back through the same command and has the last word."""
    own = run.manifest.judgements if run.manifest else ()
    judgements = (*JUDGEMENTS, *own)
    wanted = set(run.open_cases)
    shown = {
        sheet: table[table["case_id"].isin(wanted)].reset_index(drop=True)
        for sheet, table in zip((FN, FP), run.raw.cases, strict=True)
    }
    earlier = {case_id: said(run.resolutions[case_id].votes, judgements, Words(lang)) for case_id in wanted}
    options = ReviewOptions(lang=lang, contact=contact, judgements=judgements, earlier=earlier, role=CONFLICTS)
    write_workbook(run.raw, target, options, cases=shown)


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
