"""Writing files so that a run that fails leaves what was there before: all of them are moved into place at the end."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.journal import Move, settle, state, sync_folder, written_down
from clueval_xlsx.files.office_locks import who_has_it_open
from clueval_xlsx.files.temporaries import new_temporary, remove_abandoned

# Says what would be lost with a file of this content and name, as words for a message; empty if nothing would.
Guard = Callable[[bytes, str], str]


def check_target(target: Path, guard: Guard | None = None) -> None:
    """Refuse a place where no file can go, where somebody is at work, or where work would be lost.

    Worth asking before a long run.
    """
    if str(target) == "-":
        raise OutputError("-: standard output is not possible here. Give the name of a file.")
    try:
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


def _spare(target: Path, guard: Guard) -> None:
    """Refuse to replace a file that holds somebody's work; one that may not be read is left alone, too."""
    if not target.is_file():
        return
    try:
        found = guard(target.read_bytes(), target.name)
    except OSError as error:
        found = f"it cannot be looked into ({error.strerror})"
    if found:
        raise OutputError(
            f"{target}: this file would be overwritten, and {found}. Choose another name, or add --force to lose it."
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


def shown_name(path: str | Path) -> str:
    """A path as text that can be written to a file; in a place without UTF-8 its letters arrive as bare bytes.

    >>> shown_name("M\\udcc3\\udcbcller.vrt")
    'Müller.vrt'
    """
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Outputs:
    """A set of files that appear together or not at all.

    >>> import tempfile; folder = Path(tempfile.mkdtemp())
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

        `files_behind` an input that is a folder or a glob must not be overwritten, either.
        """
        self._guard = guard
        self._written = written  # told of every file that is in its place
        self._looked_at: dict[Path, object] = {}  # how each target was when it was found to be nobody's work
        self._inputs = {Path(path).resolve() for path in inputs if str(path) != "-"}
        self._files_behind = files_behind
        self._behind: dict[Path, set[Path]] = {}  # the files behind each input, as soon as one of them may be in danger
        self._waiting: list[tuple[Path, Path]] = []
        self._removals: list[Path] = []
        self._tidied: set[Path] = set()
        self.settled: list[str] = []  # sentences about what killed runs had left half done
        self._places: set[Path] = set()
        self._folders: list[Path] = []

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                targets = [target for _, target in self._waiting]
                self._move_into_place()
                if self._written is not None:
                    for target in targets:
                        self._written(target)
        finally:
            self._clean_up()

    def path(self, target: Path) -> Path:
        """A temporary path beside the target, to be written by the caller."""
        self._tidy(_followed(target).parent)
        check_target(target, self._guard)
        target = _followed(target)
        place = target.resolve()
        self._looked_at[target] = state(target)
        self.refuse_input(target)
        if place in self._places:
            raise OutputError(f"{target}: two outputs of this run have this name. Give each its own.")
        self.folder(target.parent)
        try:
            temporary = new_temporary(target)
        except OSError as error:
            raise OutputError(
                f"{target}: cannot be written: {error.strerror}. Choose a folder you may write to."
            ) from None
        self._places.add(place)
        self._waiting.append((temporary, target))
        return temporary

    def refuse_input(self, target: Path) -> None:
        """Refuse a place where an input of this run lies."""
        place = target.resolve()
        if place in self._inputs or (place.exists() and any(place in self._files_of(path) for path in self._inputs)):
            raise OutputError(f"{target}: is an input of this run and would be overwritten. Choose another name.")

    def _files_of(self, path: Path) -> set[Path]:
        if path not in self._behind:
            found = self._files_behind(path) if self._files_behind is not None else ()
            self._behind[path] = {file.resolve() for file in found}
        return self._behind[path]

    def remove_afterwards(self, path: Path) -> None:
        """Remove a file together with the moment at which the outputs are in place."""
        if path.exists():
            self._removals.append(path)

    def _tidy(self, folder: Path) -> None:
        """Bring to an end, and clear away, what killed runs left in a folder."""
        if folder not in self._tidied and folder.is_dir():
            self._tidied.add(folder)
            self.settled += settle(folder)
            remove_abandoned(folder)

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

    def write_text(self, target: Path, text: str) -> None:
        """Write text as UTF-8 with the line ends it has.

        Half a surrogate pair, which JSON can bring along, is no character: it is written as JSON writes it, `\\ud800`.
        """
        self.write_bytes(target, text.encode("utf-8", "backslashreplace"))

    def write_bytes(self, target: Path, content: bytes) -> None:
        """Write bytes."""
        path = self.path(target)
        try:
            path.write_bytes(content)
        except OSError as error:
            raise OutputError(
                f"{target}: cannot be written: {error.strerror}. Make room or choose another place, and run again."
            ) from None

    def _move_into_place(self) -> None:
        self._look_again()
        permissions = 0o666 & ~_umask()
        for temporary, target in self._waiting:
            with _reported(target):
                with temporary.open("rb+") as stream:  # Windows brings to the disk only what may be written to
                    os.fsync(stream.fileno())
                temporary.chmod(_mode(target, permissions))
        if len(self._waiting) + len(self._removals) > 1:
            self._move_together()
        else:  # a single file is replaced in one step
            for temporary, target in self._waiting:
                with _reported(target):
                    temporary.replace(target)
        self._folders = []

    def _move_together(self) -> None:
        """Several files: whatever happens, all of them are new in the end, or none is."""
        old = [_Old(target) for _, target in self._waiting]
        moves = [
            Move(temporary, target, place.kept, state(target), state(temporary))
            for (temporary, target), place in zip(self._waiting, old, strict=True)
        ]
        try:
            with _reported(self._waiting[0][1]), written_down(moves, self._removals):
                self._move_all(old)
                for path in self._removals:
                    path.unlink(missing_ok=True)
                for folder in {target.parent for _, target in self._waiting}:
                    sync_folder(folder)
        finally:
            for place in old:
                place.forget()

    def _move_all(self, old: Sequence[_Old]) -> None:
        for temporary, target in self._waiting:
            try:
                with _reported(target):
                    temporary.replace(target)
            except BaseException:
                for place, (moved, _) in zip(old, self._waiting, strict=True):
                    place.come_back(replaced=not moved.exists())
                raise

    def _look_again(self) -> None:
        """A long run leaves time to judge: a target that changed since it was looked at is looked at once more."""
        if self._guard is not None:
            for _, target in self._waiting:
                if state(target) != self._looked_at[target]:
                    _spare(target, self._guard)

    def _clean_up(self) -> None:
        for temporary, _ in self._waiting:
            temporary.unlink(missing_ok=True)
        # The innermost first: a folder goes when it is empty.
        for folder in sorted(set(self._folders), key=lambda folder: len(folder.parts), reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()


class _Old:
    """What stood at a place before, kept under a second, hidden name until all files are in place."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.kept: Path | None = None
        self._was_there = target.exists()
        if self._was_there:
            # Where the file system knows no second names (FAT), the old file cannot come back.
            with contextlib.suppress(OSError, NotImplementedError):
                name = new_temporary(target, ".old")
                name.unlink()
                os.link(target, name)
                self.kept = name

    def come_back(self, *, replaced: bool) -> None:
        """Undo a move, if there was one."""
        with contextlib.suppress(OSError):
            if not replaced:
                return
            if self.kept is not None:
                self.kept.replace(self.target)
            elif not self._was_there:
                self.target.unlink()

    def forget(self) -> None:
        """The second name is needed no more."""
        if self.kept is not None:
            self.kept.unlink(missing_ok=True)


@contextmanager
def _reported(target: Path) -> Iterator[None]:
    """Trouble with the last step, as a message."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{target}: cannot be put in place: {error.strerror}. "
            "If it is open in another program, close it there and run again."
        ) from None


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
