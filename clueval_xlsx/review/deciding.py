"""From the rows of judged workbooks to one decision a case: `decide_cases` has the order of the steps.

What one person said in a newer state of a workbook replaces what the older one says; what every row means is told by
the case book; decisions are carried to the twins that somebody chose; several judgements of a case become one decision
or a conflict; gold is corrected; and linked cases without a judgement are settled.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from msgspec import structs

from clueval_xlsx.cases.twins import TwinGroups
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.review.answers import Wrong, label_key
from clueval_xlsx.review.case_words import span_choice_name
from clueval_xlsx.review.correction import Correction, Decision, correct
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.judgements import (
    SEVERITIES,
    TAKES_LABEL,
    TAKES_SPAN,
    ConflictKind,
    Effect,
    Judgement,
    Role,
    Rule,
    Scope,
    Severity,
)
from clueval_xlsx.review.reading import JudgedWorkbook
from clueval_xlsx.review.review_rows import ReviewRow
from clueval_xlsx.text.cells import key
from clueval_xlsx.words import FALLBACK, Words

# The column of the entry that a reason is about; of the others the judgement itself.
_SPAN = {Wrong.CORRECT_SPAN, Wrong.SAME_SPAN, Wrong.NOT_IN_TEXT, Wrong.NOTHING_MARKED}
_LABEL = {Wrong.CORRECT_LABEL, Wrong.SAME_LABEL, Wrong.NEW_LABEL, Wrong.PARTS, Wrong.NOTHING_LEFT}


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

    @property
    def carried_from(self) -> str:
        """The twin that the case was decided on; empty where it was judged itself."""
        return self.winners[0].record.twin if self.winners else ""

    def follows(self, record: Judgement) -> bool:
        """Whether the case was decided as this judgement has it, whoever had the last word."""
        decision = self.decision
        return decision is not None and any(
            vote.record is record and _effect(vote) == decision.whole_effect for vote in self.votes
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Decided:
    """A run before and after its judgements: what was said and decided, and what that changed."""

    raw: Evaluation
    corrected: Evaluation
    book: CaseBook
    records: tuple[Judgement, ...]  # usable judgements, and rows with only a severity or a comment
    resolutions: Mapping[str, Resolution]
    correction: Correction
    settled: Mapping[str, str]  # case -> the linked case whose judgement settles it
    severities: Mapping[str, Severity]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    @cached_property
    def decisions(self) -> dict[str, Decision]:
        """The decision of each case that has one and was not held back."""
        return {
            case_id: resolution.decision
            for case_id, resolution in self.resolutions.items()
            if resolution.decision is not None and case_id not in self.correction.held
        }

    @cached_property
    def carried(self) -> dict[str, str]:
        """The cases that were decided on a twin, and on which."""
        return {case: twin for case in self.decisions if (twin := self.resolutions[case].carried_from)}

    @cached_property
    def cases_in_conflict(self) -> tuple[str, ...]:
        """Cases that a person must look at again: people disagree, or decisions clash."""
        unresolved = [case_id for case_id, resolution in self.resolutions.items() if resolution.decision is None]
        return tuple(dict.fromkeys([*unresolved, *sorted(self.correction.held)]))


@dataclass
class _Said:
    """What the rows say: votes, usable records, complaints about rows that do not count, and notes."""

    votes: list[Vote] = field(default_factory=list)
    records: list[Judgement] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def decide_cases(
    raw: Evaluation,
    workbooks: Sequence[JudgedWorkbook],
    missing: Sequence[Problem],
    *,
    labels: Sequence[str] = (),
    language: str = FALLBACK,
    mode: str = Rule.MAJORITY,
) -> Decided:
    """Bring the judgements of one run together; `corrected` is still the run as it was.

    `missing` are the complaints about rows that are gone, `labels` those known beside what occurs, `language` the
    workbooks'.
    """
    rows, newer = newest_rows(workbooks)
    book = CaseBook(raw, [row.record for row in rows], labels)
    said = _read_votes(rows, book, Words(language))
    last_words = _without_overruled(said.votes, book)
    twins = _carry(resolve(last_words, mode), book, _closed_cases(said, workbooks, missing), said)
    resolutions = resolve(_without_overruled([*said.votes, *twins], book), mode)
    chosen = [resolution.decision for resolution in resolutions.values() if resolution.decision is not None]
    correction = correct(raw.pair.gold.layers, chosen, raw.pair.corpus.documents.start)
    settled: dict[str, str] = {}
    for decision in chosen:
        if decision.case_id not in correction.held:
            for other in book.settled_by(decision):
                if other not in resolutions:
                    settled[other] = decision.case_id
    return Decided(
        raw=raw,
        corrected=raw,
        book=book,
        records=tuple(said.records),
        resolutions=resolutions,
        correction=correction,
        settled=settled,
        severities=_severities(said.records, resolutions),
        problems=(*(each for book in workbooks for each in book.problems), *newer.problems, *said.problems, *missing),
        notes=(*(note for workbook in workbooks for note in workbook.notes), *newer.notes, *said.notes),
    )


# What was said


def newest_rows(workbooks: Sequence[JudgedWorkbook]) -> tuple[list[ReviewRow], _Said]:
    """The rows of all workbooks, what one person said of a case in two of them once; and what must be said of it.

    Of two states of one person's workbook the later one replaces what the earlier one says of the same case. Where it
    says nothing, what the earlier one says counts, and a person should look.
    """
    rows: dict[tuple[object, ...], ReviewRow] = {}
    about = _Said()
    for workbook in workbooks:
        later = [other for other in workbooks if _is_later(other, workbook)]
        present, unusable = set[str](), set[str]()
        newer: dict[str, list[Judgement]] = defaultdict(list)
        for other in later:
            present |= other.present
            unusable |= other.unusable.keys()
            for row in other.rows:
                if row.record.code:
                    newer[row.record.case_id].append(row.record)
        for row in workbook.rows:
            record, case = row.record, row.record.case_id
            if case in unusable or case in newer:
                if record.code and case in newer and all(other.said != record.said for other in newer[case]):
                    about.notes.append(f"{record.place}: replaced by the newer judgement in {newer[case][0].place}")
                continue
            if record.code and case in present:
                why = f"found a judgement of {case} that the newer state of this workbook does not have; it counts"
                remedy = "Leave out the older file if the judgement was taken back"
                problem = RowProblem(record.place, why, remedy=remedy, reason="only_older", value=case)
                about.problems.append(problem)
            rows.setdefault((key(record.judge), record.final, case, record.said), row)
    return list(rows.values()), about


def _is_later(one: JudgedWorkbook, other: JudgedWorkbook) -> bool:
    """Whether a workbook is a later state of another: the same judge, the same hand-out, saved later."""
    new, old = one.manifest, other.manifest
    if new is None or old is None or one.saved.endswith("Z") != other.saved.endswith("Z"):
        return False  # a time without a zone tells nothing beside one that has it
    same = (new.run_id, new.part, new.role) == (old.run_id, old.part, old.role)
    return same and key(one.judge) == key(other.judge) and "" < other.saved < one.saved


def _read_votes(rows: Sequence[ReviewRow], book: CaseBook, words: Words) -> _Said:
    """What every row means; rows that do not count are complained about."""
    said = _Said()
    known = set(book.table["case_id"])
    for row in rows:
        record = row.record
        if record.case_id not in known:
            why = f"found case {record.case_id}, which is not among the cases of this run"
            remedy = "Copy the case ID from the workbook as it was sent out"
            said.problems.append(
                RowProblem(row.where("case"), why, remedy=remedy, reason="unknown_case", value=record.case_id)
            )
            continue
        if record.code:
            decision = book.decide(record)
            if isinstance(decision, Wrong):
                said.problems.append(_refused(row, decision, words))
                continue
            said.votes.append(Vote(record, decision))
            said.notes += [
                f"{record.place}: {note}" for note in (*decision.notes, *_without_effect(record, decision, words))
            ]
        said.records.append(record)
    return said


def _refused(row: ReviewRow, why: Wrong, words: Words) -> RowProblem:
    """The complaint about a row that does not count, in the words of its workbook."""
    record, reason = row.record, why.name.lower()
    column, typed = "judgement", ""
    if why in _SPAN:
        column, typed = "correct_span", span_choice_name(record.correct_span, words)
    elif why in _LABEL:
        column, typed = "correct_label", " / ".join(text for text in record.correct_labels.values() if text)
    what = words("quoted", text=typed[:60]) if typed else "–"
    return RowProblem(
        row.where(column),
        f"found {what}: {words[f'unusable.{reason}']}",
        remedy=words[f"remedy.{reason}"],
        reason=reason,
        value=record.correct_span[:60] if why in _SPAN else typed[:60],
        case=record.case_id,
    )


def _without_effect(record: Judgement, decision: Decision, words: Words) -> list[str]:
    """Entries beside a judgement that takes none, and corrections that turn out to change nothing."""
    notes = []
    judgement = words("quoted", text=words.get(f"judgement.{record.code}", record.code))
    if record.correct_span and record.effect not in TAKES_SPAN:
        notes.append(f"a correct span beside {judgement} does nothing")
    if any(map(label_key, record.correct_labels.values())) and record.effect not in TAKES_LABEL:
        notes.append(f"a correct label beside {judgement} does nothing")
    if record.effect in TAKES_LABEL and not decision.modifies:
        notes.append("the correction leaves the reference as it is")
    return notes


def _without_overruled(votes: Sequence[Vote], book: CaseBook) -> list[Vote]:
    """The votes that count: a last word on a case holds for the cases linked to it, unless these got their own."""
    final = {vote.record.case_id for vote in votes if vote.record.final}
    covered = {other for vote in votes if vote.record.final for other in book.settled_by(vote.decision)} - final
    return [vote for vote in votes if not {vote.record.case_id, vote.record.twin} & covered]


# Twins


def claimed_twins(record: Judgement, twins: TwinGroups) -> tuple[str, ...]:
    """The twins that somebody chose to let a judgement hold for, too."""
    if record.applies_to is None:
        return ()
    return twins.others(record.case_id, same_document=record.applies_to is Scope.DOCUMENT)


def _closed_cases(
    said: _Said, workbooks: Sequence[JudgedWorkbook], missing: Sequence[Problem]
) -> tuple[set[str], set[str]]:
    """The cases that keep what is their own: judged, not understood, or gone with whatever their row said.

    For a last word other cases are closed: it also holds for twins that stand in a conflict workbook and got no last
    word of their own.
    """
    present, refused, disputed = set[str](), set[str](), set[str]()
    for book in workbooks:
        present |= book.present
        refused |= book.unusable.keys()
        if book.manifest is not None and book.manifest.role == Role.CONFLICTS:
            disputed.update(book.manifest.case_list.ids)
    refused.update(problem.case for problem in said.problems if isinstance(problem, RowProblem))
    gone = {problem.case for problem in missing if isinstance(problem, RowProblem)} - present
    judged = {vote.record.case_id for vote in said.votes} | refused | gone
    last = {vote.record.case_id for vote in said.votes if vote.record.final} | gone
    return judged, (judged - disputed) | last


def _carry(
    resolutions: Mapping[str, Resolution], book: CaseBook, closed: tuple[set[str], set[str]], said: _Said
) -> list[Vote]:
    """Carry what was decided on a case to the twins that it claims; what lost or is disputed is not carried.

    Corrections carry over by what they say: `as_model` means each twin's own model span; words that were typed are
    looked for in the twin's own context, and where they are not found the twin stays open.
    """
    votes: list[Vote] = []
    for record in (vote.record for resolution in resolutions.values() for vote in resolution.winners):
        twins = claimed_twins(record, book.twins)
        if record.applies_to is not None and not twins:
            where = " in this document" if record.applies_to is Scope.DOCUMENT else ""
            said.notes.append(f"{record.place}: {record.case_id} has no twin{where}; the judgement counts for it alone")
        for twin in twins:
            if twin in closed[record.final]:
                continue
            carried = structs.replace(record, case_id=twin, applies_to=None, twin=record.case_id)
            decision = book.decide(carried)
            if isinstance(decision, Wrong):
                why = Words(FALLBACK)[f"state.{decision.name.lower()}"]
                said.notes.append(f"{record.place}: {twin} stays open, unlike its twin {record.case_id}: {why}")
            else:
                votes.append(Vote(carried, decision))
    return votes


# One decision a case


def resolve(votes: Sequence[Vote], mode: str = Rule.MAJORITY) -> dict[str, Resolution]:
    """Decide every case, on the whole effect with its corrections.

    `mode` is `majority` (more than half of those who decided), `unanimous`, or the name of the judge who has
    the last word wherever that person judged; elsewhere the majority decides. A judge of a conflict workbook
    always has the last word. Who cannot decide abstains, unless most cannot.
    """
    by_case: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_case[vote.decision.case_id].append(vote)
    return {case_id: _resolve_case(case_id, tuple(cast), mode) for case_id, cast in by_case.items()}


def _resolve_case(case_id: str, cast: tuple[Vote, ...], mode: str) -> Resolution:
    if len(cast) == 1:  # as nearly all are
        return Resolution(case_id, cast, cast)
    final = [vote for vote in cast if vote.record.final]
    named = [vote for vote in cast if mode not in tuple(Rule) and vote.record.judge.casefold() == mode.casefold()]
    heard = final or named or list(cast)
    by_person: dict[str, list[Hashable]] = defaultdict(list)
    for vote in heard:
        by_person[vote.record.judge].append(_effect(vote))
    claims = ConflictKind.CLAIMS if all(vote.record.twin for vote in heard) else None
    if any(len(set(effects)) > 1 for effects in by_person.values()):
        return Resolution(case_id, cast, reason=claims or ConflictKind.TWICE)
    winner = _winner([effects[0] for effects in by_person.values()], mode)
    if winner is None:
        return Resolution(case_id, cast, reason=claims or ConflictKind.DISAGREEMENT)
    return Resolution(case_id, cast, tuple(vote for vote in heard if _effect(vote) == winner))


def _effect(vote: Vote) -> tuple[object, ...]:
    return vote.decision.whole_effect


def _winner(effects: Sequence[Hashable], mode: str) -> Hashable | None:
    counts = Counter(effects)
    if len(counts) == 1:
        return effects[0]
    if mode == Rule.UNANIMOUS:
        return None
    undecided: Hashable = (Effect.OPEN, (), frozenset())
    abstained = counts.pop(undecided, 0)
    if 2 * abstained > len(effects):
        return undecided
    best, number = counts.most_common(1)[0]
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


def _severities(records: Sequence[Judgement], resolutions: Mapping[str, Resolution]) -> dict[str, Severity]:
    """The severity of each case that was rated, or that was decided on a twin that was."""
    rated: dict[str, list[Judgement]] = defaultdict(list)
    for case_id, resolution in resolutions.items():
        if resolution.carried_from:
            rated[case_id] = [vote.record for vote in resolution.winners]
    own: dict[str, list[Judgement]] = defaultdict(list)
    for record in records:
        if record.severity:
            own[record.case_id].append(record)
    found = {case_id: resolved_severity(given) for case_id, given in (rated | own).items()}
    return {case_id: severity for case_id, severity in found.items() if severity is not None}
