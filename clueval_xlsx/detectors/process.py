"""One child process that answers a line with a line: its crashes, its silence and its last words are told apart."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO

from clueval_xlsx.exceptions import DetectorError
from clueval_xlsx.files.encryption import PASSWORD_VARIABLE

_LONGEST_LINE = 1 << 26  # bytes; a program that never ends its line must not fill the memory
_LAST_WORDS = 400  # characters of standard error that are worth repeating
_SECRETS = {PASSWORD_VARIABLE}  # of the environment; detectors are other people's programs
_PATIENCE = 5.0  # seconds that a process gets to leave by itself


class ProcessCrashedError(Exception):
    """The process ended, or closed its output, before it answered."""


class ProcessSilentError(Exception):
    """The process did not answer in time."""


class LineProcess:
    """A running program; threads do its reading and writing, so that nothing it does can block us for ever.

    It has our environment and what `environment` adds to it, but for the password of the workbooks.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={key: value for key, value in {**os.environ, **(environment or {})}.items() if key not in _SECRETS},
                # A group of its own, so that whatever the program starts can be ended with it.
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise DetectorError(
                f"{command[0]}: the program cannot be started: {error.strerror or error}. Check the command."
            ) from None
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._incoming: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._errors: deque[str] = deque(maxlen=20)
        self._ending = threading.Lock()
        self._ended = False
        self._threads = [
            threading.Thread(target=work, args=(stream,), daemon=True)
            for work, stream in (
                (self._write, self._process.stdin),
                (self._read, self._process.stdout),
                (self._read_errors, self._process.stderr),
            )
        ]
        for thread in self._threads:
            thread.start()

    def send(self, line: bytes) -> None:
        """Send one line; returns at once."""
        self._outgoing.put(line + b"\n")

    def receive(self, seconds: float | None) -> bytes:
        """The next line of the answer, or an exception that says why there is none."""
        try:
            line = self._incoming.get(timeout=None if seconds is None else max(seconds, 0.0))
        except queue.Empty:
            raise ProcessSilentError from None
        if line is None:
            raise ProcessCrashedError(self._how_it_ended())
        return line

    def finish(self) -> list[bytes]:
        """Let the process end, and return what it still had to say."""
        self.close()
        lines = []
        with contextlib.suppress(queue.Empty):
            while (line := self._incoming.get_nowait()) is not None:
                lines.append(line)
        return lines

    def close(self) -> None:
        """Let the process end; what does not end by itself is ended."""
        self._outgoing.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_PATIENCE)
        self.kill()

    def kill(self) -> None:
        """End the process and everything it started."""
        with self._ending:
            if self._ended:  # its number may belong to somebody else by now
                return
            self._ended = True
        self._outgoing.put(None)
        if os.name == "posix":
            # The group outlives its leader if the program left children behind.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(timeout=_PATIENCE)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _write(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (line := self._outgoing.get()) is not None:
                stream.write(line)
                stream.flush()
        with contextlib.suppress(OSError, ValueError):
            stream.close()

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(_LONGEST_LINE):
                self._incoming.put(line)
        self._incoming.put(None)

    def _read_errors(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(_LONGEST_LINE):
                self._errors.append(line.decode("utf-8", "replace").strip())

    def _how_it_ended(self) -> str:
        """How the process ended, and the last it said on standard error."""
        try:
            code = self._process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            return "it closed its output without an answer"
        self._threads[2].join(timeout=_PATIENCE)
        ended = f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        words = [line for line in self._errors if line]
        return f"{ended}; its last words: {words[-1][-_LAST_WORDS:]}" if words else ended


def now() -> float:
    """A clock that never goes back."""
    return time.monotonic()
