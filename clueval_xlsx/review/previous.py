"""What was decided before, for a later run: which decisions stand, which are filled in again, which are only shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from msgspec.structs import replace

from clueval_xlsx.cases.twins import TwinGroups, groups_of
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.answers import Wrong
from clueval_xlsx.review.correction import correct
from clueval_xlsx.review.deciding import claimed_twins
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.vocabulary import Effect, Outcome
from clueval_xlsx.text.strings import IntArray

_DECIDED = (Outcome.APPLIED, Outcome.UNCHANGED)
_DISPUTED = (Outcome.OPEN, Outcome.HELD)
_COMPARING = frozenset({Effect.BOUNDARY, Effect.LABEL, Effect.ACCEPT})  # these judge gold by what the model has
_KEY_BYTES = 10


def newest_judgements(log: Sequence[Judgement]) -> dict[tuple[str, str], Judgement]:
    """The last word of each person on each case, oldest first; what was taken back is left out."""
    newest: dict[tuple[str, str], Judgement] = {}
    for judgement in log:
        who = judgement.case_id, judgement.whose or judgement.judge
        newest.pop(who, None)
        if judgement.outcome is not Outcome.WITHDRAWN:
            newest[who] = judgement
    return newest


def standing_decisions(log: Sequence[Judgement]) -> dict[str, Judgement]:
    """For each case the decision that stands: the newest one about the case itself, else one on a twin that reached it.

    A case that was disputed after it had been decided is open; so is one that different decisions reach. Nothing
    that follows from a decision is in the log, so that nothing is left of a decision that was taken back or overruled.
    """
    newest = newest_judgements(log)
    taken_back = {judgement.case_id for judgement in log if judgement.outcome is Outcome.WITHDRAWN}
    decisions: dict[str, Judgement] = {}
    judged: dict[str, list[Judgement]] = {}
    for (case, _), judgement in newest.items():
        if judgement.code:
            judged.setdefault(case, []).append(judgement)
            if judgement.outcome in _DECIDED:
                decisions[case] = judgement
            elif judgement.outcome in _DISPUTED:
                decisions.pop(case, None)
    for case in taken_back & judged.keys():
        if len(judged[case]) == 1 and judged[case][0].outcome is not Outcome.HELD:
            decisions[case] = judged[case][0]  # nobody speaks against it any more
    reached: dict[str, list[Judgement]] = {}
    for judgement in decisions.values():
        for twin in judgement.reached:
            if twin not in judged:
                source, key = judgement.case_id, judgement.reached[twin]
                carried = replace(judgement, case_id=twin, twin=source, applies_to=None, reached={}, other=key)
                reached.setdefault(twin, []).append(carried)
    for twin, carried_here in reached.items():
        if len({each.said[:3] for each in carried_here}) == 1:
            decisions[twin] = carried_here[0]
    return decisions


def judged_right(decisions: Mapping[str, Judgement], evaluation: Evaluation) -> IntArray:
    """Rows of the predictions that were judged to be forgotten by gold, as they stand."""
    added = [case for case, one in decisions.items() if one.effect is Effect.ADD and not one.correct_span]
    unsupported = evaluation.bare_cases[1]
    return unsupported["row"][unsupported["case_id"].isin(added)].to_numpy("int64")


def other_keys(cases: pd.DataFrame) -> list[str]:
    """A short key of what the other side has at each case: the same as long as its spans and labels are."""
    columns = ["other_surface", *(name for name in cases.columns if name.startswith("other_label_"))]
    origin = cases["start"] - cases["document_start"]
    touched = cases["other_start"] >= 0
    places = [(cases[name] - origin).where(touched, -1).astype(str) for name in ("other_start", "other_end")]
    texts = zip(*places, *(cases[name].astype(str) for name in columns), strict=True)
    return [
        hashlib.blake2b("\x1f".join(text).encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).hexdigest()
        for text in texts
    ]


@dataclass
class Previous:
    """Earlier decisions about the cases of a run, by case ID."""

    filled_in: dict[str, Judgement] = field(default_factory=dict)
    decided: int = 0  # cases that these decide, twins included
    changed: dict[str, Judgement] = field(default_factory=dict)  # the other side has changed since: shown
    carried_out: dict[str, Judgement] = field(default_factory=dict)  # gold has it already: shown


def previous_decisions(decisions: Mapping[str, Judgement], evaluation: Evaluation) -> Previous:
    """Which earlier decisions are filled in again for these cases, and which are only shown.

    What compares gold with the model (`boundary`, `label`, `acceptable`) holds only where the other side's spans are
    unchanged; elsewhere a person should look again. What changed gold and finds nothing to change any more was
    carried out: its case is another one now.
    """
    previous = Previous()
    tables = [*evaluation.bare_cases, *([] if evaluation.unmarked_cases is None else [evaluation.unmarked_cases])]
    done = _carried_out(decisions, evaluation)
    for table in tables:
        kept: dict[str, Judgement] = {}
        for case, key in zip(table["case_id"].tolist(), other_keys(table), strict=True):
            judgement = decisions.get(case)
            if judgement is None:
                continue
            compares = judgement.effect in _COMPARING or bool(judgement.correct_span)
            if case in done:
                previous.carried_out[case] = judgement
            elif compares and judgement.other != key:
                previous.changed[case] = judgement
            else:
                kept[case] = judgement
        previous.filled_in.update(with_scopes(kept, groups_of([table])))
        previous.decided += len(kept)
    return previous


def _carried_out(decisions: Mapping[str, Judgement], evaluation: Evaluation) -> set[str]:
    """The cases whose decision changed gold once and would change nothing now."""
    applied = {case: each for case, each in decisions.items() if each.outcome is Outcome.APPLIED}
    if not applied:
        return set()
    book, known = CaseBook(evaluation, applied.values()), []
    done = applied.keys() & book.cases.keys()
    for case in sorted(done):
        decision = book.decide(applied[case])
        if not isinstance(decision, Wrong):
            known.append(decision)
        elif decision not in {Wrong.SAME_SPAN, Wrong.SAME_LABEL}:
            done.discard(case)  # the model has changed since, or the words are gone
    correction = correct(evaluation.raw.gold.layers, known, evaluation.raw.corpus.documents.start)
    clashing = {case for conflict in correction.conflicts for case in conflict.cases}
    return done - {change.case_id for change in correction.changes} - correction.held - clashing


def with_scopes(earlier: Mapping[str, Judgement], twins: TwinGroups) -> dict[str, Judgement]:
    """Earlier decisions as they are filled in again: once, with their scope, where they reach what they reached before.

    Where twins have come that nobody decided upon, or one was decided otherwise since, a decision stands in each of
    its rows, so that it claims nothing that nobody chose.
    """
    found: dict[str, Judgement] = {}
    again: set[str] = set()
    for case_id, record in earlier.items():
        reached = claimed_twins(record, twins)
        known = [earlier[twin] for twin in reached if twin in earlier]
        same = len(known) == len(reached) and all(each.twin in {"", case_id} for each in known)
        found[case_id] = record if reached and same else replace(record, applies_to=None)
        if reached and same:
            again.update(twin for twin in reached if earlier[twin].twin == case_id)
    return {case_id: replace(record, twin="") for case_id, record in found.items() if case_id not in again}
