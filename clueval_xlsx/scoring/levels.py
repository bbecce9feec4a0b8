"""The classes of a match, and the levels that say how lenient a match may be. Nothing heavy is imported here."""

from __future__ import annotations

from enum import IntEnum


class MatchClass(IntEnum):
    """Where one span falls against the spans of the other side; a smaller class is the closer match.

    >>> MatchClass(3).word, MatchClass.EXACT < MatchClass.NONE
    ('tiling', True)
    """

    EXACT = 1
    SUPERSET = 2
    TILING = 3
    OVERLAP = 4
    NONE = 5

    @property
    def word(self) -> str:
        """The class in one word, as levels and outputs name it."""
        return self.name.lower()


LEVELS = {kind.word: kind for kind in MatchClass if kind is not MatchClass.NONE}  # each includes those before it
