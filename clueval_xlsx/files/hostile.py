"""Checks of a file that anybody may have sent, before a parser sees it: sizes, entities, claimed cells.

A spreadsheet parser allocates the rectangle that a sheet's cells span. A few bytes can claim a cell at XFD1048576
and so ask for half a terabyte, which kills the process. So the archive is unpacked here under limits, each
sheet's claims are checked, and the parser gets a new archive that holds only what was looked at.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clueval_xlsx.exceptions import InputError

MOST_FILE_BYTES = 300 * 1024 * 1024
MOST_PART_BYTES = 700 * 1024 * 1024
MOST_TOTAL_BYTES = 1024 * 1024 * 1024
MOST_PARTS = 5_000
MOST_RATIO = 200  # of a part that is not small: real sheets shrink to a tenth or a thirtieth
_SMALL_PART = 8 * 1024 * 1024
MOST_CELLS = 60_000_000
MOST_STRING_BYTES = 1024 * 1024 * 1024
_ROOM = 2_000_000  # cells that a sheet may span however few it has
_EMPTY_PER_CELL = 40  # empty cells that may lie around each cell beyond that
_MOST_SPACES = 100_000

_CENTRAL = b"PK\x01\x02"
_XLSX_PART = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|xl/workbook\.xml|xl/_rels/workbook\.xml\.rels|xl/styles\.xml|"
    r"xl/sharedStrings\.xml|xl/worksheets/[^/]+\.xml",
    re.IGNORECASE,
)
_ODS_PART = re.compile(r"mimetype|content\.xml|META-INF/manifest\.xml", re.IGNORECASE)
_DOCTYPE = re.compile(rb"(?:DOCTYPE|ENTITY)", re.IGNORECASE)
# Attributes of one tag. The lengths are limited so that a malformed file cannot make the search quadratic.
_ATTRIBUTES = rb"""((?:[^<>"'/]|/(?!>)|"[^"]{0,9000}"|'[^']{0,9000}'){0,500})"""
_CELL = re.compile(rb"<(?:[\w.-]{1,40}:)?c(?=[\s/>])" + _ATTRIBUTES + rb"/?>")
_PREFIXED = (b":c ", b":c\t", b":c\n", b":c\r", b":c/", b":c>")
_PREFIXED_CELL = re.compile(rb"<[\w.-]+:c(?=[\s/>])")
_REFERENCE = re.compile(rb"""(?:^|\s)r\s*=\s*["']\s*([^"']*)["']""")
_PLAIN_REFERENCE = re.compile(rb"\$?([A-Za-z]{1,4})\$?([0-9]{1,9})")
_ODS_OPENING = rb"<table:(table-row|table-cell|covered-table-cell|table)(?=[\s/>])"
_ODS_TOKEN = re.compile(_ODS_OPENING + _ATTRIBUTES + rb"(/?)>|</table:(table-row|table)\s*>")
_REPEATED = re.compile(rb"""table:number-(?:columns|rows)-repeated\s*=\s*["']([^"']*)["']""")
_SPACES = re.compile(rb"""text:c\s*=\s*["']\s*([0-9]*)""")


@dataclass(frozen=True, eq=False)
class Package:
    """An archive that was looked at: its kind (`xlsx` or `ods`) and a clean copy for the parser."""

    kind: str
    content: bytes


def unpack(data: bytes, name: str) -> Package:
    """Check an archive and repack it; raises with a reason if it is no spreadsheet or not safe to read."""
    parts = _parts(data, name)
    names = {part.casefold() for part in parts}
    if "xl/workbook.xml" in names:
        kind = "xlsx"
        check_xlsx(parts, name)
    elif "content.xml" in names:
        kind = "ods"
        check_ods(parts, name)
    else:
        found = "a Word document" if "word/document.xml" in names else "an archive without a workbook in it"
        raise InputError(f"{name}: found {found}. Allowed: .xlsx and .ods. Send the workbook itself.")
    return Package(kind, _packed(parts))


def _parts(data: bytes, name: str) -> dict[str, bytes]:
    """The parts that a reader needs, unpacked under limits."""
    if len(data) > MOST_FILE_BYTES:
        raise _too_large(name, f"a file of {len(data) / 1e6:,.0f} MB", f"{MOST_FILE_BYTES / 1e6:,.0f} MB")
    if data.count(_CENTRAL) > 2 * MOST_PARTS:
        raise _too_large(name, f"an archive of {data.count(_CENTRAL):,} parts", f"{MOST_PARTS:,}")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, OverflowError, UnicodeError) as error:
        raise _damaged(name, str(error)) from None
    if len(entries) > MOST_PARTS:
        raise _too_large(name, f"an archive of {len(entries):,} parts", f"{MOST_PARTS:,}")
    wanted = _ODS_PART if any(entry.filename == "content.xml" for entry in entries) else _XLSX_PART
    if any(entry.filename.casefold() == "xl/workbook.xml" for entry in entries):
        wanted = _XLSX_PART
    elif any(entry.filename.casefold() == "word/document.xml" for entry in entries):
        return {"word/document.xml": b""}
    parts: dict[str, bytes] = {}
    left = MOST_TOTAL_BYTES
    for entry in entries:
        if not wanted.fullmatch(entry.filename):
            continue
        if entry.filename in parts:
            raise _damaged(name, f"{entry.filename} is there twice")
        parts[entry.filename] = _inflate(data, entry, min(left, MOST_PART_BYTES), name)
        left -= len(parts[entry.filename])
        if left < 0:
            raise _too_large(name, "content", f"{MOST_TOTAL_BYTES / 1e6:,.0f} MB unpacked")
    for part, content in parts.items():
        _check_markup(part, content, name)
    return parts


def _inflate(data: bytes, entry: zipfile.ZipInfo, most: int, name: str) -> bytes:
    """Unpack one part without trusting the sizes that the archive states."""
    part = f"{name}, {entry.filename}"
    declared = entry.file_size
    if declared > most:
        raise _too_large(part, f"{declared / 1e6:,.0f} MB unpacked", f"{most / 1e6:,.0f} MB")
    if declared > _SMALL_PART and declared > MOST_RATIO * max(entry.compress_size, 1):
        raise _too_large(part, f"{declared / max(entry.compress_size, 1):,.0f} times its packed size", str(MOST_RATIO))
    if entry.flag_bits & 1:
        raise InputError(f"{part}: is encrypted in a way that spreadsheets do not use. Save the workbook again.")
    head = data[entry.header_offset : entry.header_offset + 30]
    if len(head) < 30 or head[:4] != b"PK\x03\x04":
        raise _damaged(name, f"{entry.filename} does not begin where the archive says")
    begin = entry.header_offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    packed = data[begin : begin + entry.compress_size]
    if len(packed) < entry.compress_size:
        raise _damaged(name, f"{entry.filename} is cut off")
    if entry.compress_type == zipfile.ZIP_STORED:
        content = packed
    elif entry.compress_type == zipfile.ZIP_DEFLATED:
        unpacker = zlib.decompressobj(-15)
        try:
            content = unpacker.decompress(packed, declared + 1)
            complete = unpacker.eof or (len(content) == declared and not unpacker.decompress(b"", 1))
        except zlib.error as error:
            raise _damaged(name, f"{entry.filename}: {error}") from None
        if not complete and len(content) <= declared:
            raise _damaged(name, f"{entry.filename} is cut off")
    else:
        raise _damaged(name, f"{entry.filename} is packed by method {entry.compress_type}")
    if len(content) != declared or zlib.crc32(content) != entry.CRC:
        raise _damaged(name, f"{entry.filename} is not what the archive says it is")
    return content


def _check_markup(part: str, content: bytes, name: str) -> None:
    if part == "mimetype":
        return
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"} or b"\x00" in content[:4]:
        raise InputError(f"{name}, {part}: found XML in UTF-16. Allowed: UTF-8, which every spreadsheet writes.")
    if _declares(content):
        raise InputError(
            f"{name}, {part}: found a DOCTYPE or ENTITY, which no spreadsheet writes and which can harm. "
            "The file is refused; ask for a workbook saved by Excel, LibreOffice or Google Sheets."
        )


def _declares(content: bytes) -> bool:
    """Whether there is a document type or an entity; looking for two bytes first is many times faster."""
    place = content.find(b"<!")
    while place >= 0:
        if _DOCTYPE.match(content, place + 2):
            return True
        place = content.find(b"<!", place + 2)
    return False


def check_xlsx(parts: Mapping[str, bytes], name: str) -> None:
    """Refuse sheets that span far more cells than they have, and strings that are repeated beyond measure."""
    strings = next((content for part, content in parts.items() if part.casefold() == "xl/sharedstrings.xml"), b"")
    lengths = _string_lengths(strings)
    for part, content in parts.items():
        if part.casefold().startswith("xl/worksheets/"):
            where = f"{name}, {part}"
            if content.count(b"mergeCell") > 1_000_000:
                raise _too_large(where, "merged cells", "1,000,000")
            column, row, cells = _claimed_cells(content, where)
            _check_rectangle(int(column.max(initial=0)), int(row.max(initial=0)), cells, where)
            _check_strings(content, lengths, where)


def _claimed_cells(content: bytes, where: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """Columns and rows that a sheet's cells claim (counted from 1), and how many cells there are."""
    buffer = np.frombuffer(content + b"\x00" * 24, dtype=np.uint8)
    opened = np.flatnonzero(buffer[:-24] == ord("<"))
    second, third = buffer[opened + 1], buffer[opened + 2]
    plain = opened[(second == ord("c")) & np.isin(third, np.frombuffer(b" \t\r\n/>", dtype=np.uint8))]
    column, row, known = _read_references(buffer, plain)
    odd = [_CELL.match(content, start) for start in plain[~known].tolist()]
    if any(mark in content for mark in _PREFIXED):
        odd += [_CELL.match(content, match.start()) for match in _PREFIXED_CELL.finditer(content)]
    more = [_reference(match, where) for match in odd]
    columns = np.concatenate([column[known], np.array([place[0] for place in more], dtype=np.int64)])
    rows = np.concatenate([row[known], np.array([place[1] for place in more], dtype=np.int64)])
    return columns, rows, len(plain) + len(odd)


def _read_references(
    buffer: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Read `<c r="AB12"` at the given places, all at once; tells which places are written just so."""
    known = np.ones(len(starts), dtype=bool)
    for offset, expected in enumerate(b' r="', start=2):
        known &= buffer[starts + offset] == expected
    column = np.zeros(len(starts), dtype=np.int64)
    row = np.zeros(len(starts), dtype=np.int64)
    place = starts + 6
    for _ in range(3):
        letter = buffer[place]
        is_letter = (letter >= ord("A")) & (letter <= ord("Z"))
        column = np.where(is_letter, column * 26 + letter - 64, column)
        place = place + is_letter
    for _ in range(7):
        digit = buffer[place]
        is_digit = (digit >= ord("0")) & (digit <= ord("9"))
        row = np.where(is_digit, row * 10 + digit - 48, row)
        place = place + is_digit
    known &= (column > 0) & (row > 0) & (buffer[place] == ord('"'))
    return column, row, known


def _reference(tag: re.Match[bytes] | None, where: str) -> tuple[int, int]:
    """The cell that an unusually written tag names; one without a name stands behind the one before it."""
    if tag is None:
        raise InputError(f"{where}: found a cell that is not well-formed XML. Open the file, save it, and send that.")
    match = _REFERENCE.search(tag[1])
    if match is None:
        return 0, 0
    plain = _PLAIN_REFERENCE.fullmatch(match[1].strip())
    if plain is None:
        raise InputError(f"{where}: found {match[1][:40]!r} as the name of a cell. Allowed: names such as A1.")
    column = 0
    for letter in plain[1].upper():
        column = column * 26 + letter - 64
    return column, int(plain[2])


def _check_rectangle(columns: int, rows: int, cells: int, where: str) -> None:
    area = columns * rows
    if area > MOST_CELLS or area > _ROOM + _EMPTY_PER_CELL * cells:
        raise InputError(
            f"{where}: the sheet claims to reach column {columns:,} and row {rows:,}, but has {cells:,} cells. "
            f"Allowed: {min(MOST_CELLS, _ROOM + _EMPTY_PER_CELL * cells):,} cells in the rectangle that holds them. "
            "Delete the stray cells far right or far below, and save again."
        )


def _string_lengths(strings: bytes) -> npt.NDArray[np.int64]:
    """Upper bounds of the lengths of the shared strings."""
    buffer = np.frombuffer(strings + b"\x00" * 4, dtype=np.uint8)
    opened = np.flatnonzero(
        (buffer[:-3] == ord("<")) & (buffer[1:-2] == ord("s")) & (buffer[2:-1] == ord("i")) & (buffer[3:] != ord("z"))
    )
    if len(opened) < 1 and strings.count(b":si"):
        return np.array([len(strings)], dtype=np.int64)
    return np.diff(np.append(opened, len(strings)))


def _check_strings(content: bytes, lengths: npt.NDArray[np.int64], where: str) -> None:
    """Refuse a sheet that repeats long strings until they fill the memory."""
    if not lengths.size:
        return
    values = content.count(b"<v") + content.count(b":v")
    if values * int(lengths.max()) <= MOST_STRING_BYTES:
        return
    numbers = np.array([int(value) for value in re.findall(rb"<(?:[\w.-]+:)?v[^>]*>\s*([0-9]{1,9})\s*<", content)])
    inside = numbers[numbers < len(lengths)] if numbers.size else numbers
    total = int(lengths[inside].sum()) if inside.size else 0
    if total > MOST_STRING_BYTES:
        raise _too_large(where, f"{total / 1e6:,.0f} MB of repeated text", f"{MOST_STRING_BYTES / 1e6:,.0f} MB")


def check_ods(parts: Mapping[str, bytes], name: str) -> None:
    """Refuse tables whose repeated rows and columns unfold beyond measure."""
    content = next(content for part, content in parts.items() if part.casefold() == "content.xml")
    where = f"{name}, content.xml"
    if any(len(number) > 6 or int(number or 0) > _MOST_SPACES for number in _SPACES.findall(content)):
        raise _too_large(where, "a row of spaces", f"{_MOST_SPACES:,}")
    column = row = widest = deepest = cells = repeated_text = 0
    row_repeat, row_filled = 1, False
    if len(re.findall(_ODS_OPENING, content)) != sum(1 for match in _ODS_TOKEN.finditer(content) if match[1]):
        raise InputError(f"{where}: found a table that is not well-formed XML. Open the file, save it, and send that.")
    for match in _ODS_TOKEN.finditer(content):
        kind = match[1]
        if kind == b"table":
            column = row = widest = deepest = cells = 0
        elif kind == b"table-row":
            column, row_repeat, row_filled = 0, _repeat(match[2], where), False
            if match[3]:
                row += row_repeat
        elif kind is not None:
            repeat = _repeat(match[2], where)
            column += repeat
            if not match[3] or b"value" in match[2] or b"formula" in match[2]:
                row_filled = True
                widest = max(widest, column)
                cells += 1
                repeated_text = max(repeated_text, repeat * row_repeat)
        elif match[4] == b"table-row":
            row += row_repeat
            deepest = row if row_filled else deepest
        else:
            _check_rectangle(widest, deepest, cells, where)
            if repeated_text > _ROOM:
                raise _too_large(where, f"a cell that is repeated {repeated_text:,} times", f"{_ROOM:,}")
    _check_rectangle(widest, deepest, cells, where)


def _repeat(attributes: bytes, where: str) -> int:
    match = _REPEATED.search(attributes)
    if match is None:
        return 1
    if not match[1].isdigit() or len(match[1]) > 9:
        raise InputError(f"{where}: found {match[1][:40]!r} as a number of repetitions. Allowed: whole numbers.")
    return max(int(match[1]), 1)


def _packed(parts: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for part, content in parts.items():
            archive.writestr(zipfile.ZipInfo(part), content)
    return buffer.getvalue()


def _too_large(where: str, found: str, allowed: str) -> InputError:
    return InputError(f"{where}: found {found}. Allowed: {allowed}. The file is refused before it is read.")


def _damaged(name: str, why: str) -> InputError:
    return InputError(
        f"{name}: the workbook is damaged ({why}). Ask for it again, or open it in Excel or LibreOffice and save it."
    )
