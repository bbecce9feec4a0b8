"""Whether a file that is about to be overwritten holds somebody's judgements."""

from __future__ import annotations

from collections.abc import Sequence

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.workbooks import SheetTable, cell_text, read_workbook
from clueval_xlsx.review.vocabulary import ANNOTATION_COLUMNS, BLOCK_ID_COLUMN, normalise
from clueval_xlsx.words import in_every_language

_HEADER_ROWS = 200  # how far down a header is looked for
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def why_not_overwrite(data: bytes, name: str) -> str:
    """What would be lost with a file, as words for a message; empty if it may go like any other output.

    A file that cannot be read or is no review workbook is nobody's work; one under a password may well be.
    """
    if _ENCRYPTED in data:
        return "it is protected by a password, so nobody can tell whether there are judgements in it"
    try:
        filled = sum(filled_rows(table) for table in read_workbook(data, name))
    except InputError:
        return ""
    return f"{filled} {'row has' if filled == 1 else 'rows have'} been judged in it" if filled else ""


def filled_rows(table: SheetTable) -> int:
    """How many case rows of a sheet have something in an annotation column; 0 on any other sheet."""
    names = {key: {normalise(word) for word in in_every_language(f"column.{key}").values()} for key in _KEYS}
    for number, row in enumerate(table.rows[:_HEADER_ROWS]):
        headers = [normalise(cell) if cell and isinstance(cell, str) else "" for cell in row]
        if not names["judgement"].intersection(headers):
            continue
        if not (names["case"] | names[BLOCK_ID_COLUMN]).intersection(headers):
            continue
        columns = [
            place
            for place, header in enumerate(headers)
            if any(header in names[key] or header.partition(":")[0] in names[key] for key in ANNOTATION_COLUMNS)
        ]
        return sum(_filled(each, columns) for each in table.rows[number + 1 :])
    return 0


_KEYS = ("case", BLOCK_ID_COLUMN, *ANNOTATION_COLUMNS)


def _filled(row: Sequence[object], columns: Sequence[int]) -> bool:
    return any(place < len(row) and cell_text(row[place]).strip() for place in columns)
