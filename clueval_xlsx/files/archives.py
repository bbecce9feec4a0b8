"""Members of a ZIP archive that anybody may have sent, read under limits and never unpacked to the disk."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath

from clueval_xlsx.exceptions import InputError

_START = b"PK\x03\x04"
_CENTRAL = b"PK\x01\x02"
_MOST_MEMBERS = 200_000
_MOST_BYTES = 4 * 1024 * 1024 * 1024
_MOST_RATIO = 200  # of the whole file: annotations shrink to a tenth or a fiftieth
_ROOM = 64 * 1024 * 1024  # that any archive may unpack to
# What reading a broken archive raises
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError),
    *(ValueError, OSError, OverflowError, EOFError),
)


def is_archive(head: bytes) -> bool:
    """Whether bytes begin as those of an archive."""
    return head.startswith(_START)


class Archive:
    """An archive whose members are read one by one; together they may not grow beyond what such a file can hold."""

    def __init__(self, data: bytes, name: str, most: int | None = None) -> None:
        """List the members, or raise with what is wrong with the archive; `most` bytes is what it may unpack to."""
        self.name = name
        if data.count(_CENTRAL) > 2 * _MOST_MEMBERS:
            raise InputError(f"{name}: an archive of {data.count(_CENTRAL):,} files. Allowed: {_MOST_MEMBERS:,}.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = [entry for entry in self._zip.infolist() if not entry.is_dir()]
        except BROKEN as error:
            raise InputError(
                f"{name}: the archive is damaged ({error}). Ask for it again, or save or export it anew."
            ) from None
        self._left = min(_MOST_BYTES, _ROOM + _MOST_RATIO * len(data)) if most is None else most
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            _refuse_escape(entry.filename, name)
            if entry.filename in self._entries:
                raise InputError(f"{name}: {entry.filename} is there twice. Export the archive again.")
            self._entries[entry.filename] = entry

    @property
    def names(self) -> tuple[str, ...]:
        """The paths of the members."""
        return tuple(self._entries)

    def read(self, path: str) -> bytes:
        """The content of a member, however large the archive says that it is."""
        entry = self._entries[path]
        where = f"{self.name}, {path}"
        if entry.flag_bits & 1:
            raise InputError(f"{where}: is under a password. Give an archive without one.")
        if entry.file_size > self._left:
            raise InputError(
                f"{where}: unpacks to {entry.file_size / 1e6:,.0f} MB, more than an archive of this size may hold. "
                "Unpack it yourself if you trust it, and give the files."
            )
        try:
            with self._zip.open(entry) as stream:
                content = stream.read(entry.file_size + 1)
        except BROKEN as error:
            raise InputError(f"{where}: is damaged ({error}). Copy or export the archive again.") from None
        if len(content) != entry.file_size:
            raise InputError(f"{where}: is not as large as the archive says. Copy or export it again.")
        self._left -= len(content)
        return content


def _refuse_escape(path: str, name: str) -> None:
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if ".." in parts or path.startswith(("/", "\\")) or ":" in (parts[0] if parts else ""):
        raise InputError(f"{name}: the member {path[:80]!r} leads out of the archive. The archive is refused.")


def repacked(data: bytes, changed: Mapping[str, bytes]) -> bytes:
    """An archive with some members changed; the others keep their content, their order and their dates."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w") as target:
        target.comment = source.comment
        for entry in source.infolist():
            content = changed[entry.filename] if entry.filename in changed else source.read(entry)
            target.writestr(entry, content, entry.compress_type)
    return buffer.getvalue()
