"""Sequences in several processes, each with a folder and, if asked for, a LibreOffice of its own."""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from multiprocessing.util import Finalize
from pathlib import Path

from tests.simulator.registry import OPERATIONS
from tests.simulator.sequences import Ran, Simulator

DIGITS = {"auto": None, "on": True, "off": False}
Task = tuple[str, int]  # the operation that is tried alone, or nothing, and the number
_worker: list[Simulator] = []


@contextmanager
def simulator_for(given: argparse.Namespace, folder: Path) -> Iterator[Simulator]:
    """The simulator that the command line asks for."""
    names = [name for name in OPERATIONS if given.only in name]
    simulator = Simulator(folder, given.seed, names, DIGITS[given.digits])
    if not given.office:
        yield simulator
        return
    from tests.simulator.mirror import mirrored

    with mirrored(folder) as program:
        yield replace(simulator, program=program)


def _start(given: argparse.Namespace) -> None:
    """What a worker does first: a folder and a simulator of its own, which last as long as the process."""
    folder = Path(tempfile.mkdtemp(prefix="simulator-"))
    opened = simulator_for(given, folder)
    _worker.append(opened.__enter__())
    Finalize(None, _end, (opened, folder), exitpriority=10)


def _end(opened: AbstractContextManager[Simulator], folder: Path) -> None:
    opened.__exit__(None, None, None)
    shutil.rmtree(folder, ignore_errors=True)


def _run(task: Task) -> tuple[Ran, Ran | None]:
    name, number = task
    simulator = _worker[0]
    if name:
        ran = simulator.run_named([name], number)
        return ran, ran if ran.failures else None
    ran = simulator.run(number)
    return ran, simulator.shortest(ran) if ran.failures else None


def run_tasks(given: argparse.Namespace, tasks: Sequence[Task]) -> Iterator[tuple[Ran, Ran | None]]:
    """Run sequences as they finish; with each that failed comes its shortest failing beginning."""
    if given.jobs == 1:
        _start(given)
        yield from map(_run, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(given.jobs, _start, (given,)) as pool:
        yield from pool.imap_unordered(_run, tasks, chunksize=4)
        pool.close()
        pool.join()
