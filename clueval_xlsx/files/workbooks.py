"""A workbook as plain cells: told by its content, then decrypted, checked and parsed by a process of its own.

Everything that parses a spreadsheet goes through `read_workbook`.
"""

from __future__ import annotations

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.hostile import MOST_FILE_BYTES
from clueval_xlsx.files.kinds import Kind, kind_of
from clueval_xlsx.files.parse_process import parse_elsewhere
from clueval_xlsx.files.sheets import Workbook

_SAVE_AS = "Open it in Excel or LibreOffice and save it as .xlsx"
_REMEDIES = {
    Kind.EMPTY: "Ask for the file again.",
    Kind.WORD: "Send the workbook itself.",
    Kind.ARCHIVE: "Send the workbook itself.",
    Kind.XLSB: f'{_SAVE_AS} (File, Save as, "Excel Workbook").',
    Kind.XLS: f"{_SAVE_AS}.",
    Kind.PROTECTED_ODS: "Open it in LibreOffice and save it as .xlsx, with the password; or save it without one.",
}


def read_workbook(data: bytes, name: str, password: str | None = None) -> Workbook:
    """An `.xlsx` or `.ods`; `name` is for messages."""
    if len(data) > MOST_FILE_BYTES:
        raise InputError(
            f"{name}: found a file of {len(data) / 1e6:,.0f} MB. Allowed: {MOST_FILE_BYTES / 1e6:,.0f} MB."
        )
    kind = kind_of(data)
    if kind is Kind.ENCRYPTED and not password:
        raise InputError(
            f"{name}: the workbook is protected by a password. Give it with --password-file FILE or in the "
            "environment variable CLUEVAL_PASSWORD."
        )
    if kind not in {Kind.XLSX, Kind.ODS, Kind.ENCRYPTED, Kind.DAMAGED}:
        remedy = _REMEDIES.get(kind, f"{_SAVE_AS}; the name alone does not make it one.")
        raise InputError(f"{name}: found {kind.value}. Allowed: a workbook, .xlsx or .ods. {remedy}")
    return parse_elsewhere(data, name, password if kind is Kind.ENCRYPTED else None)
