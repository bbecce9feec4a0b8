"""Conflicts in words: why judgements were not carried out, and why a case is shown to a third person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from clueval_xlsx.views.judgement_words import judgement_names, judgements_of, what_was_said
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.conflicts import CaseConflict
    from clueval_xlsx.review.resolution import Vote


def conflict_reason(conflict: CaseConflict, words: Words) -> str:
    """Why judgements were not carried out, in a sentence."""
    key = f"adjudicated.kind_{conflict.kind}"
    return words[f"{key}_gold" if conflict.with_gold and f"{key}_gold" in words else key]


def reasons_by_case(run: Adjudication, words: Words, *, blind: bool = False) -> dict[str, str]:
    """Why each open case needs a decision, and who said what about it; if `blind`, what was said but not by whom.

    A clash names the passages that would overlap and what was said of the other cases in it.
    """
    names = judgement_names(judgements_of(run), words)
    conflicts: dict[str, list[CaseConflict]] = {case_id: [] for case_id in run.cases_in_conflict}
    for conflict in run.conflicts:
        for case_id in conflict.cases:
            conflicts.setdefault(case_id, []).append(conflict)

    def said(case_id: str) -> str:
        votes: Iterable[Vote] = run.resolutions[case_id].votes
        return what_was_said(unnamed(votes, words) if blind else votes, names, words)

    def lines(case_id: str) -> list[str]:
        found: list[str] = []
        for conflict in conflicts[case_id]:
            found.append(conflict_reason(conflict, words))
            if len(conflict.words) > 1:
                found.append(" / ".join(words("quoted", text=text) for text in conflict.words))
        found.append(said(case_id))
        for other in dict.fromkeys(each for conflict in conflicts[case_id] for each in conflict.cases):
            if other != case_id:
                found += [f"{case_number(run, other)}: {line}" for line in said(other).split("\n")]
        if any(conflict.hint for conflict in conflicts[case_id]):
            found.append(words["adjudicated.hint_boundary"])
        return list(dict.fromkeys(found))

    return {case_id: "\n".join(lines(case_id)) for case_id in run.cases_in_conflict}


def case_number(run: Adjudication, case_id: str) -> str:
    """What people call a case: its sheet and its number there."""
    return f"{case_id.partition('-')[0]} {run.book.table.loc[case_id, 'number']}"


def unnamed(votes: Iterable[Vote], words: Words) -> tuple[Vote, ...]:
    """The votes on a case under letters, ordered by what was said, so that nobody's place gives them away."""
    ordered = sorted(votes, key=lambda vote: (vote.record.code, vote.record.correct_span, vote.record.comment))
    return tuple(
        replace(vote, record=replace(vote.record, judge=words("adjudicated.judge", letter=chr(ord("A") + place))))
        for place, vote in enumerate(ordered)
    )
