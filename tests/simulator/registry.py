"""The operations by their names; the modules that define them register them here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.simulator.roles import Layout
from tests.simulator.world import World

Act = Callable[[World, Random], None]


@dataclass(frozen=True)
class Operation:
    """Something that a person does. `undoable` says that it stays within the workbooks that are open."""

    name: str
    act: Act
    undoable: bool = True
    last: bool = False  # nothing can follow: the file is no workbook any more


OPERATIONS: dict[str, Operation] = {}


def operation(name: str, *, undoable: bool = True, last: bool = False) -> Callable[[Act], Act]:
    """Register a function as an operation."""

    def register(act: Act) -> Act:
        OPERATIONS[name] = Operation(name, act, undoable, last)
        return act

    return register


def some_rows(found: Layout, rng: Random, most: int = 5) -> tuple[int, int]:
    """The first and last of some case rows that stand together."""
    first = rng.choice(sorted(found.rows))
    last = first
    while last + 1 in found.rows and last + 1 - first < rng.randint(1, most):
        last += 1
    return first, last
