"""Indented OpenDocument markup as most programs write it: without the white space between tables, rows and cells."""

from __future__ import annotations

import re

# White space before a table's parts or a paragraph means nothing; inside a paragraph it is text.
_INDENT = re.compile(rb">[ \t\r\n]+(?=</?(?:table|office):|<text:p[ />])")


def without_indents(content: bytes) -> bytes:
    """The markup without what Gnumeric and SheetJS put in for people to read, which a parser takes for text.

    >>> without_indents(b"<table:table-row>\\n  <table:table-cell>\\n <text:p>a  b</text:p>\\n </table:table-cell>")
    b'<table:table-row><table:table-cell><text:p>a  b</text:p></table:table-cell>'
    """
    return _INDENT.sub(b">", content) if _INDENT.search(content) else content
