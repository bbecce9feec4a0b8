"""Workbooks are parsed in another process, which may fill its memory, run for ever or abort without harm to this one.

The process is started when the first workbook is read, answers one request after the other, and ends with this one.
What a file may take grows with its size. A file that reaches a limit ends the process, and is refused.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import threading
from typing import IO

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.cell_messages import LimitReached, Refused, unpacked_workbook
from clueval_xlsx.files.parse_limits import SECONDS_TO_DECRYPT, answer_for, memory_for, seconds_for
from clueval_xlsx.files.python_processes import python_command, python_environment
from clueval_xlsx.files.sheets import Workbook

_PATIENCE, _PATIENCE_PER_SECOND = 20.0, 10.0  # of the clock on the wall: other programs take their share
_CODE = "from clueval_xlsx.files.parse_worker import main; main()"


def parse_elsewhere(data: bytes, name: str, password: str | None = None) -> Workbook:
    """A workbook, parsed in the other process."""
    with _LOCK:
        try:
            return unpacked_workbook(_process().ask(data, name, password))
        except Refused as refusal:
            raise InputError(str(refusal)) from None
        except (LimitReached, _Ended) as end:
            stop()
            raise InputError(
                f"{name}: the workbook {str(end) or 'needs too much memory'} for a file of {len(data) / 1e6:,.2f} MB, "
                "as no spreadsheet program writes it. The file is refused; open it in Excel or LibreOffice, delete "
                "what stands far right or far below, save it, and try again."
            ) from None
        except BaseException:
            stop()  # somebody lost patience: what the process would still answer is nobody's answer any more
            raise


class _Ended(Exception):  # noqa: N818 - turned into a message at once
    """The process ended before it had answered; why, as words of a sentence."""


class _Process:
    """A running process and the way to talk to it."""

    def __init__(self) -> None:
        self._running = subprocess.Popen(
            python_command(_CODE),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=python_environment(),
            start_new_session=True,  # Ctrl-C is for this process, which ends the other
        )
        self.owner = os.getpid()

    def ask(self, data: bytes, name: str, password: str | None) -> bytes:
        """Send a file and wait for the answer; the password goes through the pipe, where nobody else sees it."""
        seconds = seconds_for(data)
        request = {
            "size": len(data),
            "name": name.encode("utf-8", "replace").decode("utf-8"),
            "password": password,
            "memory": memory_for(data),
            "seconds": seconds,
        }
        seconds += SECONDS_TO_DECRYPT if password else 0
        clock = threading.Timer(_PATIENCE + _PATIENCE_PER_SECOND * seconds, self._running.kill)
        clock.daemon = True
        clock.start()
        try:
            return self._exchange(request, data, answer_for(data))
        finally:
            clock.cancel()

    def _exchange(self, request: dict[str, object], data: bytes, most: int) -> bytes:
        to, back = self._pipes()
        try:
            to.write(json.dumps(request).encode() + b"\n")
            to.write(data)
            to.flush()
        except OSError:
            raise self._end() from None
        line = back.readline(100)
        if not line.endswith(b"\n"):
            raise self._end()
        size = int(json.loads(line)["size"])
        if size > most:
            raise _Ended("holds too many cells")
        answer = back.read(size)
        if len(answer) < size:
            raise self._end()
        return answer

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        return self._running.stdin, self._running.stdout

    def _end(self) -> _Ended:
        """Why the process is no more."""
        code = self._running.wait()
        slow = {-int(getattr(signal, name, 999)) for name in ("SIGPROF", "SIGXCPU", "SIGKILL")}
        return _Ended("takes too long to read" if code in slow else "needs too much memory")

    def stop(self) -> None:
        """End the process."""
        self._running.kill()
        for pipe in self._pipes():
            with contextlib.suppress(OSError):
                pipe.close()
        self._running.wait()

    @property
    def alive(self) -> bool:
        """Whether it can be asked; one that was started before a fork belongs to the parent."""
        return self.owner == os.getpid() and self._running.poll() is None


_LOCK = threading.Lock()
_running: list[_Process] = []


def _process() -> _Process:
    """The process, started if there is none."""
    if not _running or not _running[0].alive:
        if _running and _running[0].owner == os.getpid():
            _running[0].stop()
        _running[:] = [_Process()]
    return _running[0]


@atexit.register
def stop() -> None:
    """End the process; the next workbook starts another."""
    for process in _running:
        if process.owner == os.getpid():
            process.stop()
    _running.clear()
