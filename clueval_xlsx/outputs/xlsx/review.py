"""The review workbook as a whole: which sheets there are, in which order, and what links them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.xlsx.book import MOST_ROWS, Book, creation_time
from clueval_xlsx.outputs.xlsx.cases import FIRST_ROW, CaseSheets
from clueval_xlsx.outputs.xlsx.confusion import write_confusion
from clueval_xlsx.outputs.xlsx.documents import write_documents
from clueval_xlsx.outputs.xlsx.guide import write_guide
from clueval_xlsx.outputs.xlsx.hidden import write_lists, write_manifest
from clueval_xlsx.outputs.xlsx.metrics import write_metrics
from clueval_xlsx.outputs.xlsx.styles import ACCENT, GOLD_COLOUR, PRED_COLOUR
from clueval_xlsx.review.manifest import REVIEW, Manifest, from_evaluation
from clueval_xlsx.review.vocabulary import JUDGEMENTS, Answer, Judgement
from clueval_xlsx.words import Words

# From so many cases on the file is streamed: less memory, a little larger on disk.
_STREAMED_FROM = 20_000


@dataclass(frozen=True)
class ReviewOptions:
    """How a review workbook looks and whom it is for."""

    lang: str = "en"
    annotator: str = ""
    part: str = ""
    contact: str = ""
    lock_cells: bool = False
    max_rows: int = MOST_ROWS - FIRST_ROW - 1
    judgements: tuple[Judgement, ...] = JUDGEMENTS
    answers: Mapping[str, Answer] = field(default_factory=dict)  # case ID -> what is filled in already
    earlier: Mapping[str, str] = field(default_factory=dict)  # case ID -> what was decided before, as words
    role: str = REVIEW
    sources: tuple[str, ...] = ()  # the workbooks whose open cases these are
    team: tuple[str, ...] = ()  # everybody the cases are handed out to
    sample: Mapping[str, Any] = field(default_factory=dict)  # how the cases were drawn, see handout.Selection
    in_memory: bool = False  # never a temporary file, whatever the size


def write_workbook(
    evaluation: Evaluation,
    target: Path | BinaryIO,
    options: ReviewOptions | None = None,
    *,
    cases: Mapping[str, pd.DataFrame] | None = None,
    advance: Callable[[int], None] | None = None,
) -> None:
    """Write the workbook that people judge. `cases` replaces the cases of the evaluation by a selection.

    `advance` is called with the number of case rows written since the last call.
    """
    options = options or ReviewOptions()
    words = Words(options.lang)
    shown = dict(cases) if cases is not None else dict(zip((FN, FP), evaluation.cases, strict=True))
    total = sum(len(table) for table in shown.values())
    with Book(target, title=words["guide.title"], streaming=total >= _STREAMED_FROM and not options.in_memory) as book:
        guide = book.sheet(words["sheet.guide"])
        metrics = book.sheet(words["sheet.metrics"])
        case_sheets = CaseSheets(book, shown, evaluation, words, options.max_rows, earlier=bool(options.earlier))
        documents = book.sheet(words["sheet.documents"])
        confusion = book.sheet(words["sheet.confusion"])
        lists = write_lists(book, words, options.judgements, evaluation)
        manifest = _manifest(evaluation, options, shown)
        write_manifest(book, manifest)

        write_guide(guide, evaluation, words, options.judgements, options.contact, options.annotator, shown)
        write_metrics(metrics, evaluation, words, case_sheets, lists, options.judgements, options.answers)
        case_sheets.write(lists, options, manifest.run_id, advance or (lambda _: None))
        write_documents(documents, evaluation, words, case_sheets)
        write_confusion(confusion, evaluation, words)
        guide.tab(ACCENT)
        for parts, colour in (
            (case_sheets.parts.get(FN, []), GOLD_COLOUR),
            (case_sheets.parts.get(FP, []), PRED_COLOUR),
        ):
            for part in parts:
                part.sheet.tab(colour)
        if options.lock_cells:
            for sheet in book.sheets:
                sheet.protect()
        guide.activate()


def _manifest(evaluation: Evaluation, options: ReviewOptions, cases: Mapping[str, pd.DataFrame]) -> Manifest:
    """What the workbook says about its run."""
    standard = {judgement.code for judgement in JUDGEMENTS}
    return from_evaluation(
        evaluation,
        lang=options.lang,
        annotator=options.annotator,
        part=options.part,
        contact=options.contact,
        role=options.role,
        cases={name: len(table) for name, table in cases.items()},
        judgements=tuple(judgement for judgement in options.judgements if judgement.code not in standard),
        sources=options.sources,
        team=options.team,
        sample=options.sample,
        created=creation_time().isoformat(),
    )
