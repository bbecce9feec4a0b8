"""What makes large work quick and changes no result: threads, for steps that live in numpy, and garbage left alone."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from clueval_xlsx.exceptions import OptionError

Item = TypeVar("Item")
Result = TypeVar("Result")

_most: int | None = None  # None: as many as there are processors


def set_threads(count: int | None) -> None:
    """How many threads may work at once. It changes the time a run takes, nothing else.

    `count`  a number from 1 on, or None for one a processor

    Gives nothing. Raises `OptionError` if it is no such number.

    >>> set_threads(2)
    >>> thread_count()
    2
    >>> set_threads(None)
    """
    if count is not None and (not isinstance(count, int) or count < 1):
        raise OptionError(f"count: found {count!r}. Allowed: a whole number from 1 on, or None for one a processor.")
    global _most  # noqa: PLW0603  # like the threads of numpy, a matter of the machine and not of a computation
    _most = count


def thread_count() -> int:
    """How many threads may work at once."""
    if _most is not None:
        return _most
    if hasattr(os, "sched_getaffinity"):  # a container may own fewer processors than there are
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Do the work on every item; items must not depend on each other.

    >>> list(in_order(str.upper, ["a", "b"]))
    ['A', 'B']
    """
    count = min(thread_count(), len(items))
    if count <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(count) as pool:
        yield from pool.map(work, items)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Build what is large: nothing of it is garbage meanwhile, so nothing is collected, nor looked through after."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.freeze()  # what is new
            gc.unfreeze()  # counts as old
            gc.enable()
