"""A judged workbook as plain tables: told by its content, decrypted if need be; and how cells are written."""

from __future__ import annotations

import datetime
import io
import re
from functools import cache
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.hostile import MOST_FILE_BYTES
from clueval_xlsx.files.spreadsheets import SheetTable, read_tables, unreadable

__all__ = ["SheetTable", "cell_name", "cell_text", "read_sheets"]

_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MOST_SPINS = 1_000_000  # rounds of hashing that a file may ask for; Excel writes 100,000
_LOOK = 1 << 12


def read_sheets(data: bytes, name: str, password: str | None = None) -> list[SheetTable]:
    """All sheets of a workbook, hidden ones too; `name` is for messages."""
    if data[:8] == _OLE:
        data = _decrypt(data, name, password)
    if data[:4] != _ZIP:
        raise InputError(f"{name}: found {_guess(data)}. Allowed: a workbook, .xlsx or .ods. {_remedy(data)}")
    return read_tables(data, name)


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
        raise unreadable(name, error) from None
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
