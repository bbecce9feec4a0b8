"""Classes of a match, levels, and the names of variants: how lenient a match may be. Nothing heavy is imported here."""

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


# ---- The names of variants of a scheme, and what they say: relaxed ones, and those in which a match may be half right

RELAXED = "relaxed"


def relaxed_variant(variant: str | None) -> str:
    """The name of a variant in which equivalent labels count as the same.

    >>> relaxed_variant(None), relaxed_variant("strict"), strict_variant("strict relaxed"), strict_variant("relaxed")
    ('relaxed', 'strict relaxed', 'strict', None)
    """
    return f"{variant} {RELAXED}" if variant else RELAXED


def strict_variant(variant: str | None) -> str | None:
    """The variant of which this one is the relaxed form; itself if it is not relaxed."""
    return None if variant is None else variant.removesuffix(RELAXED).rstrip() or None


def is_relaxed(variant: str | None) -> bool:
    """Whether equivalent labels count as the same in this variant."""
    return isinstance(variant, str) and variant.endswith(RELAXED)


def gives_half_credit(scheme: str, variant: str | None) -> bool:
    """Whether a match may count as half right in these rows: then rates come from no whole true positives.

    >>> gives_half_credit("semeval", "partial"), gives_half_credit("scenario", "partial relaxed")
    (True, True)
    >>> gives_half_credit("semeval", "strict"), gives_half_credit("clueval", None)
    (False, False)
    """
    return scheme in {"semeval", "scenario"} and strict_variant(variant) == "partial"
