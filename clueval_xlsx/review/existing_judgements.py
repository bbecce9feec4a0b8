"""Whether a file that is about to be overwritten holds somebody's judgements; where nobody can tell, it may."""

from __future__ import annotations

from collections.abc import Sequence

from clueval_xlsx.exceptions import InputError, Problem, RowProblem
from clueval_xlsx.files.sheets import SheetTable
from clueval_xlsx.files.workbooks import WORKBOOKS, Kind, kind_of, read_workbook
from clueval_xlsx.review.judgements import JUDGEMENTS
from clueval_xlsx.review.reading import find_run_ids, read_judgements, read_manifest
from clueval_xlsx.review.review_sheets import iterate_case_rows, stands_twice
from clueval_xlsx.review.sheet_words import SheetWords

_NOBODY_KNOWS = "so nobody can tell whether there are judgements in it"
_OF_COLUMNS = frozenset({"no_judgement_column"})  # reasons that say nothing of a single row


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
    judgements = (*JUDGEMENTS, *(manifest.judgements if manifest else ()))
    words = SheetWords(manifest.layers if manifest else (), judgements, columns=manifest.columns if manifest else ())
    book = read_judgements(tables, name, manifest, words)
    strange = [problem for problem in book.problems if _is_of_columns(problem)]
    filled = len(book.rows) + len(book.problems) - len(strange)
    if filled:
        return f"{filled} {'row has' if filled == 1 else 'rows have'} been judged in it"
    if strange:
        return f"the columns of one of its sheets are not recognised, {_NOBODY_KNOWS} ({str(strange[0]).rstrip('.')})"
    return ""


def _is_review(table: SheetTable) -> bool:
    """Whether a sheet is one that people fill in: its rows carry their IDs twice, or it has a run ID and cases."""
    case_rows = [ids for _, ids in iterate_case_rows(table)]
    return any(map(stands_twice, case_rows)) or bool(case_rows and find_run_ids([table]))


def _is_of_columns(problem: Problem) -> bool:
    return isinstance(problem, RowProblem) and problem.reason in _OF_COLUMNS
