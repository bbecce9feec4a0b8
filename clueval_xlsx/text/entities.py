"""XML entities in tokens: decoded for people, left as they are where a token is cut."""

from __future__ import annotations

import html
import re

# More digits than any character has are no reference; Python would refuse the longest of them.
_REFERENCE = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,9}|#x[0-9A-Fa-f]{1,8});")


def decode_entities(text: str) -> str:
    """Replace the five XML entities and character references; a bare `&` stays, and what stands for no character.

    >>> decode_entities("Holzmann &amp; S&#246;hne, R&D")
    'Holzmann & Söhne, R&D'
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


def written_characters(text: str) -> list[str]:
    """How each character of the decoded text is written.

    >>> written_characters("R&amp;D&#3;")
    ['R', '&amp;', 'D', '&', '#', '3', ';']
    """
    pieces: list[str] = []
    done = 0
    for match in _REFERENCE.finditer(text):
        if _character(match) != match.group():
            pieces += [*text[done : match.start()], match.group()]
            done = match.end()
    return [*pieces, *text[done:]]


def written_token(text: str, *, quote: bool = False) -> str:
    """Text with XML entities; white space that would end a cell or vanish becomes a character reference.

    >>> written_token("R&D"), written_token('a "b"', quote=True)
    ('R&amp;D', 'a &quot;b&quot;')
    """
    escaped = html.escape(text, quote=False) if "&" in text or "<" in text or ">" in text else text
    if quote:
        escaped = escaped.replace('"', "&quot;")
    elif text.isspace():
        return "".join(f"&#{ord(character)};" for character in text)
    return re.sub(r"[\t\r\n]", lambda match: f"&#{ord(match[0])};", escaped)


def _character(match: re.Match[str]) -> str:
    """What a reference stands for; Python would make nothing of `&#3;`, and a token must not vanish."""
    return html.unescape(match.group()) or match.group()
