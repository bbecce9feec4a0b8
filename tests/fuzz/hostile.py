"""Hostile workbooks as subjects: those of the list, and more of them, made by writing their claims in other ways."""

from __future__ import annotations

import re
import resource
import time
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from clueval_xlsx.files.workbooks import read_workbook
from tests.fuzz.cases import Files, promise, subject
from tests.fuzz.mutators import mutate_bytes
from tests.fuzz.sheets import mutate_archive, mutate_parts, packed, unpacked
from tests.support.hostile_books import KINDS, PASSWORD

# What takes too long to be made and changed again and again.
_SLOW = {
    "one part of a gigabyte",
    "a list of parts that unpacks to a gigabyte",
    "many large parts",
    "an archive of thousands of parts",
    "a long string in every cell of a large sheet",
    "merged cells without end",
    "rows and cells without a name, and without end",
    "an encrypted workbook that unfolds",
}
_ATTRIBUTE = re.compile(rb"""([\w:.-]{1,40})="([^"<&]{0,60})\"""")
_NUMBER = re.compile(rb"[0-9]{1,10}")
_NUMBERS = (b"0", b"1", b"4000000000", b"18446744073709551615", b"1048576", b"1048577", b"99999999999999999999", b"-1")
_MOST_SECONDS, _MOST_MEGABYTES = 30.0, 2000  # of the clock, and of any process that parsed


@cache
def _seeds() -> tuple[bytes, ...]:
    return tuple(data for name, make in KINDS.items() if name not in _SLOW for data in make())


def _other_quotes(rng: Random, part: bytes) -> bytes:
    """An attribute in single quotes, with spaces, as character references, with a plus sign, or twice."""
    found = list(_ATTRIBUTE.finditer(part[:200_000]))
    if not found:
        return part
    match = rng.choice(found)
    name, value = match[1], match[2]
    reference = b"".join(b"&#%d;" % byte for byte in value)
    other = rng.choice(
        (
            b"%s='%s'" % (name, value),
            b'%s \n= "%s"' % (name, value),
            b'%s="%s"' % (name, reference),
            b'%s="+%s"' % (name, value),
            b'%s=" %s "' % (name, value),
            b'%s="1" %s="%s"' % (name, name, value),
            b'x=\' %s="1"\' %s="%s"' % (name, name, value),
        )
    )
    return part[: match.start()] + other + part[match.end() :]


def _other_number(rng: Random, part: bytes) -> bytes:
    found = list(_NUMBER.finditer(part[:200_000]))
    if not found:
        return part
    match = rng.choice(found)
    return part[: match.start()] + rng.choice(_NUMBERS) + part[match.end() :]


def _between(rng: Random, part: bytes) -> bytes:
    """A comment, a CDATA section or white space between two tags, or an element wrapped into itself."""
    places = [match.end() for match in re.finditer(rb">", part[:200_000])]
    if not places:
        return part
    place = rng.choice(places)
    return (
        part[:place] + rng.choice((b"<!-- <c> -->", b"<![CDATA[<c>]]>", b"\n\t ", b"<x>" * 300, b"<c/>")) + part[place:]
    )


_CHANGES: tuple[Callable[[Random, bytes], bytes], ...] = (_other_quotes, _other_quotes, _other_number, _between)


def _hostile(rng: Random) -> Files:
    data = rng.choice(_seeds())
    if rng.random() < 0.1:
        return {"fuzzed.xlsx": mutate_archive(rng, data) if data[:2] == b"PK" else mutate_bytes(rng, data)}
    try:
        parts = unpacked(data)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, zlib.error):
        return {"fuzzed.xlsx": mutate_bytes(rng, data)}
    for _ in range(rng.choice((1, 1, 2, 4))):
        name = rng.choice(
            [*parts, *(part for part in parts if "sheet" in part or "content" in part or "haredS" in part)]
        )
        parts[name] = rng.choice(_CHANGES)(rng, parts[name])
    return {"fuzzed.xlsx": packed(mutate_parts(rng, parts) if rng.random() < 0.1 else parts, rng)}


@subject("hostile", _hostile, share=20)
def _check_hostile(files: Files, rng: Random, folder: Path) -> None:
    began = time.monotonic()
    try:
        read_workbook(files["fuzzed.xlsx"], "fuzzed.xlsx", PASSWORD)
    finally:
        took = time.monotonic() - began
        promise(took < _MOST_SECONDS, f"took {took:.0f} seconds")
        room = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        promise(room < _MOST_MEGABYTES, f"a process that parsed took {room:.0f} MB")
