"""The Dask cluster that work is spread over: where it is, how to reach it, and batches that survive dead workers."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clueval_xlsx.exceptions import DetectorError, OptionError

if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")
Result = TypeVar("Result")

LOCAL = "local"
_IN_FLIGHT = 3  # batches for each worker that are with the cluster at once; the others stay here
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
                dashboard_address="127.0.0.1:0",  # any free port: there may be another cluster
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
        stack.enter_context(client)
        try:
            client.wait_for_workers(1, timeout=_START)
        except TimeoutError:
            raise DetectorError(
                f"--cluster: no worker has come within {_START} s. Start one: dask worker {client.scheduler.address}"
            ) from None
        yield client


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
    roles = {f"tls_{role}_{part}": path for role in ("client", "scheduler", "worker") for part in ("cert", "key")}
    return Security(tls_ca_file=path, require_encryption=True, **roles)


def worker_count(client: Client) -> int:
    """How many workers there are now; one that is yet to come back counts."""
    return max(len(client.ncores()), 1)


@dataclass(frozen=True, eq=False)
class Batch(Generic[Item, Result]):
    """What came back for some items: a result, or None where every worker that took this single item died."""

    items: Sequence[Item]
    result: Result | None


def spread(
    client: Client,
    work: Callable[[Sequence[Item]], Result],
    take: Callable[[], Sequence[Item]],
    seen: Callable[[int], None] = lambda _workers: None,
) -> Iterator[Batch[Item, Result]]:
    """Have the workers do batches, and give them back as they are done.

    `take` hands out the next batch, an empty one at the end; `seen` is told the number of workers. A batch that
    several workers died of is split, and each of its items tried alone. Closing this cancels what is under way.
    """
    from distributed import as_completed

    workers = worker_count(client)
    seen(workers)
    waiting: dict[Future, Sequence[Item]] = {}
    suspects: deque[Item] = deque()
    done = as_completed(loop=client.loop)

    def send(items: Sequence[Item]) -> None:
        future = client.submit(work, items, pure=False)
        waiting[future] = items
        done.add(future)

    try:
        while True:
            while len(waiting) < _IN_FLIGHT * workers and (items := take()):
                send(items)
            alone = not waiting and bool(suspects)
            if alone:  # whoever makes a worker die now has only itself to blame
                send([suspects.popleft()])
            if not waiting:
                return
            future = next(done)
            items = waiting.pop(future)
            result = None
            try:
                result = future.result()
            except Exception as error:  # of a worker, or of whatever was raised there
                if not _is_death(error):
                    raise
            if result is None and not alone:
                suspects.extend(items)
            else:
                yield Batch(items, result)
            workers = worker_count(client)
            seen(workers)
    finally:
        client.cancel(list(waiting))


def _is_death(error: BaseException) -> bool:
    """Whether a batch failed because its workers died, not because of anything that was raised in them."""
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker)
