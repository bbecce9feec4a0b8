"""Several judgements of one case → one decision, or none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from clueval_xlsx.review.correction import Decision
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.vocabulary import SEVERITIES, ConflictKind, Effect, Rule, Severity


@dataclass(frozen=True)
class Vote:
    """One person's judgement of a case, and what it would do."""

    record: Judgement
    decision: Decision


@dataclass(frozen=True)
class Resolution:
    """What became of the judgements of one case; without a decision it is in conflict, and `reason` says why."""

    case_id: str
    votes: tuple[Vote, ...]
    winners: tuple[Vote, ...] = ()
    reason: ConflictKind | None = None

    @property
    def decision(self) -> Decision | None:
        """The decision that the winners share."""
        return self.winners[0].decision if self.winners else None

    def follows(self, record: Judgement) -> bool:
        """Whether the case was decided as this judgement has it, whoever had the last word."""
        decision = self.decision
        return decision is not None and any(
            vote.record is record and _effect(vote) == decision.whole_effect for vote in self.votes
        )

    @property
    def carried_from(self) -> str:
        """The twin that the case was decided on; empty where it was judged itself."""
        return self.winners[0].record.twin if self.winners else ""


def resolve(votes: Sequence[Vote], mode: str = Rule.MAJORITY) -> dict[str, Resolution]:
    """Decide every case, on the whole effect with its corrections.

    `mode` is `majority` (more than half of those who decided), `unanimous`, or the name of the judge who has
    the last word wherever that person judged; elsewhere the majority decides. A judge of a conflict workbook
    always has the last word. Who cannot decide abstains, unless most cannot.
    """
    by_case: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_case[vote.decision.case_id].append(vote)
    return {case_id: _resolve_case(case_id, cast, mode) for case_id, cast in by_case.items()}


def _resolve_case(case_id: str, cast: Sequence[Vote], mode: str) -> Resolution:
    everyone = tuple(cast)
    if len(everyone) == 1:
        return Resolution(case_id, everyone, everyone)
    final = [vote for vote in cast if vote.record.final]
    named = [vote for vote in cast if vote.record.judge.casefold() == mode.casefold()]
    heard = final or (named if mode not in tuple(Rule) else []) or list(cast)
    by_person: dict[str, list[Vote]] = defaultdict(list)
    for vote in heard:
        by_person[vote.record.judge].append(vote)
    claims = ConflictKind.CLAIMS if all(vote.record.twin for vote in heard) else None
    if any(len({_effect(vote) for vote in own}) > 1 for own in by_person.values()):
        return Resolution(case_id, everyone, reason=claims or ConflictKind.TWICE)
    voices = {person: own[0] for person, own in by_person.items()}
    winner = _winner([_effect(vote) for vote in voices.values()], mode)
    if winner is None:
        return Resolution(case_id, everyone, reason=claims or ConflictKind.DISAGREEMENT)
    return Resolution(case_id, everyone, tuple(vote for vote in heard if _effect(vote) == winner))


def _effect(vote: Vote) -> Hashable:
    return vote.decision.whole_effect


def _winner(effects: Sequence[Hashable], mode: str) -> Hashable | None:
    counts = Counter(effects)
    if len(counts) == 1:
        return effects[0]
    if mode == Rule.UNANIMOUS:
        return None
    undecided = {effect for effect in counts if isinstance(effect, tuple) and effect[0] == Effect.OPEN}
    abstained = sum(counts[effect] for effect in undecided)
    if 2 * abstained > len(effects):
        return next(iter(undecided))
    best, number = max(
        ((effect, count) for effect, count in counts.items() if effect not in undecided), key=lambda item: item[1]
    )
    return best if 2 * number > len(effects) - abstained else None


def resolved_severity(records: Sequence[Judgement]) -> Severity | None:
    """The severity most people gave; a tie goes to the graver one.

    >>> rated = [Judgement(case_id="FN-A", severity=severity) for severity in (Severity.HARMLESS, Severity.QUASI)]
    >>> resolved_severity(rated)
    <Severity.QUASI: 'quasi'>
    """
    final = [record for record in records if record.final and record.severity]
    counts = Counter(record.severity for record in final or records if record.severity)
    return min(counts, key=lambda severity: (-counts[severity], SEVERITIES.index(severity)), default=None)
