"""What people do to a judged workbook: every judgement is kept as it was or reported, never lost, never moved.

One table of accidents with their outcomes; `status` and the re-import must give the same account of each.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

import openpyxl
import pytest
from msgspec.structs import replace

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.review.answers import Wrong
from clueval_xlsx.review.judgements import Effect, Judgement, Outcome
from clueval_xlsx.review.log import standing_decisions
from clueval_xlsx.review.progress import CaseState, make_account, workbook_progress
from clueval_xlsx.review.reimport import reimport
from tests.support.accidents import CASES, TABLE, each_id, example_answers, gold, named, outcome
from tests.support.editing import Edit, case_sheets, edited, header, rename
from tests.support.folders import ROOT
from tests.support.judging import judged, workbook

WORDS, OTHER = "1 Model is wrong", "6 Cannot decide"
IDS = ("Case ID (again)", "Case ID")
ANSWERS = ("Judgement", "Applies to", "Correct span", "Correct label", "Severity", "Comment")


class Page:
    """A case sheet: its cells by row and header."""

    def __init__(self, sheet: Any) -> None:
        self.sheet, self.top = sheet, header(sheet).row
        self.at = {cell.value: cell.column for cell in sheet[self.top] if cell.value}
        self.rows = range(self.top + 1, sheet.max_row + 1)
        self.block = range(self.at["Judgement"], self.at["Comment"] + 1)

    def get(self, row: int, name: str) -> Any:
        return self.sheet.cell(row, self.at[name]).value

    def put(self, row: int, name: str | int, value: Any) -> None:
        cell = self.sheet.cell(row, name if isinstance(name, int) else self.at[name])
        cell.value = value

    def line(self, row: int, columns: Iterable[int] | None = None) -> list[Any]:
        return [self.sheet.cell(row, column).value for column in columns or range(1, self.sheet.max_column + 1)]

    def lay(self, row: int, first: int, values: Iterable[Any]) -> None:
        for column, value in enumerate(values, first):
            self.put(row, column, value)


def pages(book: Any) -> list[Page]:
    return [Page(sheet) for sheet in case_sheets(book)]


def on_pages(act: Callable[[Page], None]) -> Edit:
    """Do something on each case sheet."""
    return lambda book: [act(page) for page in pages(book)]


def in_rows(act: Callable[[Page, int, Any], None]) -> Edit:
    """Do something in each row that is judged; it gets the judgement."""
    return on_pages(lambda page: [act(page, row, text) for row in page.rows if (text := page.get(row, "Judgement"))])


def retyped(change: Callable[[str], Any]) -> Edit:
    return in_rows(lambda page, row, text: page.put(row, "Judgement", change(str(text))))


def typed_into(name: str, text: object, *, alone: bool = False) -> Edit:
    """The judgement stands in another column; `alone`: all other answers are gone."""

    def act(page: Page, row: int, _: Any) -> None:
        for each in ANSWERS if alone else ("Judgement",):
            page.put(row, each, None)
        page.put(row, name, text)

    return in_rows(act)


def headers_shifted(by: int, name: str) -> Edit:
    """A header cell was inserted or deleted, and only the headers to its right moved."""
    return on_pages(lambda page: page.lay(page.top, page.at[name], _shifted(page, page.top, name, by)))


def cells_shifted(by: int) -> Edit:
    """Cells of the first case inserted or deleted, so that the others move to the right or the left."""
    return on_pages(
        lambda page: page.lay(page.top + 1, page.at["Judgement"], _shifted(page, page.top + 1, "Judgement", by))
    )


def _shifted(page: Page, row: int, name: str, by: int) -> list[Any]:
    values = page.line(row, range(page.at[name], page.sheet.max_column + 1))
    return [None, *values] if by > 0 else [*values[1:], None]


def swapped(one: str, other: str) -> Edit:
    """Two headers changed places."""

    def act(page: Page) -> None:
        page.put(page.top, page.at[one], other)
        page.put(page.top, page.at[other], one)

    return on_pages(act)


def without_columns(*names: str) -> Edit:
    return on_pages(lambda page: [page.sheet.delete_cols(header(page.sheet, name).column) for name in names])


def new_column(title: str | None, value: Callable[[Any], Any], *, keep: bool = True) -> Edit:
    """A column of one's own behind the others, made from the judgements."""

    def act(page: Page) -> None:
        place = page.sheet.max_column + 1
        page.put(page.top, place, title)
        for row in page.rows:
            page.put(row, place, value(page.get(row, "Judgement")))
            if not keep:
                page.put(row, "Judgement", None)

    return on_pages(act)


def second_column(title: str, value: Callable[[Any], Any]) -> Edit:
    """A column once more, at the left."""

    def act(page: Page) -> None:
        texts = [page.get(row, title) for row in page.rows]
        page.sheet.insert_cols(1)
        for row, text in zip(page.rows, texts, strict=True):
            page.put(row, 1, value(text))
        page.put(page.top, 1, title)

    return on_pages(act)


def column_moved(name: str, to: str) -> Edit:
    """A column of the first sheet with its header, cut to the other one or to a new sheet; its place stays empty."""

    def edit(book: Any) -> None:
        source, second = pages(book)
        target = second.sheet if to == "other" else book.create_sheet("mine")
        place = target.max_column + 1
        for row in (source.top, *source.rows):
            target.cell(row, place).value = source.get(row, name)
            source.put(row, name, None)

    return edit


def block_cut(to: Callable[[Any, Page], Any], *, head: bool = True, ids: bool = True) -> Edit:
    """The columns for judging were cut out and pasted elsewhere."""

    def edit(book: Any) -> None:
        for page in pages(book):
            target = to(book, page)
            for row in (page.top, *page.rows) if head else page.rows:
                values = page.line(row, page.block)
                target.append(values if ids else ["x" if str(v).startswith("F") else v for v in values])
                page.lay(row, page.block[0], [None] * len(values))

    return edit


def rows_to(target: Callable[[Any], Any], *, cut: bool = True, left: int = 0) -> Edit:
    """The rows of the second sheet on another one, which may be further to the right."""

    def edit(book: Any) -> None:
        second = pages(book)[1]
        sheet = target(book)
        for row in second.rows:
            sheet.append([None] * left + second.line(row))
        if cut:
            book.remove(second.sheet)

    return edit


def beside(book: Any) -> None:
    """The cases of the second sheet stand right of those of the first, without their header."""
    first, second = pages(book)
    column = first.sheet.max_column + 2
    for place, row in enumerate(second.rows):
        first.lay(first.top + 1 + place, column, second.line(row))
    book.remove(second.sheet)


def transposed(book: Any) -> None:
    for page in pages(book):
        new = book.create_sheet(f"turned {page.sheet.title[:10]}")
        for line in zip(*(page.line(row) for row in (page.top, *page.rows)), strict=True):
            new.append(line)
        book.remove(page.sheet)


def block_turned(*, copied: bool = False, head: bool = False) -> Edit:
    """The block was turned round by itself; among copies of the rows, or with the header."""

    def edit(book: Any) -> None:
        for page in pages(book):
            if copied:
                for line in [page.line(row) for row in page.rows]:
                    page.sheet.append(line)
            rows = [*([page.top] if head else []), *range(page.top + 1, page.sheet.max_row + 1)]
            blocks = [page.line(row, page.block) for row in rows]
            for row, values in zip(rows, [*blocks[1:], blocks[0]], strict=True):
                page.lay(row, page.block[0], values)

    return edit


def with_backup(act: Callable[[Page], None], *, of_backup: bool = False) -> Edit:
    """A copy of each case sheet; then something happens to the sheet itself, or to the copy."""

    def edit(book: Any) -> None:
        for page in pages(book):
            copy = book.copy_worksheet(page.sheet)
            copy.title = f"backup {page.sheet.title[:10]}"
            act(Page(copy) if of_backup else page)

    return edit


def cleared(*names: str) -> Callable[[Page], None]:
    return lambda page: [page.put(row, name, None) for row in page.rows for name in names]


def header_last(page: Page) -> None:
    """Sorted with its header, which comes to stand below the cases."""
    lines = [page.line(row) for row in (page.top, *page.rows)]
    for row, line in zip((page.top, *page.rows), [*lines[1:], lines[0]], strict=True):
        page.lay(row, 1, line)


def notes_for_spans(page: Page) -> None:
    """The column of correct spans was deleted, and one for notes put in its place."""
    page.put(page.top, "Correct span", "My notes")
    for row in page.rows:
        page.put(row, "Correct span", "ask Ben")


def subtotals(page: Page) -> None:
    """A row with a count behind every case, as the menu for subtotals makes them."""
    for row in reversed(page.rows):
        page.sheet.insert_rows(row + 1)
        page.put(row + 1, "Judgement", f"{page.get(row, 'Judgement') or ''} Count")


def ids_split(page: Page) -> None:
    """Text to columns at the dash, on the hidden IDs: their second half overwrites the next column."""
    for row in page.rows:
        page.lay(row, page.at[IDS[0]], str(page.get(row, IDS[0])).split("-"))


def to_do_list(book: Any) -> None:
    """A sheet with the IDs of all cases and a word about each."""
    new = book.create_sheet("To do")
    for page in pages(book):
        for row in page.rows:
            new.append([page.get(row, "Case ID"), "discuss"])


def hidden_sheet_shown(book: Any) -> None:
    sheet = book["clueval_manifest"]
    sheet.title, sheet.sheet_state = "Tabelle9", "visible"


def in_first(name: str, text: object) -> Edit:
    """Something typed in the first case."""
    return lambda book: (page := pages(book)[0]).put(page.top + 1, name, text)


def in_open(name: str, text: object) -> Edit:
    """Something typed in the rows that nobody judged."""
    return on_pages(lambda page: [page.put(row, name, text) for row in page.rows if not page.get(row, "Judgement")])


def words_to_columns(page: Page, row: int, text: Any) -> None:
    page.lay(row, page.at["Judgement"], str(text).split())


KEPT, SAID, REPORTED, EITHER = "kept", "kept, and something is said", "reported", "kept or reported"
ACCIDENTS: tuple[tuple[str, str, Edit], ...] = (
    # rows and sheets
    ("rows above the header", KEPT, on_pages(header_last)),
    ("a header below row 200", KEPT, on_pages(lambda page: page.sheet.insert_rows(page.top, 250))),
    ("no header at all", KEPT, on_pages(lambda page: page.sheet.delete_rows(page.top))),
    ("cases pasted on another sheet", KEPT, rows_to(lambda book: book["Documents"])),
    ("cases on a new sheet", KEPT, rows_to(lambda book: book.create_sheet("meine Fälle"))),
    ("cases pasted askew", KEPT, rows_to(lambda book: pages(book)[0].sheet, left=1)),
    ("cases pasted beside others", REPORTED, beside),
    ("sheets turned on their side", REPORTED, transposed),
    ("subtotals", EITHER, on_pages(subtotals)),
    ("a list of things to do", EITHER, to_do_list),
    ("a hidden sheet renamed and shown", KEPT, hidden_sheet_shown),
    ("a deleted row", REPORTED, lambda book: (page := pages(book)[0]).sheet.delete_rows(page.top + 1)),
    # headers
    ("a misspelt header", KEPT, rename("Judgement", "Judgment")),
    ("a header with a name", KEPT, rename("Judgement", "Judgement (Anna)")),
    ("a header with an addition", KEPT, rename("Correct span", "Correct Span (typed)")),
    ("headers in German", KEPT, rename("Judgement", "Bewertung")),
    ("a header deleted", KEPT, rename("Judgement", None)),
    ("a header replaced by another word", REPORTED, rename("Correct span", "Right span")),
    ("a judgement typed over the header", REPORTED, rename("Judgement", WORDS)),
    ("a header cell inserted", KEPT, headers_shifted(1, "Judgement")),
    ("a header cell deleted", KEPT, headers_shifted(-1, "Judgement")),
    ("a header cell inserted among corrections", KEPT, headers_shifted(1, "Correct span")),
    ("a header cell deleted among corrections", KEPT, headers_shifted(-1, "Correct span")),
    ("headers of judging and of the text swapped", KEPT, swapped("Correct span", "Span")),
    ("headers of two corrections swapped", REPORTED, swapped("Correct span", "Correct label")),
    ("headers of a correction and a comment swapped", REPORTED, swapped("Correct span", "Comment")),
    ("headers of judgement and severity swapped", REPORTED, swapped("Judgement", "Severity")),
    # columns
    ("a column for dates of judgements", KEPT, new_column("Judgement date", lambda _: "12 March")),
    ("a list of names of one's own", KEPT, new_column("Who", lambda _: "Anna")),
    ("a second, empty column", KEPT, second_column("Judgement", lambda _: None)),
    ("a second column that differs", REPORTED, second_column("Judgement", lambda text: OTHER if text else None)),
    ("a second opinion without a header", REPORTED, new_column(None, lambda text: OTHER if text else None)),
    ("verdicts in a column of one's own", REPORTED, new_column("My verdict", lambda text: text and "1", keep=False)),
    ("judgements moved to a column without header", REPORTED, new_column(None, lambda text: text, keep=False)),
    ("notes where spans belong", REPORTED, on_pages(notes_for_spans)),
    ("Judgement cut to the other sheet", REPORTED, column_moved("Judgement", "other")),
    ("Comment cut to the other sheet", SAID, column_moved("Comment", "other")),
    *((f"{name} cut to a new sheet", REPORTED, column_moved(name, "new")) for name in ("Judgement", "Correct span")),
    ("the block cut to new sheets", KEPT, block_cut(lambda book, page: book.create_sheet(page.sheet.title[:6]))),
    (
        "the block without its IDs cut to new sheets",
        REPORTED,
        block_cut(lambda book, page: book.create_sheet(page.sheet.title[:6]), ids=False),
    ),
    ("the block pasted below the documents", SAID, block_cut(lambda book, _: book["Documents"])),
    (
        "the block without header below the documents",
        REPORTED,
        block_cut(lambda book, _: book["Documents"], head=False),
    ),
    ("a block sorted by itself", REPORTED, block_turned()),
    ("a block sorted among copies", REPORTED, block_turned(copied=True)),
    ("a block sorted with its header", REPORTED, block_turned(head=True)),
    # IDs
    ("IDs in small letters", KEPT, each_id(str.lower, ("Case ID",))),
    ("IDs with another dash", KEPT, each_id(lambda text: text.replace("-", "\u2013"))),
    ("IDs among spaces", KEPT, each_id(lambda text: f"\u00a0{text} ")),
    ("IDs of the rows overwritten", SAID, each_id(lambda _: "see below", ("Case ID",))),
    ("the hidden IDs deleted", KEPT, without_columns(IDS[0])),
    ("the IDs of the rows deleted", KEPT, without_columns(IDS[1])),
    ("FN replaced by FP everywhere", REPORTED, each_id(lambda text: text.replace("FN-", "FP-"))),
    ("IDs cut off", REPORTED, each_id(lambda text: text[:11])),
    ("IDs split at their dash", REPORTED, on_pages(ids_split)),
    ("an ID as a comment", KEPT, in_first("Comment", "FN-AAAAAAAAAAAA")),
    # cells
    ("digits as numbers", KEPT, retyped(lambda text: float(text[0]))),
    ("judgements with a full stop", EITHER, retyped(lambda text: f"{text[0]}.")),
    ("two digits in one cell", REPORTED, retyped(lambda text: f"{text[0]} or 6")),
    ("judgements formatted as dates", REPORTED, retyped(lambda text: datetime.datetime(1900, 1, int(text[0])))),
    ("text to columns", REPORTED, in_rows(words_to_columns)),
    ("an error value", REPORTED, in_first("Judgement", "#N/A")),
    ("a formula without a value", REPORTED, in_first("Judgement", "=1+1")),
    ("cells moved to the right", REPORTED, cells_shifted(1)),
    ("cells moved to the left", REPORTED, cells_shifted(-1)),
    ("a word of the text edited", SAID, in_first("Span", "something else")),
    *((f"digits typed into {name}", REPORTED, typed_into(name, "1")) for name in ("State", "Comment")),
    *(
        (f"words typed over {name}", REPORTED, typed_into(name, WORDS, alone=True))
        for name in ("Span", "No.", "Document")
    ),
    *((f"a digit in {name} of an open row", SAID, in_open(name, "1")) for name in ("Context", "Label", "State")),
    ("words of a judgement in See also of an open row", SAID, in_open("See also", "modell liegt falsch")),
    # copies
    ("an empty copy", KEPT, with_backup(cleared(*ANSWERS), of_backup=True)),
    ("everything taken back beside a backup", REPORTED, with_backup(cleared(*ANSWERS))),
    ("judgements taken back beside a backup", REPORTED, with_backup(cleared("Judgement"))),
    ("a correction taken back beside a backup", REPORTED, with_backup(cleared("Correct span"))),
    (
        "nonsense beside a backup",
        REPORTED,
        with_backup(lambda page: [page.put(row, "Judgement", "xx") for row in page.rows]),
    ),
)


@pytest.fixture(scope="module")
def evaluation():
    return judged(TABLE)


@pytest.fixture(scope="module")
def answers(evaluation):
    return example_answers(evaluation)


@pytest.fixture(scope="module")
def sent(evaluation, answers) -> bytes:
    """The judged workbook."""
    return workbook(evaluation, answers).getvalue()


@pytest.mark.parametrize(("wanted", "edit"), [each[1:] for each in ACCIDENTS], ids=[each[0] for each in ACCIDENTS])
def test_no_judgement_is_lost_or_moved_by(sent, answers, wanted: str, edit: Edit) -> None:
    kept, reported, said = outcome(sent, answers, edit)
    if wanted in {KEPT, SAID}:
        assert (kept, reported) == (set(answers), set())
        assert said == (wanted == SAID)
    elif wanted == REPORTED:
        assert reported
    assert kept | reported == set(answers)


@pytest.mark.parametrize(
    "edit",
    [
        each_id(lambda _: None),
        each_id(lambda text: text.replace("FN-", "Missed-").replace("FP-", "Extra-")),
        without_columns(*IDS),
    ],
)
def test_a_workbook_without_any_case_id_is_refused_and_every_case_is_missing(sent, answers, edit: Edit) -> None:
    stream = edited(named(sent), edit)
    progress = workbook_progress(stream.getvalue(), "review.xlsx")
    assert progress.account.counts[CaseState.MISSING] == progress.account.cases == CASES
    assert sum(problem.reason == "no_id" for problem in progress.problems) == len(answers)
    with pytest.raises(InputError, match="found no sheet with cases"):
        reimport([stream], gold())


def test_a_workbook_split_in_two_lacks_nothing(sent, answers) -> None:
    parts = [
        edited(named(sent, f"part{gone}.xlsx"), lambda book, gone=gone: book.remove(case_sheets(book)[gone]))
        for gone in (0, 1)
    ]
    result = reimport(parts, gold())
    assert not result.problems
    assert {record.case_id for record in result.runs[0].records} == set(answers)


def test_what_was_taken_back_does_not_return_from_a_backup_if_its_row_was_cut_to_a_new_file(sent, answers) -> None:
    taken = next(key for key, answer in answers.items() if answer.code == "model_error")
    new = openpyxl.Workbook()

    def edit(book: Any) -> None:
        page = pages(book)[0]
        book.copy_worksheet(page.sheet).title = "Backup"
        row = next(row for row in page.rows if page.get(row, "Case ID") == taken)
        page.lay(row, page.at["Judgement"], [None, taken, *[None] * (len(page.block) - 2)])
        for number in (page.top, row):
            new.active.append(page.line(number))
        page.sheet.delete_rows(row)

    left, cut_off = edited(named(sent), edit), named(b"", "new.xlsx")
    new.save(cut_off)
    cut_off.seek(0)
    result = reimport([left, cut_off], gold())
    assert {record.case_id for record in result.runs[0].records} == set(answers) - {taken}
    assert any(getattr(problem, "case", "") == taken for problem in result.problems)


def test_a_scope_that_only_a_copy_has_left_holds_for_nobody(sent, answers) -> None:
    claimed = next(key for key, answer in answers.items() if answer.code == "model_error")

    def edit(book: Any) -> None:
        page = pages(book)[0]
        row = next(row for row in page.rows if page.get(row, "Case ID") == claimed)
        page.put(row, "Applies to", "1 all alike")
        book.copy_worksheet(page.sheet).title = "Backup"
        page.put(row, "Applies to", None)

    (run,) = reimport([edited(named(sent), edit)], gold()).runs
    assert not any(record.applies_to for record in run.records)
    assert any(getattr(problem, "case", "") == claimed for problem in run.problems)


def test_a_sorted_block_holds_by_the_id_that_is_trusted(sent, answers) -> None:
    moved = edited(named(sent), block_turned()).getvalue()
    by_block = reimport([named(moved)], gold(), trust_id="block").runs[0]
    assert {each.case_id: each.code for each in by_block.records} == {key: answers[key].code for key in answers}
    by_row = reimport([named(moved)], gold(), trust_id="row").runs[0]
    assert {record.case_id for record in by_row.records} != set(answers)


def test_a_decision_that_was_disputed_later_is_open() -> None:
    decided = Judgement(
        "gold_wrong", case_id="FN-AAAAAAAA", effect=Effect.DELETE, judge="Anna", outcome=Outcome.APPLIED
    )
    disputed = replace(decided, outcome=Outcome.OPEN)
    assert standing_decisions([decided]) == {"FN-AAAAAAAA": decided}
    assert standing_decisions([decided, disputed]) == {}
    assert standing_decisions([decided, disputed, decided]) == {"FN-AAAAAAAA": decided}


def test_every_case_has_exactly_one_state() -> None:
    order = ("conflict", "judged", "unusable", "settled", "open")
    known = dict(zip(map(CaseState, order), ("a", "ab", "bc", "cd", "de"), strict=True))
    assert " ".join(make_account("abcdef", known).states.values()) == "conflict judged unusable settled open missing"


def test_every_reason_why_a_row_is_not_used_has_its_words_and_its_remedy() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "clueval_xlsx" / "review").glob("*.py"))
    said = {f'"{wrong.name.lower()}"' for wrong in Wrong}
    for path in (ROOT / "templates" / "words").glob("*.toml"):
        words = tomllib.loads(path.read_text("utf-8"))
        assert {*re.findall(r'reason="(\w+)"', source)} <= words["unusable"].keys()
        assert words["unusable"].keys() == words["remedy"].keys()
        assert all(f'"{key}"' in source or f'"{key}"' in said for key in words["unusable"])
