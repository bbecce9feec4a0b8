"""Folders and globs of files of one format as one corpus: read file by file, joined, and taken apart again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clueval_xlsx.corpus.mentions import Mentions
from clueval_xlsx.corpus.reading import Reading, SourceChange
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import Format
from clueval_xlsx.formats.stored import stem_of
from clueval_xlsx.options import ReadOptions


def read_folder(opened: OpenedSource, format_: Format, options: ReadOptions) -> Reading:
    """Read the members and join what is in them; every other file of the folder comes along when it is corrected."""
    module = format_.load()
    parts = {name: opened.part(name) for name in opened.members}
    sha256 = folder_digest(file_digest(name, part.data) for name, part in parts.items())
    if hasattr(module, "read_together"):
        together: Reading = module.read_together(opened, options)
        return together.with_source(replace(together.source, sha256=sha256))
    readings: list[Reading] = [module.read(part, options) for part in parts.values()]
    if any(reading.tokenised for reading in readings):
        raise OptionError(
            f"{opened.name}: a folder of {format_.title} cannot be read as one corpus. Give its files one by one."
        )
    return _joined(readings, list(parts), opened.others, opened.name, sha256)


def file_digest(name: str, data: bytes) -> bytes:
    """The hash of one file of a folder, its name included."""
    hashed = hashlib.sha256(name.encode("utf-8", "surrogatepass") + b"\0")
    hashed.update(data)
    return hashed.digest()


def folder_digest(files: Iterable[bytes]) -> str:
    """The hash that a folder is known by, from those of its files."""
    return hashlib.sha256(b"".join(files)).hexdigest()


@dataclass(frozen=True, eq=False)
class FolderFiles:
    """The readings of the files, and which document of which of them each document of the folder is."""

    parts: Sequence[Reading]
    names: Sequence[str]
    others: Mapping[str, bytes]
    homes: Mapping[str, tuple[int, int]]

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """Every file of the folder, with the changes of its documents."""
        of_part: list[list[SourceChange]] = [[] for _ in self.parts]
        for change in changes:
            number, document = self.homes[reading.doc_ids[change.document]]
            of_part[number].append(replace(change, document=document))
        files = dict(self.others)
        for part, name, own in zip(self.parts, self.names, of_part, strict=True):
            assert part.carrier is not None
            (files[name],) = part.carrier.splice(part, own).values()
        return files


def _joined(
    parts: Sequence[Reading], names: Sequence[str], others: Mapping[str, bytes], folder: str, sha256: str
) -> Reading:
    """One reading of several; a document that has no ID is called by its file."""
    own = [(stem_of(name), _own_ids(part, stem_of(name))) for name, part in zip(names, parts, strict=True)]
    ids = unique_ids(own)
    called = [(stem, doc_id) for stem, doc_ids in own for doc_id in doc_ids]
    homes = {doc_id: (number, place) for number, doc_ids in enumerate(ids) for place, doc_id in enumerate(doc_ids)}
    renamed = [part.renamed(doc_ids) for part, doc_ids in zip(parts, ids, strict=True)]
    carried = all(part.carrier is not None for part in parts)
    shared = replace(
        renamed[0],
        source=replace(parts[0].source, name=folder, sha256=sha256, folder=True),
        carrier=FolderFiles(parts, names, others, homes) if carried else None,
        notes=tuple(note for part in parts for note in part.notes),
        resolved=tuple(line for part in parts for line in part.resolved),
        file_ids=dict(zip(homes, called, strict=True)),
    )
    return _joined_texts(shared, renamed)


def _own_ids(part: Reading, stem: str) -> list[str]:
    """What the documents of a file are called in it, or else after it."""
    given = [document.id for document in part.texts]
    called = [stem if len(given) == 1 else f"{stem}#{number}" for number in range(1, len(given) + 1)]
    return [other if own is None else own for own, other in zip(given, called, strict=True)]


def _joined_texts(shared: Reading, parts: Sequence[Reading]) -> Reading:
    listed: list[Mentions] = []
    mentions: list[Mentions] = []
    groups = []
    unannotated: set[int] = set()
    documents, kept = 0, 0
    for part in parts:
        assert part.listed is not None
        assert part.mentions is not None
        assert part.group is not None
        for source, target in ((part.listed, listed), (part.mentions, mentions)):
            target.append(source.moved(replace(source.ranges, document=source.ranges.document + documents)))
        groups.append(np.where(part.group >= 0, part.group + kept, -1))
        unannotated |= {documents + index for index in part.unannotated}
        documents += len(part.texts)
        kept += len(part.mentions)
    return replace(
        shared,
        texts=tuple(document for part in parts for document in part.texts),
        listed=Mentions.join(listed),
        mentions=Mentions.join(mentions),
        group=np.concatenate(groups),
        places=[place for part in parts for place in part.places],
        homes=[home for part in parts for home in part.homes],
        unannotated=frozenset(unannotated),
    )


def unique_ids(own: Sequence[tuple[str, Sequence[str]]]) -> list[list[str]]:
    """The IDs of the documents of each file, with the file's name before them where they would be the same."""
    if max(Counter(each for _, ids in own for each in ids).values(), default=1) == 1:
        return [list(ids) for _, ids in own]
    return [[f"{stem}/{each}" for each in ids] for stem, ids in own]
