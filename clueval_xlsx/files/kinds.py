"""What kind of file some bytes are, told by their content: a name alone makes no workbook."""

from __future__ import annotations

import io
import re
import zipfile
from enum import Enum

from clueval_xlsx.files.archives import BROKEN

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
    except (*BROKEN, RuntimeError):
        return False
    except Exception as error:  # zlib.error, lzma.LZMAError: a part that is packed wrongly
        if type(error).__module__ in {"zlib", "lzma", "_lzma", "bz2"}:
            return False
        raise


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
