"""A small Dask cluster on this machine, as one that runs already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def two_workers(**more: Any) -> Iterator[Any]:
    """Two workers with one thread each; a batch is given up when the first worker dies of it."""
    import dask
    import distributed

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs="CRITICAL",
            **more,
        ) as started,
    ):
        yield started
