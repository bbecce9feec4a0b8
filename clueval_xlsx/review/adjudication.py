"""Judged workbooks and gold → one frozen result: decisions, corrected gold, conflicts, metrics before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import pandas as pd
from msgspec import structs

from clueval_xlsx.cases.kinds import AG, FN, UM
from clueval_xlsx.cases.table import NO_LABEL
from clueval_xlsx.corpus.annotation import join_layers
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.files.names import without_formula
from clueval_xlsx.options import Options
from clueval_xlsx.review.assignment import CaseSample
from clueval_xlsx.review.case_words import judgement_names, what_one_said
from clueval_xlsx.review.correction import Content, extent, sorted_parts
from clueval_xlsx.review.deciding import Decided, Vote, decide_cases
from clueval_xlsx.review.estimates import Remaining, remaining_errors, sample_estimates
from clueval_xlsx.review.judged_figures import (
    agreement_of,
    judged_scores,
    ledger_table,
    misses_by_severity,
)
from clueval_xlsx.review.judgements import JUDGEMENTS, ConflictKind, Effect, Judgement, JudgementKind, Outcome, Rule
from clueval_xlsx.review.log import newest_judgements, other_keys
from clueval_xlsx.review.manifest import Manifest, run_again
from clueval_xlsx.review.progress import (
    Account,
    CaseState,
    make_account,
    missing_cases,
    missing_people,
    workbook_account,
)
from clueval_xlsx.review.reading import JudgedWorkbook
from clueval_xlsx.words import FALLBACK, Words

MISSING = "missing"  # the reason of a row that is gone
_PLACES = ("old_start", "old_end", "new_start", "new_end")
# The change log; `twin` is the case that a decision was made on where it was carried over.
CHANGE_COLUMNS = (
    *("case", "document", "old_start", "old_end", "old_text", "old_labels", "new_start", "new_end", "new_text"),
    *("new_labels", "old", "new", "judgement", "who", "comment", "workbook", "place", "twin"),
)


@dataclass(frozen=True)
class CaseConflict:
    """Judgements that were not carried out: why, which cases and rows, the words at stake, and a way out."""

    kind: ConflictKind
    cases: tuple[str, ...]
    rows: tuple[Vote, ...]
    document: str
    words: tuple[str, ...]
    hint: Effect | None = None  # what may have been meant instead
    with_gold: tuple[int, int] | None = None  # the span of gold that stays and is in the way

    def reason(self, words: Words) -> str:
        """Why the judgements were not carried out, in a sentence."""
        key = f"adjudicated.kind_{self.kind}"
        return words[f"{key}_gold" if self.with_gold and f"{key}_gold" in words else key]

    @property
    def places(self) -> tuple[str, ...]:
        """Where the rows stand."""
        return tuple(vote.record.place for vote in self.rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class Adjudication(Decided):
    """Everything that came of the judgements of one run. Renderings read it and compute nothing."""

    manifest: Manifest | None
    workbooks: tuple[JudgedWorkbook, ...]

    def __repr__(self) -> str:
        """What came of it in one line, and no word of the corpus."""
        return f"<Adjudication: {len(self.records)} judgements, {len(self.correction.changes)} changes of gold>"

    @property
    def judgements(self) -> tuple[JudgementKind, ...]:
        """All judgements that the run knows: those of the tool, and the project's own."""
        return (*JUDGEMENTS, *(self.manifest.judgements if self.manifest else ()))

    @property
    def sample(self) -> CaseSample:
        """How its cases were drawn."""
        return self.manifest.sample if self.manifest is not None else CaseSample()

    @property
    def run_id(self) -> str:
        """The name of the run, if a manifest tells it."""
        return self.manifest.run_id if self.manifest else ""

    def case_number(self, case_id: str) -> str:
        """What people call a case: its sheet and its number there."""
        return f"{case_id.partition('-')[0]} {self.book.table.loc[case_id, 'number']}"

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        """Cases that were judged to be beyond decision."""
        return tuple(case_id for case_id, decision in self.decisions.items() if decision.effect == Effect.OPEN)

    @property
    def needs_a_person(self) -> bool:
        """Whether something was left undone."""
        return bool(self.problems or self.cases_in_conflict or self.correction.conflicts)

    @cached_property
    def unusable(self) -> tuple[RowProblem, ...]:
        """The rows that could not be used, each once: their number is the number of unusable rows."""
        rows: dict[tuple[str, str], RowProblem] = {}
        for problem in self.problems:
            if isinstance(problem, RowProblem) and problem.case and problem.reason != MISSING:
                rows.setdefault((problem.where.partition("!")[0], problem.case), problem)
        return tuple(rows.values())

    @property
    def left_over(self) -> tuple[Problem, ...]:
        """What else is wrong with the workbooks: rows that are gone, and what stands there that nobody understands."""
        return tuple(
            problem
            for problem in self.problems
            if not isinstance(problem, RowProblem) or not problem.case or problem.reason == MISSING
        )

    @cached_property
    def account(self) -> Account:
        """The state of every case that the workbooks of the run should hold."""
        manifests = [book.manifest for book in self.workbooks if book.manifest is not None]
        listed = [case for each in manifests for case in each.case_list.ids]
        known_cases = {*listed, *self.book.cases}  # of the agreed spans the book has those alone that were judged
        present = {case for book in self.workbooks for case in book.present if case in known_cases}
        present = present if listed or present else set(self.book.cases)  # judged in memory
        known = {
            CaseState.CONFLICT: self.cases_in_conflict,
            CaseState.JUDGED: self.decisions.keys() - self.carried.keys(),
            # A row that is gone from one workbook says nothing about the same case in another.
            CaseState.UNUSABLE: present.intersection(problem.case for problem in self.unusable),
            CaseState.CARRIED: self.carried,
            CaseState.SETTLED: self.settled,
            CaseState.OPEN: present,
        }
        return make_account([*listed, *sorted(present)], known)

    @cached_property
    def workbook_accounts(self) -> tuple[Account, ...]:
        """The account of each workbook by itself."""
        return tuple(workbook_account(book) for book in self.workbooks)

    @cached_property
    def conflicts(self) -> tuple[CaseConflict, ...]:
        """First what people disagree about, then what cannot be carried out together; one for all that cells claim."""
        corpus, documents = self.raw.pair.corpus, self.book.table["document"].to_dict()
        disputed: dict[object, list[str]] = {}
        for case_id, resolution in self.resolutions.items():
            if resolution.reason is ConflictKind.CLAIMS:
                disputed.setdefault(tuple(vote.record.place for vote in resolution.votes), []).append(case_id)
            elif resolution.reason is not None:
                disputed[case_id] = [case_id]
        found = []
        for cases in sorted(disputed.values(), key=lambda own: self.resolutions[own[0]].reason is ConflictKind.CLAIMS):
            resolution = self.resolutions[cases[0]]
            words = (corpus.text(*self.book.cases[cases[0]].own),)
            kind = resolution.reason or ConflictKind.DISAGREEMENT
            found.append(CaseConflict(kind, tuple(cases), resolution.votes, documents[cases[0]], words))
        for clash in self.correction.conflicts:
            votes = [
                vote for case in clash.cases if case in self.resolutions for vote in self.resolutions[case].winners
            ]
            hint = Effect.BOUNDARY if clash.adds and clash.with_gold else None
            stake = tuple(corpus.text(*span) for span in dict.fromkeys(clash.spans))
            found.append(
                CaseConflict(
                    clash.kind, clash.cases, tuple(votes), documents[clash.cases[0]], stake, hint, clash.with_gold
                )
            )
        return tuple(found)

    @cached_property
    def to_decide(self) -> tuple[str, ...]:
        """The cases of a conflict workbook: those in conflict, and those of gold spans that stand in the way."""
        places = {clash.with_gold for clash in self.correction.conflicts}
        in_the_way = [
            case.case_id for case in self.book.cases.values() if case.sheet in {FN, AG} and case.own in places
        ]
        return tuple(dict.fromkeys([*self.cases_in_conflict, *in_the_way]))

    def reasons(self, words: Words, *, blind: bool = False) -> dict[str, str]:
        """Why each case that is to be decided needs it, and who said what; if `blind`, what was said but not by whom.

        A clash names the passages that would overlap and what was said of the other cases in it.
        """
        names = judgement_names(self.judgements, words)
        found = {}
        for case_id in self.to_decide:
            own = self.book.cases[case_id].own
            conflicts = [each for each in self.conflicts if case_id in each.cases or own == each.with_gold]
            lines: list[str] = []
            for conflict in conflicts:
                lines.append(conflict.reason(words))
                if len(conflict.words) > 1:
                    lines.append(" / ".join(words("quoted", text=text) for text in conflict.words))
            for case in dict.fromkeys([case_id, *(each for conflict in conflicts for each in conflict.cases)]):
                votes = self.resolutions[case].votes if case in self.resolutions else ()
                records = [vote.record for vote in votes]
                if blind:
                    records = _unnamed(records, words)
                mark = "" if case == case_id else f"{self.case_number(case)}: "
                lines += [f"{mark}{what_one_said(record, names, words)}" for record in records]
            if any(conflict.hint for conflict in conflicts):
                lines.append(words["adjudicated.hint_boundary"])
            found[case_id] = "\n".join(dict.fromkeys(lines))
        return found

    @cached_property
    def changes(self) -> pd.DataFrame:
        """The change log, in the order of the text: one row for each decision that changed gold."""
        pair, rows, documents = self.raw.pair, [], self.book.table["document"].to_dict()
        for change in sorted(self.correction.changes, key=lambda change: extent(change.old or change.new)):
            resolution = self.resolutions[change.case_id]
            row: dict[str, object] = {
                "case": change.case_id,
                "document": documents[change.case_id],
                "judgement": change.code,
                "twin": resolution.carried_from,
            }
            for name, content in (("old", change.old), ("new", change.new)):
                row[name] = "; ".join(
                    f"{part.layer} {part.start}..{part.end} {part.label or NO_LABEL}" for part in sorted_parts(content)
                )
                row[f"{name}_start"], row[f"{name}_end"] = extent(content) if content else (None, None)
                row[f"{name}_text"] = " | ".join(pair.corpus.text(*place) for place in places_of(content))
                row[f"{name}_labels"] = _labels(content, pair.layers)
            records = [vote.record for vote in resolution.winners]
            for name, key, between in (
                ("who", "judge", ", "),
                ("comment", "comment", " / "),
                ("workbook", "workbook", ", "),
                ("place", "place", ", "),
            ):
                row[name] = between.join(
                    dict.fromkeys(str(getattr(each, key)) for each in records if getattr(each, key))
                )
            rows.append(row)
        return pd.DataFrame(rows, columns=list(CHANGE_COLUMNS)).astype(dict.fromkeys(_PLACES, "Int64"))

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The headline before, after correcting gold, with `acceptable` counted, and with harmless misses forgiven."""
        return judged_scores(self)

    @cached_property
    def misses(self) -> pd.DataFrame:
        """The misses that are left, by severity."""
        return misses_by_severity(self)

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
        return sample_estimates(self, self.sample)

    @cached_property
    def remaining(self) -> tuple[Remaining, ...]:
        """What is to be expected among the unjudged cases of each sheet, where they are ordered by suspicion."""
        return remaining_errors(self) if self.sample.size is None else ()

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """What the cases turned out to be, by sheet."""
        return ledger_table(self)

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """Measures of agreement; empty if nobody judged the same case, or the same twins."""
        return agreement_of(self)

    def log(self, when: str) -> list[Judgement]:
        """Every judgement with what became of it, for the log."""
        keys = dict(zip(self.book.table["case_id"], other_keys(self.book.table), strict=True))
        moved: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for case, old, new in zip(*(self.changes[name].tolist() for name in ("case", "old", "new")), strict=True):
            moved[case].append((old, new))
        reached: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for twin in self.carried:
            for vote in self.resolutions[twin].winners:
                reached[vote.record.judge, vote.record.twin][twin] = keys[twin]
        logged = []
        # The last words come last: who reads the log takes the newest decision of a case.
        for record in sorted(self.records, key=lambda record: record.final):
            case = record.case_id
            outcome = self._outcome(record, case in moved)
            old, new = (
                (" ".join(texts) for texts in zip(*moved[case], strict=True))
                if outcome == Outcome.APPLIED
                else ("", "")
            )
            became = structs.replace(record, when=record.when or when, run=self.run_id, outcome=outcome)
            logged.append(
                structs.replace(became, reached=reached[record.judge, case], other=keys[case], old=old, new=new)
            )
        return logged

    def taken_back(self, when: str, known: Sequence[Judgement]) -> list[Judgement]:
        """Lines for what stands in a log and no longer in the workbooks: in rows that are open, or came filled in."""
        newest = newest_judgements(known)
        said = {(record.case_id, record.judge) for record in self.records if record.code}
        lines: dict[tuple[str, str], Judgement] = {}
        for book in self.workbooks:
            gone = {(case, book.judge): "" for case in book.unjudged - book.unusable.keys()}
            gone = {who: "" for who in gone if (old := newest.get(who)) is not None and old.run == self.run_id}
            gone |= {(case, judge): judge for case, judge in book.overruled.items()}
            for case, judge in gone.keys() - said:
                old = newest.get((case, judge))
                if old is not None and old.code:
                    whose = "" if judge == book.judge else judge
                    lines[case, judge] = Judgement(
                        case_id=case, judge=book.judge, whose=whose, when=when, run=self.run_id,
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
    passages = [book.manifest.unmarked for book in workbooks if book.manifest is not None and book.manifest.unmarked]
    judged = {row.record.case_id for book in workbooks for row in book.rows if row.record.sheet == UM}
    raw = run_again(pair, options, manifest, passages, judged)
    labels, language = (manifest.labels, manifest.lang) if manifest is not None else ((), FALLBACK)
    decided = decide_cases(raw, workbooks, missing_cases(workbooks), labels=labels, language=language, mode=mode)
    corrected, layers = raw, decided.correction.layers
    if decided.correction.changes:
        gold = replace(pair.gold, layers=layers, spans=join_layers(layers, pair.corpus))
        corrected = evaluate(replace(pair, gold=gold), options)
    known = {each.name: getattr(decided, each.name) for each in fields(decided)}
    return Adjudication(**{**known, "corrected": corrected}, manifest=manifest, workbooks=tuple(workbooks))


# Changes in words


def _unnamed(records: Sequence[Judgement], words: Words) -> list[Judgement]:
    """What was said under letters, ordered by what it is, so that nobody's place gives them away."""
    ordered = sorted(records, key=lambda record: (record.code, record.correct_span, record.comment))
    letters = [words("adjudicated.judge", letter=chr(ord("A") + place)) for place in range(len(ordered))]
    return [structs.replace(record, judge=letter) for record, letter in zip(ordered, letters, strict=True)]


def places_of(content: Content) -> list[tuple[int, int]]:
    """The stretches of text that the parts of a change cover, those that overlap as one."""
    places: list[tuple[int, int]] = []
    for part in sorted_parts(content):
        if places and part.start <= places[-1][1]:
            places[-1] = places[-1][0], max(places[-1][1], part.end)
        else:
            places.append((part.start, part.end))
    return places


def _labels(content: Content, layers: Sequence[str]) -> str:
    """The labels of a span, with their layers where there are several."""
    shown = []
    for layer in layers:
        labels = dict.fromkeys(part.label or NO_LABEL for part in sorted_parts(content) if part.layer == layer)
        if labels:
            shown.append(("" if len(layers) == 1 else f"{layer}: ") + ", ".join(labels))
    return "; ".join(shown)


def changes_tsv(changes: pd.DataFrame) -> str:
    """The change log as TSV; line breaks and tabs inside a cell become spaces, what looks like a formula is escaped."""
    table = changes.drop(columns=["old", "new", "place"]).astype(object).where(changes.notna(), "")
    for name in table.columns:
        table[name] = [without_formula(" ".join(str(value).split())) for value in table[name]]
    return table.to_csv(sep="\t", index=False, lineterminator="\n")
