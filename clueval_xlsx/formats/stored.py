"""Files as they are stored: packed by gzip, or not in UTF-8. They are read as plain UTF-8 and written as they were."""

from __future__ import annotations

import codecs
import gzip
import shlex
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath

from clueval_xlsx.corpus.reading import Carrier, Reading, SourceChange
from clueval_xlsx.exceptions import InputError, OptionError

GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
_ROOM = 64 * 1024 * 1024  # that any compressed file may unpack to
_MOST_RATIO = 200
_MOST_BYTES = 4 * 1024 * 1024 * 1024
_STEP = 1 << 20


def without_gz(name: str) -> str:
    """The name of a packed file when it is unpacked."""
    return name[:-3] if name.lower().endswith(".gz") else name


def stem_of(name: str) -> str:
    """The name that a file gives its document: without its ending."""
    return str(PurePosixPath(without_gz(name)).with_suffix(""))


def unpacked(data: bytes, name: str) -> bytes:
    """The content of a file, unpacked if it is packed by gzip, under limits: few bytes may not become gigabytes."""
    if not data.startswith(GZIP):
        return data
    most = min(_MOST_BYTES, _ROOM + _MOST_RATIO * len(data))
    pieces, size, rest = [], 0, data
    try:
        while rest.startswith(GZIP):  # a file may be several, one behind the other
            unpacker = zlib.decompressobj(31)
            while not unpacker.eof:
                piece = unpacker.decompress(rest, _STEP)
                size += len(piece)
                if size > most:
                    raise InputError(
                        f"{name}: unpacks to more than {most / 1e6:,.0f} MB, which is too much for a packed file of "
                        f"{len(data) / 1e6:,.2f} MB. Unpack it yourself if you trust it."
                    )
                pieces.append(piece)
                rest = unpacker.unconsumed_tail
                if not piece and not rest:
                    break
            if not unpacker.eof:
                raise InputError(f"{name}: the gzip file is cut off. Copy it again.")
            rest = unpacker.unused_data
    except zlib.error as error:
        raise InputError(f"{name}: the gzip file is damaged ({error}). Copy it again.") from None
    content = b"".join(pieces)
    if content[257:262] == b"ustar":
        raise InputError(f"{name}: this is a tar archive. Unpack it, and give a file or folder of it.")
    return content


def as_utf8(data: bytes, encoding: str | None, name: str) -> bytes:
    """A text in UTF-8; what is UTF-8 already, or no text, stays as it is."""
    if encoding is None or data.startswith((GZIP, ZIP)):
        return data
    try:
        wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    except LookupError:
        raise OptionError(
            f"read.encoding={encoding}: there is no such encoding. Give one, such as latin-1 or cp1252."
        ) from None
    if b"\0" in data:
        if not wide:  # no text, unless several bytes make a character
            return data
    elif _is_utf8(data):
        return data
    try:
        return data.decode(encoding).encode("utf-8")
    except (UnicodeError, LookupError) as error:
        raise InputError(f"{name}: is neither UTF-8 nor {encoding} ({error}). Give another read.encoding.") from None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def decode_text(raw: bytes, name: str) -> str:
    """The text of a small file, without a byte order mark; what is not UTF-8 is refused with its line."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}:{line}: byte 0x{raw[error.start]:02X} is not UTF-8. Save the file as UTF-8, or give its "
            "encoding (read.encoding=latin-1)."
        ) from None


def packed_for(name: str, content: bytes, before: bytes = b"") -> bytes:
    """What a file of this name holds: packed by gzip if it ends so; `before` if that holds the same."""
    if not name.lower().endswith(".gz"):
        return content
    same = before.startswith(GZIP) and unpacked(before, name) == content
    return before if same else gzip.compress(content, mtime=0)


@dataclass(frozen=True, eq=False)
class StoredFiles:
    """What was read, and how it is stored: the bytes of files, by name, where reading changed them."""

    inner: Carrier
    files: Mapping[str, bytes]
    encoding: str | None

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The corrected files as they were stored; one that was not changed is the same to the byte."""
        spliced = self.inner.splice(reading, changes)
        return {name: self._restored(content, name) for name, content in spliced.items()}

    def _restored(self, content: bytes, name: str) -> bytes:
        before = self.files.get(name)
        if before is None:
            return content
        plain = unpacked(before, name)
        text = as_utf8(plain, self.encoding, name)
        if content == text:
            return before
        if text != plain:
            try:
                content = content.decode("utf-8").encode(self.encoding or "utf-8")
            except UnicodeEncodeError as error:
                raise InputError(
                    f"{name}: {error.object[error.start : error.end]!r} cannot be written in {self.encoding}. Convert "
                    "the file to UTF-8 first."
                ) from None
        return content if plain is before else gzip.compress(content, mtime=0)


@dataclass(frozen=True)
class ReadOnly:
    """Files of a format that is read, but not written back."""

    title: str

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:  # noqa: ARG002
        """Refuse, with the call that makes files that can be corrected."""
        name = reading.source.name
        target = str(PurePath(name).with_suffix(".vrt" if reading.tokenised else ".jsonl"))
        raise OptionError(
            f"{name}: {self.title} is read, but not written back. Convert it first, and evaluate the new file: "
            f"clueval-xlsx convert {shlex.quote(name)} {shlex.quote(target)}"
        )
