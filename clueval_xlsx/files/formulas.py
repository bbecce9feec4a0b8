"""Texts that a spreadsheet would calculate when it opens a CSV or TSV file, made harmless."""

from __future__ import annotations

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def without_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> without_formula("=1+1"), without_formula("Anna")
    ("'=1+1", 'Anna')
    """
    return f"'{text}" if text.startswith(_DANGEROUS) else text
