"""Which format a file is in, told by its ending and its first lines."""

from __future__ import annotations

from pathlib import PurePath

FORMATS = ("vrt", "conll")

_BY_ENDING = {
    ".vrt": "vrt",
    ".vert": "vrt",
    ".conll": "conll",
    ".conllu": "conll",
    ".bio": "conll",
    ".iob": "conll",
    ".iob2": "conll",
}
_LOOK = 1 << 16


def detect_format(name: str, head: bytes) -> str:
    """The format of a file by its name, or by how it begins where the name says nothing."""
    known = _BY_ENDING.get(PurePath(name).suffix.lower())
    if known:
        return known
    for line in head[:_LOOK].splitlines():
        text = line.strip()
        if not text or text.startswith((b"<", b"#")):
            continue
        return "vrt" if b"\t" in text and not text.startswith(b"-DOCSTART-") else "conll"
    return "vrt"
