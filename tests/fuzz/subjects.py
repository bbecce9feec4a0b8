"""All subjects of the fuzzer in one place, and how many cases of a run each of them gets."""

from __future__ import annotations

from tests.fuzz import books, formats, hostile, others  # noqa: F401  (each registers its subjects)
from tests.fuzz.cases import SUBJECTS

__all__ = ["SUBJECTS", "shares"]


def shares(cases: int, only: tuple[str, ...] = ()) -> dict[str, int]:
    """How many of the cases each subject gets.

    >>> sum(shares(1000).values())
    1000
    """
    chosen = {name: each.share for name, each in SUBJECTS.items() if not only or name in only}
    total = sum(chosen.values())
    counts = {name: cases * share // total for name, share in chosen.items()}
    for name in list(counts)[: cases - sum(counts.values())]:
        counts[name] += 1
    return counts
