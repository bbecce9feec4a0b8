"""INCEpTION's project export (ZIP, or the folder of one): a CAS for each document and annotator.

Nothing is unpacked to the disk. Serialized Java objects (`.ser`) are never opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath, PurePosixPath

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.archives import Archive, is_archive, repacked
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import FIRST, UNION, choose_annotators
from clueval_xlsx.formats.sniffing import is_project
from clueval_xlsx.formats.uima import cas_json, webanno, xmi
from clueval_xlsx.formats.uima.reading import Cas, CasDocument, read_cas
from clueval_xlsx.options import ReadOptions

_FOLDERS = ("annotation", "curation")
_ENDINGS = (".xmi", ".json", ".tsv", ".zip")  # the first of them that a person's CAS has is read
_INITIAL = "INITIAL_CAS"
_NAMED = 3  # files of an archive that a message names
_INSIDE = "!"  # between the path of an archive in the archive and the path in it


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
    return is_project(names) or any(name.lower().endswith(".xmi") for name in names)


def annotators(opened: OpenedSource) -> list[str]:
    """Who annotated, by name."""
    return sorted({member.annotator for member in _members(_Files(opened))} - {"", _INITIAL})


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the CAS of the chosen annotators; documents that nobody has opened are left out."""
    name = opened.name
    files = _Files(opened)
    by_document: dict[str, dict[str, str]] = {}  # the path of each annotator's file
    for member in _members(files):
        by_document.setdefault(member.document, {}).setdefault(member.annotator, member.path)
    people = {document: [who for who in own if who != _INITIAL] for document, own in by_document.items()}
    seen = [document for document in people if people[document]]
    if not seen:
        raise _nothing(files)
    wanted = FIRST if options.text_only else options.annotator
    chosen, unseen = choose_annotators([people[document] for document in seen], wanted, name)
    documents = []
    for document, indices in zip(seen, chosen, strict=True):
        paths = [by_document[document][people[document][index]] for index in indices]
        contents = {path: files.content(path) for path in paths}
        spare = next(iter(contents.values())) if contents else files.content(next(iter(by_document[document].values())))
        documents.append(CasDocument(document, contents, spare.text))
    source = Source(name, "inception", files.digest)
    unannotated = frozenset(unseen) if options.annotator is not None else frozenset()
    union = options.annotator == UNION
    reading = read_cas(documents, source, options, files.packed, unannotated, union=union)
    left = len(people) - len(seen)
    notes = [f"{name}: {left} documents that nobody annotated are left out"] if left else []
    return replace(reading, notes=(*reading.notes, *notes))


def _members(files: _Files) -> list[_Member]:
    """The files that hold a CAS, by document and annotator, in the order of the export."""
    members: dict[tuple[str, str], _Member] = {}
    project = any(set(PurePosixPath(path).parts[:-1]) & set(_FOLDERS) for path in files.names)
    known = [path for path in files.names if PurePosixPath(path).suffix.lower() in _ENDINGS]
    for path in sorted(known, key=lambda path: _ENDINGS.index(PurePosixPath(path).suffix.lower())):
        *folders, file_name = PurePosixPath(path).parts
        if is_project([file_name]):
            continue
        folder = next((index for index, part in enumerate(folders) if part in _FOLDERS), None)
        if project and (folder is None or folder + 1 == len(folders)):
            continue
        for inner in files.inside(path) if path.lower().endswith(".zip") else [path]:
            own = PurePosixPath(inner.rpartition(_INSIDE)[2])
            stem = PurePosixPath(path).stem
            if stem.startswith("webanno") and stem.endswith("export"):
                stem = own.stem
            if project and folder is not None:
                member = _Member(inner, "/".join(folders[folder + 1 :]), stem)
            else:
                member = _Member(inner, str(own.with_suffix("")), "")
            members.setdefault((member.document, member.annotator), member)
    order = {path: index for index, path in enumerate(files.names)}
    return sorted(members.values(), key=lambda member: order[member.path.partition(_INSIDE)[0]])


def _nothing(files: _Files) -> InputError:
    serialized = sum(path.lower().endswith((".ser", ".bin")) for path in files.names)
    if serialized:
        return InputError(
            f"{files.name}: holds {serialized} annotations as serialized Java objects only, which are not read. Export "
            "the project from INCEpTION again with the format UIMA CAS XMI, UIMA CAS JSON or WebAnno TSV 3."
        )
    others = ", ".join(files.names[:_NAMED]) + (", …" if len(files.names) > _NAMED else "")
    held = f" It holds {len(files.names)} other files ({others}): unpack them." if others else ""
    return InputError(
        f"{files.name}: there is no CAS in it. Allowed: annotation/DOCUMENT/ANNOTATOR.xmi (.json, .tsv, .zip), as "
        f"INCEpTION exports a project, or .xmi files.{held}"
    )


class _Files:
    """The files of an export: members of an archive, or of a folder."""

    def __init__(self, opened: OpenedSource) -> None:
        self.name = opened.name
        self.raw = opened.data
        self.folder = opened.files
        self.archive = Archive(opened.data, opened.name) if opened.files is None else None
        self.names = sorted(opened.files or ()) if self.archive is None else self.archive.names
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

    def content(self, path: str) -> Cas:
        """The CAS of a file."""
        data, name = self.data(path), f"{self.name}, {path}"
        if xmi.looks_like_xmi(data[:4096]):
            return xmi.cas_in(data, name)
        if cas_json.looks_like_cas_json(data[:4096]):
            return cas_json.cas_in(data, name)
        if webanno.looks_like_webanno(data[:200].decode("utf-8", "replace").partition("\n")[0]):
            return webanno.cas_in(data, name)
        raise InputError(f"{name}: is no CAS. Allowed: UIMA CAS XMI, UIMA CAS JSON, WebAnno TSV 3. Export it again.")

    def packed(self, corrected: Mapping[str, bytes]) -> dict[str, bytes]:
        """The export with these files in place of its own: an archive, or all files of a folder."""
        files: dict[str, bytes] = {}
        outer: dict[str, dict[str, bytes]] = {}
        for path, content in corrected.items():
            archive, _, inner = path.partition(_INSIDE)
            (outer.setdefault(archive, {}) if inner else files)[inner or path] = content
        for path, own in outer.items():
            files[path] = repacked(self.data(path), own)
        if self.folder is not None:
            return {**self.folder, **files}
        return {PurePath(self.name).name: repacked(self.raw, files) if files else self.raw}

    def _archive(self, path: str) -> Archive:
        if path not in self._inner:
            self._inner[path] = Archive(self.data(path), f"{self.name}, {path}")
        return self._inner[path]
