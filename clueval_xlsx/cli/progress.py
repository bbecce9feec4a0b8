"""A progress bar for long work: how much is done, how fast, by how many workers, and how long it will take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from clueval_xlsx.cli.console import quiet, say


@dataclass(frozen=True)
class WorkProgress:
    """What moves a progress bar: an item that is done, and the number of a cluster's workers."""

    advance: Callable[[int], None] = lambda _number: None
    seen: Callable[[int], None] = lambda _workers: None


@contextmanager
def work_progress(doing: str, what: str, sizes: Sequence[int]) -> Iterator[WorkProgress]:
    """A progress bar with rate, time left and workers, if standard error is a terminal; yields what moves it.

    Time left goes by the sizes of the items, because they differ.
    """
    if not sys.stderr.isatty() or not sizes or quiet():
        yield WorkProgress(seen=_saying_when_there_is_none())
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(f"{{task.fields[done]}}/{{task.fields[all]}} {what}"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[workers]}"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(doing, total=sum(sizes), done=0, all=len(sizes), rate="", workers="")
    done = 0

    def advance(number: int) -> None:
        nonlocal done
        done += 1
        elapsed = bar.tasks[0].elapsed or 0.0
        rate = f"{done / elapsed:.1f} {what}/s" if elapsed > 0 else ""
        bar.update(task, advance=sizes[number], done=done, rate=rate)

    with bar:
        yield WorkProgress(advance, _saying_when_there_is_none(lambda workers: bar.update(task, workers=workers)))


def _saying_when_there_is_none(show: Callable[[str], None] = lambda _workers: None) -> Callable[[int], None]:
    """What is told the number of workers: it says when there is none, and when there is one again."""
    any_there = True

    def seen(workers: int) -> None:
        nonlocal any_there
        shown = "1 worker" if workers == 1 else f"{workers} workers"
        if not workers and any_there:
            say("Note: the cluster has no worker; waiting for one.")
        elif workers and not any_there:
            say(f"Note: the cluster has {shown} now.")
        any_there = workers > 0
        show(shown)

    return seen
