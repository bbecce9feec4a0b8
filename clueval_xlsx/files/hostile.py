"""An archive that anybody may have sent, unpacked under limits: what a reader needs, checked, and as an archive anew.

The limits hold for the whole file and grow with it: a workbook of a few kilobytes has no business with gigabytes.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.archives import BROKEN
from clueval_xlsx.files.indents import without_indents
from clueval_xlsx.files.markup import declaration
from clueval_xlsx.files.ods_checks import check_ods
from clueval_xlsx.files.packed_parts import PackedPart, archive, stored
from clueval_xlsx.files.refusals import ASK_AGAIN, damaged, too_large
from clueval_xlsx.files.xlsx_checks import check_xlsx

MOST_FILE_BYTES = 300 * 1024 * 1024
MOST_TOTAL_BYTES = 1024 * 1024 * 1024
MOST_PARTS = 5_000
MOST_RATIO = 100  # of the whole file: real sheets shrink to a tenth or a thirtieth
_ROOM = 8 * 1024 * 1024  # that any file may unpack to

_CENTRAL = b"PK\x01\x02"
_XLSX_PART = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/core\.xml|xl/workbook\.xml|xl/_rels/workbook\.xml\.rels|xl/styles\.xml|"
    r"xl/sharedStrings\.xml|xl/worksheets/[^/]+\.xml|"
    r"xl/worksheets/_rels/[^/]+\.rels|xl/(?:comments/)?[^/]*comments?\d*\.xml|xl/threadedComments/[^/]+\.xml",
    re.IGNORECASE,
)
_ODS_PART = re.compile(r"mimetype|content\.xml|meta\.xml|META-INF/manifest\.xml", re.IGNORECASE)
_DOCTYPE = re.compile(rb"(?:DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Package:
    """An archive that was looked at: its kind (`xlsx` or `ods`), its parts, and a clean copy of it for the parser."""

    kind: str
    parts: Mapping[str, bytes]
    content: bytes


def unpack(data: bytes, name: str) -> Package:
    """Check an archive and copy what is needed of it; raises if it is no spreadsheet or not safe to read."""
    chosen = _chosen(data, name)
    packed = {entry.filename: _packed_part(data, entry, name) for entry in chosen}
    parts = {part: _inflate(each, part, name) for part, each in packed.items()}
    for part, content in parts.items():
        _check_markup(part, content, name)
    if any(part.casefold() == "xl/workbook.xml" for part in parts):
        check_xlsx(parts, name)
        return Package("xlsx", parts, archive(packed))
    check_ods(parts, name)
    parts = {part: without_indents(content) for part, content in parts.items()}
    return Package("ods", parts, archive({part: stored(content) for part, content in parts.items()}))


def _chosen(data: bytes, name: str) -> list[zipfile.ZipInfo]:
    """The parts that a reader needs, all of which may be unpacked."""
    entries = _entries(data, name)
    names = {entry.filename.casefold() for entry in entries}
    wanted = _XLSX_PART if "xl/workbook.xml" in names else _ODS_PART
    chosen = [entry for entry in entries if wanted.fullmatch(entry.filename)]
    left = min(MOST_TOTAL_BYTES, _ROOM + MOST_RATIO * len(data))
    total = sum(entry.file_size for entry in chosen)
    if total > left:
        raise too_large(
            name,
            f"{total / 1e6:,.0f} MB in a file of {len(data) / 1e6:,.2f} MB",
            f"{left / 1e6:,.0f} MB in one of this size",
        )
    seen: set[str] = set()
    for entry in chosen:
        if entry.filename.casefold() in seen:
            raise damaged(name, f"{entry.filename} is there twice")
        seen.add(entry.filename.casefold())
    return chosen


def _entries(data: bytes, name: str) -> list[zipfile.ZipInfo]:
    """What the archive's directory lists."""
    if len(data) > MOST_FILE_BYTES:
        raise too_large(name, f"a file of {len(data) / 1e6:,.0f} MB", f"{MOST_FILE_BYTES / 1e6:,.0f} MB")
    if data.count(_CENTRAL) > 2 * MOST_PARTS:
        raise too_large(name, f"an archive of {data.count(_CENTRAL):,} parts", f"{MOST_PARTS:,}")
    try:
        entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except BROKEN as error:
        raise damaged(name, str(error)) from None
    if len(entries) > MOST_PARTS:
        raise too_large(name, f"an archive of {len(entries):,} parts", f"{MOST_PARTS:,}")
    return entries


def _packed_part(data: bytes, entry: zipfile.ZipInfo, name: str) -> PackedPart:
    """One part as it is packed, found without trusting what the archive states."""
    if entry.flag_bits & 1:
        part = f"{name}, {entry.filename}"
        raise InputError(f"{part}: is encrypted in a way that spreadsheets do not use. Save the workbook again.")
    head = data[entry.header_offset : entry.header_offset + 30]
    if len(head) < 30 or head[:4] != b"PK\x03\x04":
        raise damaged(name, f"{entry.filename} does not begin where the archive says")
    begin = entry.header_offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    packed = data[begin : begin + entry.compress_size]
    if len(packed) < entry.compress_size:
        raise damaged(name, f"{entry.filename} is cut off")
    return PackedPart(packed, entry.compress_type, entry.file_size, entry.CRC)


def _inflate(packed: PackedPart, part: str, name: str) -> bytes:
    """Unpack one part without trusting the size that it is said to have."""
    if packed.method == zipfile.ZIP_STORED:
        content = packed.content
    elif packed.method == zipfile.ZIP_DEFLATED:
        unpacker = zlib.decompressobj(-15)
        try:
            content = unpacker.decompress(packed.content, packed.size + 1)
            complete = unpacker.eof or (len(content) == packed.size and not unpacker.decompress(b"", 1))
        except zlib.error as error:
            raise damaged(name, f"{part}: {error}") from None
        if not complete and len(content) <= packed.size:
            raise damaged(name, f"{part} is cut off")
    else:
        raise damaged(name, f"{part} is packed by method {packed.method}")
    if len(content) != packed.size or zlib.crc32(content) != packed.crc:
        raise damaged(name, f"{part} is not what the archive says it is")
    return content


def _check_markup(part: str, content: bytes, name: str) -> None:
    if part == "mimetype":
        return
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"} or b"\x00" in content[:4]:
        raise InputError(
            f"{name}, {part}: found XML in UTF-16. Allowed: UTF-8, which every spreadsheet writes. {ASK_AGAIN}"
        )
    if _declares(content):
        raise declaration(f"{name}, {part}")


def _declares(content: bytes) -> bool:
    """Whether there is a document type or an entity; looking for two bytes first is many times faster."""
    place = content.find(b"<!")
    while place >= 0:
        if _DOCTYPE.match(content, place + 2):
            return True
        place = content.find(b"<!", place + 2)
    return False
