"""Writing files so that a run that fails leaves what was there before: at its end they are moved into place, in order.

All new files lie complete beside their targets before the first of them is moved, so that a kill at any moment leaves
each file whole, old or new; running again makes all of them new. What was left beside them goes with the next run.
What is no regular file (a device, a pipe, an open stream) is never replaced but written into.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.locks import who_has_it_open
from clueval_xlsx.files.names import is_stream, open_file

# Says what would be lost with a file of this content and name, as words for a message; empty if nothing would.
Guard = Callable[[bytes, str], str]

_PREFIX = 40  # so much of a name stands in that of its temporary file, which must not become too long
_TEMPORARY = re.compile(
    r"\..*\.cx-(?P<machine>[0-9a-f]{8})-(?P<process>[0-9]{1,10})-(?P<began>[0-9]{1,20})\.[A-Za-z0-9_]{8}\.tmp",
    re.DOTALL,
)
_ABANDONED = 24 * 3600  # seconds after which a temporary file is nobody's, whatever its name says


class _Waiting(NamedTuple):
    """A new file on its way."""

    temporary: Path
    target: Path
    before: tuple[int, int] | None  # how the old one was when it was found to be nobody's work


class Outputs:
    """A set of files that are written beside their places, and put there when all of them are complete.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with Outputs() as outputs:
    ...     outputs.write_text(folder / "a.txt", "hello")
    >>> (folder / "a.txt").read_text()
    'hello'
    """

    def __init__(
        self,
        inputs: Iterable[str | Path] = (),
        guard: Guard | None = None,
        written: Callable[[Path], None] | None = None,
        files_behind: Callable[[Path], Iterable[Path]] | None = None,
    ) -> None:
        """`inputs` are files that must not be overwritten; `guard` knows which others.

        `files_behind` an input that is a folder or a glob must not be overwritten, either. `written` is told of every
        file that is in its place.
        """
        self._guard = guard
        self._written = written
        self._inputs = {Path(path).resolve() for path in inputs if str(path) != "-"}
        self._files_behind = files_behind
        self._behind: dict[Path, set[Path]] = {}  # the files behind each input, as soon as one of them may be in danger
        self._waiting: dict[Path, _Waiting] = {}  # by the places of their targets, in the order in which they are moved
        self._streams: list[tuple[Path, bytes]] = []
        self._tidied: set[Path] = set()
        self._folders: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            for waiting in self._waiting.values():
                waiting.temporary.unlink(missing_ok=True)
            # The innermost first: a folder goes when it is empty.
            for folder in sorted(set(self._folders), key=lambda folder: len(folder.parts), reverse=True):
                with contextlib.suppress(OSError):
                    folder.rmdir()

    def path(self, target: Path) -> Path:
        """A temporary path beside the target, to be written by the caller, who may go back and forth in it."""
        check_target(target, self._guard, workbook=True)
        return self._beside(target)

    def write_text(self, target: Path, text: str) -> None:
        """Write text as UTF-8 with the line ends it has.

        Half a surrogate pair, which JSON can bring along, is no character: it is written as JSON writes it, `\\ud800`.
        """
        self.write_bytes(target, text.encode("utf-8", "backslashreplace"))

    def write_bytes(self, target: Path, content: bytes, *, workbook: bool = False) -> None:
        """Write bytes; a workbook's only to a regular file."""
        self.write_parts(target, [content], workbook=workbook)

    def write_parts(self, target: Path, parts: Iterable[bytes], *, workbook: bool = False) -> None:
        """Write bytes part by part, so that they need not lie in memory all at once."""
        check_target(target, self._guard, workbook=workbook)
        if is_stream(target):
            self._streams.append((target, b"".join(parts)))
            return
        path = self._beside(target)
        try:
            with path.open("wb") as stream:
                stream.writelines(parts)
        except OSError as error:
            raise OutputError(
                f"{target}: cannot be written: {error.strerror}. Make room or choose another place, and run again."
            ) from None

    def refuse_input(self, target: Path) -> None:
        """Refuse a place where an input of this run lies."""
        place = target.resolve()
        if place in self._inputs or (place.exists() and any(place in self._files_of(path) for path in self._inputs)):
            raise OutputError(f"{target}: is an input of this run and would be overwritten. Choose another name.")

    def folder(self, folder: Path) -> None:
        """Make a folder for outputs; it is removed again if the run fails and nothing is in it."""
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder}: is a file, not a folder. Choose another name.")
        missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"{folder}: the folder cannot be made: {error.strerror}. Choose a folder you may write to."
            ) from None
        self._folders += missing

    def _beside(self, target: Path) -> Path:
        """A new temporary file beside a target."""
        target = _followed(target)
        place = target.resolve()
        if target.parent not in self._tidied and target.parent.is_dir():
            self._tidied.add(target.parent)
            remove_abandoned(target.parent)
        self.refuse_input(target)
        if place in self._waiting:
            raise OutputError(f"{target}: two outputs of this run have this name. Give each its own.")
        before = _state(target)
        self.folder(target.parent)
        try:
            temporary = new_temporary(target)
        except OSError as error:
            raise OutputError(
                f"{target}: cannot be written: {error.strerror}. Choose a folder you may write to."
            ) from None
        self._waiting[place] = _Waiting(temporary, target, before)
        return temporary

    def _files_of(self, path: Path) -> set[Path]:
        if path not in self._behind:
            found = self._files_behind(path) if self._files_behind is not None else ()
            self._behind[path] = {file.resolve() for file in found}
        return self._behind[path]

    def _finish(self) -> None:
        """Everything is complete: write into what is no file, and put the files in place, one after the other."""
        for target, before in [(waiting.target, waiting.before) for waiting in self._waiting.values()]:
            if self._guard is not None and _state(target) != before:  # a long run leaves time to judge
                _spare(target, self._guard)
        permissions = 0o666 & ~_umask()
        for temporary, target, _ in self._waiting.values():
            with _reported(target, "cannot be put in place"):
                with temporary.open("rb+") as stream:  # Windows brings to the disk only what may be written to
                    os.fsync(stream.fileno())
                temporary.chmod(_mode(target, permissions))
        for target, content in self._streams:
            with _reported(target, "cannot be written"):
                _pour(content, target)
        moved: list[str] = []
        for temporary, target, _ in self._waiting.values():
            with _reported(target, "cannot be put in place", moved):
                temporary.replace(target)
            moved.append(target.name)
        self._folders = []
        if self._written is not None:
            for target in (*(target for target, _ in self._streams), *(each.target for each in self._waiting.values())):
                self._written(target)


def check_target(target: Path, guard: Guard | None = None, *, workbook: bool = False) -> None:
    """Refuse a place where no file can go, where somebody is at work, or where work would be lost.

    Worth asking before a long run. A workbook needs a file that can be gone back in.
    """
    if str(target) == "-":
        raise OutputError("-: standard output is not possible here. Give the name of a file.")
    try:
        if is_stream(target):
            if workbook:
                raise OutputError(
                    f"{target}: is no regular file, and a workbook needs a seekable one. Give the name of a file."
                )
            return
        if target.is_dir():
            raise OutputError(f"{target}: is a directory. Give the name of a file.")
        opened = who_has_it_open(target) or who_has_it_open(_followed(target))
        if guard is not None:
            _spare(target, guard)
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise OutputError(f"{target}: cannot be written: {error.strerror}. Choose another name.") from None
    if opened:
        raise OutputError(
            f"{target}: is open in {opened.who}. Close it there and run again, or choose another name. "
            f"If nobody has it open, delete {opened.lock_file}, which a program left behind."
        )


def _pour(content: bytes, target: Path) -> None:
    """Write into something that is no regular file; a named pipe is waited for until somebody reads it."""
    number = open_file(target)
    terminal = getattr(os, "O_NOCTTY", 0)  # where the target is a terminal it does not become ours
    descriptor = os.open(target, os.O_WRONLY | terminal) if number is None else os.dup(number)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


def _spare(target: Path, guard: Guard) -> None:
    """Refuse to replace a file that holds somebody's work; one that may not be read is left alone, too."""
    if not target.is_file():
        return
    try:
        work = guard(target.read_bytes(), target.name)
    except OSError as error:
        work = f"it cannot be looked into ({error.strerror})"
    if work:
        raise OutputError(
            f"{target}: this file would be overwritten, and {work}. Choose another name, or add --force to lose it."
        )


def _followed(target: Path) -> Path:
    """Where a file really goes: a symbolic link is followed and stays a link.

    Whoever put a link there wants the file elsewhere (on another disk, in a shared folder). A file in the place of
    the link would part the two in silence: everybody else would go on reading the old one.
    """
    place = Path(os.path.realpath(target))
    if place.is_symlink():
        raise OutputError(f"{target}: is a symbolic link that leads in a circle. Delete it or choose another name.")
    if target.is_symlink() and not place.parent.is_dir():
        raise OutputError(
            f"{target}: is a symbolic link into {place.parent}, which is not there. Make the folder or delete the link."
        )
    return place if target.is_symlink() else target


@contextlib.contextmanager
def _reported(target: Path, what: str, moved: Sequence[str] = ()) -> Iterator[None]:
    """Trouble with the last steps, as a message."""
    try:
        yield
    except OSError as error:
        already = f" These are new already: {', '.join(moved)}." if moved else ""
        raise OutputError(
            f"{target}: {what}: {error.strerror}. If it is open in another program, close it there and run again."
            f"{already}"
        ) from None


def _state(path: Path) -> tuple[int, int] | None:
    """What tells a file from what it was before; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _mode(target: Path, otherwise: int) -> int:
    """The permissions that a file gets: those of the one it replaces, so that what was private stays so."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return otherwise


def _umask() -> int:
    """The process's file mode mask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


# ---- temporary files: their names say whose they are, so that those of a killed run can be told


def new_temporary(target: Path) -> Path:
    """An empty file beside a target."""
    whose = f"cx-{_machine()}-{os.getpid()}-{_began(os.getpid())}"
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:_PREFIX]}.{whose}.", suffix=".tmp", dir=target.parent)
    os.close(handle)
    return Path(name)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files that runs left behind when they were killed; those of running ones stay."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            match = _TEMPORARY.fullmatch(entry.name)
            if match is None:
                continue
            ended = match["machine"] == _machine() and _began(int(match["process"])) != match["began"]
            if ended or time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED:
                os.unlink(entry.path)  # noqa: PTH108 - an entry of the folder, not a path


@cache
def _machine() -> str:
    """A short name of this machine."""
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]


def _began(process: int) -> str:
    """When a process began, in the system's own count; where nobody says, or it has ended, 0."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "0"
