"""A detector on the workers of a Dask cluster: each loads it once, batches come back in any order."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from clueval_xlsx.clusters import Cluster, described, spread
from clueval_xlsx.detectors.process import now
from clueval_xlsx.detectors.worker import Chunk, DocumentOutcome, Task, Worker
from clueval_xlsx.exceptions import CluevalError, ClusterError, DetectorError

try:
    from distributed.diagnostics.plugin import WorkerPlugin
except ImportError:  # an extra; `clusters.connected` says how to get it
    WorkerPlugin = object

if TYPE_CHECKING:
    from clueval_xlsx.detectors.base import Description, DetectorSettings

_FIRST_BATCH = 4  # documents, before it is known how long they take
_MOST_IN_BATCH = 128
_BATCH_SECONDS = 4.0  # what a dead worker was at is done again; between two batches the detector waits a little
_TURNS = 4  # batches of what is left for each worker, so that all end at about the same time


class DetectorPlugin(WorkerPlugin):  # type: ignore[misc,unused-ignore]  # an extra without types
    """What each worker process holds: the detector, loaded when it is first needed, one batch at a time."""

    def __init__(self, settings: DetectorSettings, time_limit: float | None) -> None:
        self._settings, self._time_limit = settings, time_limit
        self._worker: Worker | None = None
        self._turn: threading.Lock | None = None

    def setup(self, worker: object) -> None:
        """On the worker, before anything is run."""
        del worker
        self._turn = threading.Lock()

    def teardown(self, worker: object) -> None:
        """When the worker, or the run, ends."""
        del worker
        if self._worker is not None:
            self._worker.stop()
            self._worker.close()

    def describe(self) -> Description:
        """What the detector says about itself there."""
        with self._its_turn():
            return self._loaded().description

    def run(self, chunk: Chunk) -> list[DocumentOutcome]:
        """A batch, document by document as the detector takes them."""
        with self._its_turn():
            worker = self._loaded()
            size = max(worker.description.batch_size, 1)
            parts = (chunk[begin : begin + size] for begin in range(0, len(chunk), size))
            return list(worker.run(iter(parts)))

    def finish(self) -> list[DocumentOutcome]:
        """Let the detector's process end, and return what it still has to say."""
        with self._its_turn():
            return [] if self._worker is None else list(self._worker.finish())

    def _its_turn(self) -> threading.Lock:
        assert self._turn is not None
        return self._turn

    def _loaded(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(self._settings, self._time_limit)
        return self._worker


def _on_worker(name: str) -> DetectorPlugin:
    from distributed import get_worker

    plugin: DetectorPlugin = get_worker().plugins[name]
    return plugin


def _describe(name: str) -> Description:
    return _on_worker(name).describe()


def _run_batch(name: str, description: Description, chunk: Sequence[Task]) -> tuple[list[DocumentOutcome], float]:
    """The outcomes, and the seconds that they took; a worker that joined with another detector is refused."""
    plugin = _on_worker(name)
    if (own := plugin.describe()) != description:
        raise _different(description, own)
    began = now()
    return plugin.run(list(chunk)), now() - began


def _different(one: Description, other: Description) -> ClusterError:
    return ClusterError(
        f"--cluster: the workers have different detectors: {one} and {other}. Install the same version, with the same "
        "configuration, on each."
    )


def _finish(name: str, dask_worker: Any = None) -> list[DocumentOutcome]:
    plugin: DetectorPlugin = dask_worker.plugins[name]  # Dask hands the worker over under this name
    return plugin.finish()


class ClusterRun:
    """One detector on a cluster for the length of a run."""

    def __init__(self, cluster: Cluster, settings: DetectorSettings, time_limit: float | None) -> None:
        from distributed.scheduler import KilledWorker

        self._cluster, self._client = cluster, cluster.client
        self._name = f"clueval-xlsx-{uuid.uuid4().hex}"
        try:
            self._client.register_plugin(DetectorPlugin(settings, time_limit), name=self._name)
            self.description = self._described()
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

    def _described(self) -> Description:
        """What the detector says about itself; all workers load it now, side by side, and must say the same."""
        loading = [  # one that dies before it gets there does not stop the others
            self._client.submit(_describe, self._name, workers=[worker], allow_other_workers=True, pure=False)
            for worker in self._client.ncores()
        ]
        first, *others = self._cluster.gather(loading)
        if different := [other for other in others if other != first]:
            raise _different(first, different[0])
        description: Description = first
        return description

    def outcomes(self, take: Callable[[int], Chunk], left: int) -> Iterator[DocumentOutcome]:
        """The outcomes of all documents, in the order in which they are done.

        `take(n)` gives the next n documents, `left` says how many there are.
        """
        taken, most = 0, _FIRST_BATCH

        def batch_of(workers: int) -> Chunk:
            """The next batch; towards the end they get smaller."""
            nonlocal taken
            share = (left - taken) // (workers * _TURNS)
            chunk = take(max(self.description.batch_size, min(most, share), 1))
            taken += len(chunk)
            return chunk

        batches = spread(self._cluster, partial(_run_batch, self._name, self.description), batch_of)
        with contextlib.closing(batches):  # type: ignore[type-var]  # generators can be closed
            for batch in batches:
                if batch.result is None:
                    yield DocumentOutcome(batch.items[0].number, None, "each worker that took it died")
                else:
                    outcomes, seconds = batch.result
                    yield from outcomes
                    most = min(_MOST_IN_BATCH, int(len(outcomes) * _BATCH_SECONDS / max(seconds, 1e-3)))
        # A program may still say something about documents that it has answered.
        for said in self._client.run(_finish, self._name, on_error="ignore").values():
            yield from said

    def close(self) -> None:
        """Take the detector from the workers."""
        with contextlib.suppress(Exception):  # the cluster may be gone, and then so is the detector
            self._client.unregister_worker_plugin(self._name)
