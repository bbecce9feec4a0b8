"""Which format a file is in, told by its ending and its first lines."""

from __future__ import annotations

import re
from pathlib import PurePath

from clueval_xlsx.formats.span_table import is_span_table

VRT, CONLL, BRAT, TAB, PRESIDIO, LABEL_STUDIO, TABLE = (
    "vrt",
    "conll",
    "brat",
    "tab",
    "presidio",
    "label-studio",
    "table",
)
FORMATS = (VRT, CONLL, BRAT, TAB, PRESIDIO, LABEL_STUDIO, TABLE)
JSON = "json"  # one of the three JSON formats; their keys tell which

_BY_ENDING = {
    ".vrt": VRT,
    ".vert": VRT,
    ".conll": CONLL,
    ".conllu": CONLL,
    ".bio": CONLL,
    ".iob": CONLL,
    ".iob2": CONLL,
    ".ann": BRAT,
    ".json": JSON,
    ".xlsx": TABLE,
}
_LOOK = 1 << 16
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*(?:\{|\]|$)|\{\s*\")")


def detect_format(name: str, head: bytes) -> str:
    """The format of a file by its name, or by how it begins where the name says nothing."""
    known = _BY_ENDING.get(PurePath(name).suffix.lower())
    if known:
        return known
    head = head[:_LOOK]
    if head.startswith(b"PK\x03\x04"):
        return TABLE
    if _JSON_START.match(head):
        return JSON
    lines = head.splitlines()
    if lines and is_span_table(lines[0].decode("utf-8", "replace")):
        return TABLE
    for line in lines:
        text = line.strip()
        if not text or text.startswith((b"<", b"#")):
            continue
        return VRT if b"\t" in text and not text.startswith(b"-DOCSTART-") else CONLL
    return VRT
