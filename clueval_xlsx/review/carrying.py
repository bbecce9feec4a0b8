"""Decisions carried over to twins: which of them a judgement claims, and what it says there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from clueval_xlsx.cases.twins import TwinGroups
from clueval_xlsx.review.decisions import CaseBook, Unusable
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.resolution import Resolution, Vote
from clueval_xlsx.review.vocabulary import Scope


def claimed_twins(record: Judgement, twins: TwinGroups) -> tuple[str, ...]:
    """The twins that somebody chose to let a judgement hold for, too."""
    if record.applies_to is None:
        return ()
    return twins.others(record.case_id, same_document=record.applies_to is Scope.DOCUMENT)


@dataclass(frozen=True)
class OwnAnswers:
    """The cases that keep what is their own: no decision is carried to them.

    A last word also holds for twins that stand in a conflict workbook and got no last word of their own.
    """

    judged: Collection[str]  # also what could not be used: somebody meant something
    judged_finally: Collection[str] = ()
    disputed: Collection[str] = ()

    def keeps(self, case_id: str, *, final: bool) -> bool:
        """Whether a case keeps its own."""
        if final and case_id in self.disputed:
            return case_id in self.judged_finally
        return case_id in self.judged


@dataclass(frozen=True)
class CarriedVotes:
    """The votes that twins get, and notes on twins that stay open and on scopes that reach nobody."""

    votes: tuple[Vote, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)


def carry(resolutions: Mapping[str, Resolution], book: CaseBook, own: OwnAnswers) -> CarriedVotes:
    """Carry what was decided on a case to the twins that it claims; what lost or is disputed is not carried.

    Corrections carry over by what they say: `as_model` means each twin's own model span; words that were typed are
    looked for in the twin's own context, and where they are not found the twin stays open.
    """
    votes: list[Vote] = []
    notes: list[str] = []
    for resolution in resolutions.values():
        for record in (vote.record for vote in resolution.winners):
            twins = claimed_twins(record, book.twins)
            if record.applies_to is not None and not twins:
                where = " in this document" if record.applies_to is Scope.DOCUMENT else ""
                notes.append(f"{record.place}: {record.case_id} has no twin{where}; the judgement counts for it alone")
            for twin in twins:
                if own.keeps(twin, final=record.final):
                    continue
                carried = replace(record, case_id=twin, applies_to=None, twin=record.case_id)
                try:
                    votes.append(Vote(carried, book.decide(carried)))
                except Unusable as why:
                    notes.append(
                        f"{record.place}: {twin} stays open: as on its twin {record.case_id}, found {why.found}"
                    )
    return CarriedVotes(tuple(votes), tuple(notes))


def group_units(records: Sequence[Judgement], twins: TwinGroups) -> list[tuple[str, Judgement]]:
    """One unit of agreement for each group that judges decided through different twins: its name, who said what.

    Two people who judged the same case are a direct pair already, and who decided a group in two ways is left out.
    """
    claims: dict[tuple[str, ...], dict[str, list[Judgement]]] = {}
    judged: dict[str, set[str]] = {}
    for record in records:
        if record.code:
            judged.setdefault(record.judge, set()).add(record.case_id)
        if record.code and claimed_twins(record, twins):
            claims.setdefault(twins.group(record.case_id), {}).setdefault(record.judge, []).append(record)
    found: list[tuple[str, Judgement]] = []
    for members, by_judge in claims.items():
        chosen: list[Judgement] = []
        for judge, said in by_judge.items():
            one = len({record.code for record in said}) == 1
            direct = any(judged[judge] & judged[other.judge] & set(members) for other in chosen)
            if one and not direct and all(_meet(said[0], other, twins) for other in chosen):
                chosen.append(said[0])
        if len(chosen) > 1:
            found += [(f"twins of {members[0]}", record) for record in chosen]
    return found


def _meet(one: Judgement, other: Judgement, twins: TwinGroups) -> bool:
    """Whether two judgements hold for a case in common."""
    reached = [{record.case_id, *claimed_twins(record, twins)} for record in (one, other)]
    return bool(reached[0] & reached[1])
