"""One child process that answers a line with a line: its crashes, its silence and its last words are told apart."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

from clueval_xlsx.detectors.base import COMMAND, Description, DetectorSettings, configuration_hash, file_hash
from clueval_xlsx.exceptions import DetectorError
from clueval_xlsx.files.python_processes import environment

_LONGEST_LINE = 1 << 26  # bytes; a program that never ends its line must not fill the memory
ENDED_EARLY = "it ended before it had answered"
_MOST_LINES = 64  # that nobody has asked for yet
_LAST_WORDS = 400  # characters of standard error that are worth repeating
_PATIENCE = 5.0  # seconds that a process gets to leave by itself
_DRAINING = 1.0  # seconds to read what a process that has ended left behind, and between two looks whether it has
_CHUNK = 1 << 16  # bytes, as many as a pipe holds
# Ends a group of processes when its own input ends without a word: then whoever should have done it is no more.
_WATCH = 'read -r _ || kill -s KILL -- "-$1"'


class ProcessCrashedError(Exception):
    """The process ended, or closed its output, before it answered."""


class ProcessSilentError(Exception):
    """The process did not answer in time."""


class LineProcess:
    """A running program; threads do its reading and writing, so that nothing it does can block us for ever.

    It has our environment but for the password of the workbooks, or the one that is given, and does not outlive us.
    What it started in a session of its own may, with our ends of its pipes: nobody waits for that.
    """

    def __init__(self, command: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,  # a buffer has a lock, which a thread that waits for the program would hold
                env=environment() if variables is None else variables,
                # A group of its own, so that whatever the program starts can be ended with it.
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise DetectorError(
                f"{command[0]}: the program cannot be started: {error.strerror or error}. Check the command."
            ) from None
        self._watch = _watch_over(self._process.pid) if os.name == "posix" else None
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._incoming: queue.Queue[bytes | None] = queue.Queue(_MOST_LINES)
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
        end = None if seconds is None else now() + seconds
        while True:
            # Its output may stay open when it has ended: whatever it started has that, too.
            has_ended = self._process.poll() is not None
            left = _DRAINING if end is None else min(max(end - now(), 0.0), _DRAINING)
            with contextlib.suppress(queue.Empty):
                line = self._incoming.get(timeout=left)
                if line is not None:
                    return line
                has_ended = True
            if has_ended:
                raise ProcessCrashedError(self._how_it_ended())
            if end is not None and now() >= end:
                raise ProcessSilentError

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
        if self._watch is not None:
            self._watch.communicate(b"\n")
        end = now() + _DRAINING
        for thread in self._threads:
            thread.join(timeout=max(end - now(), 0.0))

    def _write(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError), stream:
            while (line := self._outgoing.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[stream.write(rest) :]

    def _read(self, stream: IO[bytes]) -> None:
        for line in chain(_lines(stream), [None]):
            while True:  # a program that says more than anybody asked for waits
                try:
                    self._incoming.put(line, timeout=_DRAINING / 2)
                    break
                except queue.Full:
                    if self._ended:
                        return

    def _read_errors(self, stream: IO[bytes]) -> None:
        for line in _lines(stream):
            self._errors.append(line.decode("utf-8", "replace").strip())

    def _how_it_ended(self) -> str:
        """How the process ended, and the last it said on standard error."""
        try:
            code = self._process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            return "it closed its output without an answer"
        self._threads[2].join(timeout=_DRAINING)
        ended = f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        if code == 0:
            ended = ENDED_EARLY
        words = [line for line in self._errors if line]
        return f"{ended}; its last words: {words[-1][-_LAST_WORDS:]}" if words else ended


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a stream without a buffer, which is closed at its end; a very long one in pieces."""
    kept: list[bytes] = []
    length = 0
    with contextlib.suppress(OSError), stream:
        while chunk := stream.read(_CHUNK):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                yield b"".join([*kept, line, b"\n"])
                kept, length = [], 0
            kept.append(rest)
            length += len(rest)
            if length >= _LONGEST_LINE:
                yield b"".join(kept)
                kept, length = [], 0
    if length:
        yield b"".join(kept)


def _watch_over(group: int) -> subprocess.Popen[bytes] | None:
    """What ends a group of processes when we die without having done so, killed as we may be."""
    with contextlib.suppress(OSError):  # a system without a shell does without
        return subprocess.Popen(
            ["/bin/sh", "-c", _WATCH, "sh", str(group)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return None


def now() -> float:
    """A clock that never goes back."""
    return time.monotonic()


# ---- Any program as a detector: how its command line is read and what identifies it


def split_command(line: str) -> list[str]:
    """The words of a command line, as a shell would see them.

    >>> split_command("python 'my detector.py' --fast")
    ['python', 'my detector.py', '--fast']
    """
    try:
        words = shlex.split(line, posix=os.name == "posix")
    except ValueError as error:
        raise DetectorError(
            f"--detector command:{line}: the command cannot be read: {error}. Check the quotes."
        ) from None
    return [word.strip('"') for word in words] if os.name != "posix" else words


def describe_command(settings: DetectorSettings) -> Description:
    """A program says nothing about itself: its scripts stand for its version, by their content."""
    _refuse_configuration(settings)
    words = split_command(settings.command or "")
    scripts = {
        word: file_hash(word)
        for number, word in enumerate(words)
        if Path(word).is_file() and (number > 0 or _is_script(Path(word)))
    }
    name = Path(next(iter(scripts), words[0])).name
    return Description(
        name=f"{COMMAND}:{name}",
        version="-",
        language=settings.language,
        configuration=configuration_hash(settings, words, sorted(scripts.values())),
    )


def _refuse_configuration(settings: DetectorSettings) -> None:
    given = {
        "nlp_config": settings.nlp_config,
        "recognizers_config": settings.recognizers_config,
        "--detector-option": settings.options or None,
    }
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise DetectorError(
            f"{', '.join(wrong)} cannot be given to a command. Write what it must know into the command itself."
        )


def _is_script(path: Path) -> bool:
    """Whether a program is a script; the hash of an interpreter would say nothing about the detector."""
    with path.open("rb") as stream:
        return stream.read(2) == b"#!"
