"""Scores as sources write them: a number, or its digits; what is neither counts as none, and is said."""

from __future__ import annotations

import math
from typing import Any

from clueval_xlsx.corpus.nested import SHOWN
from clueval_xlsx.formats.json_records import shown


class ScoreValues:
    """Reads the scores of one source, and remembers those that are no numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._strange: list[str] = []

    def read(self, value: Any, where: str) -> float | None:
        """The score that a value stands for; nothing, or a text of nothing, is none."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        score = _number(value)
        if score is None:
            self._strange.append(f"{where}: {shown(value)}")
        return score

    def notes(self) -> list[str]:
        """One note on what was no number, with the first few."""
        count = len(self._strange)
        if not count:
            return []
        what = "scores are no finite numbers and count" if count > 1 else "score is no finite number and counts"
        more = f"; and {count - SHOWN} more" if count > SHOWN else ""
        return [f"{self.name}: {count} {what} as none: {'; '.join(self._strange[:SHOWN])}{more}"]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        score = float(value)
    except (ValueError, OverflowError):
        return None
    return score if math.isfinite(score) else None
