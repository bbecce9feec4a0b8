"""Text as a terminal may show it: what a file brings along can be read there, but commands nothing.

A label or a file name can hold the escape sequences by which programs move the cursor, recolour, retitle or even
answer for the person at the keyboard. So whatever is shown goes through `visible`.
"""

from __future__ import annotations

import re

# Control characters but for line end and tab, and the marks that turn the direction of what follows.
_COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""The text with control characters written out, as Python writes them.

    >>> visible("B-\x1b[31mPER\x07"), visible("evil\u202etxt")
    ('B-\\x1b[31mPER\\x07', 'evil\\u202etxt')
    """
    return _COMMANDING.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
