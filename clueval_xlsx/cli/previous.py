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
    """The decision about each case that stands in a log of judgements."""
    from clueval_xlsx.review.log import check_chain, read_log
    from clueval_xlsx.review.previous import standing_decisions

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8. Give the file that `reimport --judgements` wrote.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path given to --previous.") from None
    if problems := check_chain(text, str(path)).problems:
        raise InputError(problems=problems)
    return standing_decisions(read_log(text, str(path)))


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
    """The options with judgements filled in and hints shown, and a sentence that says how many."""
    from clueval_xlsx.review.adjudication_words import what_one_said
    from clueval_xlsx.review.case_words import judgement_names
    from clueval_xlsx.review.previous import previous_decisions
    from clueval_xlsx.words import Words

    words = Words(options.lang)
    names = judgement_names(options.judgements, words)
    found = previous_decisions(decisions, result)
    earlier = {}
    for case_id, judgement in {**found.filled_in, **found.changed, **found.carried_out}.items():
        done = f"; {words['cases.carried_out']}" if case_id in found.carried_out else ""
        earlier[case_id] = f"{what_one_said(judgement, names, words)} ({judgement.when[:10]}{done})"
    tables = [*result.bare_cases, *([] if result.unmarked_cases is None else [result.unmarked_cases])]
    total = sum(map(len, tables))
    sentence = f"{found.decided} of {total} cases were decided before and are filled in"
    if found.changed:
        sentence += f"; {len(found.changed)} more were, but the other side has changed since: shown as a hint"
    if found.carried_out:
        sentence += f"; {len(found.carried_out)} more were carried out in gold: shown as a hint"
    merged = replace(options, answers={**options.answers, **found.filled_in}, earlier={**options.earlier, **earlier})
    return merged, f"{sentence}; {total - found.decided} are left to judge."
