"""XML files with a few attributes and elements changed: everything else keeps its bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_SPACE = b" \t\r\n"

Replacement = tuple[int, int, bytes]


def start_tag(raw: bytes, place: int) -> bytes:
    """The start tag at a place where a parser found one, up to and with its `>`."""
    found = _TAG.match(raw, place)
    assert found is not None, "the parser found a tag here"
    return found[0]


def tag_name(tag: bytes) -> str:
    """The name in a start tag, with its prefix."""
    found = re.match(rb"<([^\s/>]+)", tag)
    assert found is not None
    return found[1].decode("utf-8")


def before_space(raw: bytes, place: int) -> int:
    """Where the white space in front of a place begins."""
    while place > 0 and raw[place - 1 : place] in _SPACE:
        place -= 1
    return place


def removal(raw: bytes, place: int) -> Replacement:
    """What takes an element out, with the white space in front of it; no element of its name is inside it."""
    tag = start_tag(raw, place)
    end = place + len(tag)
    if not tag.endswith(b"/>"):
        close = re.compile(rb"</" + re.escape(tag_name(tag).encode()) + rb"\s*>").search(raw, end)
        assert close is not None, "the parser found the end of the element"
        end = close.end()
    return before_space(raw, place), end, b""


def with_attributes(tag: bytes, values: Mapping[str, str | None]) -> bytes:
    """A start tag with these attributes; None takes one away.

    >>> with_attributes(b'<a b="1" c="2"/>', {"b": "3", "c": None, "d": "x & y"})
    b'<a b="3" d="x &amp; y"/>'
    """
    for key, value in values.items():
        found = re.search(rb"\s" + re.escape(key.encode()) + rb"\s*=\s*(\"[^\"]*\"|'[^']*')", tag)
        new = None if value is None else f'"{attribute(value)}"'.encode("ascii", "xmlcharrefreplace")
        if found and new is not None:
            tag = tag[: found.start(1)] + new + tag[found.end(1) :]
        elif found:
            tag = tag[: found.start()] + tag[found.end() :]
        elif new is not None:
            end = len(tag) - (2 if tag.endswith(b"/>") else 1)
            kept = tag[:end].rstrip()
            tag = kept + b" " + key.encode() + b"=" + new + tag[len(kept) :]
    return tag


def attribute(value: str) -> str:
    """Text as it stands in an attribute.

    >>> attribute('a "b" & <c>')
    'a &quot;b&quot; &amp; &lt;c&gt;'
    """
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        value = value.replace(character, entity)
    return re.sub(r"[\t\r\n]", lambda match: f"&#{ord(match[0])};", value)


def replaced(raw: bytes, replacements: Sequence[Replacement]) -> bytes:
    """The bytes with these stretches replaced; none of them overlaps another."""
    pieces, done = [], 0
    for begin, end, new in sorted(replacements):
        pieces += [raw[done:begin], new]
        done = end
    return b"".join([*pieces, raw[done:]])
