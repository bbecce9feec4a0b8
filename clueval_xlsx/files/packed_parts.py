"""Parts of an archive as they are packed, put together to another archive without unpacking them."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import NamedTuple

_PART = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_VERSION = 20
_UTF8 = 0x800
_FIRST_OF_1980 = 0x21


class PackedPart(NamedTuple):
    """One part: its bytes as they are packed and by which method, and size and checksum of what is packed."""

    content: bytes
    method: int
    size: int
    crc: int


def stored(content: bytes) -> PackedPart:
    """A part that is not packed at all."""
    return PackedPart(content, zipfile.ZIP_STORED, len(content), zlib.crc32(content))


def archive(parts: Mapping[str, PackedPart]) -> bytes:
    """An archive of these parts, which together have less than 4 GB; nothing else stands in it."""
    pieces: list[bytes] = []
    entries: list[bytes] = []
    place = 0
    for path, part in parts.items():
        name = path.encode()
        common = (_UTF8, part.method, 0, _FIRST_OF_1980, part.crc, len(part.content), part.size, len(name), 0)
        head = _PART.pack(b"PK\x03\x04", _VERSION, *common) + name
        entries.append(_ENTRY.pack(b"PK\x01\x02", _VERSION, _VERSION, *common, 0, 0, 0, 0, place) + name)
        pieces += [head, part.content]
        place += len(head) + len(part.content)
    directory = b"".join(entries)
    end = _END.pack(b"PK\x05\x06", 0, 0, len(parts), len(parts), len(directory), place, 0)
    return b"".join([*pieces, directory, end])
