"""What is measured: a row is a function that prepares and returns the work to be timed; add one with `@row`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Work = Callable[[], Any]
COPIES = (1, 10, 94)


@dataclass(frozen=True)
class Measurement:
    """What a row took: its best processor time of several, and the peak memory of its process."""

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Row:
    """One thing to measure: `group` rows are compared with each other, the first of a group with all others."""

    group: str
    name: str
    prepare: Callable[[Path], Work]
    most: int = COPIES[-1]  # copies of the data

    @property
    def ours(self) -> bool:
        return self.name.startswith("ours")


ROWS: list[Row] = []


def row(group: str, name: str, most: int = COPIES[-1]) -> Callable[[Callable[[Path], Work]], Callable[[Path], Work]]:
    """Register a row."""

    def register(prepare: Callable[[Path], Work]) -> Callable[[Path], Work]:
        ROWS.append(Row(group, name, prepare, most))
        return prepare

    return register
