"""The one opener: paths, streams, folders and globs become bytes in UTF-8, of a file or of the files of a folder."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.names import natural_key, shown_name
from clueval_xlsx.formats.json_records import Records, parse_records
from clueval_xlsx.formats.registry import FOLDER_FORMAT, format_named
from clueval_xlsx.formats.stored import GZIP, as_utf8, unpacked, without_gz
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.options.declaration import shown
from clueval_xlsx.text.strings import Strings

InputSource = str | Path | BinaryIO
TEXT, ANNOTATIONS = ".txt", ".ann"  # the files of a brat folder
_LOOK = 1 << 16
_NAMED = 5  # files that a note names
_JSON_START = re.compile(rb"""(?:\xef\xbb\xbf)?\s*(?:\[\s*(?:\{|\]|$|\[\s*"|"(?:[^"\\]|\\.)*"\s*,\s*\{)|\{\s*")""")
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")


@dataclass(eq=False)
class OpenedSource:
    """What stands in a source: the bytes of a file, or the files of a folder by their path in it.

    `texts` are texts that lie elsewhere, by their path in `text_name`. `base` is another side on whose text the
    annotations lie, for formats that have none of their own; `known_ids` are the token IDs of the side that was read
    before. `stored` are the bytes of files, by name, that are packed or not in UTF-8. `members` are the files of a
    folder that are of its format, once that is known. `notes` say what of a folder is left aside.
    """

    name: str
    data: bytes = b""
    files: Mapping[str, bytes] | None = None
    texts: Mapping[str, bytes] | None = None
    text_name: str = ""
    base: Reading | None = None
    known_ids: Strings | None = None
    stored: Mapping[str, bytes] = field(default_factory=dict)
    members: list[str] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    @cached_property
    def head(self) -> bytes:
        """How the file begins."""
        return self.data[:_LOOK]

    @property
    def first_line(self) -> str:
        """The first line."""
        lines = self.head.splitlines()
        return lines[0].decode("utf-8", "replace") if lines else ""

    @property
    def looks_like_json(self) -> bool:
        """Whether the file begins as a list of objects or an object does, or is called JSON."""
        return bool(_JSON_START.match(self.head)) or self.name.lower().endswith(_JSON_ENDINGS)

    @cached_property
    def json_records(self) -> Records:
        """The documents of a JSON file, whatever they are."""
        return parse_records(self.data, self.name)

    @cached_property
    def json_dialect(self) -> Any:
        """The dialect that the records of a JSON file look like; None where nothing tells."""
        from clueval_xlsx.formats.json_lists import told

        return told(self.json_records)

    @property
    def first_record(self) -> Any:
        """The first document of a JSON file; None where there is none."""
        content = self.json_records.content if self.looks_like_json else []
        return next((record for record in content if record is not None), None)

    def take(self) -> bytes:
        """Hand the bytes over: a large file is in memory only once."""
        data, self.data = self.data, b""
        return data

    @property
    def others(self) -> dict[str, bytes]:
        """The files of a folder that are not of its format: they come along when it is corrected."""
        return {name: data for name, data in (self.files or {}).items() if name not in self.members}

    def part(self, name: str) -> OpenedSource:
        """One file of a folder, as if it were opened by itself."""
        data = (self.files or {})[name]
        return OpenedSource(f"{self.name}/{without_gz(name)}", unpacked(data, name))


# -- paths and streams


def open_source(source: InputSource, options: ReadOptions, name: str | None = None) -> OpenedSource:
    """Open a path, a glob or a stream."""
    if not isinstance(source, str | Path):
        content = source.read() if hasattr(source, "read") else None
        if not isinstance(content, bytes):
            found = shown(source) if content is None else "a file opened as text"
            raise OptionError(
                f"source: found {found}. Allowed: a path, or a file opened for reading bytes (mode 'rb')."
            )
        return _opened_file(str(name or getattr(source, "name", None) or "<stream>"), content, options)
    path = Path(source)
    paths, notes = listed_files(path)
    if not paths and not path.is_dir():
        standoff = format_named(FOLDER_FORMAT)
        by_name = options.format is None and path.suffix.lower() in standoff.endings
        if options.format != standoff.name and not by_name:
            return _opened_file(name or shown_name(source), bytes_of(path, str(source)), options)
        paths = {path.name: path, **{each.name: each for each in document_files(path) if each.is_file()}}
        name = name or shown_name(path.parent)
    folder = path if path.is_dir() else path.parent
    files = {key: _read_inside(each, folder) for key, each in paths.items()}
    opened = opened_folder(files, name or shown_name(source), options)
    opened.notes = (*notes, *opened.notes)
    return opened


def bytes_of(path: Path, called: str = "") -> bytes:
    """What a file holds; one that cannot be read is named."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{called or path}: cannot be read: {error.strerror or error}. Check the path.") from None


def files_at(path: Path) -> dict[str, Path]:
    """The files of a folder or a glob by their path in the folder, in natural order; none where a path is one file."""
    return listed_files(path)[0]


def listed_files(path: Path) -> tuple[dict[str, Path], tuple[str, ...]]:
    """The files of a folder or a glob by their path in it, in natural order; and a note on what is left aside."""
    folder, names, notes = listed_names(path)
    return {name: folder / name for name in names}, notes


def listed_names(path: Path) -> tuple[Path, list[str], tuple[str, ...]]:
    """Folder and paths in it of the files of a folder or a glob, in natural order; and a note on what is left aside.

    That are links that lead out of a folder, pipes, devices and what else is no file. Links that are texts or
    annotations are refused when they are read.
    """
    aside: list[str] = []
    if path.is_dir():
        folder, names = path, []
        for name, entry in _entries(str(path)):
            standoff = name.lower().endswith((TEXT, ANNOTATIONS))
            if entry.is_symlink() and _leads_out(Path(entry.path), path) and not (standoff and entry.is_file()):
                aside.append(f"{name} (a link to {Path(entry.path).readlink()})")
            elif entry.is_file():
                names.append(name)
            elif not entry.is_dir():
                aside.append(f"{name} ({'a pipe' if Path(entry.path).is_fifo() else 'no regular file'})")
    elif path.exists() or not glob.has_magic(str(path)):
        return path, [], ()
    else:
        matches = glob.glob(str(path), recursive=True)  # noqa: PTH207  # the pattern may be absolute
        named = {each for each in map(Path, matches) if each.is_file()}
        if not named:
            raise InputError(f"{path}: no file is called like that. Check the path.")
        folder = Path(os.path.commonpath([each.parent for each in named]))
        for each in [each for each in named if each.suffix.lower() == ANNOTATIONS]:
            named |= set(filter(Path.is_file, [each.with_suffix(TEXT)]))
        names = [each.relative_to(folder).as_posix() for each in named]
    notes = []
    if aside:
        more = f" and {len(aside) - _NAMED} more" if len(aside) > _NAMED else ""
        notes.append(f"{shown_name(path)}: left aside: {', '.join(sorted(aside)[:_NAMED])}{more}")
    return folder, sorted(names, key=natural_key), tuple(notes)


def _entries(folder: str, before: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """What is in a folder and in those in it, but no folder itself, by its path there. Links are not followed."""
    try:
        entries = list(os.scandir(folder))
    except OSError:  # a folder that may not be looked into
        return
    for entry in entries:
        name = before + entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(entry.path, f"{name}/")
        else:
            yield name, entry


def document_files(path: Path) -> list[Path]:
    """The files that one document of a brat folder consists of."""
    return [path.with_suffix(ending) for ending in (TEXT, ANNOTATIONS)]


def refuse_missing(source: str, path: Path) -> None:
    """Refuse an empty folder, and a path where nothing is."""
    if path.is_dir():
        raise InputError(f"{source}: there is no file in the folder. Check the path.")
    if source != "-" and not path.exists():
        raise InputError(f"{source}: cannot be read: {os.strerror(errno.ENOENT)}. Check the path.")


def _leads_out(path: Path, folder: Path) -> bool:
    return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())


def _read_inside(path: Path, folder: Path) -> bytes:
    """A file of a folder; a symbolic link out of it would pull in any file of the machine."""
    if folder in path.parents and _leads_out(path, folder):
        raise InputError(
            f"{path}: is a symbolic link to {path.resolve()}, which lies outside {folder}. "
            "Allowed: files of the folder itself. Copy the file into the folder."
        )
    return bytes_of(path)


def _opened_file(name: str, data: bytes, options: ReadOptions) -> OpenedSource:
    """A file, unpacked if it is packed by gzip; then its name is the one without `.gz`."""
    plain = unpacked(data, name)
    own = name if plain is data else without_gz(name)
    text = as_utf8(plain, options.encoding, name)
    return OpenedSource(own, text, stored={} if text is plain else {PurePath(own).name: plain})


def opened_folder(files: Mapping[str, bytes], name: str, options: ReadOptions) -> OpenedSource:
    """The files of a folder in UTF-8, and how those are stored that are not plain; the texts of `--text` with them."""
    read_as = {path: as_utf8(data, options.encoding, f"{name}/{path}") for path, data in files.items()}
    stored = {path: data for path, data in files.items() if data.startswith(GZIP) or read_as[path] is not data}
    opened = OpenedSource(name, files=read_as, stored=stored, text_name=str(options.text or ""))
    if options.text is not None and any(path.lower().endswith((TEXT, ANNOTATIONS)) for path in files):
        folder = Path(options.text)
        if not folder.is_dir():
            raise InputError(f"{folder}: is no folder. --text names the folder of the .txt files of {name}.")
        paths, opened.notes = listed_files(folder)
        opened.texts = {path: _read_inside(each, folder) for path, each in paths.items()}
    return opened
