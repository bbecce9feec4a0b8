"""Runs many cases in processes that may use only so much memory and time; one that dies or hangs is a failure."""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.fuzz.cases import FAILED, SECONDS, WAITING, Outcome, run_case

MEMORY = 1 << 30  # bytes that a worker may use beyond what it has when its first case begins
_BATCH = 100
_GRACE = 60.0  # seconds a worker has to report after its own alarm went off


@dataclass(frozen=True)
class Batch:
    """Cases of one subject: `start` up to, and without, `stop`."""

    subject: str
    seed: int
    start: int
    stop: int


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    batch: Batch | None = None
    next: int = 0  # the case that it is at
    since: float = field(default_factory=time.monotonic)


def batches(counts: dict[str, int], seed: int) -> Iterator[Batch]:
    """The cases of all subjects in stretches, the subjects by turns."""
    done = dict.fromkeys(counts, 0)
    while any(done[name] < count for name, count in counts.items()):
        for name, count in counts.items():
            if done[name] < count:
                stop = min(count, done[name] + _BATCH)
                yield Batch(name, seed, done[name], stop)
                done[name] = stop


def run_batches(
    work: Iterator[Batch], report: Callable[[Outcome], None], workers: int = 1, seconds: float = SECONDS
) -> None:
    """Run all cases; `report` gets what became of each."""
    left = list(work)[::-1]
    context = multiprocessing.get_context("spawn")  # a fork would inherit what the parent has in memory
    folder = tempfile.TemporaryDirectory(prefix="clueval-fuzz-")  # the parent's: a worker that is killed cleans nothing
    pool = [_start(context, seconds, folder.name) for _ in range(workers)]
    try:
        while left or any(worker.batch for worker in pool):
            for worker in pool:
                if worker.batch is None and left:
                    _give(worker, left.pop())
            ready = wait([worker.pipe for worker in pool if worker.batch], timeout=1.0)
            for index, worker in enumerate(pool):
                if worker.batch is None:
                    continue
                if worker.pipe in ready:
                    alive = _take(worker, report)
                else:
                    alive = time.monotonic() - worker.since < seconds * WAITING + _GRACE
                if not alive:
                    rest = _bury(worker, report)
                    left += [rest] if rest else []
                    pool[index] = _start(context, seconds, folder.name)
    finally:
        for worker in pool:
            worker.process.kill()
            worker.process.join()
        folder.cleanup()


def _start(context: multiprocessing.context.SpawnContext, seconds: float, folder: str) -> _Worker:
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, seconds, folder), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _give(worker: _Worker, batch: Batch) -> None:
    worker.batch, worker.next = batch, batch.start
    # Loading the libraries and making the seeds takes its time on a busy machine.
    worker.since = time.monotonic() + 60
    worker.pipe.send(batch)


def _take(worker: _Worker, report: Callable[[Outcome], None]) -> bool:
    """One message of a worker; whether it is still there."""
    try:
        outcome = worker.pipe.recv()
    except (EOFError, OSError):
        return False
    worker.since = time.monotonic()
    if outcome is None:
        worker.batch = None
        return True
    worker.next = outcome.number + 1
    report(outcome)
    return True


def _bury(worker: _Worker, report: Callable[[Outcome], None]) -> Batch | None:
    """A worker that died or does not answer: its case has failed, the others of its batch are left to do."""
    worker.process.join(5.0)
    code = worker.process.exitcode
    worker.process.kill()
    worker.process.join()
    batch = worker.batch
    if batch is None:
        return None
    why = f"the process ended with {code}" if code is not None else "the process hangs and does not hear its alarm"
    report(Outcome(batch.subject, worker.next, FAILED, why))
    return Batch(batch.subject, batch.seed, worker.next + 1, batch.stop) if worker.next + 1 < batch.stop else None


def _work(pipe: Connection, seconds: float, place: str) -> None:
    """What a worker does: take batches, send an outcome for each case and None behind the last."""
    from tests.fuzz.subjects import SUBJECTS

    assert SUBJECTS
    _limit_memory()
    while True:
        batch = pipe.recv()
        for number in range(batch.start, batch.stop):
            folder = Path(tempfile.mkdtemp(dir=place))
            outcome = run_case(batch.subject, batch.seed, number, folder, seconds)
            shutil.rmtree(folder)
            pipe.send(outcome)
        pipe.send(None)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0]) if Path("/proc/self/statm").exists() else 0
    used = pages * resource.getpagesize()
    if used:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
