"""One process at a time: a lock on a file, which ends with the process that holds it, however that ends."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.names import is_stream

LONGEST_WAIT = 60.0  # seconds
_PATIENCE = 1.0  # seconds before somebody is told what is being waited for
_PAUSE = 0.02
_FAR = 1 << 30  # on Windows nobody may read a locked byte, so one is locked that is not there
_BUSY = {errno.EACCES, errno.EAGAIN, errno.EDEADLK, getattr(errno, "EDEADLOCK", errno.EDEADLK)}

Tell = Callable[[str], None]


@contextmanager
def locked(path: Path, tell: Tell | None = None, limit: float = LONGEST_WAIT) -> Iterator[None]:
    """Be the only one at work on a file; `tell` is told when another process has to be waited for.

    The lock lies beside the file, not on it: a file that is replaced by a new one takes its locks away with it. What is
    no regular file is not locked.
    """
    if is_stream(path):
        yield
        return
    place = Path(os.path.realpath(path))
    missing = [folder for folder in place.parents if not folder.exists()]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}. Choose another place.") from None
    lock_file = place.with_name(f".{place.name[:40]}.lock")
    descriptor = hold(lock_file, path, tell, limit)
    try:
        yield
    finally:
        let_go(descriptor, lock_file)
        for folder in missing:  # made for nothing, if the run failed
            with contextlib.suppress(OSError):
                folder.rmdir()


def hold(lock_file: Path, what: Path, tell: Tell | None = None, limit: float = LONGEST_WAIT) -> int:
    """Open a file and lock it, which may take until another process lets go; `what` is named in messages."""
    began = time.monotonic()
    told = False
    while True:
        try:
            descriptor = _try_to_hold(lock_file)
        except OSError as error:
            raise OutputError(
                f"{what}: cannot be written: {error.strerror}. Choose a folder you may write to."
            ) from None
        if descriptor is not None:
            return descriptor
        waited = time.monotonic() - began
        if waited > limit:
            raise OutputError(
                f"{what}: another run has been writing here for more than {limit:.0f} seconds. Wait for it to end, and "
                "run again."
            )
        if waited > _PATIENCE and not told and tell is not None:
            tell(f"Waiting for another run that is writing {what} …")
            told = True
        time.sleep(_PAUSE)


def let_go(descriptor: int, lock_file: Path) -> None:
    """Remove a lock file and end the lock; in this order, or the next one's file would be removed."""
    with contextlib.suppress(OSError):  # Windows removes no file that is open
        lock_file.unlink()
    os.close(descriptor)
    if os.name == "nt":
        with contextlib.suppress(OSError):
            lock_file.unlink()


def _try_to_hold(lock_file: Path) -> int | None:
    """A locked descriptor, or None if somebody else has it."""
    descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if _lock(descriptor) and _is_still(descriptor, lock_file):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _is_still(descriptor: int, lock_file: Path) -> bool:
    """Whether the file that was locked still has its name; who held it before may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), lock_file.stat())
    except FileNotFoundError:
        return False


def _lock(descriptor: int) -> bool:
    """Take the lock if nobody has it. Where the file system knows no locks there is nobody to wait for."""
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _BUSY
    return True


# ---- who has a file open: LibreOffice and Excel leave a small file beside a document while somebody works on it

_EXCEL_LENGTH, _EXCEL_NAME = 55, 57  # in Excel's file: how many UTF-16 units, and where they begin
_LARGEST = 4096  # such files are far smaller


@dataclass(frozen=True)
class Opened:
    """A file is open: in which program and, if it says so, by whom."""

    who: str
    lock_file: Path


def who_has_it_open(path: Path) -> Opened | None:
    """Who has a file open, told by the lock files beside it; None if there are none.

    The files that programs keep for themselves do not tell of others, and a crash leaves them behind: this is a
    reason to ask, not a proof.
    """
    libre, excel = path.with_name(f".~lock.{path.name}#"), path.with_name(f"~${path.name}")
    for lock_file, program, reader in ((libre, "LibreOffice", _libre_name), (excel, "Excel", _excel_name)):
        if not lock_file.is_file():
            continue
        try:
            with lock_file.open("rb") as stream:
                name = reader(stream.read(_LARGEST))
        except OSError:  # on Windows nobody else may read Excel's
            name = ""
        return Opened(f"{program} ({name})" if name else program, lock_file)
    return None


def _libre_name(content: bytes) -> str:
    """The person in LibreOffice's file: `Anna Beispiel,anna,computer,16.11.2026 10:00,file:///…;`."""
    full, *others = content.decode("utf-8", "replace").split(",")
    return _printable(full or (others[0] if others else ""))


def _excel_name(content: bytes) -> str:
    """The person in Excel's file: the name stands there in the system's letters and again in UTF-16."""
    if len(content) <= _EXCEL_NAME:
        return ""
    end = _EXCEL_NAME + 2 * content[_EXCEL_LENGTH]
    return _printable(content[_EXCEL_NAME:end].decode("utf-16-le", "replace"))


def _printable(name: str) -> str:
    return "".join(character for character in name if character.isprintable()).strip()
