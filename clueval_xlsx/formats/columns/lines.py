"""Lines and columns of a text buffer as arrays of offsets, and what is wrong with them, by its offset."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.corpus import LineOrigin
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.text.strings import PADDING, BoolArray, IntArray

MOST_PROBLEMS = 1000  # so many of each kind are described; the rest is only counted
_TAB, _NEWLINE, _RETURN, _SPACE = 9, 10, 13, 32
_OTHER_ENCODING = "Save the file as UTF-8, or give its encoding (read.encoding=latin-1)"
_LOOK = 4096  # bytes that tell how characters are written
_STEP = 1 << 18  # bytes that are looked at together: what is made of them fits a processor's cache
CHUNK_BYTES = 1 << 20  # what is made of so much text nearly fits a cache; less, and threads wait for each other


Column = tuple[IntArray, npt.NDArray[np.int32]]  # start and length of its cells


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of one stretch of the buffer: where each begins and ends (line end excluded), and its fields."""

    start: IntArray
    end: IntArray
    first_field: IntArray
    fields: IntArray  # how many fields each line has
    field_start: IntArray
    field_end: IntArray

    def columns(self, numbers: Sequence[int], rows: IntArray) -> list[Column]:
        """Start and length of some columns (counted from 1) in the given lines, which must have them."""
        first = self.first_field[rows]
        found = []
        for number in numbers:
            index = first + (number - 1)
            start = self.field_start[index]
            found.append((start, np.subtract(self.field_end[index], start, dtype=np.int32, casting="unsafe")))
        return found


def check_text(data: bytes, name: str) -> int:
    """Refuse what is not UTF-8 text; return the number of bytes of a byte order mark to skip."""

    def place_of(byte: int) -> str:
        line = data.count(b"\n", 0, byte) + 1
        return f"{name}:{line}"

    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(
            f"{name}:1: the file is UTF-16. Save it as UTF-8, or give its encoding (read.encoding=utf-16)."
        )
    if _is_wide(data[:_LOOK]):
        raise InputError(
            f"{name}:1: every other byte is 0: this is UTF-16 without the mark that says so. Save it as UTF-8, or give "
            "its encoding (read.encoding=utf-16-le or utf-16-be)."
        )
    begin, whole = 0, memoryview(data)
    while begin < len(data):
        try:
            _, taken = codecs.utf_8_decode(whole[begin : begin + _STEP], "strict", begin + _STEP >= len(data))
        except UnicodeDecodeError as error:
            place = begin + error.start
            found = f"byte 0x{data[place]:02X} is not UTF-8"
            raise InputError(problems=[Problem(place_of(place), found, remedy=_OTHER_ENCODING)]) from None
        begin += taken  # a character that is cut off comes with the next piece
    zero = data.find(b"\0")
    if zero >= 0:
        raise InputError(f"{place_of(zero)}: a NUL byte, so this is not a text file. Only UTF-8 text is read.")
    if b"\n" not in data and data.count(b"\r") > 1:
        raise InputError(f"{name}:1: lines end in CR alone. Allowed: LF or CRLF. Convert the line ends.")
    return len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0


def _is_wide(head: bytes) -> bool:
    """Whether most characters take two bytes, one of which is 0."""
    zeros = head.count(0)
    return zeros * 3 > len(head) and not (head[::2].count(0) and head[1::2].count(0))


def line_count(data: bytes, begin: int) -> int:
    """How many lines a padded buffer has; much quicker than `bytes.count` where lines are short."""
    buffer = np.frombuffer(data, dtype=np.uint8)
    return sum(int(np.count_nonzero(buffer[at : at + _STEP] == _NEWLINE)) for at in range(begin, len(data), _STEP))


def chunk_bounds(data: bytes, begin: int) -> list[tuple[int, int]]:
    """Cut a padded buffer into stretches of whole lines."""
    stop = len(data) - PADDING
    bounds = []
    while begin < stop:
        cut = data.find(b"\n", min(begin + CHUNK_BYTES, stop - 1)) + 1
        bounds.append((begin, cut))
        begin = cut
    return bounds


def split_tabs(buffer: npt.NDArray[np.uint8], begin: int, stop: int) -> Lines:
    """Lines of tab-separated fields; a field may be empty."""
    view = buffer[begin:stop]
    field_end = np.flatnonzero(view - np.uint8(_TAB) <= _NEWLINE - _TAB)  # the two are neighbours; others wrap round
    field_end += begin
    last_field = np.flatnonzero(buffer[field_end] == _NEWLINE)
    field_start, first_field = np.empty_like(field_end), np.empty_like(last_field)
    field_start[:1], first_field[:1] = begin, 0
    np.add(field_end[:-1], 1, out=field_start[1:])
    np.add(last_field[:-1], 1, out=first_field[1:])
    line_end = field_end[last_field]
    with_return = (line_end > begin) & (buffer[line_end - 1] == _RETURN)
    if with_return.any():
        field_end[last_field[with_return]] -= 1
        np.maximum(field_end, field_start, out=field_end)
    return Lines(
        start=field_start[first_field],
        end=field_end[last_field],
        first_field=first_field,
        fields=last_field - first_field + 1,
        field_start=field_start,
        field_end=field_end,
    )


def split_blanks(buffer: npt.NDArray[np.uint8], begin: int, stop: int) -> Lines:
    """Lines of fields separated by any number of spaces and tabs; no field is empty."""
    view = buffer[begin:stop]
    newline = np.flatnonzero(view == _NEWLINE) + begin
    solid: BoolArray = (view != _SPACE) & (view != _TAB) & (view != _NEWLINE) & (view != _RETURN)
    edges = np.diff(np.concatenate([[0], solid.view(np.int8), [0]]))
    field_start = np.flatnonzero(edges == 1) + begin
    field_end = np.flatnonzero(edges == -1) + begin
    first_field = np.searchsorted(field_start, np.concatenate([[begin], newline[:-1] + 1]))
    beyond = np.searchsorted(field_start, newline)
    line_end = newline - ((newline > begin) & (buffer[newline - 1] == _RETURN))
    return Lines(
        start=np.concatenate([[begin], newline[:-1] + 1]),
        end=line_end,
        first_field=first_field,
        fields=beyond - first_field,
        field_start=field_start,
        field_end=field_end,
    )


class Complaint(NamedTuple):
    """One thing wrong, at a byte offset of the file."""

    offset: int
    found: str
    allowed: str = ""
    remedy: str = ""


@dataclass(eq=False)
class Complaints:
    """Everything wrong with one file, and how many more there are than are described."""

    listed: list[Complaint] = field(default_factory=list)
    unlisted: int = 0
    incomplete: bool = False  # lines were left out

    def add(self, complaints: Sequence[Complaint], total: int = 0) -> None:
        """Add complaints of one kind; `total` says how many there are if not all are described."""
        self.listed += complaints
        self.unlisted += max(total - len(complaints), 0)

    def join(self, other: Complaints) -> None:
        """Add those of another part of the file."""
        self.listed += other.listed
        self.unlisted += other.unlisted
        self.incomplete |= other.incomplete

    def refuse(self, data: bytes, name: str, origin: LineOrigin | None = None) -> None:
        """Raise if there is anything, in the order of the lines."""
        if not self.listed:
            return
        ordered = sorted(self.listed, key=lambda complaint: complaint.offset)
        lines = line_numbers(data, [complaint.offset for complaint in ordered])
        problems = [
            Problem(
                origin.place(line) if origin else f"{name}:{line}", complaint.found, complaint.allowed, complaint.remedy
            )
            for line, complaint in zip(lines, ordered, strict=True)
        ]
        raise InputError(problems=problems[:MOST_PROBLEMS], unlisted=self.unlisted + len(problems[MOST_PROBLEMS:]))


def line_numbers(data: bytes, offsets: Sequence[int]) -> list[int]:
    """The line of each byte offset, counted from 1, in one pass over the file.

    >>> line_numbers(b"a\\nb\\nc\\n", [4, 0, 2])
    [3, 1, 2]
    """
    lines = {}
    line, done = 1, 0
    for offset in sorted(set(offsets)):
        line += data.count(b"\n", done, offset)
        done = offset
        lines[offset] = line
    return [lines[offset] for offset in offsets]
