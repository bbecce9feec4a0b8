"""A workbook as plain cells: told by its content, decrypted if need be, checked, then parsed; in one function.

Everything that parses a spreadsheet goes through `read_workbook`.
"""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.hostile import MOST_FILE_BYTES, Package, unpack
from clueval_xlsx.files.valueless_cells import MergedRange, Place, Unseen, unseen_cells

Cell = str | float | bool | datetime.date | datetime.time | datetime.timedelta
Row = Sequence[Cell]

_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MOST_SPINS = 1_000_000  # rounds of hashing that a file may ask for; Excel writes 100,000
_LOOK = 1 << 12


@dataclass(frozen=True)
class SheetTable:
    """One sheet: its name and all its cells from A1 on; an empty cell is the empty string.

    Of merged cells only the first has a value. `valueless` are cells that are empty among the values although an
    error or a formula stands there: what that is, by row and column counted from 0.
    """

    name: str
    rows: Sequence[Row]
    merged: tuple[MergedRange, ...] = ()
    valueless: Mapping[Place, str] = field(default_factory=dict)


def read_workbook(data: bytes, name: str, password: str | None = None) -> tuple[SheetTable, ...]:
    """All sheets of an `.xlsx` or `.ods`, hidden ones too; `name` is for messages."""
    if data[:8] == _OLE:
        data = _decrypt(data, name, password)
    if data[:4] != _ZIP:
        raise InputError(f"{name}: found {_guess(data)}. Allowed: a workbook, .xlsx or .ods. {_remedy(data)}")
    package = unpack(data, name)
    try:
        return parse_package(package)
    except BaseException as error:  # a panic of the parser is no Exception, and no reason to stop the program
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise _unreadable(name, error) from None


def parse_package(package: Package) -> tuple[SheetTable, ...]:
    """The sheets of an archive that was checked; whatever goes wrong in a parser is raised as it comes."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(package.content))
    unseen = unseen_cells(package)
    return tuple(
        _table(book, sheet.name, unseen.get(sheet.name, Unseen()))
        for sheet in book.sheets_metadata
        if _is_worksheet(sheet)
    )


def _is_worksheet(sheet: Any) -> bool:
    return getattr(sheet.typ, "name", str(sheet.typ)).casefold().endswith("worksheet")


def _table(book: Any, name: str, unseen: Unseen) -> SheetTable:
    sheet = book.get_sheet_by_name(name)
    merged = [MergedRange(*first, *last) for first, last in sheet.merged_cell_ranges or ()]
    rows = sheet.to_python(skip_empty_area=False)
    return SheetTable(name, rows, (*merged, *unseen.merged), unseen.valueless)


def _unreadable(name: str, error: BaseException) -> InputError:
    """The refusal of a file that a parser could not read."""
    return InputError(
        f"{name}: the workbook cannot be read ({str(error)[:200] or type(error).__name__}). "
        "Open it in Excel or LibreOffice, save it, and try again."
    )


def _decrypt(data: bytes, name: str, password: str | None) -> bytes:
    """The workbook inside an encrypted container."""
    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError

    if len(data) > MOST_FILE_BYTES:
        raise InputError(
            f"{name}: found a file of {len(data) / 1e6:,.0f} MB. Allowed: {MOST_FILE_BYTES / 1e6:,.0f} MB."
        )
    if "EncryptedPackage".encode("utf-16-le") not in data:
        raise InputError(
            f"{name}: found a workbook in the old .xls format. Allowed: .xlsx or .ods. Open it, save it as .xlsx."
        )
    _check_key_settings(data, name)
    if not password:
        raise InputError(
            f"{name}: the workbook is protected by a password. Give it with --password-file FILE or in the "
            "environment variable CLUEVAL_PASSWORD."
        )
    opened = io.BytesIO()
    try:
        container = msoffcrypto.OfficeFile(io.BytesIO(data))
        container.load_key(password=password, verify_password=True)
        container.decrypt(opened)
    except InvalidKeyError:
        raise InputError(f"{name}: the password does not fit. Ask for the one the workbook was saved with.") from None
    except (DecryptionError, FileFormatError) as error:
        raise InputError(f"{name}: cannot be decrypted: {error}. Save it without a password.") from None
    except Exception as error:  # the container is parsed by code that trusts it
        raise _unreadable(name, error) from None
    return opened.getvalue()


def _check_key_settings(data: bytes, name: str) -> None:
    """Refuse containers that ask for endless hashing or bring entities along."""
    if any(int(spins) > _MOST_SPINS for spins in re.findall(rb'spinCount="([0-9]{1,18})', data)) or re.search(
        rb'spinCount="[0-9]{19}', data
    ):
        raise InputError(f"{name}: the encryption asks for more than {_MOST_SPINS:,} rounds. The file is refused.")
    if re.search(rb"<!(?:DOCTYPE|ENTITY)", data):
        raise InputError(f"{name}: found a DOCTYPE in the encryption settings. The file is refused.")


def _guess(data: bytes) -> str:
    """What a file that is no workbook seems to be."""
    head = data[:_LOOK].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not head:
        return "an empty file"
    if head.startswith((b"<!doctype html", b"<html", b"<table", b"<meta")):
        return "a web page (HTML)"
    if head.startswith(b"<?xml") or head.startswith(b"<"):
        return "an XML file"
    if head.startswith(b"%pdf"):
        return "a PDF"
    if b"\x00" not in head and any(mark in head for mark in (b",", b";", b"\t")):
        return "a text table (CSV)"
    return "no workbook"


def _remedy(data: bytes) -> str:
    if not data:
        return "Ask for the file again."
    return "Open it in Excel or LibreOffice and save it as .xlsx; the name alone does not make it one."


def cell_text(value: Any) -> str:  # noqa: PLR0911 - one line a type
    """A cell as text: whole numbers without a point, truth values and dates the way a spreadsheet shows them.

    >>> cell_text(7.0), cell_text(True), cell_text(None), cell_text(" a ")
    ('7', 'TRUE', '', ' a ')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def cell_name(row: int, column: int) -> str:
    """The name of a cell, both counted from 0.

    >>> cell_name(0, 0), cell_name(9, 27)
    ('A1', 'AB10')
    """
    return f"{_letters(column)}{row + 1}"


@cache
def _letters(column: int) -> str:
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
