"""The review workbook as a whole: which sheets there are, in which order, and what links them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pandas as pd
from msgspec import structs

from clueval_xlsx.cases.kinds import AG, FN, FP, UM
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options import ReviewOptions
from clueval_xlsx.options.values import target_of, wanted
from clueval_xlsx.outputs.xlsx.book import Book, creation_time
from clueval_xlsx.outputs.xlsx.cases import CaseSheets
from clueval_xlsx.outputs.xlsx.guide import write_guide
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures, Lists, write_manifest
from clueval_xlsx.outputs.xlsx.live import write_live
from clueval_xlsx.outputs.xlsx.options import Handout, ReviewContent
from clueval_xlsx.outputs.xlsx.page import PageSheets
from clueval_xlsx.outputs.xlsx.styles import ACCENT, GOLD_COLOUR, PRED_COLOUR
from clueval_xlsx.pages.evaluation import evaluation_page
from clueval_xlsx.review.case_sheet import WrittenCells
from clueval_xlsx.review.judgements import JUDGEMENTS, Role
from clueval_xlsx.review.manifest import CaseList, Manifest, from_evaluation
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication


def write_workbook(
    evaluation: Evaluation,
    target: str | Path | BinaryIO,
    options: ReviewOptions | None = None,
    *,
    cases: Mapping[str, pd.DataFrame] | None = None,
) -> None:
    """Write the workbook that people judge.

    `evaluation`  what `evaluate`, `evaluate_tags` or `evaluate_spans` gives
    `target`  a path, or a file opened for writing bytes
    `options`  how it looks and whom it is for, such as `ReviewOptions(lang="de", judge="Anna")`; None for the usual
    `cases`  a selection instead of all cases, by sheet: `{"FN": …, "FP": …}`

    Gives nothing. Raises `OptionError` if an option does not fit, `OutputError` if the file cannot be written.

    >>> import io
    >>> from clueval_xlsx import evaluate_tags
    >>> book = io.BytesIO()
    >>> write_workbook(evaluate_tags([["B-PER"]], [["O"]], [["Ann"]]), book)
    >>> book.getvalue()[:2]
    b'PK'
    """
    wanted("evaluation", evaluation, Evaluation, "what evaluate, evaluate_tags or evaluate_spans gives")
    given = ReviewOptions() if options is None else options
    handout = Handout.of(wanted("options", given, ReviewOptions, "ReviewOptions, such as ReviewOptions(lang='de')"))
    if cases is not None and not isinstance(cases, Mapping):
        raise OptionError(
            f"cases: found {type(cases).__name__}. Allowed: the cases of each sheet, such as {{'FN': frame}}."
        )
    place = target_of(target)
    words = Words(handout.lang)
    shown = dict(cases) if cases is not None else dict(zip((FN, FP), evaluation.case_tables, strict=True))
    if cases is None and evaluation.unmarked_cases is not None:
        shown[UM] = evaluation.with_contexts(evaluation.unmarked_cases)
    manifest = _manifest(evaluation, handout, shown)
    content = ReviewContent(evaluation, handout, words, shown, manifest.run_id)
    with Book(place, title=words["guide.title"]) as book:
        guide = book.sheet(words["sheet.guide"])
        case_sheets = CaseSheets(book, content)
        metrics = book.sheet(words["sheet.metrics"])
        documents = book.sheet(words["sheet.documents"])
        confusion = book.sheet(words["sheet.confusion"])
        lists, figures = Lists(book, content, case_sheets.states.rule), HiddenFigures(book)
        written = WrittenCells.of(shown.values(), evaluation.pair.layers, words).prints
        write_manifest(book, structs.replace(manifest, columns=case_sheets.columns, written=written))

        write_guide(guide, content, case_sheets)
        parts = [part.cases for name in (FN, FP) for part in case_sheets.parts.get(name, [])]
        pages = PageSheets(evaluation_page(evaluation, words, parts), figures, case_sheets.link_to)
        pages.write(0, metrics, lambda sheet, row: write_live(sheet, row, case_sheets, figures))
        case_sheets.write(lists, figures)
        pages.write(1, documents)
        pages.write(2, confusion)
        guide.tab(ACCENT)
        for name, colour in ((FN, GOLD_COLOUR), (FP, PRED_COLOUR)):
            for part in case_sheets.parts.get(name, []):
                part.sheet.tab(colour)
        if handout.lock_cells:
            for sheet in book.sheets:
                sheet.protect()
        guide.activate()


def _manifest(evaluation: Evaluation, options: Handout, cases: Mapping[str, pd.DataFrame]) -> Manifest:
    """What the workbook says about its run."""
    standard = {judgement.code for judgement in JUDGEMENTS}
    shown = {case for table in cases.values() for case in table["case_id"].tolist()}
    return structs.replace(
        from_evaluation(evaluation),
        lang=options.lang,
        judge=options.judge,
        part=options.part,
        contact=options.contact,
        role=options.role,
        cases={name: len(table) for name, table in cases.items()},
        case_list=CaseList.of(list(cases.values())),
        judgements=tuple(judgement for judgement in options.judgements if judgement.code not in standard),
        previous={case: each.filled for case, each in options.answers.items() if each.when and case in shown},
        labels=tuple(options.label_words),
        sources=options.sources,
        team=options.team,
        sample=options.sample,
        created=creation_time().isoformat(),
    )


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
    wanted = set(run.to_decide)
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
        judgements=run.judgements,
        why=run.reasons(Words(lang), blind=blind),
        label_words=labels or {},
        blind=blind,
        role=Role.CONFLICTS,
        sources=sources,
        team=() if blind else run.team,
        sample=run.sample,
    )
    write_workbook(run.raw, target, options, cases=shown)
