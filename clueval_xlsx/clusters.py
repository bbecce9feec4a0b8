"""The Dask cluster that work is spread over: where it is, how to reach it, and batches that survive dead workers."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, TypeVar

from clueval_xlsx.exceptions import CluevalError, ClusterError, OptionError
from clueval_xlsx.files.python_processes import safe_python_processes
from clueval_xlsx.version import __version__

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

Item = TypeVar("Item")
Result = TypeVar("Result")

LOCAL = "local"
WAIT = 600.0  # seconds: Slurm and Kubernetes may take minutes to start a worker
_WAIT_HERE = 60.0  # seconds, at most, for a worker on this machine
_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/:]\S*:[0-9]+")
_MOST_HERE = 32  # workers on this machine, or four for each processor, if that is more
_AHEAD = 4  # batches for each worker that are with the cluster at once; the others stay here
_DEATHS = 2  # of workers that a batch may survive: after the third its items are tried one by one
_ANSWER = 10  # seconds in which a scheduler must answer
# Of a cluster on this machine: it does without a profiler and looks after itself less often, for the detectors' sake.
_SETTINGS_HERE = {
    "distributed.scheduler.allowed-failures": _DEATHS,
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
}
_LOOK = 1  # seconds after which workers are counted again
_NOTICE = 5  # seconds without a worker, after which people are told: one that died may be back before that
_TALKATIVE = ("distributed", "distributed.client", "tornado.application", "asyncio")  # loggers, each with a level
_OWN_NAME = "clueval-xlsx"


@dataclass(frozen=True)
class ClusterPlace:
    """Where a cluster is: the address of its scheduler, or `local:4` for one on this machine while the run lasts.

    `tls` is a PEM file that holds the authority's certificate, the client's certificate and its key. A cluster that
    has no worker is waited for, `wait` seconds: at the start, and when all have died.
    """

    address: str
    tls: str | None = None
    wait: float = WAIT

    def __post_init__(self) -> None:
        kind, _, count = self.address.partition(":")
        if kind != LOCAL:
            if not _ADDRESS.fullmatch(self.address):
                raise OptionError(
                    f"--cluster {self.address!r}: is no address. Give the one that the scheduler printed, such as "
                    "tcp://10.0.0.5:8786, or local:4."
                )
            return
        if not re.fullmatch("0*[1-9][0-9]*", count):
            raise OptionError(f"--cluster {self.address}: how many workers? Give local:4, or an address.")
        processors = os.cpu_count() or 1
        most = max(_MOST_HERE, 4 * processors)
        if int(count) > most:
            raise OptionError(
                f"--cluster {self.address}: too many workers for the {processors} processors of this machine. Allowed: "
                f"up to local:{most}. Give the address of a cluster of several machines for more."
            )

    @property
    def local_workers(self) -> int | None:
        """How many workers to start here; None for a cluster that runs elsewhere."""
        kind, _, count = self.address.partition(":")
        return int(count) if kind == LOCAL else None


class Done(NamedTuple, Generic[Item, Result]):
    """What came back for a batch: a result, or None where every worker that took this single item died."""

    items: Sequence[Item]
    result: Result | None


class Cluster:
    """A cluster that a client is connected with, and its workers: they may die and come back, or come later.

    `seen` is told how many there are; that there is none it is told after some seconds. Workers that were started
    `here` are started anew.
    """

    def __init__(
        self,
        client: Client,
        wait: float = WAIT,
        seen: Callable[[int], None] = lambda _workers: None,
        here: WorkersHere | None = None,
    ) -> None:
        self.client = client
        self._here = here
        self._wait = wait
        self._seen = seen
        self._none_since: float | None = None

    def workers(self) -> int:
        """How many there are now; an error if there has been none for too long."""
        try:
            count = len(self.client.ncores())
        except Exception as error:  # whatever the network says
            raise ClusterError(f"--cluster: the scheduler is gone: {described(error)}.") from None
        if self._here is not None and count < self._here.number:
            self._here.complete()
        now = time.monotonic()
        if count:
            self._none_since = None
            self._seen(count)
            return count
        self._none_since = self._none_since or now
        if now - self._none_since >= self._wait:
            self._give_up()
        if now - self._none_since >= _NOTICE:
            self._seen(0)
        return 0

    def _give_up(self) -> NoReturn:
        none = f"--cluster: there has been no worker for {self._wait:g} s"
        if self._here is not None:
            raise ClusterError(f"{none}: they die as they start. Check the memory of this machine.")
        raise ClusterError(f"{none}. Start one (dask worker {self.client.scheduler.address}).")

    def await_worker(self) -> int:
        """How many workers there are, as soon as there is one."""
        while not (count := self.workers()):
            time.sleep(_LOOK)
        return count

    def submit(self, work: Callable[..., Result], *arguments: object, **more: Any) -> Future:
        """Have a worker of this version do something."""
        return self.client.submit(_in_version, __version__, work, *arguments, pure=False, **more)

    def result(self, future: Future) -> Any:
        """What came of it, as long as there are workers or hope for them: Dask itself waits for ever."""
        while True:
            try:
                return future.result(timeout=_LOOK)
            except Exception as error:
                if future.cancelled():  # nobody here has cancelled it
                    raise ClusterError("--cluster: the scheduler is gone: the connection to it was lost.") from None
                if not isinstance(error, TimeoutError) or future.status == "error":
                    raise
            self.workers()

    def run(
        self, work: Callable[[Sequence[Item]], Result], batches: Iterable[Sequence[Item]]
    ) -> Iterator[Done[Item, Result]]:
        """Have the workers do batches, and give back what came of them in their order.

        Only so many batches are with the cluster at once. Dask does again what a dead worker was at; of a batch that
        several workers died of, each item is tried alone. Closing this cancels what is under way.
        """
        from distributed.scheduler import KilledWorker

        waiting: deque[tuple[Sequence[Item], Future]] = deque()
        coming = iter(batches)
        try:
            while True:
                ahead = _AHEAD * max(self.workers(), 1)
                for items in itertools.islice(coming, max(ahead - len(waiting), 0)):
                    waiting.append((items, self.submit(work, items)))
                if not waiting:
                    return
                items, future = waiting.popleft()
                try:
                    yield Done(items, self._done(future))
                except KilledWorker:
                    yield from self._one_by_one(work, items)
        finally:
            self.client.cancel([future for _, future in waiting])

    def _one_by_one(
        self, work: Callable[[Sequence[Item]], Result], items: Sequence[Item]
    ) -> Iterator[Done[Item, Result]]:
        """Whoever makes a worker die now has only itself to blame."""
        from distributed.scheduler import KilledWorker

        for item in items:
            result = None
            with contextlib.suppress(KilledWorker):
                result = self._done(self.submit(work, [item]))
            yield Done([item], result)

    def _done(self, future: Future) -> Any:
        from distributed.scheduler import KilledWorker

        try:
            return self.result(future)
        except (CluevalError, KilledWorker):
            raise
        except Exception as error:  # whatever was raised there
            raise ClusterError(f"--cluster: a batch failed there: {described(error)}.") from None


@contextlib.contextmanager
def connected(place: ClusterPlace, seen: Callable[[int], None] = lambda _workers: None) -> Iterator[Cluster]:
    """The cluster with at least one worker; `seen` is told how many there are, from time to time.

    A cluster that was started here ends with it, and listens on this machine alone.
    """
    try:
        import distributed  # noqa: F401  # an extra
    except ImportError:
        raise ClusterError(
            "--cluster needs Dask, which is not installed. Get it with: pip install clueval-xlsx[dask]"
        ) from None
    workers = place.local_workers
    with contextlib.ExitStack() as stack:
        stack.enter_context(_silenced())
        security = None if place.tls is None else _security(place.tls)
        try:
            here = None if workers is None else WorkersHere(stack.enter_context(_local_cluster(workers, security)))
            client = stack.enter_context(_client(place.address if here is None else here.cluster, security))
        except Exception as error:  # of the network, the certificates, the machine
            raise ClusterError(_no_answer(place, error)) from None
        cluster = Cluster(client, place.wait if here is None else min(place.wait, _WAIT_HERE), seen, here)
        cluster.await_worker()
        yield cluster


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Nothing of Dask's own on the terminal: what people must know, they are told."""
    levels = {logger: logger.level for logger in map(logging.getLogger, _TALKATIVE)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="distributed")
        try:
            for logger in levels:
                logger.setLevel(logging.CRITICAL + 1)
            yield
        finally:
            for logger, level in levels.items():
                logger.setLevel(level)


def _no_answer(place: ClusterPlace, error: Exception) -> str:
    if place.local_workers is not None:
        return f"--cluster {place.address}: cannot be started: {described(error)}. Check cluster.tls, and memory."
    if place.tls is None and place.address.startswith("tls:"):
        return f"--cluster {place.address}: is encrypted. Give the certificates and the key, too (cluster.tls=FILE)."
    return (
        f"--cluster {place.address}: there is no answer: {described(error)}. Give the address that the scheduler "
        "printed, such as tcp://10.0.0.5:8786, or local:4."
    )


def _client(target: Any, security: Any) -> Client:
    import distributed

    class TidyClient(distributed.Client):  # type: ignore[misc,unused-ignore]  # an extra without types
        """A client that is closed if it cannot be started; left open, it would wait for ever when Python ends."""

        def start(self, **more: Any) -> None:
            try:
                super().start(callback_timeout=_ANSWER + 2, **more)  # whoever listens there may not be Dask
            except BaseException:
                self.close()
                raise

    return TidyClient(target, security=security, timeout=_ANSWER, set_as_default=False)


class WorkersHere:
    """The workers of a cluster on this machine, which are to stay as many as they were.

    Dask itself brings a worker back that died, but not one that dies while it starts, as it may if the work that
    awaits it is what kills it.
    """

    def __init__(self, cluster: LocalCluster) -> None:
        self.cluster = cluster
        self.number = len(cluster.worker_spec)

    def complete(self) -> None:
        """Have the missing ones started, unless somebody is about to; returns at once."""
        self.cluster.loop.add_callback(self._replace)

    def _replace(self) -> None:
        from distributed.core import Status

        for name, nanny in list(self.cluster.workers.items()):
            if nanny.status in {Status.closed, Status.failed}:
                del self.cluster.workers[name]
        self.cluster.scale(self.number)


@contextlib.contextmanager
def _local_cluster(workers: int, security: Any) -> Iterator[LocalCluster]:
    """A cluster on this machine, for as long as it is needed.

    It is started in a thread of its own, because an interrupt must not meet it half started; its processes do not
    hear of Ctrl-C, which would make them die before they can be told to end.
    """
    from multiprocessing import resource_tracker

    import dask
    from distributed import LocalCluster

    def start() -> LocalCluster:
        if hasattr(signal, "pthread_sigmask"):  # what this thread does not hear, its threads and processes do not
            resource_tracker.ensure_running()  # Python's own, which opens the ears of whoever starts it
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs="CRITICAL",
            security=security,
        )

    with (
        dask.config.set(_SETTINGS_HERE),
        safe_python_processes(),
        ThreadPoolExecutor(1) as starter,
    ):
        starting = starter.submit(start)
        try:
            yield starting.result()
        finally:
            if not starting.exception():
                starting.result().close()


def _in_version(here: str, work: Callable[..., Result], *arguments: object) -> Result:
    """On a worker: do it, unless this is another version than the client's, which would count differently."""
    if __version__ != here:
        raise ClusterError(
            f"--cluster: a worker has {_OWN_NAME} {__version__}, and here it is {here}. Install the same version for "
            "every worker."
        )
    return work(*arguments)


def _security(path: str) -> Any:
    """Dask's own settings for encryption, from one file."""
    from distributed.security import Security

    try:
        with open(path, "rb"):  # noqa: PTH123  # only to say what is wrong before the cluster does
            pass
    except OSError as error:
        raise ClusterError(f"cluster.tls={path}: cannot be read: {error.strerror}. Check the path.") from None
    roles = {f"tls_{role}_{part}": path for role in ("client", "scheduler", "worker") for part in ("cert", "key")}
    return Security(tls_ca_file=path, require_encryption=True, **roles)


def described(error: BaseException) -> str:
    """An error of somebody else's, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(".: ")
