"""Small Dask clusters on this machine, as ones that run already."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.folders import ROOT

# As sitecustomize.py on a worker's path: whoever reads the first file gets no further.
STUCK = """
import pathlib, time
read = pathlib.Path.read_bytes
def stuck(path):
    if path.name == "0.vrt":
        pathlib.Path({marker!r}).touch()
        time.sleep(600)
    return read(path)
pathlib.Path.read_bytes = stuck
"""


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


class ClusterOfProcesses:
    """A scheduler and workers as somebody else would start them, by Dask's own commands; nobody brings them back."""

    def __init__(self, folder: Path) -> None:
        """The folder is the workers' own, and comes first on their path."""
        self._folder = folder
        self._workers: list[subprocess.Popen[str]] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.address = self._said_by(self.scheduler, "Scheduler at:")

    def add_worker(self, folder: Path | None = None) -> None:
        """Start a worker, in a folder of its own if need be, and wait until it is one."""
        words = (self.address, "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard")
        self._workers.append(self._start("worker", *words, folder=folder))
        self._said_by(self._workers[-1], "Registered to:")

    def kill_workers(self) -> None:
        """All of them, without a word to the scheduler."""
        while self._workers:
            _kill(self._workers.pop())

    def kill_first_worker(self) -> None:
        """The one that was started first."""
        _kill(self._workers.pop(0))

    def close(self) -> None:
        """End all that was started."""
        self.kill_workers()
        _kill(self.scheduler)

    def _start(self, *words: str, folder: Path | None = None) -> subprocess.Popen[str]:
        own = folder or self._folder
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=own,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(own), str(ROOT)])},
        )

    def _said_by(self, process: subprocess.Popen[str], label: str) -> str:
        """The address behind a label in what a process says at its start."""
        assert process.stderr is not None
        for line in process.stderr:
            if label in line:
                return line.split()[-1]
        raise AssertionError(f"{label} was never said")


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@contextmanager
def cluster_of_processes(folder: Path) -> Iterator[ClusterOfProcesses]:
    """A cluster without a worker."""
    with contextlib.closing(ClusterOfProcesses(folder)) as started:
        yield started
