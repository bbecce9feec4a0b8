"""One case of the fuzzer: an input made from a number, tried, and told to be accepted, refused or a failure."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest import mock

import click

from clueval_xlsx.exceptions import CluevalError, InputError

ACCEPTED, REFUSED, FAILED = "accepted", "refused", "failed"
SECONDS = 10.0  # of the processor for one case; the inputs are small, so that most need a few milliseconds
AGAIN = 2.0  # seconds until the alarm rings again
WAITING = 20  # times as many seconds may pass
_LONGEST_MESSAGE = 4000
_MOMENT = 1_700_000_000

Files = dict[str, bytes]


@dataclass(frozen=True)
class Subject:
    """Something that reads what people give it.

    `make` makes the files of one case. `check` reads them and raises the package's own exceptions where it refuses
    them; what it accepts it checks further. `share` says how many cases of the long run it gets.
    """

    name: str
    make: Callable[[Random], Files]
    check: Callable[[Files, Random, Path], None]
    share: int = 10


SUBJECTS: dict[str, Subject] = {}


def subject(
    name: str, make: Callable[[Random], Files], share: int = 10
) -> Callable[[Callable[[Files, Random, Path], None]], Callable[[Files, Random, Path], None]]:
    """Register a subject by its check."""

    def register(check: Callable[[Files, Random, Path], None]) -> Callable[[Files, Random, Path], None]:
        SUBJECTS[name] = Subject(name, make, check, share)
        return check

    return register


class BrokenPromiseError(Exception):
    """An input was accepted, or refused, in a way that should not be."""


def promise(holds: object, what: str) -> None:
    """Something that must be true of whatever was accepted."""
    if not holds:
        raise BrokenPromiseError(what)


class TookTooLongError(BaseException):
    """A case that takes longer than it may; not an `Exception`, so that few catch it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case: accepted, refused or failed; `detail` is the message or the traceback."""

    subject: str
    number: int
    kind: str
    detail: str = ""

    @property
    def cause(self) -> str:
        """The last line of a traceback and the place in the package it came from: what tells faults apart."""
        lines = [line.strip() for line in self.detail.strip().splitlines()]
        places = [line for line in lines if line.startswith("File ") and "clueval_xlsx" in line]
        return f"{lines[-1][:160] if lines else self.kind} [{places[-1] if places else 'fuzz'}]"


def random_of(name: str, seed: int, number: int, purpose: str) -> Random:
    """The same numbers for the same case, whatever ran before."""
    return Random(f"{name}/{seed}/{number}/{purpose}")


def make_files(name: str, seed: int, number: int) -> Files:
    """The input of a case: the same bytes whenever it is made, unless a new key has to be drawn to encrypt it."""
    with _at_one_moment():
        return SUBJECTS[name].make(random_of(name, seed, number, "make"))


@contextmanager
def _at_one_moment() -> Iterator[None]:
    """Workbooks and archives that are written meanwhile all say that they are of the same second."""
    clock = SimpleNamespace(time=lambda: _MOMENT, localtime=time.gmtime)
    with (
        mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": str(_MOMENT)}),
        mock.patch.object(zipfile, "time", clock),
    ):
        yield


def run_case(name: str, seed: int, number: int, folder: Path, seconds: float = SECONDS) -> Outcome:
    """Try one case; `folder` is an empty folder that it may write to."""
    try:
        files = make_files(name, seed, number)
    except Exception:  # a fault of the fuzzer must not look like one of the package, nor stop the run
        return Outcome(name, number, FAILED, f"The fuzzer itself: {traceback.format_exc()}")
    expired: list[bool] = []
    kind, detail = REFUSED, ""
    try:
        with _time_limit(seconds) as expired, warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                SUBJECTS[name].check(files, random_of(name, seed, number, "check"), folder)
                kind = ACCEPTED
            except (CluevalError, click.ClickException) as error:
                detail = unclear(error, files)
                kind = FAILED if detail else REFUSED
            except KeyboardInterrupt:
                raise
            except BaseException:  # a panic in a library is no Exception
                kind, detail = FAILED, traceback.format_exc()
    except TookTooLongError:  # the alarm rang once more while all this was sorted out
        kind, detail = FAILED, traceback.format_exc()
    if expired and kind != FAILED:  # somebody caught the alarm and went on
        kind, detail = FAILED, f"took longer than {seconds:g} seconds"
    return Outcome(name, number, kind, detail)


def unclear(error: CluevalError | click.ClickException, files: Files) -> str:
    """What is wrong with the message of a refusal; empty if nothing is."""
    message = error.message if isinstance(error, click.ClickException) else str(error)
    if not message.strip():
        return f"{type(error).__name__} without a message"
    if len(message) > _LONGEST_MESSAGE:
        return f"{type(error).__name__} with a message of {len(message)} characters: {message[:200]}"
    if isinstance(error, InputError) and not any(Path(name).stem in message for name in files):
        return f"{type(error).__name__} that does not name the file: {message[:300]}"
    return ""


@contextmanager
def _time_limit(seconds: float) -> Iterator[list[bool]]:
    """Raise `TookTooLongError` after so many seconds; what is yielded is filled when that happens.

    Seconds of the processor: on a busy machine a case may have to wait long for its turn. One that waits for something
    else instead is stopped after much longer.
    """
    expired: list[bool] = []

    def ring(_signal: int, _frame: object) -> None:
        expired.append(True)
        for clock, _, _ in clocks:  # both again, for those who catch it, but not at once
            signal.setitimer(clock, AGAIN, AGAIN)
        raise TookTooLongError(f"took longer than {seconds:g} seconds")

    clocks = (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, seconds * WAITING),
    )
    before = [signal.signal(number, ring) for _, number, _ in clocks]
    for clock, _, limit in clocks:
        signal.setitimer(clock, limit)
    try:
        yield expired
    finally:
        for (clock, number, _), handler in zip(clocks, before, strict=True):
            signal.setitimer(clock, 0)
            signal.signal(number, handler)


def command(*arguments: object, stdin: bytes = b"") -> int:
    """Run a command in this process; returns its documented exit code, everything else is raised."""
    from clueval_xlsx.cli import cli
    from clueval_xlsx.cli.streams import prepare_streams

    saved = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    try:
        prepare_streams()
        code = cli.main([str(argument) for argument in arguments], "clueval-xlsx", standalone_mode=False) or 0
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    finally:
        sys.stdin, sys.stdout, sys.stderr = saved
    promise(code in {0, 2, 3}, f"exit code {code}")
    return int(code)
