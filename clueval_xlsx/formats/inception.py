"""INCEpTION's project export (ZIP, or the folder of one): a CAS for each document and annotator.

Nothing is unpacked to the disk. Serialized Java objects (`.ser`) are never opened.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath, PurePosixPath

import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.archives import Archive, is_archive, repacked
from clueval_xlsx.formats.cas.content import CasContent
from clueval_xlsx.formats.cas.json_cas import looks_like_cas_json, read_cas_json
from clueval_xlsx.formats.cas.reader import CasDocument, read_cas
from clueval_xlsx.formats.cas.webanno import looks_like_webanno, read_webanno
from clueval_xlsx.formats.cas.writer import laid_out, named_documents, type_system, xmi_of
from clueval_xlsx.formats.cas.xmi import looks_like_xmi, read_xmi
from clueval_xlsx.formats.collect import choose_annotators
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import FIRST, UNION, WriteOptions
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.sniffing import is_project
from clueval_xlsx.options import ReadOptions

_FOLDERS = ("annotation", "curation")
_ENDINGS = (".xmi", ".json", ".tsv", ".zip")  # the first of them that a person's CAS has is read
_INITIAL = "INITIAL_CAS"
_INSIDE = "!"  # between the path of an archive in the archive and the path in it
_TYPES = "TypeSystem.xml"
_NAMED = 3  # members that a message names


@dataclass(frozen=True)
class _Member:
    """A file of the export that holds a CAS: whose, and of which document ("" : nobody says)."""

    path: str
    document: str
    annotator: str


def tell(opened: OpenedSource) -> bool:
    """Whether this is an archive with CAS files in it."""
    if not is_archive(opened.head):
        return False
    try:
        names = Archive(opened.data, opened.name).names
    except InputError:
        return False
    return is_export(names)


def is_export(names: Sequence[str]) -> bool:
    """Whether these files are those of a project export, or CAS files."""
    return is_project(names) or any(name.lower().endswith(".xmi") for name in names)


def annotators(opened: OpenedSource) -> list[str]:
    """Who annotated, by name."""
    files = _Files(opened)
    return sorted({member.annotator for member in _members(files) if member.annotator not in {"", _INITIAL}})


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the CAS of the chosen annotators; documents that nobody has opened are left out."""
    files = _Files(opened)
    members = _members(files)
    by_document: dict[str, dict[str, _Member]] = {}
    for member in members:
        by_document.setdefault(member.document, {}).setdefault(member.annotator, member)
    people = {
        document: [name for name in by_annotator if name != _INITIAL] for document, by_annotator in by_document.items()
    }
    seen = [document for document in people if people[document]]
    if not seen:
        raise _nothing(files, opened.name)
    wanted = FIRST if options.text_only else options.annotator
    chosen, unseen = choose_annotators([people[document] for document in seen], wanted, opened.name)
    documents = []
    for document, indices in zip(seen, chosen, strict=True):
        own = by_document[document]
        names = [people[document][index] for index in indices]
        contents = {own[name].path: files.content(own[name].path) for name in names}
        spare = next(iter(contents.values())) if contents else files.content(next(iter(own.values())).path)
        documents.append(CasDocument(document, contents, spare.text))
    reading = read_cas(
        documents,
        Source(opened.name, "inception", files.digest),
        format_named("inception"),
        options,
        files.packed,
        frozenset(unseen) if options.annotator is not None else frozenset(),
        union=options.annotator == UNION,
    )
    left = len(people) - len(seen)
    if not left:
        return reading
    return replace(
        reading, notes=(*reading.notes, f"{opened.name}: {left} documents that nobody annotated are left out")
    )


def _members(files: _Files) -> list[_Member]:
    """The files that hold a CAS, by document and annotator, in the order of the export."""
    found: dict[tuple[str, str], _Member] = {}
    project = any(set(PurePosixPath(path).parts[:-1]) & set(_FOLDERS) for path in files.names)
    for path in sorted(files.names, key=_by_ending):
        parts = PurePosixPath(path).parts
        ending = PurePosixPath(path).suffix.lower()
        if ending not in _ENDINGS or parts[-1] == _TYPES or is_project(parts[-1:]):
            continue
        folder = next((index for index, part in enumerate(parts[:-1]) if part in _FOLDERS), None)
        if project and (folder is None or folder + 2 > len(parts) - 1):
            continue
        for inner in files.inside(path) if ending == ".zip" else [path]:
            stem = PurePosixPath(path).stem
            if stem.startswith("webanno") and stem.endswith("export"):
                stem = PurePosixPath(inner.rpartition(_INSIDE)[2]).stem
            if project and folder is not None:
                member = _Member(inner, "/".join(parts[folder + 1 : -1]), stem)
            else:
                member = _Member(inner, str(PurePosixPath(inner.rpartition(_INSIDE)[2]).with_suffix("")), "")
            found.setdefault((member.document, member.annotator), member)
    order = {path: index for index, path in enumerate(files.names)}
    return sorted(found.values(), key=lambda member: order[member.path.partition(_INSIDE)[0]])


def _by_ending(path: str) -> int:
    ending = PurePosixPath(path).suffix.lower()
    return _ENDINGS.index(ending) if ending in _ENDINGS else len(_ENDINGS)


def _nothing(files: _Files, name: str) -> InputError:
    serialized = sum(path.lower().endswith((".ser", ".bin")) for path in files.names)
    if serialized:
        return InputError(
            f"{name}: holds {serialized} annotations as serialized Java objects only, which are not read. Export the "
            "project from INCEpTION again with the format UIMA CAS XMI, UIMA CAS JSON or WebAnno TSV 3."
        )
    shown = ", ".join(files.names[:_NAMED]) + (", …" if len(files.names) > _NAMED else "")
    return InputError(
        f"{name}: there is no CAS in it. Allowed: annotation/DOCUMENT/ANNOTATOR.xmi (.json, .tsv, .zip), as INCEpTION "
        f"exports a project, or .xmi files. It holds {len(files.names)} other files ({shown}): unpack them, and give a "
        "file or folder of them."
    )


class _Files:
    """The files of an export: members of an archive, or of a folder."""

    def __init__(self, opened: OpenedSource) -> None:
        self.name = opened.name
        self.raw = opened.data
        self.folder = opened.files
        self.archive = None if opened.files is not None else Archive(opened.data, opened.name)
        self.names: Sequence[str] = tuple(sorted(opened.files)) if self.archive is None else self.archive.names  # type: ignore[arg-type]
        self._inner: dict[str, Archive] = {}

    @property
    def digest(self) -> str:
        """The hash that the export is known by."""
        if self.folder is None:
            return digest(self.raw)
        return digest(b"".join(f"{path}\0{digest(self.folder[path])}\n".encode() for path in self.names))

    def data(self, path: str) -> bytes:
        """A file; one inside an inner archive as `a.zip!b.xmi`."""
        outer, _, inner = path.partition(_INSIDE)
        if inner:
            return self._archive(outer).read(inner)
        if self.folder is not None:
            return self.folder[path]
        assert self.archive is not None
        return self.archive.read(path)

    def inside(self, path: str) -> Iterator[str]:
        """The CAS files of an archive in the export."""
        for name in self._archive(path).names:
            if PurePosixPath(name).suffix.lower() in {".xmi", ".json", ".tsv"}:
                yield f"{path}{_INSIDE}{name}"

    def content(self, path: str) -> CasContent:
        """The CAS of a file."""
        data, name = self.data(path), f"{self.name}, {path}"
        if looks_like_xmi(data[:4096]):
            return read_xmi(data, name)
        if looks_like_cas_json(data[:4096]):
            return read_cas_json(data, name)
        if looks_like_webanno(data[:200].decode("utf-8", "replace").partition("\n")[0]):
            return read_webanno(data, name)
        raise InputError(f"{name}: is no CAS. Allowed: UIMA CAS XMI, UIMA CAS JSON, WebAnno TSV 3. Export it again.")

    def packed(self, corrected: Mapping[str, bytes]) -> dict[str, bytes]:
        """The export with these files in place of its own: an archive, or all files of a folder."""
        outer: dict[str, dict[str, bytes]] = {}
        files: dict[str, bytes] = {}
        for path, content in corrected.items():
            archive, _, inner = path.partition(_INSIDE)
            if inner:
                outer.setdefault(archive, {})[inner] = content
            else:
                files[path] = content
        for path, inner_files in outer.items():
            files[path] = repacked(self.data(path), inner_files)
        if self.folder is not None:
            return {**self.folder, **files}
        name = PurePath(self.name).name
        return {name: repacked(self.raw, files) if files else self.raw}

    def _archive(self, path: str) -> Archive:
        if path not in self._inner:
            self._inner[path] = Archive(self.data(path), f"{self.name}, {path}")
        return self._inner[path]


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A ZIP with an XMI file for each document and the type system that they share."""
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    documents = laid_out(reading, layers)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        files = {_TYPES: type_system(documents).encode("utf-8")}
        files |= {f"{name}.xmi": xmi_of(each) for name, each in named_documents(documents).items()}
        for name, content in files.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return {how.name: buffer.getvalue()}
