"""The file that a workbook is written to: a full disk is reported once, and without a traceback."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from clueval_xlsx.exceptions import OutputError


class TargetFile:
    """A file that raises the first time it cannot be written, and then only pretends.

    The archive behind XlsxWriter tries to finish a broken file when it is thrown away. If that failed again, Python
    would print a traceback that nobody can catch.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._stream = path.open("wb")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}.") from None
        self._failed = False
        self._place = 0  # where the next byte goes, also after a failure

    def write(self, data: bytes) -> int:
        """Write, or raise the first time that fails."""
        self._try(lambda: self._stream.write(data))
        self._place += len(data)
        return len(data)

    def flush(self) -> None:
        """Bring everything to the disk."""
        self._try(self._stream.flush)

    def seek(self, place: int) -> int:
        """Go to a place, counted from the start."""
        self._try(lambda: self._stream.seek(place))
        self._place = place
        return place

    def tell(self) -> int:
        """Where the next byte goes."""
        return self._place

    def close(self) -> None:
        """Done with it; whether the content arrived was asked by `flush`."""
        self._failed = True
        with contextlib.suppress(OSError):
            self._stream.close()

    def _try(self, work: Callable[[], object]) -> None:
        if self._failed:
            return
        try:
            work()
        except OSError:
            self._failed = True
            raise
