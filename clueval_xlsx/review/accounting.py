"""The books of a re-import: every case that a manifest knows ends in exactly one state, and they add up to all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.review.answers import settles
from clueval_xlsx.review.deciding import claimed_twins
from clueval_xlsx.review.manifest import CaseList, Manifest
from clueval_xlsx.review.reading import JudgedWorkbook


class CaseState(StrEnum):
    """Where a case stands after its workbooks were read."""

    JUDGED = "judged"
    CARRIED = "carried"  # decided on a twin
    SETTLED = "settled"  # by the judgement of a linked case
    CONFLICT = "conflict"
    UNUSABLE = "unusable"
    OPEN = "open"
    MISSING = "missing"  # its row stands nowhere any more


@dataclass(frozen=True)
class Account:
    """How many cases there are, and how many of them are in each state."""

    states: Mapping[str, CaseState]

    @property
    def cases(self) -> int:
        """All of them."""
        return len(self.states)

    @property
    def counts(self) -> dict[CaseState, int]:
        """The number of cases in each state, also where it is none."""
        found = Counter(self.states.values())
        return {state: found[state] for state in CaseState}

    @property
    def done(self) -> int:
        """Cases that nobody needs to look at any more."""
        return sum(self.counts[state] for state in (CaseState.JUDGED, CaseState.CARRIED, CaseState.SETTLED))

    def of(self, state: CaseState) -> list[str]:
        """The cases in a state."""
        return [case for case, found in self.states.items() if found is state]


@dataclass(frozen=True)
class Known:
    """What is known about cases, by case ID; an earlier name wins over a later one."""

    conflict: Collection[str] = ()
    judged: Collection[str] = ()
    unusable: Collection[str] = ()
    carried: Collection[str] = ()
    settled: Collection[str] = ()
    present: Collection[str] = ()


def make_account(cases: Iterable[str], known: Known) -> Account:
    """Give each case its state.

    >>> make_account(["FN-A", "FN-B"], Known(judged={"FN-A"})).counts[CaseState.MISSING]
    1
    """
    order = (
        (CaseState.CONFLICT, set(known.conflict)),
        (CaseState.JUDGED, set(known.judged)),
        (CaseState.UNUSABLE, set(known.unusable)),
        (CaseState.CARRIED, set(known.carried)),
        (CaseState.SETTLED, set(known.settled)),
        (CaseState.OPEN, set(known.present)),
    )
    return Account(
        {
            case: next((state for state, members in order if case in members), CaseState.MISSING)
            for case in dict.fromkeys(cases)
        }
    )


def workbook_account(book: JudgedWorkbook) -> Account:
    """The account of one workbook by itself; without its manifest, of the cases that stand in it."""
    said: dict[str, set[tuple[object, ...]]] = {}
    for row in book.rows:
        if row.record.completeness.judged:
            said.setdefault(row.record.case_id, set()).add(row.record.said[:3])
    incomplete = {row.record.case_id for row in book.rows if row.record.completeness.missing is not None}
    listed = book.manifest.case_list if book.manifest else CaseList()
    unusable = {*book.unusable, *incomplete}
    claims: dict[str, set[tuple[object, ...]]] = {}
    settled: set[str] = set()
    for record in (row.record for row in book.rows if row.record.completeness.judged):
        twins = claimed_twins(record, listed.twins) if len(said[record.case_id]) == 1 else ()
        reached = [twin for twin in twins if twin in book.present and twin not in said and twin not in unusable]
        for twin in reached:
            claims.setdefault(twin, set()).add(record.said[:3])
        for case in (record.case_id, *reached):
            linked = listed.links.get(case, ())
            for other in linked:
                only = len(linked) == 1 and len(listed.links.get(other, ())) == 1
                if record.effect is not None and settles(record.effect, only=only):
                    settled.add(other)
    known = Known(
        conflict={case for case, answers in (*said.items(), *claims.items()) if len(answers) > 1},
        judged=said,
        unusable=unusable,
        carried=claims,
        settled=settled,
        present=book.present,
    )
    return make_account([*listed.ids, *(() if listed.ids else sorted(book.present))], known)


def missing_cases(books: Sequence[JudgedWorkbook]) -> list[Problem]:
    """Cases whose rows are gone from their workbooks, each named.

    A workbook that somebody split in two is whole if the parts share no case and hold everything together.
    """
    problems: list[Problem] = []
    for book in books:
        if book.manifest is None:
            continue
        cases = book.manifest.case_list.ids
        gone = [case for case in cases if case not in book.present]
        if not gone:
            continue
        parts = [
            other.present
            for other in books
            if other is not book and other.present.isdisjoint(book.present) and _same_workbook(book, other)
        ]
        problems += [
            RowProblem(
                book.name.rpartition("/")[2],
                f"the row of case {case} stands nowhere in the workbook",
                remedy="Put the row back, or take the case from the workbook as it was sent out",
                reason="missing",
                value=case,
                case=case,
            )
            for case in gone
            if not any(case in present for present in parts)
        ]
    return problems


def _same_workbook(one: JudgedWorkbook, other: JudgedWorkbook) -> bool:
    """Whether two files may be parts of one workbook: one manifest, or one of them lost it."""
    return other.manifest is None or _identity(one.manifest) == _identity(other.manifest)


def _identity(manifest: Manifest | None) -> tuple[str, ...]:
    return () if manifest is None else (manifest.run_id, manifest.judge, manifest.part, manifest.role)
