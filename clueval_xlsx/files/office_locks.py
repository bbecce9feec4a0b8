"""Who has a file open: LibreOffice and Excel leave a small file beside a document while somebody works on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
