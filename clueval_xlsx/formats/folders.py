"""Folders and globs of files of one format as one corpus: told, read file by file, joined, and taken apart again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np

from clueval_xlsx.corpus.changes import Changes
from clueval_xlsx.corpus.mentions import Mentions
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.corpus.token_reading import TokenReading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.columns.parts import join_files
from clueval_xlsx.formats.columns.reader import read_columns
from clueval_xlsx.formats.columns.token_format import TokenFormat
from clueval_xlsx.formats.joined_tokens import join_tokens
from clueval_xlsx.formats.module import OpenedSource, find_format
from clueval_xlsx.formats.recognition import GZIP, unpack_gzip
from clueval_xlsx.formats.registry import (
    FOLDER_FORMAT,
    TARGET_ENDINGS,
    Format,
    format_named,
    formats_ending,
)
from clueval_xlsx.options import ReadOptions

_TYPE_SYSTEM = "TypeSystem.xml"  # stands beside CAS files
_BRAT = (".txt", ".ann")


def folder_format(opened: OpenedSource, options: ReadOptions) -> tuple[Format, list[str]]:
    """The format that the files of a folder have, and the files that are of it."""
    format_, known = candidates(opened.name, list(opened.files or {}), options)
    if format_ is not None:
        return format_, known
    told: dict[str, list[str]] = {}
    for name in known:
        single = opened_part(opened, name)
        told.setdefault(find_format(single, None, options.fields).name, []).append(name)
    if len(told) > 1:
        found = "; ".join(f"{len(files)} × {format_} ({files[0]}, …)" for format_, files in told.items())
        raise InputError(
            f"{opened.name}: files of several formats: {found}. Allowed: one format. Name it (--format), or give a "
            "glob such as 'FOLDER/*.conll'."
        )
    ((format_name, files),) = told.items()
    return format_named(format_name), files


def candidates(folder: str, files: Sequence[str], options: ReadOptions) -> tuple[Format | None, list[str]]:
    """The files of a folder that may be of its format, by their names; the format, where that tells it."""
    names = [name for name in files if not PurePosixPath(name).name.startswith((".", _TYPE_SYSTEM))]
    if options.format is not None and not names:
        raise InputError(f"{folder}: there is no file in the folder. Check the path.")
    if options.format is not None:
        format_ = format_named(options.format)
        own = [name for name in names if format_ in formats_ending(_unpacked(name))]
        return format_, own or names
    known = [name for name in names if _has_known_ending(name)]
    endings = Counter(PurePosixPath(name).suffix.lower() for name in names)
    if endings[".ann"] or (endings[".txt"] and not known) or not names:
        return format_named(FOLDER_FORMAT), names
    if not known:
        raise InputError(
            f"{folder}: no file of a known format; the endings are {', '.join(sorted(endings))}. "
            "Name the format (--format)."
        )
    return None, known


def _unpacked(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") else name


def _has_known_ending(name: str) -> bool:
    plain = _unpacked(name)
    ending = PurePosixPath(plain).suffix.lower()
    return ending not in _BRAT and (bool(formats_ending(plain)) or ending in TARGET_ENDINGS)


def opened_part(opened: OpenedSource, name: str) -> OpenedSource:
    """One file of a folder, as if it were opened by itself."""
    data = (opened.files or {})[name]
    if data.startswith(GZIP):
        data = unpack_gzip(data, name)
    return OpenedSource(f"{opened.name}/{_unpacked(name)}", data)


def read_folder(
    opened: OpenedSource,
    format_: Format,
    files: Sequence[str],
    options: ReadOptions,
    read_part: Callable[[OpenedSource], Reading],
) -> Reading:
    """Read the files and join what is in them; every other file of the folder comes along when it is corrected."""
    parts = {name: opened_part(opened, name) for name in files}
    others = {name: data for name, data in (opened.files or {}).items() if name not in parts}
    sha256 = folder_digest(file_digest(name, part.data) for name, part in parts.items())
    if format_.columns:
        return _read_columns(opened, format_, parts, others, options, sha256)
    readings = [read_part(part) for part in parts.values()]
    texts = [reading for reading in readings if isinstance(reading, TextReading)]
    tokens = [reading for reading in readings if isinstance(reading, TokenReading)]
    if len(tokens) == len(readings) and all(part.original is not None for part in tokens):
        own = _own_ids_of([_given_ids(part) for part in tokens], list(parts))
        joined = join_tokens(tokens, unique_ids(own), list(parts), others, opened.name)
        return replace(joined, source=replace(joined.source, sha256=sha256, folder=True), file_ids=_by_id(own))
    if len(texts) < len(readings):
        raise OptionError(
            f"{opened.name}: a folder of {format_.title} cannot be read as one corpus. Give its files one by one."
        )
    return _join_texts(texts, list(parts), others, opened.name, sha256)


def file_digest(name: str, data: bytes) -> bytes:
    """The hash of one file of a folder, its name included."""
    hashed = hashlib.sha256(name.encode("utf-8", "surrogatepass") + b"\0")
    hashed.update(data)
    return hashed.digest()


def folder_digest(files: Iterable[bytes]) -> str:
    """The hash that a folder is known by, from those of its files."""
    return hashlib.sha256(b"".join(files)).hexdigest()


def _read_columns(
    opened: OpenedSource,
    format_: Format,
    parts: Mapping[str, OpenedSource],
    others: Mapping[str, bytes],
    options: ReadOptions,
    sha256: str,
) -> Reading:
    conll = format_.name == "conll"
    contents = {name: part.data for name, part in parts.items()}
    joined = join_files(
        contents, opened.name, conll=conll, tag=options.document_tag, marked=options.document_id is None
    )
    settings = TokenFormat(options, conll=conll, origin=joined.origin)
    reading = read_columns(OpenedSource(opened.name, joined.data), settings)
    source = replace(reading.source, sha256=sha256, folder=True)
    return replace(reading, source=source, split=lambda whole: {**others, **joined.split(whole)})


@dataclass(frozen=True, eq=False)
class _FolderOriginal:
    """The readings of the files, and which document of which of them each document of the corpus is."""

    parts: Sequence[TextReading]
    names: Sequence[str]
    others: Mapping[str, bytes]
    homes: Mapping[str, tuple[int, int]]

    def correct(self, reading: TextReading, changes: Changes) -> dict[str, bytes]:  # noqa: ARG002  # the parts know
        """Every file of the folder, with the changes of its documents."""
        own = [Changes(part.doc_ids) for part in self.parts]
        for document in changes.documents():
            number, index = self.homes[changes.doc_ids[document]]
            target = own[number]
            target.removed[index] = [handle[1:] for handle in changes.removed[document]]
            target.changed[index] = [(handle[1:], span) for handle, span in changes.changed[document]]
            target.added[index] = changes.added[document]
        files = dict(self.others)
        for part, name, mine in zip(self.parts, self.names, own, strict=True):
            if part.original is None:
                raise OptionError(f"{part.source.name}: is no file that could be corrected.")
            (files[name],) = part.original.correct(part, mine).values()
        return files


def _join_texts(
    parts: Sequence[TextReading], names: Sequence[str], others: Mapping[str, bytes], name: str, sha256: str
) -> TextReading:
    own = _own_ids_of([[document.id for document in part.documents] for part in parts], names)
    ids = unique_ids(own)
    documents: list[TextDocument] = []
    listed: list[Mentions] = []
    mentions: list[Mentions] = []
    groups, handles, homes, places = [], [], [], {}
    unannotated: set[int] = set()
    kept = 0
    for number, part in enumerate(parts):
        first = len(documents)
        for index, document in enumerate(part.documents):
            places[ids[number][index]] = (number, index)
            documents.append(replace(document, id=ids[number][index]))
        for source, target in ((part.listed, listed), (part.mentions, mentions)):
            target.append(source.moved(replace(source.ranges, document=source.ranges.document + first)))
        groups.append(np.where(part.group >= 0, part.group + kept, -1))
        kept += len(part.mentions)
        handles += [(number, *handle) for handle in part.handles]
        homes += [None if home is None else (number, *home) for home in part.homes]
        unannotated |= {first + index for index in part.unannotated}
    first_part = parts[0]
    return replace(
        first_part,
        documents=tuple(documents),
        listed=Mentions.join(listed),
        mentions=Mentions.join(mentions),
        group=np.concatenate(groups),
        source=replace(first_part.source, name=name, sha256=sha256, folder=True),
        handles=handles,
        original=_FolderOriginal(parts, names, others, places),
        homes=homes,
        notes=tuple(note for part in parts for note in part.notes),
        resolved=tuple(line for part in parts for line in part.resolved),
        unannotated=frozenset(unannotated),
        file_ids=_by_id(own),
    )


def stem_of(name: str) -> str:
    """The name that a file gives its document: without its ending."""
    return str(PurePosixPath(_unpacked(name)).with_suffix(""))


def _given_ids(part: TokenReading) -> list[str | None]:
    documents = part.corpus.documents
    return [documents.attributes(index).get("id") for index in range(len(documents))]


def _own_ids_of(ids: Sequence[Sequence[str | None]], names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The name of each file without its ending, and what its documents are called there, or else after it."""
    found = []
    for name, given in zip(names, ids, strict=True):
        stem = stem_of(name)
        called = [stem if len(given) == 1 else f"{stem}#{number}" for number in range(1, len(given) + 1)]
        found.append((stem, [other if own is None else own for own, other in zip(given, called, strict=True)]))
    return found


def _by_id(own: Sequence[tuple[str, Sequence[str]]]) -> dict[str, tuple[str, str]]:
    called = [(stem, each) for stem, ids in own for each in ids]
    return dict(zip((doc_id for ids in unique_ids(own) for doc_id in ids), called, strict=True))


def unique_ids(own: Sequence[tuple[str, Sequence[str]]]) -> list[list[str]]:
    """The IDs of the documents of each file, with the file's name before them where they would be the same."""
    if max(Counter(each for _, ids in own for each in ids).values(), default=1) == 1:
        return [list(ids) for _, ids in own]
    return [[f"{stem}/{each}" for each in ids] for stem, ids in own]
