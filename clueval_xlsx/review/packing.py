"""Values packed into text that fits into the cells of a manifest, and unpacked again within limits."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

# A manifest is unpacked from a file that anybody may have sent: what it may grow to is limited.
MOST_BYTES = 512 * 1024 * 1024
_ROOM = 4 * 1024 * 1024  # bytes that any text may unpack to
_MOST_RATIO = 40  # beyond that; lists of positions shrink to a third or a tenth
# What unpacking something damaged, and looking into it, can raise.
DAMAGED = (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, zlib.error)


def pack(content: Mapping[str, Any]) -> str:
    """A value as compressed text of visible ASCII characters.

    >>> unpack(pack({"start": [3, 9]}))
    {'start': [3, 9]}
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")


def unpack(text: str) -> Any:
    """The value again; raises one of `DAMAGED` if that cannot be."""
    unpacker = zlib.decompressobj()
    packed = base64.b64decode(text, validate=True)
    data = unpacker.decompress(packed, min(MOST_BYTES, _ROOM + _MOST_RATIO * len(packed)))
    if unpacker.unconsumed_tail:
        raise ValueError("it is too large")
    return json.loads(data)
