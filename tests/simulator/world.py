"""Everything that happens in one sequence: the workbooks, what the person means by them, and how to take it back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from tests.simulator.book import Book, Mirror, NotPossible, Sheet
from tests.simulator.person import Decision, Facts, canonical, first_decision, surface
from tests.simulator.roles import Layout, case_of_row, is_annotation, is_manifest, layout, value_words


@dataclass
class Snapshot:
    """A state to go back to."""

    books: list[list[Sheet]]
    intent: dict[str, Decision]
    disputed: set[str]
    given_twice: bool
    marks: list[int]  # of the programs that mirror the workbooks


@dataclass
class World:
    """The workbooks of one person, and what they decided.

    `intent` is what a careful person would say that the workbooks say about each case, `disputed` are cases about
    which they say two things. Both live and die with the edits.
    """

    books: list[Book]
    facts: Mapping[str, Facts]
    labels: Mapping[str, str]  # a label to correct to, by role
    language: str = "en"
    digits: bool = False
    leading: str = "FN"  # whose cases decide where two show the same disagreement
    suffix: str = ".xlsx"
    intent: dict[str, Decision] = field(default_factory=dict)
    disputed: set[str] = field(default_factory=set)
    given_twice: bool = False
    open_mirror: Callable[[], Mirror] | None = None  # a new, empty workbook in the program that mirrors the edits

    @property
    def must_be_refused(self) -> bool:
        """Whether the files are no workbooks any more, or none of them knows its run."""
        return self.suffix == ".csv" or not any(is_manifest(sheet) for book in self.books for sheet in book.sheets)

    # -- what stands where

    def new_book(self) -> Book:
        """A new, empty workbook beside the others."""
        mirror = self.open_mirror() if self.open_mirror is not None else None
        self.books.append(Book(f"part{len(self.books) + 1}", [], mirror))
        return self.books[-1]

    def words(self, role: str, code: str) -> str:
        """What the lists of the workbook offer for a code."""
        return surface(role, code, self.language, digits=self.digits)

    def means(self, role: str, text: str, case: str) -> str:
        """What a text says in a column, as a code where there is one."""
        return canonical(role, text, case.partition("-")[0], digits=self.digits)

    @staticmethod
    def codes(section: str) -> Mapping[str, Mapping[str, str]]:
        """The codes of a list."""
        return value_words(section)

    def reviews(self, *, at_least: int = 2) -> Iterator[tuple[Book, Sheet, Layout]]:
        """The sheets that hold cases."""
        for book in self.books:
            for sheet in book.sheets:
                found = layout(sheet)
                if found is not None and len(found.rows) >= at_least:
                    yield book, sheet, found

    def review(self, rng: Random, *roles: str, plain: bool = False, header: bool = False) -> tuple[Book, Sheet, Layout]:
        """One sheet with cases that has columns of these roles; `plain` asks for one without merged cells."""
        found = [
            entry
            for entry in self.reviews()
            if set(roles) <= set(entry[2].columns)
            and not (plain and entry[1].merges)
            and not (header and entry[2].header is None)
        ]
        if not found:
            raise NotPossible
        return rng.choice(found)

    def typed(self, rng: Random, *roles: str, plain: bool = False) -> tuple[Book, Sheet, Layout]:
        """A sheet to fill in: every line stands beside its case, every case once, and it is no copy of another.

        Somebody who goes on in a copy means it (`sheet: work on in the copy`); otherwise nobody could say which counts.
        """
        often = Counter(case for _, _, found in self.reviews(at_least=1) for case in found.rows.values())
        for _ in range(8):
            book, sheet, found = self.review(rng, "judgement", *roles, plain=plain)
            cases = list(found.rows.values())
            own = all(often[case] == 1 or self.facts[case].sheet == sheet.name for case in cases)
            once = len(set(cases)) == len(cases) and own
            if once and not found.permuted:
                return book, sheet, found
        raise NotPossible

    # -- what the person means

    def decision(self, case: str, rng: Random) -> Decision:
        """Something that the person may decide about a case."""
        return first_decision(self.facts[case], self.labels, self.leading, rng)

    def decide(self, case: str, role: str, text: str) -> None:
        """The person now says this about a case, in one column; an empty text takes it back."""
        decision = dict(self.intent.get(case, {}))
        value = self.means(role, text, case)
        decision.pop(role, None)
        if value:
            decision[role] = value
        self.intent[case] = decision

    def reread(self, sheet: Sheet, row: int) -> None:
        """What the person filled in on a row is what they mean, for all columns that the row has."""
        case = case_of_row(sheet, row)
        says: dict[str, str] = {}
        for cell in sheet.rows[row]:
            if case and is_annotation(cell.role):
                says[cell.role] = says.get(cell.role) or cell.shown
        for role, text in says.items():
            self.decide(case, role, text)

    def forget(self, cases: Iterable[str]) -> None:
        """Rows of these cases were deleted: where others stand, the workbooks say what is left; else they say nothing.

        A case that stands nowhere any more must be reported, with what the person had said about it.
        """
        left = {case: self._left(case) for case in cases}
        self.intent.update({case: says for case, says in left.items() if says is not None})

    def _left(self, case: str) -> Decision | None:
        """What the rows of a case say; None if there is none."""
        found: list[Decision] = []
        for _, sheet, _ in self.reviews(at_least=1):
            for row in sheet.rows:
                if case in {cell.shown for cell in row if cell.role in {"case", "block"}}:
                    says = {cell.role: self.means(cell.role, cell.shown, case) for cell in row if cell.shown}
                    found.append({role: text for role, text in says.items() if is_annotation(role) and text})
        return max(found, key=len) if found else None

    # -- back

    def snapshot(self) -> Snapshot:
        """The state as it is."""
        books = [[sheet.copy() for sheet in book.sheets] for book in self.books]
        marks = [book.mirror.mark() if book.mirror is not None else 0 for book in self.books]
        return Snapshot(books, dict(self.intent), set(self.disputed), self.given_twice, marks)

    def restore(self, state: Snapshot) -> None:
        """Undo everything since a snapshot; the workbooks must still be the same ones."""
        for book, sheets, mark in zip(self.books, state.books, state.marks, strict=True):
            book.sheets = [sheet.copy() for sheet in sheets]
            if book.mirror is not None:
                book.mirror.back_to(mark)
        self.intent, self.disputed, self.given_twice = dict(state.intent), set(state.disputed), state.given_twice
