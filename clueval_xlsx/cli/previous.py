"""`evaluate --previous`: what was decided before is filled in again, so that people see only what is new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.outputs.xlsx import Handout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.review.judgements import Judgement
    from clueval_xlsx.text.strings import IntArray


def read_previous(path: Path) -> Mapping[str, Judgement]:
    """The newest decision about each case in a log of judgements."""
    from clueval_xlsx.review.log import latest_decisions, read_log

    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8. Give the file that `reimport --judgements` wrote.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path given to --previous.") from None
    return latest_decisions(read_log(text, str(path)))


def judged_right(decisions: Mapping[str, Judgement], result: Evaluation) -> IntArray:
    """Rows of the predictions that were judged to be forgotten by gold, as they stand."""
    from clueval_xlsx.review.vocabulary import Effect

    found = {
        case_id
        for case_id, judgement in decisions.items()
        if judgement.effect is Effect.ADD and not judgement.correct_span
    }
    unsupported = result.bare_cases[1]
    return unsupported["row"][unsupported["case_id"].isin(list(found))].to_numpy("int64")


def carry_over(decisions: Mapping[str, Judgement], result: Evaluation, options: Handout) -> tuple[Handout, str]:
    """The options with answers filled in and hints shown, and a sentence that says how many."""
    from clueval_xlsx.cases.twins import groups_of
    from clueval_xlsx.review.adjudication_words import what_one_said
    from clueval_xlsx.review.carrying import with_scopes
    from clueval_xlsx.review.case_words import judgement_names
    from clueval_xlsx.review.log import split_carried
    from clueval_xlsx.words import Words

    words = Words(options.lang)
    names = judgement_names(options.judgements, words)
    answers: dict[str, Judgement] = {}
    hints: dict[str, str] = {}
    decided = 0
    tables = [*result.bare_cases, *([] if result.unmarked_cases is None else [result.unmarked_cases])]
    for table in tables:
        carried, unsure = split_carried(decisions, table)
        for case_id, record in with_scopes(carried, groups_of([table])).items():
            answers[case_id] = record
        decided += len(carried)
        for case_id, record in unsure.items():
            hints[case_id] = what_one_said(record, names, words)
    total = sum(map(len, tables))
    sentence = f"{decided} of {total} cases were decided before and are filled in"
    if hints:
        sentence += f"; {len(hints)} more were, but the other side has changed since: shown as a hint"
    merged = replace(options, answers={**options.answers, **answers}, earlier={**options.earlier, **hints})
    return merged, f"{sentence}; {total - decided} are left to judge."
