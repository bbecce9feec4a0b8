"""The last step of a run with several outputs, written down beside them: killed in it, it can be brought to an end.

All new files lie complete beside their targets before the first of them is moved. Then what is to be moved is written
to a small file, the journal; then the files are moved; then the journal goes. Whoever finds a journal that no process
holds knows that a run was killed in between, and completes it. Where somebody has changed one of the files since then,
the old ones come back instead, and the changed one stays as it is.

Outputs may lie in several folders. The last of them (by name) has the journal, the others have one that only names it:
so there is one moment at which a run counts, and one at which it is over.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.locks import hold, let_go
from clueval_xlsx.files.temporaries import is_temporary

NAME = ".clueval-xlsx-moving.json"
_KILLED = "An earlier run was killed while it put its files in place."
_LARGEST = 64 * 1024 * 1024

State = tuple[int, int]  # size and time of the last change


@dataclass(frozen=True)
class Move:
    """One new file on its way: where it lies, where it goes, under which second name the old one is kept."""

    temporary: Path
    target: Path
    kept: Path | None
    before: State | None  # of the old file; None if there was none
    after: State | None  # of the new one

    @property
    def done(self) -> bool:
        """The new file is in its place."""
        return not self.temporary.exists() and state(self.target) == self.after

    @property
    def waiting(self) -> bool:
        """The new file is whole, and nobody touched the old one."""
        return state(self.temporary) == self.after and state(self.target) == self.before


def state(path: Path) -> State | None:
    """What tells a file from what it was before; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


@contextmanager
def written_down(moves: Sequence[Move], removals: Sequence[Path]) -> Iterator[None]:
    """Keep a journal of these moves while they are made; any end but a kill takes it away again."""
    folders = sorted({path.parent.absolute() for path in (*(move.target for move in moves), *removals)})
    with ExitStack() as journals:
        for folder in folders[:-1]:
            _keep(folder, {"journal": _from(folders[-1] / NAME, folder)}, journals)
        _keep(folders[-1], _plan(moves, removals, folders[-1]), journals)
        yield


def settle(folder: Path) -> list[str]:
    """Bring to an end what a killed run left half done in a folder; what was done, as sentences."""
    journal = folder / NAME
    if not journal.is_file():
        return []
    try:
        descriptor = hold(journal, folder)
        try:
            return _settle(descriptor, journal)
        finally:
            let_go(descriptor, journal)
    except OutputError as error:
        return [
            f"A run broke off while it put its files in place in {folder}, some of them are new and some are old; "
            f"this cannot be mended now ({error})"
        ]


def _settle(descriptor: int, journal: Path) -> list[str]:
    folder = journal.parent.absolute()
    try:
        content = json.loads(_content(descriptor) or b"{}")
        if "journal" in content:
            other = Path(os.path.normpath(folder / content["journal"]))
            return settle(other.parent) if other != journal and other.name == NAME else []
        moves = [_move(entry, folder) for entry in content.get("moves", ())]
        removals = [Path(os.path.normpath(folder / name)) for name in content.get("removals", ())]
        if not _is_ours(moves, removals, journal):
            return []
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []  # killed while it was written: nothing had been moved
    return _bring_to_an_end(moves, removals)


def _is_ours(moves: Sequence[Move], removals: Iterable[Path], journal: Path) -> bool:
    """Whether a journal speaks only of what a run of ours can have had in hand.

    A folder can come from anybody. So nothing is touched but temporary files, what they lie beside and what a detector
    keeps while it runs, and only in folders whose own journal names this one.
    """
    temporaries = [path for move in moves for path in (move.temporary, move.kept) if path is not None]
    beside = all(path.parent == move.target.parent for move in moves for path in (move.temporary, move.kept) if path)
    folders = {path.parent for path in (*(move.target for move in moves), *removals)}
    return (
        beside
        and all(is_temporary(path.name) for path in temporaries)
        and all(path.name.endswith(".progress.jsonl") for path in removals)
        and all(folder == journal.parent.absolute() or _names(folder / NAME, journal) for folder in folders)
    )


def _names(pointer: Path, journal: Path) -> bool:
    """Whether another folder's journal names this one."""
    try:
        found = json.loads(pointer.read_bytes())["journal"]
    except (OSError, ValueError, TypeError, KeyError):
        return False
    return Path(os.path.normpath(pointer.parent / found)) == journal.absolute()


def _bring_to_an_end(moves: Sequence[Move], removals: Sequence[Path]) -> list[str]:
    names = ", ".join(str(move.target) for move in moves)
    complete = all(move.done or move.waiting for move in moves)
    waiting = [move for move in moves if move.waiting]
    something_left = waiting or any(path.exists() for path in removals)
    try:
        for move in waiting if complete else ():
            move.temporary.replace(move.target)
        for path in removals if complete else ():
            path.unlink(missing_ok=True)
        changed = [] if complete else [move.target for move in moves if not _take_back(move)]
    except OSError as error:
        raise OutputError(f"{error.filename}: {error.strerror}") from None
    for path in [each for move in moves for each in (move.temporary, move.kept) if each is not None]:
        path.unlink(missing_ok=True)
    if complete:
        return [f"{_KILLED} Now all are new: {names}."] if something_left else []
    kept = f" Changed since then, and left as they are: {', '.join(map(str, changed))}." if changed else ""
    return [f"{_KILLED} What stood there before is back: {names}.{kept}"]


def _take_back(move: Move) -> bool:
    """Put the old file back; False if what stands there is neither the old nor the new one, or the old is lost."""
    if state(move.target) == move.before:
        return True
    if not move.done:
        return False
    if move.before is None:
        move.target.unlink()
        return True
    if move.kept is None or not move.kept.exists():
        return False
    move.kept.replace(move.target)
    return True


def _keep(folder: Path, content: object, journals: ExitStack) -> None:
    """Write a journal and hold it; what a killed run left there is settled first."""
    journal = folder / NAME
    while True:
        descriptor = hold(journal, folder)
        if not os.fstat(descriptor).st_size:
            break
        try:
            _settle(descriptor, journal)
        finally:
            let_go(descriptor, journal)
    journals.callback(let_go, descriptor, journal)
    os.write(descriptor, json.dumps(content).encode("utf-8"))
    os.fsync(descriptor)
    sync_folder(folder)


def _content(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    found = b""
    while len(found) < _LARGEST and (more := os.read(descriptor, 1 << 20)):
        found += more
    return found


def _plan(moves: Sequence[Move], removals: Sequence[Path], folder: Path) -> dict[str, object]:
    entries = [
        {
            "temporary": _from(move.temporary, folder),
            "target": _from(move.target, folder),
            "kept": _from(move.kept, folder) if move.kept is not None else None,
            "before": move.before,
            "after": move.after,
        }
        for move in moves
    ]
    return {"moves": entries, "removals": [_from(path, folder) for path in removals]}


def _move(entry: dict[str, object], folder: Path) -> Move:
    kept = entry["kept"]
    return Move(
        Path(os.path.normpath(folder / str(entry["temporary"]))),
        Path(os.path.normpath(folder / str(entry["target"]))),
        Path(os.path.normpath(folder / str(kept))) if kept is not None else None,
        _state_of(entry["before"]),
        _state_of(entry["after"]),
    )


def _state_of(value: object) -> State | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(number, int) for number in value):
        raise TypeError("no state of a file")
    return value[0], value[1]


def _from(path: Path, folder: Path) -> str:
    """A path as it is found from a folder, so that both may be moved; from another drive it is absolute."""
    try:
        return os.path.relpath(path.absolute(), folder)
    except ValueError:
        return str(path.absolute())


def sync_folder(folder: Path) -> None:
    """Bring a folder's list of names to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
