"""What is wrong with a file, collected by byte offset and turned into problems with line numbers at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clueval_xlsx.corpus.corpus import LineOrigin
from clueval_xlsx.exceptions import InputError, Problem

MOST_PROBLEMS = 1000  # so many of each kind are described; the rest is only counted


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

    def add(self, complaints: Iterable[Complaint], total: int | None = None) -> None:
        """Add complaints of one kind; `total` says how many there are if not all are described."""
        before = len(self.listed)
        self.listed += complaints
        self.unlisted += max(total - (len(self.listed) - before), 0) if total is not None else 0

    def join(self, other: Complaints) -> None:
        """Add those of another part of the file."""
        self.listed += other.listed
        self.unlisted += other.unlisted

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
