"""`status`: who has judged how much, without the gold file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import print_page, say, say_list, say_what_is_open
from clueval_xlsx.cli.inputs import file_content
from clueval_xlsx.cli.workbooks import password_of
from clueval_xlsx.cli.writing import Writing
from clueval_xlsx.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.pages.page import Page
    from clueval_xlsx.review.progress import WorkbookProgress

_COLUMNS = ("workbook", "judge", "decided", "of", "per cent", "not usable")


def run(call: Call, workbooks: Sequence[str]) -> int:
    """Count what is judged, and name what cannot be used."""
    from clueval_xlsx.outputs.json_results import status_result
    from clueval_xlsx.review.manifest import SET_ASIDE, WithoutTextError
    from clueval_xlsx.review.progress import missing_people, workbook_progress
    from clueval_xlsx.words import TERMINAL, Words

    password = password_of(call)
    books = []
    for path in workbooks:
        try:
            books.append(workbook_progress(file_content(path), path, password))
        except WithoutTextError:
            if len(workbooks) == 1:
                raise
            say(f"Note: {path}: {SET_ASIDE}.")
    if not books:
        raise InputError("no workbook is left to look at. Give the workbooks that people judged.")
    missing = missing_people(books)
    with Writing(call, workbooks) as out:
        out.json(lambda: status_result(books, missing))
    say_what_is_open(workbooks)
    if not out.prints:
        print_page(_page(books), "--json FILE")
    for book in books:
        say(f"{book.name}: {book.account.sentence(Words(TERMINAL))}")
        say_list("Not used", [str(problem) for problem in book.problems], "--json FILE lists them all")
        say_list("Note", [f"{note}." for note in book.notes], "--json FILE lists them all")
    for name in missing:
        say(f"Missing: no workbook of {name} is among these.")
    return 3 if any(book.problems for book in books) else 0


def _page(books: Sequence[WorkbookProgress]) -> Page:
    """Who has judged how much."""
    from clueval_xlsx.pages.page import Chapter, Heading, Number, Page, Table, TableRow
    from clueval_xlsx.review.progress import CaseState

    rows = []
    for book in books:
        account = book.account
        figures = (str(account.done), str(account.cases), book.share, str(account.counts[CaseState.UNUSABLE] or ""))
        rows.append(TableRow((book.name, book.judge, *(Number(figure) for figure in figures))))
    table = Table("", tuple(map(Heading, _COLUMNS)), tuple(rows))
    return Page("", (), (Chapter("", (table,)),))
