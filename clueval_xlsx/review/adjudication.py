"""Judged workbooks and gold → one frozen result: decisions, corrected gold, conflicts, metrics before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from msgspec import structs

from clueval_xlsx.cases.kinds import AG, UM
from clueval_xlsx.cases.unmarked import UnmarkedOptions, UnmarkedPassages
from clueval_xlsx.corpus.annotation import join_layers
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.corpus.spans import layers_of
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.exceptions import InputError, Problem, RowProblem
from clueval_xlsx.options import Options
from clueval_xlsx.review.accounting import Account, CaseState, Known, make_account, missing_cases, workbook_account
from clueval_xlsx.review.agreement import agreement_table, labels_by_case
from clueval_xlsx.review.assignment import Sample
from clueval_xlsx.review.carrying import OwnAnswers, carry, group_units
from clueval_xlsx.review.conflicts import CaseConflict, describe_changes, describe_conflicts
from clueval_xlsx.review.correction import Correction, Decision, correct
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.estimates import Remaining, remaining_errors, sample_estimates
from clueval_xlsx.review.judged_figures import judged_scores, judgement_counts, ledger_table, misses_by_severity
from clueval_xlsx.review.judged_run import JudgedRun
from clueval_xlsx.review.judgements import SETTLING, Judgement
from clueval_xlsx.review.manifest import Manifest
from clueval_xlsx.review.previous import newest_judgements, other_keys
from clueval_xlsx.review.progress import missing_people
from clueval_xlsx.review.reading import JudgedWorkbook
from clueval_xlsx.review.resolution import Resolution, Vote, resolve, resolved_severity
from clueval_xlsx.review.sheet_rows import ReviewRow
from clueval_xlsx.review.vocabulary import Effect, Outcome, Role, Rule, Scope, Severity
from clueval_xlsx.review.votes import each_once, read_votes, without_overruled
from clueval_xlsx.words import FALLBACK

_ANY_CHANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Adjudication:
    """Everything that came of the judgements of one run. Renderings read it and compute nothing."""

    manifest: Manifest | None
    workbooks: tuple[JudgedWorkbook, ...]
    book: CaseBook
    raw: Evaluation
    corrected: Evaluation
    correction: Correction
    records: tuple[Judgement, ...]  # usable judgements, and rows with only a severity or a comment
    resolutions: Mapping[str, Resolution]
    settled: Mapping[str, str]  # case -> the linked case whose judgement settles it
    severities: Mapping[str, Severity]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        """What came of it in one line, and no word of the corpus."""
        return f"<Adjudication: {len(self.records)} judgements, {len(self.correction.changes)} changes of gold>"

    @property
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
    def judged(self) -> JudgedRun:
        """What the figures are computed from."""
        return JudgedRun(
            raw=self.raw,
            corrected=self.corrected,
            correction=self.correction,
            book=self.book,
            decisions=self.decisions,
            settled=self.settled,
            severities=self.severities,
            sample=self.manifest.sample if self.manifest is not None else Sample(),
            carried=self.carried,
        )

    @cached_property
    def cases_in_conflict(self) -> tuple[str, ...]:
        """Cases that a person must look at again: people disagree, or decisions clash."""
        unresolved = [case_id for case_id, resolution in self.resolutions.items() if resolution.decision is None]
        return tuple(dict.fromkeys([*unresolved, *sorted(self.correction.held)]))

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        """Cases that were judged to be beyond decision."""
        return tuple(case_id for case_id, decision in self.decisions.items() if decision.effect == Effect.OPEN)

    @property
    def needs_a_person(self) -> bool:
        """Whether something was left undone."""
        return bool(self.problems or self.cases_in_conflict or self.correction.conflicts)

    @cached_property
    def account(self) -> Account:
        """The state of every case that the workbooks of the run should hold."""
        manifests = [book.manifest for book in self.workbooks if book.manifest is not None]
        listed = [case for each in manifests for case in each.case_list.ids]
        present = {case for book in self.workbooks for case in book.present if case in self.book.cases}
        rows = [problem for problem in self.problems if isinstance(problem, RowProblem)]
        known = Known(
            conflict=self.cases_in_conflict,
            judged=self.decisions.keys() - self.carried.keys(),
            # A row that is gone from one workbook says nothing about the same case in another.
            unusable=present.intersection(problem.case for problem in rows if problem.reason != "missing"),
            carried=self.carried,
            settled=self.settled,
            present=present,
        )
        return make_account([*listed, *sorted(present)], known)

    @cached_property
    def workbook_accounts(self) -> tuple[Account, ...]:
        """The account of each workbook by itself."""
        return tuple(workbook_account(book) for book in self.workbooks)

    @property
    def unjudged(self) -> int:
        """How many cases of the run nobody judged, apart from those whose rows cannot be used or are gone."""
        known = {*self.decisions, *self.cases_in_conflict, *self.settled}
        reported = {*self.account.of(CaseState.UNUSABLE), *self.account.of(CaseState.MISSING)}
        return len(set(self.book.table["case_id"]) - known - reported)

    @cached_property
    def conflicts(self) -> tuple[CaseConflict, ...]:
        """Every conflict with the rows it comes from and what to do about it."""
        return describe_conflicts(self.resolutions, self.correction, self.book, self.raw.pair.corpus)

    @cached_property
    def changes(self) -> pd.DataFrame:
        """The change log: one row for each decision that changed gold."""
        return describe_changes(self.correction.changes, self.resolutions, self.book, self.raw.pair)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The headline before, after correcting gold, with `acceptable` counted, and with harmless misses forgiven."""
        return judged_scores(self.judged)

    @cached_property
    def misses(self) -> pd.DataFrame:
        """The misses that are left, by severity."""
        return misses_by_severity(self.judged)

    @cached_property
    def missing_people(self) -> tuple[str, ...]:
        """Members of the team whose workbook did not come back."""
        return tuple(missing_people(self.workbooks))

    @cached_property
    def team(self) -> tuple[str, ...]:
        """Everybody the cases were handed out to."""
        known = [book.manifest for book in self.workbooks if book.manifest is not None]
        return tuple(dict.fromkeys(name for manifest in known for name in manifest.team))

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """Recall and precision if every case were judged, where only a sample was; else empty."""
        return sample_estimates(self.judged)

    @cached_property
    def remaining(self) -> tuple[Remaining, ...]:
        """What is to be expected among the unjudged cases of each sheet, where they are ordered by suspicion."""
        return remaining_errors(self.judged)

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """What the cases turned out to be, by sheet."""
        return ledger_table(self.book.table, self.decisions, set(self.cases_in_conflict), self.settled, self.carried)

    @cached_property
    def counts(self) -> pd.DataFrame:
        """Judgements by sheet, class, label, document, severity and judge."""
        chosen = {
            case_id: resolution.decision.code
            for case_id, resolution in self.resolutions.items()
            if resolution.decision is not None
        }
        layers = self.raw.pair.layers
        return judgement_counts(self.book.table, layers, chosen, severities=self.severities, records=self.records)

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """Measures of agreement; empty if nobody judged the same case, or the same twins."""
        first = [record for record in self.records if record.code and not record.final]
        units = [(record.case_id, record) for record in first]
        labels = labels_by_case(self.book.table, self.raw.pair.layers)
        for name, record in group_units(first, self.book.twins):
            units.append((name, record))
            labels[name] = labels[record.case_id]
        rows = {(record.judge, unit): (unit, record.sheet, record.judge, record.code) for unit, record in units}
        judged = pd.DataFrame(list(rows.values()), columns=["case_id", "sheet", "judge", "code"])
        return agreement_table(judged, labels)

    def log(self, when: str) -> list[Judgement]:
        """Every judgement with what became of it, for the log."""
        keys = dict(zip(self.book.table["case_id"], other_keys(self.book.table), strict=True))
        changed = {change.case_id for change in self.correction.changes}
        rows = self.changes.groupby("case").agg({"old": " ".join, "new": " ".join}) if len(self.changes) else None
        reached: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for twin in self.carried:
            for vote in self.resolutions[twin].winners:
                reached[vote.record.judge, vote.record.twin][twin] = keys[twin]
        logged = []
        # The last words come last: who reads the log takes the newest decision of a case.
        for record in sorted(self.records, key=lambda record: record.final):
            case = record.case_id
            outcome = self._outcome(record, case in changed)
            moved = rows is not None and outcome == Outcome.APPLIED and case in rows.index
            old, new = (str(rows.loc[case, name]) if moved and rows is not None else "" for name in ("old", "new"))
            logged.append(
                structs.replace(
                    record,
                    when=record.when or when,
                    run=self._run_id,
                    outcome=outcome,
                    reached=reached[record.judge, case],
                    other=keys[case],
                    old=old,
                    new=new,
                )
            )
        return logged

    @property
    def _run_id(self) -> str:
        return self.manifest.run_id if self.manifest else ""

    def taken_back(self, when: str, known: Sequence[Judgement]) -> list[Judgement]:
        """Lines for what stands in a log and no longer in the workbooks: in rows that are open, or came filled in."""
        newest = newest_judgements(known)
        said = {(record.case_id, record.judge) for record in self.records if record.code}
        lines: dict[tuple[str, str], Judgement] = {}
        for book in self.workbooks:
            gone = {(case, book.judge): "" for case in book.unjudged - book.unusable.keys()}
            gone = {who: "" for who in gone if (old := newest.get(who)) is not None and old.run == self._run_id}
            gone |= {(case, judge): judge for case, judge in book.overruled.items()}
            for case, judge in gone.keys() - said:
                old = newest.get((case, judge))
                if old is not None and old.code:
                    whose = "" if judge == book.judge else judge
                    lines[case, judge] = Judgement(
                        case_id=case, judge=book.judge, whose=whose, when=when, run=self._run_id,
                        outcome=Outcome.WITHDRAWN, workbook=book.name, workbook_sha256=book.sha256,
                    )  # fmt: skip
                for who, source in newest.items():
                    if who[1] == judge and case in source.reached:
                        left = dict(lines.get(who, source).reached)
                        left.pop(case, None)
                        lines[who] = structs.replace(source, reached=left)
        return list(lines.values())

    def _outcome(self, record: Judgement, changed: bool) -> Outcome | None:
        resolution = self.resolutions.get(record.case_id)
        if resolution is None or not record.code:
            return None
        if resolution.decision is None:
            return Outcome.OPEN
        if not resolution.follows(record):
            return Outcome.OUTVOTED
        if record.case_id in self.correction.held:
            return Outcome.HELD
        return Outcome.APPLIED if changed else Outcome.UNCHANGED


def adjudicate(
    pair: Pair,
    options: Options,
    workbooks: Sequence[JudgedWorkbook],
    *,
    manifest: Manifest | None = None,
    mode: str = Rule.MAJORITY,
) -> Adjudication:
    """Bring the judgements of one run together and correct gold.

    `pair` is gold and prediction as they were evaluated, `options` what they were evaluated with. `mode` says how
    several judgements of one case are resolved.
    """
    rows = each_once(workbooks)
    raw = _with_unmarked(_in_order(evaluate(pair, options), manifest), workbooks, rows)
    book = CaseBook(raw, _agreed_scopes(rows), manifest.lang if manifest is not None else FALLBACK)
    votes, records, problems, notes = read_votes(rows, book)
    reported = {*(problem.case for problem in problems if isinstance(problem, RowProblem)), *_unusable(workbooks)}
    missing = missing_cases(workbooks)
    carried = carry(
        resolve(without_overruled(votes, book), mode), book, _own_answers(votes, reported, workbooks, missing)
    )
    resolutions = resolve(without_overruled([*votes, *carried.votes], book), mode)
    chosen = [resolution.decision for resolution in resolutions.values() if resolution.decision is not None]
    correction = correct(pair.gold.layers, chosen, pair.corpus.documents.start)
    by_case: dict[str, list[Judgement]] = defaultdict(list)
    for record in records:
        by_case[record.case_id].append(record)
    severities = {case_id: severity for case_id, own in by_case.items() if (severity := resolved_severity(own))}
    for case_id, resolution in resolutions.items():
        given = resolved_severity([vote.record for vote in resolution.winners]) if resolution.carried_from else None
        if given is not None:
            severities.setdefault(case_id, given)
    return Adjudication(
        manifest,
        tuple(workbooks),
        book,
        raw,
        _evaluate_corrected(raw, pair, options, correction),
        correction,
        tuple(records),
        resolutions,
        _settled(resolutions, correction, book),
        severities,
        (*(problem for workbook in workbooks for problem in workbook.problems), *problems, *missing),
        tuple([note for workbook in workbooks for note in workbook.notes] + notes + list(carried.notes)),
    )


def _in_order(raw: Evaluation, manifest: Manifest | None) -> Evaluation:
    """The run with its cases in the order of its workbooks, so that they have the same numbers."""
    if manifest is None or manifest.order is None:
        return raw
    for errors, sheet in zip(raw.errors, manifest.order.sheets.values(), strict=True):
        size = int(errors.sum())
        wanted = np.arange(size)
        if len(sheet.random) != size or any((np.sort(rows) != wanted).any() for rows in (sheet.shown, sheet.ranked)):
            raise _damaged("the order of the cases")
    return replace(raw, order=manifest.order)


def _with_unmarked(raw: Evaluation, workbooks: Sequence[JudgedWorkbook], rows: Sequence[ReviewRow]) -> Evaluation:
    """The run with the unmarked passages that its workbooks list; without any manifest, those that were judged."""
    manifests = [book.manifest for book in workbooks if book.manifest is not None]
    listed = [each.unmarked for each in manifests if each.unmarked is not None]
    if listed:  # where workbooks differ, the longest list holds all but a few of the others
        return replace(raw, unmarked=_checked(max(listed, key=len), raw.pair))
    judged = {row.record.case_id for row in rows if row.record.sheet == UM}
    if not judged:
        return raw
    everything = raw.with_unmarked(UnmarkedOptions(least=_ANY_CHANCE, once=True, common=True))
    if everything.unmarked is None or everything.unmarked_cases is None:
        return raw
    cases = everything.unmarked_cases
    kept = np.sort(cases["row"][cases["case_id"].isin(list(judged))].to_numpy(np.int64))
    return replace(raw, unmarked=everything.unmarked.only(kept))


def _checked(passages: UnmarkedPassages, pair: Pair) -> UnmarkedPassages:
    spans = passages.spans
    if set(layers_of(spans)) != set(pair.layers) or (spans["end"] >= len(pair.corpus)).any():
        raise _damaged("the list of unmarked passages")
    return passages


def _damaged(what: str) -> InputError:
    return InputError(f"{what} in the manifest is damaged. Ask for the workbook again.")


def _unusable(workbooks: Sequence[JudgedWorkbook]) -> set[str]:
    return {case for workbook in workbooks for case in workbook.unusable}


def _own_answers(
    votes: Sequence[Vote], reported: set[str], workbooks: Sequence[JudgedWorkbook], missing: Sequence[Problem]
) -> OwnAnswers:
    """The cases that keep their own: judged, not understood, or gone with whatever their row said."""
    present = {case for workbook in workbooks for case in workbook.present}
    gone = {problem.case for problem in missing if isinstance(problem, RowProblem)} - present
    last = [book.manifest for book in workbooks if book.manifest is not None and book.manifest.role == Role.CONFLICTS]
    return OwnAnswers(
        judged={*(vote.record.case_id for vote in votes), *reported, *gone},
        judged_finally={*(vote.record.case_id for vote in votes if vote.record.final), *gone},
        disputed={case for manifest in last for case in manifest.case_list.ids},
    )


def _agreed_scopes(rows: Sequence[ReviewRow]) -> dict[str, Scope | None]:
    """The agreed spans that somebody judged, each with the widest scope that somebody gave it."""
    found: dict[str, Scope | None] = {}
    for record in (row.record for row in rows if row.record.sheet == AG):
        found[record.case_id] = _wider(found.get(record.case_id), record.applies_to)
    return found


def _wider(one: Scope | None, other: Scope | None) -> Scope | None:
    return Scope.ALL if Scope.ALL in {one, other} else one or other


def _evaluate_corrected(raw: Evaluation, pair: Pair, options: Options, correction: Correction) -> Evaluation:
    if not correction.changes:
        return raw
    gold = replace(pair.gold, layers=correction.layers, spans=join_layers(correction.layers, pair.corpus))
    return evaluate(replace(pair, gold=gold), options)


def _settled(resolutions: Mapping[str, Resolution], correction: Correction, book: CaseBook) -> dict[str, str]:
    """Cases nobody judged whose linked case was: its correction settles both."""
    settled: dict[str, str] = {}
    for case_id, resolution in resolutions.items():
        decision = resolution.decision
        if decision is None or decision.effect not in SETTLING or case_id in correction.held:
            continue
        for other in book.related[case_id]:
            if other not in resolutions:
                settled[other] = case_id
    return settled
