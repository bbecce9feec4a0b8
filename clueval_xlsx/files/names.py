"""Names of files that every system takes, made from names that people or data bring along."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.outputs import is_stream

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
