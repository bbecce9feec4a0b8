"""What people or data bring along, made harmless: names for files, cells of a CSV; and what a path stands for."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from urllib.parse import quote

from clueval_xlsx.exceptions import OutputError

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
_STREAM = re.compile(r"/(?:dev|proc/(?:self|thread-self))/fd/([0-9]{1,9})")
_MOST_LINKS = 40
_NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]')
# Windows takes these for devices, whatever ending follows.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.IGNORECASE)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """What sorts names as people count: `doc-2` before `doc-10`.

    >>> sorted(["doc-10", "doc-2", "b", "doc-2a"], key=natural_key)
    ['b', 'doc-2', 'doc-2a', 'doc-10']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return tuple((0, int(part), part) if part.isascii() and part.isdigit() else (1, 0, part) for part in parts)


def file_name_part(name: str) -> str:
    """A person's or a layer's name as a part of a file name: what no file name can hold becomes `_`.

    >>> file_name_part("Anna B."), file_name_part("a/b: c?"), file_name_part("CON")
    ('Anna B_', 'a_b_ c_', '_CON')
    """
    safe = _NOT_IN_FILE_NAMES.sub("_", name)
    safe = re.sub(r"[. ]$", "_", safe)
    return f"_{safe}" if _DEVICE.match(safe) or not safe else safe


def with_end(path: Path, end: str) -> Path:
    """A file whose name ends with this, before its suffix; `.` and `..` are no files.

    >>> with_end(Path("out/m.json"), "-risk").name
    'm-risk.json'
    """
    if path.name in {"", ".."}:
        raise OutputError(f"{path}: is a directory. Give the name of a file.")
    if end and is_stream(path):
        raise OutputError(f"{path}: is no regular file, and this run writes several. Give the name of a file.")
    return path.with_stem(path.stem + end)


def with_name(path: Path) -> Path:
    """The same place by a path that ends in its name, which `.` and `..` do not.

    >>> with_name(Path("..")) == Path.cwd().parent
    True
    """
    found = path if path.name not in {"", ".."} else path.resolve()
    if not found.name:
        raise OutputError(f"{path}: is where all files begin and has no name. Choose a folder in it.")
    return found


def document_path(doc_id: str) -> str:
    """A document ID as a path inside a folder; what no file name can hold is written as %XX.

    >>> document_path("court/12 C 345/24"), document_path("../x"), document_path("a:b"), document_path("x./nul.1")
    ('court/12 C 345/24', '%2E%2E/x', 'a%3Ab', 'x%2E/%6Eul.1')
    """
    parts = [quote(part, safe=" !#$&'()+,;=@[]{}~", errors="replace") for part in doc_id.split("/") if part]
    return "/".join(map(_device_free, parts)) or "%2F"


def escaped(path: str) -> str:
    """The same path with its last part told apart by its first character, which is written as %XX.

    >>> escaped("court/A")
    'court/%41'
    """
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}%{ord(name[0]):02X}{name[1:]}"


def _device_free(part: str) -> str:
    if set(part) == {"."}:
        return part.replace(".", "%2E")
    if _DEVICE.match(part):
        part = f"%{ord(part[0]):02X}{part[1:]}"
    return f"{part[:-1]}%{ord(part[-1]):02X}" if part[-1] in ". " else part


def without_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> without_formula("=1+1"), without_formula("Anna")
    ("'=1+1", 'Anna')
    """
    return f"'{text}" if text.startswith(_DANGEROUS) else text


def shown_name(path: str | Path) -> str:
    """A path as text that can be written to a file; in a place without UTF-8 its letters arrive as bare bytes.

    >>> shown_name("M\\udcc3\\udcbcller.vrt")
    'Müller.vrt'
    """
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def is_stream(target: Path) -> bool:
    """Whether something is written into, never replaced: a device, a pipe, a socket, an open file (`/dev/stdout`)."""
    if open_file(target) is not None:
        return True
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def open_file(target: Path) -> int | None:
    """The number of the open file that a path stands for, as `/dev/stdout`, `/dev/fd/3` and links to them do."""
    place = os.path.abspath(target)  # noqa: PTH100 - without following links
    for _ in range(_MOST_LINKS):
        match = _STREAM.fullmatch(place)
        if match:
            return int(match[1])
        try:
            place = os.path.abspath(os.path.join(os.path.dirname(place), os.readlink(place)))  # noqa: PTH100, PTH115, PTH118, PTH120
        except OSError:
            return None
    return None
