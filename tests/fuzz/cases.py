"""One case of the fuzzer: an input made from a number, tried, and told to be accepted, refused or a failure."""

from __future__ import annotations

import io
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import click

from clueval_xlsx.exceptions import CluevalError, InputError

ACCEPTED, REFUSED, FAILED = "accepted", "refused", "failed"
SECONDS = 10.0  # of the processor for one case; the inputs are small, so that most need a few milliseconds
AGAIN = 2.0  # seconds until the alarm rings again
_LONGEST_MESSAGE = 4000

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


def random_of(name: str, seed: int, number: int, purpose: str) -> Random:
    """The same numbers for the same case, whatever ran before."""
    return Random(f"{name}/{seed}/{number}/{purpose}")


def make_files(name: str, seed: int, number: int) -> Files:
    """The input of a case."""
    return SUBJECTS[name].make(random_of(name, seed, number, "make"))


def run_case(name: str, seed: int, number: int, folder: Path, seconds: float = SECONDS) -> Outcome:
    """Try one case; `folder` is an empty folder that it may write to."""
    expired: list[bool] = []

    def ring(_signal: int, _frame: object) -> None:
        expired.append(True)
        raise TookTooLongError(f"took longer than {seconds:g} seconds")

    before = signal.signal(signal.SIGPROF, ring)
    kind, detail, files = REFUSED, "", Files()
    try:
        files = make_files(name, seed, number)
        signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SUBJECTS[name].check(files, random_of(name, seed, number, "check"), folder)
        kind = ACCEPTED
    except (CluevalError, click.ClickException) as error:
        detail = unclear(error, files)
        kind = FAILED if detail else REFUSED
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic in a library is no Exception
        kind, detail = FAILED, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
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
