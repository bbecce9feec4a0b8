"""Files as they are stored: packed by gzip, or not in UTF-8. They are read as plain UTF-8 and written as they were."""

from __future__ import annotations

import codecs
import gzip
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from clueval_xlsx.corpus.reading import Carrier, Reading, SourceChange
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.recognition import GZIP, ZIP, unpack_gzip

_UTF8 = "utf-8"


def unpacked(data: bytes, name: str) -> bytes:
    """The content of a file, unpacked if it is packed by gzip."""
    return unpack_gzip(data, name) if data.startswith(GZIP) else data


def as_utf8(data: bytes, encoding: str | None, name: str) -> bytes:
    """A text in UTF-8; what is UTF-8 already, or no text, stays as it is."""
    if encoding is None or data.startswith((GZIP, ZIP)):
        return data
    try:
        wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    except LookupError:
        raise OptionError(
            f"--encoding {encoding}: there is no such encoding. Give one, such as latin-1 or cp1252."
        ) from None
    if b"\0" in data:  # no text, unless several bytes make a character
        if not wide:
            return data
    else:
        try:
            data.decode(_UTF8)
        except UnicodeDecodeError:
            pass
        else:
            return data
    try:
        return data.decode(encoding).encode(_UTF8)
    except (UnicodeError, LookupError) as error:
        raise InputError(f"{name}: is neither UTF-8 nor {encoding} ({error}). Give another --encoding.") from None


def packed_for(name: str, content: bytes, before: bytes = b"") -> bytes:
    """What a file of this name holds: packed by gzip if it ends so; `before` if that holds the same."""
    if not name.lower().endswith(".gz"):
        return content
    same = before.startswith(GZIP) and unpack_gzip(before, name) == content
    return before if same else gzip.compress(content, mtime=0)


@dataclass(frozen=True)
class Storage:
    """How the files of a source are stored: their bytes, by name, where reading changed them, and the encoding."""

    files: Mapping[str, bytes]
    encoding: str | None = None

    def restored(self, content: bytes, name: str) -> bytes:
        """A corrected file as it was stored; one that was not changed is the same to the byte."""
        before = self.files.get(name)
        if before is None:
            return content
        plain = unpacked(before, name)
        text = as_utf8(plain, self.encoding, name)
        if content == text:
            return before
        if text != plain:
            content = self._encoded(content, name)
        return gzip.compress(content, mtime=0) if plain is not before else content

    def _encoded(self, content: bytes, name: str) -> bytes:
        try:
            return content.decode(_UTF8).encode(self.encoding or _UTF8)
        except UnicodeEncodeError as error:
            raise InputError(
                f"{name}: {error.object[error.start : error.end]!r} cannot be written in {self.encoding}. Convert the "
                "file to UTF-8 first."
            ) from None


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


@dataclass(frozen=True, eq=False)
class StoredFiles:
    """What was read, and how it is stored."""

    inner: Carrier
    storage: Storage

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The corrected files as they were stored."""
        files = self.inner.splice(reading, changes)
        return {name: self.storage.restored(content, name) for name, content in files.items()}
