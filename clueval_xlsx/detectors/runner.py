"""Runs a detector over documents with several workers, here or on a cluster; the result does not depend on that."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import queue
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clueval_xlsx.clusters import Cluster, described
from clueval_xlsx.detectors.base import Description, Detection, DetectorSettings, Document
from clueval_xlsx.detectors.sidefile import Header, SideFile
from clueval_xlsx.detectors.worker import Chunk, DocumentOutcome, Task, Worker
from clueval_xlsx.exceptions import CluevalError, ClusterError, DetectorError
from clueval_xlsx.version import __version__

if TYPE_CHECKING:
    from clueval_xlsx.clusters import ClusterPlace

DEFAULT_TIME_LIMIT = 120.0
_GIVE_UP_AFTER = 10  # documents, the first by their numbers, that all failed: whoever is done first decides nothing
_POLL = 0.5  # seconds; short enough for Ctrl-C to be noticed on every system


@dataclass(frozen=True)
class RunOptions:
    """How to run: `time_limit` counts seconds for one document (None: no limit)."""

    workers: int = 1
    time_limit: float | None = DEFAULT_TIME_LIMIT
    fail_fast: bool = False
    resume: bool | None = None
    cluster: ClusterPlace | None = None  # instead of processes of this machine


@dataclass(frozen=True, eq=False)
class Run:
    """The finds of every document in the documents' order; None where the detector failed, and why it did."""

    description: Description
    found: tuple[tuple[Detection, ...] | None, ...]
    failures: Mapping[int, str] = field(default_factory=dict)
    resumed: int = 0  # documents that an earlier run had done


def run_detector(
    documents: Sequence[Document],
    settings: DetectorSettings,
    options: RunOptions | None = None,
    *,
    side_file: Path | None = None,
    sha256: str = "",
    advance: Callable[[int], None] = lambda _number: None,
    seen: Callable[[int], None] = lambda _workers: None,
) -> Run:
    """Let a detector look at all documents.

    `advance(number)` is called for every document that is done, `seen` with the number of a cluster's workers. The
    side file keeps what was found so far; the caller removes it when the finds are safe elsewhere. A failure is kept
    to its document, unless every one fails.
    """
    options = options or RunOptions()
    with _place_to_run(settings, options, seen) as (description, outcomes):
        state = _State(documents, description)
        if side_file is None:
            _run(state, outcomes, options, None, advance)
        else:
            header = Header(__version__, str(description), sha256, len(documents), _texts_hash(documents))
            with SideFile(side_file, header, documents) as side:
                state.take_over(side.begin(resume=options.resume))
                for number in state.found:
                    advance(number)
                _run(state, outcomes, options, side, advance)
    return Run(
        description,
        tuple(
            tuple(found) if (found := state.found.get(number)) is not None else None for number in range(len(documents))
        ),
        dict(sorted(state.failures.items())),
        state.resumed,
    )


# Of everything that is left, in any order; closing it stops what is under way
_Outcomes = Callable[["_State"], Iterator[DocumentOutcome]]


@contextlib.contextmanager
def _place_to_run(
    settings: DetectorSettings, options: RunOptions, seen: Callable[[int], None]
) -> Iterator[tuple[Description, _Outcomes]]:
    """Processes of this machine, or a cluster: what the detector says about itself, and what becomes of documents."""
    if options.cluster is None:
        first = Worker(settings, options.time_limit)
        try:
            yield first.description, partial(_outcomes_here, first, options)
        finally:
            first.close()
        return
    from clueval_xlsx.clusters import connected

    with connected(options.cluster, seen) as cluster:
        run = ClusterRun(cluster, settings, options.time_limit)
        try:
            yield run.description, lambda state: run.outcomes(state.take(len(state.documents)))
        finally:
            run.close()


class _State:
    """What is known so far, and what is left to do; chunks are handed out under a lock."""

    def __init__(self, documents: Sequence[Document], description: Description) -> None:
        self.documents = documents
        self._asked = _with_ids_of_their_own(documents)
        self.found: dict[int, list[Detection]] = {}
        self.failures: dict[int, str] = {}
        self.resumed = 0
        self.stopped = False
        self._size = max(description.batch_size, 1)
        self._lock = threading.Lock()
        self._next = 0

    def take_over(self, done: Mapping[int, list[Detection]]) -> None:
        """What an earlier run has done."""
        self.found.update(done)
        self.resumed = len(done)

    def left(self) -> int:
        """How many documents nobody has done yet."""
        return len(self.documents) - len(self.found) - len(self.failures)

    def chunks(self) -> Iterator[Chunk]:
        """Chunks for one worker, until there is nothing left or somebody says stop."""
        while not self.stopped and (chunk := self.take(self._size)):
            yield chunk

    def take(self, size: int) -> Chunk:
        """The next documents that nobody has done yet, as many as that."""
        chunk: Chunk = []
        with self._lock:
            while self._next < len(self.documents) and len(chunk) < size:
                number = self._next
                self._next += 1
                if number not in self.found:
                    chunk.append(Task(number, self._asked[number]))
        return chunk

    def settle(self, outcome: DocumentOutcome, *, fail_fast: bool) -> bool:
        """Keep an outcome, and say whether it is the document's first; raise if there is no sense in going on."""
        new = outcome.number not in self.found and outcome.number not in self.failures
        if outcome.found is not None:
            self.found[outcome.number] = outcome.found
            return new
        self.found.pop(outcome.number, None)
        self.failures[outcome.number] = outcome.failure
        if fail_fast:
            raise DetectorError(
                f"{self.describe(outcome.number)}. Stopped because of detector.fail_fast=true; "
                "--resume goes on from here."
            )
        first = range(min(_GIVE_UP_AFTER, len(self.documents)))
        if all(number in self.failures for number in first):
            raise DetectorError(
                f"the detector failed on each of the first {len(first)} documents. The last: "
                f"{self.describe(first[-1])}."
            )
        return new

    def describe(self, number: int) -> str:
        return f"document {self.documents[number].id!r}: {self.failures[number]}"


def _run(
    state: _State, outcomes: _Outcomes, options: RunOptions, side: SideFile | None, advance: Callable[[int], None]
) -> None:
    with contextlib.closing(outcomes(state)) as done:  # type: ignore[type-var]  # generators can be closed
        for outcome in done:
            if side is not None:
                side.add(*outcome)
            if state.settle(outcome, fail_fast=options.fail_fast):
                advance(outcome.number)


def _outcomes_here(first: Worker, options: RunOptions, state: _State) -> Iterator[DocumentOutcome]:
    """Documents as they are done by processes of this machine, each with a thread that waits for it."""
    outcomes: queue.SimpleQueue[DocumentOutcome | BaseException | None] = queue.SimpleQueue()
    workers: list[Worker] = [first]
    starting = threading.Lock()

    def work(worker: Worker | None) -> None:
        try:
            if worker is None:
                worker = Worker(first.settings, options.time_limit)
                with starting:
                    workers.append(worker)
                    if state.stopped:  # the others were stopped while this one was being loaded
                        worker.stop()
            for outcome in itertools.chain(worker.run(state.chunks()), worker.finish()):
                outcomes.put(outcome)
        except BaseException as error:  # it belongs to the thread that waits for us
            outcomes.put(error)
        finally:
            outcomes.put(None)

    count = max(min(options.workers, state.left()), 1)
    threads = [threading.Thread(target=work, args=(first if not number else None,)) for number in range(count)]
    for thread in threads:
        thread.start()
    running = count
    try:
        while running:
            try:
                outcome = outcomes.get(timeout=_POLL)
            except queue.Empty:
                continue
            if outcome is None:
                running -= 1
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
    except BaseException:
        with starting:
            state.stopped = True
            for worker in workers:
                worker.stop()
        raise
    finally:
        for thread in threads:
            thread.join()
        for worker in workers[1:]:
            worker.close()


def _with_ids_of_their_own(documents: Sequence[Document]) -> list[Document]:
    """Documents under IDs that no two share, since answers are told apart by them.

    >>> [document.id for document in _with_ids_of_their_own([Document("a", ""), Document("a", ""), Document("b", "")])]
    ['a', 'a (2)', 'b']
    """
    taken = {document.id for document in documents}
    if len(taken) == len(documents):
        return list(documents)
    seen: set[str] = set()
    found = []
    for document in documents:
        name, count = document.id, 1
        while name in seen or (count > 1 and name in taken):
            count += 1
            name = f"{document.id} ({count})"
        seen.add(name)
        found.append(document._replace(id=name))
    return found


def _texts_hash(documents: Sequence[Document]) -> str:
    """Texts are rendered from tokens: a change in how that is done must not mix with an older run."""
    hashed = hashlib.sha256()
    for document in documents:
        hashed.update(document.text.encode("utf-8", "surrogatepass") + b"\0")
    return hashed.hexdigest()[:16]


# ---- A detector on the workers of a Dask cluster: each process loads it once, one batch at a time

_MOST_IN_BATCH = 16  # documents: what a dead worker was at is done again
_TURNS = 4  # batches for each worker at least, so that all end at about the same time


class Loading(NamedTuple):
    """What a worker loads, for which run."""

    run: str
    settings: DetectorSettings
    time_limit: float | None


class _Loaded:
    """The detector of this worker process."""

    run = ""
    worker: Worker | None = None


_LOADED = _Loaded()
_TURN = threading.Lock()


def _worker_of(loading: Loading) -> Worker:
    if _LOADED.worker is None or _LOADED.run != loading.run:
        _close()
        _LOADED.worker = Worker(loading.settings, loading.time_limit)
        _LOADED.run = loading.run
    return _LOADED.worker


def _close() -> None:
    if _LOADED.worker is not None:
        _LOADED.worker.close()
    _LOADED.worker = None


def _describe(loading: Loading) -> Description:
    with _TURN:
        return _worker_of(loading).description


def _run_batch(loading: Loading, description: Description, tasks: Sequence[Task]) -> list[DocumentOutcome]:
    """The outcomes; a worker that joined with another detector is refused."""
    with _TURN:
        worker = _worker_of(loading)
        if worker.description != description:
            raise _different(description, worker.description)
        size = max(description.batch_size, 1)
        parts = (list(tasks[begin : begin + size]) for begin in range(0, len(tasks), size))
        return list(worker.run(parts))


def _finish(run: str) -> list[DocumentOutcome]:
    """End the detector's process, and return what it still has to say."""
    with _TURN:
        if _LOADED.worker is None or _LOADED.run != run:
            return []
        said = list(_LOADED.worker.finish())
        _close()
        return said


def _stop(run: str) -> None:
    """End the detector's process, whatever it is at."""
    if _LOADED.worker is not None and _LOADED.run == run:
        _LOADED.worker.stop()
        _LOADED.worker.close()


def _different(one: Description, other: Description) -> ClusterError:
    return ClusterError(
        f"--cluster: the workers have different detectors: {one} and {other}. Install the same version, with the same "
        "configuration, on each."
    )


class ClusterRun:
    """One detector on a cluster for the length of a run."""

    def __init__(self, cluster: Cluster, settings: DetectorSettings, time_limit: float | None) -> None:
        self._cluster = cluster
        self._loading = Loading(uuid.uuid4().hex, settings, time_limit)
        self.description = self._described()

    def _described(self) -> Description:
        """What the detector says about itself; all workers load it now, side by side, and must say the same."""
        from distributed.scheduler import KilledWorker

        try:
            loading = [  # one that dies before it gets there does not stop the others
                self._cluster.submit(_describe, self._loading, workers=[worker], allow_other_workers=True)
                for worker in self._cluster.client.ncores()
            ]
            first, *others = map(self._cluster.result, loading)
        except CluevalError:
            raise
        except KilledWorker:
            raise DetectorError(
                "--cluster: the workers cannot load the detector: each that tried died. Give them more memory."
            ) from None
        except Exception as error:  # whatever is wrong over there arrives here
            raise DetectorError(
                f"--cluster: the workers cannot load the detector: {described(error)}. Install clueval-xlsx and the "
                "detector in the same versions there."
            ) from None
        if different := [other for other in others if other != first]:
            raise _different(first, different[0])
        description: Description = first
        return description

    def outcomes(self, tasks: Chunk) -> Iterator[DocumentOutcome]:
        """The outcomes of all documents."""
        share = len(tasks) // (self._cluster.await_worker() * _TURNS)
        size = max(self.description.batch_size, min(_MOST_IN_BATCH, share), 1)
        batches = (tasks[begin : begin + size] for begin in range(0, len(tasks), size))
        work = partial(_run_batch, self._loading, self.description)
        with contextlib.closing(self._cluster.run(work, batches)) as done:  # type: ignore[type-var]  # can be closed
            for items, outcomes in done:
                if outcomes is None:
                    yield DocumentOutcome(items[0].number, None, "each worker that took it died")
                else:
                    yield from outcomes
        # A program may still say something about documents that it has answered.
        for said in self._cluster.client.run(_finish, self._loading.run, on_error="ignore").values():
            yield from said

    def close(self) -> None:
        """Take the detector from the workers."""
        with contextlib.suppress(Exception):  # the cluster may be gone, and then so is the detector
            self._cluster.client.run(_stop, self._loading.run, on_error="ignore")
