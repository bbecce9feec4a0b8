"""A detector on the workers of a Dask cluster: each loads it once, batches come back in any order."""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clueval_xlsx.detectors.worker import Chunk, DocumentOutcome, Worker
from clueval_xlsx.exceptions import CluevalError, DetectorError, OptionError

try:
    from distributed.diagnostics.plugin import WorkerPlugin
except ImportError:  # an extra; `connected` says how to get it
    WorkerPlugin = object

if TYPE_CHECKING:
    from distributed import Client, Future

    from clueval_xlsx.detectors.base import Description, DetectorSettings

LOCAL = "local"
_IN_FLIGHT = 3  # batches for each worker that are with the cluster at once; the texts of the others stay here
_MOST_IN_BATCH = 16  # documents; what a dead worker was at is done again
_TURNS = 8  # batches that each worker should get at least, so that all end at about the same time
_DEATHS = 2  # of workers that a batch may survive: the third splits it
_START = 60  # seconds in which a cluster must answer


@dataclass(frozen=True)
class ClusterPlace:
    """Where a cluster is: the address of its scheduler, or `local:4` for one on this machine while the run lasts.

    `tls` is a PEM file that holds the authority's certificate, the client's certificate and its key.
    """

    address: str
    tls: str | None = None

    @property
    def local_workers(self) -> int | None:
        """How many workers to start here; None for a cluster that runs elsewhere."""
        kind, colon, count = self.address.partition(":")
        if kind != LOCAL:
            return None
        if not colon or not count.isdigit() or int(count) < 1:
            raise OptionError(f"--cluster {self.address}: how many workers? Give local:4, or an address.")
        return int(count)


@contextlib.contextmanager
def connected(place: ClusterPlace) -> Iterator[Client]:
    """A client of the cluster; one that was started here ends with it, and listens on this machine alone."""
    try:
        import distributed
    except ImportError:
        raise DetectorError(
            "--cluster needs Dask, which is not installed. Get it with: pip install clueval-xlsx[dask]"
        ) from None
    workers = place.local_workers
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what people must know, they are told
    with contextlib.ExitStack() as stack:
        target: Any = place.address
        security = None if place.tls is None else _security(place.tls)
        if workers is not None:
            settings = {"distributed.scheduler.allowed-failures": _DEATHS}
            stack.enter_context(_dask_settings(settings))
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs="CRITICAL",
                security=security,
            )
            target = stack.enter_context(cluster)
        try:
            client = distributed.Client(target, security=security, timeout=_START, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise DetectorError(
                f"--cluster {place.address}: there is no answer: {error}. Give the address that the scheduler "
                "printed, such as tcp://10.0.0.5:8786, or local:4."
            ) from None
        yield stack.enter_context(client)


def _dask_settings(settings: dict[str, Any]) -> contextlib.AbstractContextManager[object]:
    import dask

    return dask.config.set(settings)


def _security(path: str) -> Any:
    """Dask's own settings for encryption, from one file."""
    from distributed.security import Security

    try:
        with open(path, "rb"):  # noqa: PTH123  # only to say what is wrong before the cluster does
            pass
    except OSError as error:
        raise DetectorError(f"--cluster-tls {path}: cannot be read: {error.strerror}. Check the path.") from None
    return Security(tls_ca_file=path, tls_client_cert=path, tls_client_key=path, require_encryption=True)


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


def _run_batch(name: str, chunk: Chunk) -> list[DocumentOutcome]:
    return _on_worker(name).run(chunk)


def _finish(name: str, dask_worker: Any = None) -> list[DocumentOutcome]:
    plugin: DetectorPlugin = dask_worker.plugins[name]  # Dask hands the worker over under this name
    return plugin.finish()


class ClusterRun:
    """One detector on a cluster for the length of a run."""

    def __init__(self, client: Client, settings: DetectorSettings, time_limit: float | None) -> None:
        self._client = client
        self._name = f"clueval-xlsx-{uuid.uuid4().hex}"
        try:
            client.wait_for_workers(1, timeout=_START)
        except TimeoutError:
            raise DetectorError(
                f"--cluster: no worker has come within {_START} s. Start one: dask worker {client.scheduler.address}"
            ) from None
        try:
            client.register_plugin(DetectorPlugin(settings, time_limit), name=self._name)
            self.description: Description = client.submit(_describe, self._name, pure=False).result()
        except CluevalError:
            raise
        except Exception as error:  # whatever is wrong over there arrives here
            raise DetectorError(
                f"--cluster: the workers cannot load the detector: {type(error).__name__}: {error}. Install "
                "clueval-xlsx and the detector in the same versions there."
            ) from None

    @property
    def workers(self) -> int:
        """How many there are now."""
        return len(self._client.ncores())

    def outcomes(
        self, take: Callable[[int], Chunk], left: int, seen: Callable[[int], None]
    ) -> Iterator[DocumentOutcome]:
        """The outcomes of all documents, in the order in which they are done.

        `take(n)` gives the next n documents, `left` says how many there are, `seen` is told the number of workers.
        """
        from distributed import as_completed

        workers = max(self.workers, 1)
        seen(workers)
        size = max(self.description.batch_size, min(_MOST_IN_BATCH, left // (workers * _TURNS)), 1)
        waiting: dict[Future, Chunk] = {}
        suspects: deque[Chunk] = deque()
        done = as_completed(loop=self._client.loop)

        def send(chunk: Chunk) -> None:
            future = self._client.submit(_run_batch, self._name, chunk, pure=False)
            waiting[future] = chunk
            done.add(future)

        try:
            while True:
                while len(waiting) < _IN_FLIGHT * workers and (chunk := take(size)):
                    send(chunk)
                alone = not waiting and bool(suspects)
                if alone:  # whoever makes a worker die now has only itself to blame
                    send(suspects.popleft())
                if not waiting:
                    break
                future = next(done)
                chunk = waiting.pop(future)
                try:
                    found = future.result()
                except Exception as error:  # of a worker, or of whatever was raised there
                    if not _is_death(error):
                        raise DetectorError(
                            f"--cluster: a batch failed there: {type(error).__name__}: {error}."
                        ) from None
                    if alone and len(chunk) == 1:
                        found = [DocumentOutcome(chunk[0].number, None, "each worker that took it died")]
                    else:
                        suspects.extend([task] for task in chunk)
                        found = []
                yield from found
                workers = max(self.workers, 1)
                seen(workers)
            # A program may still say something about documents that it has answered.
            for said in self._client.run(_finish, self._name, on_error="ignore").values():
                yield from said
        finally:
            self._client.cancel(list(waiting))

    def close(self) -> None:
        """Take the detector from the workers."""
        with contextlib.suppress(Exception):  # the cluster may be gone, and then so is the detector
            self._client.unregister_worker_plugin(self._name)


def _is_death(error: BaseException) -> bool:
    """Whether a batch failed because its workers died, not because of anything that was raised in them."""
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker)
