"""Writing files so that a run that fails leaves what was there before: all of them are moved into place at the end."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from clueval_xlsx.exceptions import OutputError

_FOLDER_INPUTS = {".ann", ".txt"}  # what is read from a folder; other files there are nobody's input


class Outputs:
    """A set of files that appear together or not at all.

    >>> import tempfile; folder = Path(tempfile.mkdtemp())
    >>> with Outputs() as outputs:
    ...     outputs.write_text(folder / "a.txt", "hello")
    >>> (folder / "a.txt").read_text()
    'hello'
    """

    def __init__(self, inputs: Iterable[str | Path] = ()) -> None:
        """`inputs` are files (or folders of files) that must not be overwritten."""
        self._inputs = {Path(path).resolve() for path in inputs if str(path) != "-"}
        self._waiting: list[tuple[Path, Path]] = []
        self._folders: list[Path] = []

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._move_into_place()
        self._clean_up()

    def path(self, target: Path) -> Path:
        """A temporary path beside the target, to be written by the caller."""
        try:
            return self._path(target)
        except OSError as error:  # a name that is too long, before anything else can be asked about it
            raise OutputError(f"{target}: cannot be written: {error.strerror}. Choose another name.") from None

    def _path(self, target: Path) -> Path:
        if str(target) == "-":
            raise OutputError("-: standard output is not possible here. Give the name of a file.")
        if target.is_dir():
            raise OutputError(f"{target}: is a directory. Give the name of a file.")
        place = target.resolve()
        inside = bool(self._inputs & set(place.parents)) and place.suffix.lower() in _FOLDER_INPUTS and place.exists()
        if place in self._inputs or inside:
            raise OutputError(f"{target}: is an input of this run and would be overwritten. Choose another name.")
        self.folder(target.parent)
        try:
            handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        except OSError as error:
            raise OutputError(
                f"{target}: cannot be written: {error.strerror}. Choose a folder you may write to."
            ) from None
        os.close(handle)
        self._waiting.append((Path(name), target))
        return Path(name)

    def folder(self, folder: Path) -> None:
        """Make a folder for outputs; it is removed again if the run fails and nothing is in it."""
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder}: is a file, not a folder. Choose another name.")
        missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: the folder cannot be made: {error.strerror}.") from None
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
            raise OutputError(f"{target}: cannot be written: {error.strerror}.") from None

    def _move_into_place(self) -> None:
        permissions = 0o666 & ~_umask()
        for temporary, target in self._waiting:
            try:
                with temporary.open("rb") as stream:
                    os.fsync(stream.fileno())
                temporary.chmod(permissions)
                temporary.replace(target)
            except OSError as error:
                self._clean_up()
                raise OutputError(
                    f"{target}: cannot be put in place: {error.strerror}. "
                    "If it is open in another program, close it there and run again."
                ) from None
        self._folders = []

    def _clean_up(self) -> None:
        for temporary, _ in self._waiting:
            temporary.unlink(missing_ok=True)
        for folder in self._folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _umask() -> int:
    """The process's file mode mask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
