"""The books: every case that a manifest knows ends in exactly one state, and they add up to all.

Of a re-import, of one workbook by itself (`status`), and of a file that is about to be overwritten; the last two need
no gold file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from clueval_xlsx.exceptions import InputError, Problem, RowProblem
from clueval_xlsx.files.sheets import SheetTable
from clueval_xlsx.files.workbooks import WORKBOOKS, Kind, kind_of, read_workbook
from clueval_xlsx.review.answers import settles
from clueval_xlsx.review.deciding import claimed_twins
from clueval_xlsx.review.judgements import JUDGEMENTS
from clueval_xlsx.review.manifest import CaseList, Manifest, refuse_without_text
from clueval_xlsx.review.reading import (
    JudgedWorkbook,
    find_run_ids,
    has_review_sheet,
    read_judgements,
    read_manifest,
    refuse_report,
)
from clueval_xlsx.review.review_sheets import SheetWords, iterate_case_rows, stands_twice
from clueval_xlsx.text.cells import normalise
from clueval_xlsx.words import FALLBACK, TERMINAL, Words

_NOBODY_KNOWS = "so nobody can tell whether there are judgements in it"
_OF_COLUMNS = "no_judgement_column"  # a reason that says nothing of a single row


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

    def sentence(self, words: Words) -> str:
        """All cases, and how many are in each state."""
        parts = ", ".join(words(f"account.{state}", count=count) for state, count in self.counts.items())
        return words.counted("account.sentence", self.cases, cases=self.cases, parts=parts)

    def of(self, state: CaseState) -> list[str]:
        """The cases in a state."""
        return [case for case, found in self.states.items() if found is state]


def make_account(cases: Iterable[str], known: Mapping[CaseState, Collection[str]]) -> Account:
    """Give each case the first state that has it, in the order of `known`.

    >>> make_account(["FN-A", "FN-B"], {CaseState.JUDGED: {"FN-A"}}).counts[CaseState.MISSING]
    1
    """
    members = {state: set(own) for state, own in known.items()}
    states = {}
    for case in dict.fromkeys(cases):
        states[case] = next((state for state, own in members.items() if case in own), CaseState.MISSING)
    return Account(states)


def workbook_account(book: JudgedWorkbook) -> Account:
    """The account of one workbook by itself; without its manifest, of the cases that stand in it."""
    said: dict[str, set[tuple[object, ...]]] = {}
    for row in book.rows:
        if row.is_complete:
            said.setdefault(row.record.case_id, set()).add(row.record.said[:3])
    incomplete = {row.record.case_id for row in book.rows if row.lacks}
    listed = book.manifest.case_list if book.manifest else CaseList()
    unusable = {*book.unusable, *incomplete}
    claims: dict[str, set[tuple[object, ...]]] = {}
    settled: set[str] = set()
    for record in (row.record for row in book.rows if row.is_complete):
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
    known = {
        CaseState.CONFLICT: {case for case, answers in (*said.items(), *claims.items()) if len(answers) > 1},
        CaseState.JUDGED: said,
        CaseState.UNUSABLE: unusable,
        CaseState.CARRIED: claims,
        CaseState.SETTLED: settled,
        CaseState.OPEN: book.present,
    }
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


# ---- one workbook by itself


@dataclass(frozen=True)
class WorkbookProgress:
    """One workbook: whose it is, and where its cases stand."""

    name: str
    judge: str
    account: Account
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    manifest: Manifest | None

    @property
    def share(self) -> str:
        """Done, in per cent."""
        return f"{100 * self.account.done / self.account.cases:.0f}" if self.account.cases else "–"


def workbook_progress(data: bytes, name: str, password: str | None = None) -> WorkbookProgress:
    """Where the cases of a workbook stand."""
    tables = read_workbook(data, name, password).sheets
    manifest = read_manifest(tables, name)
    refuse_without_text(manifest, name)
    refuse_report(tables, name, manifest)
    if manifest is None and not has_review_sheet(tables):
        raise InputError(f"{name}: found no row with a case ID. Give workbooks that `clueval-xlsx evaluate` wrote.")
    book = _read_alone(tables, name, manifest)
    words = Words(manifest.lang if manifest else FALLBACK)
    problems = (*book.problems, *_incomplete(book, words), *missing_cases([book]))
    return WorkbookProgress(name, book.judge, workbook_account(book), problems, book.notes, manifest)


def _read_alone(tables: Sequence[SheetTable], name: str, manifest: Manifest | None) -> JudgedWorkbook:
    """The judgements of a workbook that nothing else is known of."""
    if manifest is None:
        return read_judgements(tables, name, None, SheetWords((), JUDGEMENTS))
    words = SheetWords(manifest.layers, (*JUDGEMENTS, *manifest.judgements), manifest.lang, manifest.columns)
    return read_judgements(tables, name, manifest, words)


def _incomplete(book: JudgedWorkbook, words: Words) -> list[Problem]:
    """Judgements that lack their correction, each with the empty cell."""
    found: list[Problem] = []
    for row in book.rows:
        if row.lacks:
            why, remedy = words[f"unusable.{row.lacks}"], words[f"remedy.{row.lacks}"]
            found.append(Problem(row.where(row.lacks), f"found nothing: {why}", remedy=remedy))
    return found


def missing_people(found: Sequence[WorkbookProgress | JudgedWorkbook]) -> list[str]:
    """Members of the team whose workbook is not there; told by whom each workbook was made for, or who signed it."""
    team: dict[str, None] = {}
    present: set[str] = set()
    for each in found:
        if each.manifest is not None:
            team.update(dict.fromkeys(each.manifest.team))
            present.add(normalise(each.manifest.judge))
        present.add(normalise(each.judge))
    return [name for name in team if normalise(name) not in present]


# ---- a file that is about to be overwritten


def why_not_overwrite(data: bytes, name: str) -> str:
    """What would be lost with a file, as words for a message; empty if it may go like any other output.

    What is plainly no review workbook (no rows of cases) is nobody's work. A workbook that cannot be opened, or a
    review sheet whose columns are not recognised, may well be.
    """
    kind = kind_of(data)
    if kind not in WORKBOOKS:
        return ""
    if kind in {Kind.ENCRYPTED, Kind.PROTECTED_ODS}:
        return f"it is protected by a password, {_NOBODY_KNOWS}"
    try:
        return what_is_judged(read_workbook(data, name).sheets, name)
    except InputError as error:
        return f"it cannot be read, {_NOBODY_KNOWS} ({str(error).rstrip('.')})"


def what_is_judged(tables: Sequence[SheetTable], name: str = "") -> str:
    """What is judged in the sheets of a workbook, read as the re-import reads it, or what nobody understands."""
    manifest = read_manifest(tables, name)
    if manifest is None and not any(map(_is_review, tables)):
        return ""  # reports name cases and judgements, too
    book = _read_alone(tables, name, manifest)
    strange = [each for each in book.problems if isinstance(each, RowProblem) and each.reason == _OF_COLUMNS]
    if book.rows or len(book.problems) > len(strange):
        said = workbook_account(book).sentence(Words(TERMINAL)).rstrip(".")
        return f"it has been filled in ({said})"
    if strange:
        return f"the columns of one of its sheets are not recognised, {_NOBODY_KNOWS} ({str(strange[0]).rstrip('.')})"
    return ""


def _is_review(table: SheetTable) -> bool:
    """Whether a sheet is one that people fill in: its rows carry their IDs twice, or it has a run ID and cases."""
    case_rows = [ids for _, ids in iterate_case_rows(table)]
    return any(map(stands_twice, case_rows)) or bool(case_rows and find_run_ids([table]))
