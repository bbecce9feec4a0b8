"""A detector on the workers of a Dask cluster: each process loads it once, one batch at a time."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from clueval_xlsx.clusters import Cluster, described
from clueval_xlsx.detectors.base import Description, DetectorSettings
from clueval_xlsx.detectors.worker import Chunk, DocumentOutcome, Task, Worker
from clueval_xlsx.exceptions import CluevalError, ClusterError, DetectorError

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
