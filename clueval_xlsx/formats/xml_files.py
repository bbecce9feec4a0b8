"""XML as it is written: its elements with their places among the bytes, and a few of them changed.

What is not changed keeps its bytes. Document types and entities are refused before anything else is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.parsers import expat

from clueval_xlsx.exceptions import InputError

_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_VERSION = re.compile(rb"(<\?xml[^>]*version\s*=\s*[\"'])1\.1")
_SPACE = b" \t\r\n"
_DEEPEST = 20
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

Replacement = tuple[int, int, bytes]


@dataclass(eq=False)
class Element:
    """An element: the names of those around it, its attributes, its text, its first byte and that of its end tag."""

    name: str
    around: tuple[str, ...]
    attributes: Mapping[str, str]
    place: int
    text: str = ""
    end: int = 0


def parse_xml(raw: bytes, name: str, *, namespaces: bool = False) -> list[Element]:
    """The elements of a file in the order of their start tags; with namespaces a name is `URI NAME`."""
    elements: list[Element] = []
    inside: list[Element] = []
    texts: dict[int, list[str]] = {}
    parser = expat.ParserCreate(None, " " if namespaces else None)
    parser.buffer_text = True

    def opened(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, tuple(each.name for each in inside), attributes, parser.CurrentByteIndex)
        elements.append(element)
        inside.append(element)
        if len(inside) > _DEEPEST:
            raise InputError(f"{name}: elements are nested more than {_DEEPEST} deep. The file is refused.")

    def closed(_: str) -> None:
        element = inside.pop()
        element.end = parser.CurrentByteIndex
        element.text = "".join(texts.pop(element.place, ()))

    def characters(data: str) -> None:
        texts.setdefault(inside[-1].place, []).append(data)

    def declared(*_: object) -> None:
        raise InputError(
            f"{name}: found a DOCTYPE or ENTITY, which no such file has and which can harm. The file is refused; "
            "export it again."
        )

    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = characters, declared
    try:
        parser.Parse(_VERSION.sub(rb"\g<1>1.0", raw[:200]) + raw[200:], True)
    except expat.ExpatError as error:
        raise InputError(
            f"{name}:{error.lineno}: the XML is not well-formed ({expat.ErrorString(error.code)}). "
            "Mend it, or export it again."
        ) from None
    except (LookupError, ValueError) as error:
        raise InputError(f"{name}: {error}. Allowed: XML in UTF-8.") from None
    return elements


def refuse_characters(text: str, document: str | None) -> None:
    """Refuse a text with characters that XML cannot hold."""
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        raise InputError(
            f"document {document!r}: has the character U+{ord(forbidden[0]):04X}, which XML cannot hold. "
            "Choose another format."
        )


def start_tag(raw: bytes, place: int) -> bytes:
    """The start tag at a place where a parser found one, up to and with its `>`."""
    tag = _TAG.match(raw, place)
    assert tag is not None, "the parser found a tag here"
    return tag[0]


def tag_name(tag: bytes) -> str:
    """The name in a start tag, with its prefix."""
    name = re.match(rb"<([^\s/>]+)", tag)
    assert name is not None
    return name[1].decode("utf-8")


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
