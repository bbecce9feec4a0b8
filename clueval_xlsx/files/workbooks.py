"""A workbook as plain cells: told by its content, then parsed by a short-lived process of its own.

Everything that reads a spreadsheet goes through `read_workbook`. A file may fill the memory of that process, run on and
on or make the parser abort: then the file is refused, and this process goes on.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import zipfile
from enum import Enum
from pathlib import Path

import msgspec

from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.archives import BROKEN
from clueval_xlsx.files.python_processes import PASSWORD_VARIABLE, python_command, python_environment
from clueval_xlsx.files.sheets import Workbook

REFUSED = 3  # what the process ends with if it says why the file is refused
_PARSER = "from clueval_xlsx.files.parsing import main; main()"
_MOST_BYTES = 300 * 1024 * 1024
_PATIENCE, _PATIENCE_PER_BYTE = 60.0, 1e-5  # seconds of the clock on the wall: other programs take their share

_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_CENTRAL = b"PK\x01\x02"
_MOST_PARTS = 10_000  # no workbook has so many; to list more takes time and memory
_LOOK = 1 << 12
_PROTECTED = re.compile(rb"<(?:[\w.-]{1,40}:)?encryption-data[\s/>]")
_MOST_MANIFEST = 1 << 20


class Kind(Enum):
    """Kinds of files that come where a workbook is awaited, as words for a message."""

    XLSX = "a workbook (.xlsx)"
    ODS = "a workbook (.ods)"
    ENCRYPTED = "a workbook under a password"
    PROTECTED_ODS = "a workbook (.ods) under a password"
    XLSB = "a binary workbook (.xlsb)"
    XLS = "a workbook in the old .xls format"
    DAMAGED = "a damaged archive"
    WORD = "a Word document"
    ARCHIVE = "an archive without a workbook in it"
    EMPTY = "an empty file"
    HTML = "a web page (HTML)"
    XML = "an XML file"
    PDF = "a PDF"
    CSV = "a text table (CSV)"
    OTHER = "no workbook"


WORKBOOKS = frozenset({Kind.XLSX, Kind.ODS, Kind.ENCRYPTED, Kind.PROTECTED_ODS, Kind.XLSB, Kind.XLS, Kind.DAMAGED})
_READ = {Kind.XLSX, Kind.ODS, Kind.ENCRYPTED, Kind.DAMAGED}
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
    if len(data) > _MOST_BYTES:
        raise InputError(f"{name}: found a file of {len(data) / 1e6:,.0f} MB. Allowed: {_MOST_BYTES / 1e6:,.0f} MB.")
    kind = kind_of(data)
    if kind is Kind.ENCRYPTED and not password:
        raise InputError(
            f"{name}: the workbook is protected by a password. Give it with --password-file FILE or in the "
            "environment variable CLUEVAL_PASSWORD."
        )
    if kind not in _READ:
        remedy = _REMEDIES.get(kind, f"{_SAVE_AS}; the name alone does not make it one.")
        raise InputError(f"{name}: found {kind.value}. Allowed: a workbook, .xlsx or .ods. {remedy}")
    return _parsed(data, name, password if kind is Kind.ENCRYPTED else None)


def _parsed(data: bytes, name: str, password: str | None) -> Workbook:
    """What the other process makes of a file; the password goes through the pipe, where nobody else sees it."""
    request = json.dumps({"name": name.encode("utf-8", "replace").decode("utf-8"), "password": password}).encode()
    try:
        done = subprocess.run(
            python_command(_PARSER),
            input=request + b"\n" + data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=python_environment(),
            start_new_session=True,  # Ctrl-C is for this process, which ends the other
            timeout=_PATIENCE + _PATIENCE_PER_BYTE * len(data),
            check=False,
        )
        code = done.returncode
    except subprocess.TimeoutExpired:
        code = -signal.SIGTERM
    if code == 0:
        return msgspec.msgpack.decode(done.stdout, type=Workbook)
    if code == REFUSED:
        raise InputError(done.stdout.decode())
    slow = {-int(getattr(signal, each, 999)) for each in ("SIGPROF", "SIGXCPU", "SIGTERM")}
    raise InputError(
        f"{name}: the workbook {'takes too long to read' if code in slow else 'needs too much memory'} for a file of "
        f"{len(data) / 1e6:,.2f} MB, as no spreadsheet program writes it. The file is refused; open it in Excel or "
        "LibreOffice, delete what stands far right or far below, save it, and try again."
    )


def kind_of(data: bytes) -> Kind:
    """What a file is; an archive that cannot be opened counts as a damaged workbook.

    >>> kind_of(b"%PDF-1.7"), kind_of(b"Case;Judgement"), kind_of(b"PK\\x03\\x04 cut")
    (<Kind.PDF: 'a PDF'>, <Kind.CSV: 'a text table (CSV)'>, <Kind.DAMAGED: 'a damaged archive'>)
    """
    if data[:8] == _OLE:
        return Kind.ENCRYPTED if _ENCRYPTED_PACKAGE in data else Kind.XLS
    if data[:4] == _ZIP:
        return _archive_kind(data)
    return _text_kind(data[:_LOOK].lstrip(b"\xef\xbb\xbf \t\r\n").lower())


def _archive_kind(data: bytes) -> Kind:  # noqa: PLR0911 - one line a kind
    if data.count(_CENTRAL) > _MOST_PARTS:
        return Kind.DAMAGED
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        names = {entry.filename.casefold(): entry for entry in archive.infolist()}
    except BROKEN:
        return Kind.DAMAGED
    if "xl/workbook.xml" in names:
        return Kind.XLSX
    if "xl/workbook.bin" in names:
        return Kind.XLSB
    if "content.xml" in names:
        return Kind.PROTECTED_ODS if _is_protected(archive, names.get("meta-inf/manifest.xml")) else Kind.ODS
    if "encrypted-package" in names:  # LibreOffice 24.8 and later put the whole document into one encrypted part
        return Kind.PROTECTED_ODS
    return Kind.WORD if "word/document.xml" in names else Kind.ARCHIVE


def _is_protected(archive: zipfile.ZipFile, manifest: zipfile.ZipInfo | None) -> bool:
    """Whether an OpenDocument's list of its parts says that they are encrypted."""
    if manifest is None:
        return False
    try:
        with archive.open(manifest) as stream:
            return _PROTECTED.search(stream.read(_MOST_MANIFEST)) is not None
    except BROKEN:
        return False


def _text_kind(head: bytes) -> Kind:
    if not head:
        return Kind.EMPTY
    if head.startswith((b"<!doctype html", b"<html", b"<table", b"<meta")):
        return Kind.HTML
    if head.startswith(b"<"):
        return Kind.XML
    if head.startswith(b"%pdf"):
        return Kind.PDF
    if b"\x00" not in head and any(mark in head for mark in (b",", b";", b"\t")):
        return Kind.CSV
    return Kind.OTHER


# ---- Encrypted workbooks: AES-256 as Excel writes it, made in memory so that no clear text reaches the disk

_LONGEST = 255  # characters that Excel takes


def encrypt(workbook: bytes, password: str) -> bytes:
    """An encrypted edition of an `.xlsx` file."""
    from msoffcrypto.format.ooxml import OOXMLFile

    target = io.BytesIO()
    OOXMLFile(io.BytesIO(workbook)).encrypt(password, target)
    return target.getvalue()


def find_password(file: Path | None) -> str | None:
    """The password from a file's first line, else from the environment; never from an argument, which others see."""
    if file is None:
        found = os.environ.get(PASSWORD_VARIABLE)
        return _checked(found, f"the environment variable {PASSWORD_VARIABLE}") if found is not None else None
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file}: the password file is not UTF-8. Save it as UTF-8.") from None
    except OSError as error:
        raise InputError(
            f"{file}: cannot be read: {error.strerror}. Check the path given to --password-file."
        ) from None
    return _checked(text.splitlines()[0] if text else "", str(file))


def _checked(password: str, where: str) -> str:
    if not password:
        raise OptionError(f"{where}: the password is empty. Write it into the first line.")
    if len(password) > _LONGEST:
        raise OptionError(f"{where}: the password has {len(password)} characters. Allowed: up to {_LONGEST}.")
    return password
