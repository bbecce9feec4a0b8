"""The Dask cluster that work is spread over: where it is, how to reach it, and batches that survive dead workers."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import re
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

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
_IN_FLIGHT = 3  # batches for each worker that are with the cluster at once; the others stay here
_DEATHS = 2  # of workers that a batch may survive: the third splits it
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
_RECOUNT = 1  # seconds after which workers are counted again
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
        self.here = here
        self._wait, self._seen = wait, seen
        self._count, self._next_count = 0, 0.0
        self._checked: set[str] = set()  # addresses of workers whose version is known
        self._none_since: float | None = None

    def workers(self) -> int:
        """How many there are; where there is none, the one that is waited for counts, so that it finds work."""
        self.check()
        return max(self._count, 1)

    def check(self) -> None:
        """Count the workers again if it is time; an error if there has been none for too long."""
        now = time.monotonic()
        if now < self._next_count:
            return
        try:
            workers = set(self.client.ncores())
            new = self.here is None and not workers <= self._checked
            versions = self.client.get_versions(packages=[_OWN_NAME]) if new else None
        except Exception as error:  # whatever the network says
            raise ClusterError(f"--cluster: the scheduler is gone: {described(error)}.") from None
        if versions is not None:
            check_versions(versions)
            self._checked |= workers
        self._count = len(workers)
        self._next_count = now + _RECOUNT
        if self.here is not None and self._count < self.here.number:
            self.here.complete()
        if self._count:
            self._none_since = None
            self._seen(self._count)
            return
        self._none_since = self._none_since or now
        if now - self._none_since >= self._wait:
            none = f"--cluster: there has been no worker for {self._wait:g} s"
            if self.here is not None:
                raise ClusterError(f"{none}: they die as they start. Check the memory of this machine.")
            raise ClusterError(
                f"{none}. Start one (dask worker {self.client.scheduler.address}), or wait longer (--cluster-wait)."
            )
        if now - self._none_since >= _NOTICE:
            self._seen(0)

    def await_worker(self) -> None:
        """Return as soon as there is a worker."""
        self.check()
        while not self._count:
            time.sleep(_RECOUNT)
            self.check()

    def next_done(self, done: queue.SimpleQueue[Future]) -> Future:
        """The next future that arrives there, as long as there are workers or hope for them."""
        while True:
            with contextlib.suppress(queue.Empty):
                return done.get(timeout=_RECOUNT)
            self.check()

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """The results of all, in their order."""
        done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        for future in futures:
            future.add_done_callback(done.put)
        for _ in futures:
            self.next_done(done)
        return [_result(future) for future in futures]


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
        return f"--cluster {place.address}: cannot be started: {described(error)}. Check --cluster-tls, and memory."
    if place.tls is None and place.address.startswith("tls:"):
        return f"--cluster {place.address}: is encrypted. Give the certificates and the key, too (--cluster-tls FILE)."
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


def check_versions(found: Mapping[str, Any]) -> None:
    """Refuse a cluster that has another version of this package, or none: it would count differently, or not at all.

    `found` is what Dask says of the packages of the client, the scheduler and the workers.
    """
    here, *others = (
        each["packages"].get(_OWN_NAME) for each in (found["client"], found["scheduler"], *found["workers"].values())
    )
    if different := [f"{_OWN_NAME} {other}" if other else f"no {_OWN_NAME}" for other in others if other != here]:
        raise _other_version(f"{len(different)} of its {len(others)} processes have {different[0]}", str(here))


def _other_version(which: str, here: str) -> ClusterError:
    return ClusterError(
        f"--cluster: {which}, and here it is {here}. Install the same version for the scheduler and every worker."
    )


def _in_version(here: str, work: Callable[[Sequence[Item]], Result], items: Sequence[Item]) -> Result:
    """On a worker: do it, unless this is another version than the client's; it may just have come, and be unknown."""
    if __version__ != here:
        raise _other_version(f"a worker that joined has {_OWN_NAME} {__version__}", here)
    return work(items)


def _security(path: str) -> Any:
    """Dask's own settings for encryption, from one file."""
    from distributed.security import Security

    try:
        with open(path, "rb"):  # noqa: PTH123  # only to say what is wrong before the cluster does
            pass
    except OSError as error:
        raise ClusterError(f"--cluster-tls {path}: cannot be read: {error.strerror}. Check the path.") from None
    roles = {f"tls_{role}_{part}": path for role in ("client", "scheduler", "worker") for part in ("cert", "key")}
    return Security(tls_ca_file=path, require_encryption=True, **roles)


@dataclass(frozen=True, eq=False)
class Batch(Generic[Item, Result]):
    """What came back for some items: a result, or None where every worker that took this single item died."""

    items: Sequence[Item]
    result: Result | None


def spread(
    cluster: Cluster, work: Callable[[Sequence[Item]], Result], take: Callable[[int], Sequence[Item]]
) -> Iterator[Batch[Item, Result]]:
    """Have the workers do batches, and give them back as they are done.

    `take` hands out the next batch for so many workers, an empty one at the end. A batch that several workers died of
    is split, and each of its items tried alone. Closing this cancels what is under way.
    """
    from distributed.scheduler import KilledWorker

    client = cluster.client
    waiting: dict[Future, Sequence[Item]] = {}
    suspects: deque[Item] = deque()
    done: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def send(items: Sequence[Item]) -> None:
        future = client.submit(_in_version, __version__, work, items, pure=False)
        waiting[future] = items
        future.add_done_callback(done.put)

    try:
        while True:
            workers = cluster.workers()
            while len(waiting) < _IN_FLIGHT * workers and (items := take(workers)):
                send(items)
            alone = not waiting and bool(suspects)
            if alone:  # whoever makes a worker die now has only itself to blame
                send([suspects.popleft()])
            if not waiting:
                return
            future = cluster.next_done(done)
            items = waiting.pop(future)
            try:
                result = _result(future)
            except KilledWorker:
                result = None
            except CluevalError:
                raise
            except Exception as error:  # of whatever was raised there
                raise ClusterError(f"--cluster: a batch failed there: {described(error)}.") from None
            if result is None and not alone:
                suspects.extend(items)
            else:
                yield Batch(items, result)
    finally:
        client.cancel(list(waiting))


def _result(future: Future) -> Any:
    """What came of it; whoever asked for it cancels nothing, so that one that was cancelled has no scheduler."""
    if future.cancelled():
        raise ClusterError("--cluster: the scheduler is gone: the connection to it was lost.")
    return future.result()


def described(error: BaseException) -> str:
    """An error of somebody else's, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(".: ")
