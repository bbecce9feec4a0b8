"""From paths and open streams to readings and pairs: opens the source, finds its format, and has it read."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePath

import numpy as np

from clueval_xlsx.corpus.mentions import Mentions
from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading, SourceChange
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.names import shown_name
from clueval_xlsx.formats.opened import (
    ANNOTATIONS,
    TEXT,
    InputSource,
    OpenedSource,
    document_files,
    files_at,
    listed_names,
    open_source,
    opened_folder,
    refuse_missing,
)
from clueval_xlsx.formats.registry import PRED, PROJECT_FORMAT, Format, format_named
from clueval_xlsx.formats.sniffing import candidates, find_format, is_project
from clueval_xlsx.formats.stored import ReadOnly, StoredFiles, stem_of
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.options.values import one_of, wanted


def read(
    source: InputSource,
    options: ReadOptions | None = None,
    *,
    name: str | None = None,
    base: Reading | None = None,
) -> Reading:
    """Read a file, a folder or a glob in any known format, by itself.

    `source`  a path, or a file opened for reading bytes
    `options`  how to read it, such as `ReadOptions(layers={"category": 2})`; None: found out from its content
    `name`  what it is called in messages and outputs; None for its own name
    `base`  the side whose text annotations belong to that have none of their own, if no other text is given

    Gives a reading: its `corpus` (tokens, documents, metadata) and its annotations. Raises `InputError` with the place
    of what is wrong, `OptionError` if an option does not fit the file.

    >>> import io
    >>> reading = read(io.BytesIO(b"Ann\\tB-PER\\nLee\\tI-PER\\n"), name="ann.vrt")
    >>> len(reading.corpus), reading.corpus.text(0, 1)
    (2, 'Ann Lee')
    """
    options = _read_options("options", options)
    opened = open_source(source, options, name)
    return _read_opened(opened, find_format(opened, options), options, base)


def annotators(source: InputSource, options: ReadOptions | None = None, *, name: str | None = None) -> list[str]:
    """Who annotated a source, by the names that `ReadOptions(annotator=…)` takes; empty where it names nobody."""
    options = options or ReadOptions()
    opened = open_source(source, options, name)
    listing = getattr(find_format(opened, options).load(), "annotators", None)
    return [] if listing is None else list(listing(opened))


def _read_options(name: str, options: ReadOptions | None) -> ReadOptions:
    such_as = 'ReadOptions, such as ReadOptions(layers={"category": 2})'
    return wanted(name, ReadOptions() if options is None else options, ReadOptions, such_as)


def _read_opened(opened: OpenedSource, format_: Format, options: ReadOptions, base: Reading | None) -> Reading:
    """Read an opened source; `base` is the other side, if that was read before."""
    opened.known_ids = base.corpus.token_ids if base is not None and base.tokenised else None
    if _needs_text(opened, format_):
        opened.base = base
        if options.text is not None:
            # The text's own annotations do not matter here, so nothing about them can be wrong.
            opened.base = read(
                options.text, replace(options, text=None, format=None, layers={}, nested="longest", text_only=True)
            )
    in_parts = opened.files is not None and not format_.folder and format_.name != PROJECT_FORMAT
    reading: Reading = read_folder(opened, format_, options) if in_parts else format_.load().read(opened, options)
    carrier = reading.carrier or ReadOnly(format_.title)
    if opened.stored and reading.carrier is not None:
        carrier = StoredFiles(carrier, opened.stored, options.encoding)
    known = {**asdict(options), "text": None if options.text is None else str(options.text)}
    notes = (*opened.notes, *reading.notes)
    return replace(reading, carrier=carrier, source=replace(reading.source, reading=known), notes=notes)


def _needs_text(opened: OpenedSource, format_: Format) -> bool:
    """Whether the text of a source lies elsewhere; some formats can tell only from its content."""
    if not format_.needs_text:
        return False
    asked = getattr(format_.load(), "needs_text", None)
    sample = opened.part(opened.members[0]) if opened.members else opened
    return asked is None or bool(asked(sample))


def read_sides(
    gold: InputSource,
    pred: InputSource,
    gold_options: ReadOptions | None = None,
    pred_options: ReadOptions | None = None,
    *,
    names: tuple[str | None, str | None] = (None, None),
) -> tuple[Reading, Reading]:
    """Read gold and prediction, each on the text it needs."""
    gold_options = _read_options("gold_options", gold_options)
    pred_options = _read_options("pred_options", gold_options if pred_options is None else pred_options)
    pred_options = replace(pred_options, side=PRED)
    opened = open_source(gold, gold_options, names[0])
    format_ = find_format(opened, gold_options)
    if gold_options.text is None and _needs_text(opened, format_):
        second = read(pred, pred_options, name=names[1])
        return _read_opened(opened, format_, gold_options, second), second
    first = _read_opened(opened, format_, gold_options, None)
    other = open_source(pred, pred_options, names[1])
    endings = {PurePath(path).suffix.lower() for path in other.files or ()}
    if other.texts is None and not first.tokenised and ANNOTATIONS in endings and TEXT not in endings:
        _take_texts(other, opened, first)  # annotations alone lie on the text of gold
    return first, _read_opened(other, find_format(other, pred_options), pred_options, first)


def _take_texts(other: OpenedSource, gold: OpenedSource, reading: Reading) -> None:
    """Let annotations lie on the texts of gold: its files, or else what its documents say."""
    texts = {path: data for path, data in (gold.files or {}).items() if path.lower().endswith(TEXT)}
    texts = dict(gold.texts or {}) or texts
    ids = list(reading.doc_ids)
    annotated = [stem_of(path) for path in other.files or () if path.lower().endswith(ANNOTATIONS)]
    if len(ids) == len(annotated) == 1 and not reading.named:
        ids = annotated  # a file of one document that has no name
    said = zip(ids, reading.texts, strict=True)
    other.texts = texts or {f"{doc_id}{TEXT}": text.text.encode("utf-8", "surrogatepass") for doc_id, text in said}
    other.text_name = gold.text_name or gold.name


def read_pair(
    gold: InputSource,
    pred: InputSource,
    gold_options: ReadOptions | None = None,
    pred_options: ReadOptions | None = None,
    *,
    align: str = "tokens",
) -> Pair:
    """Read gold and prediction and bring them together.

    `gold`, `pred`  a path each, or a file opened for reading bytes
    `gold_options`  how to read gold, such as `ReadOptions(layers={"category": 2})`; None: found out from its content
    `pred_options`  how to read the prediction; None: like gold
    `align`  whether both sides must have the same `tokens`, or the same `text`

    Gives the pair that `evaluate` takes. Raises `InputError` with the place where the sides do not fit each other,
    `OptionError` if an option does not fit a file.

    >>> import io
    >>> pair = read_pair(io.BytesIO(b"Ann\\tB-PER\\n"), io.BytesIO(b"Ann\\tO\\n"))
    >>> len(pair.gold.spans), len(pair.pred.spans)
    (1, 0)
    """
    one_of("align", align, ("tokens", "text"))
    names = (None if isinstance(gold, str | Path) else "gold", None if isinstance(pred, str | Path) else "pred")
    sides = read_sides(gold, pred, gold_options, pred_options, names=names)
    strict = any(each is not None and each.bio == "strict" for each in (gold_options, pred_options))
    return make_pair(*sides, strict_tags=strict, align=align == "text")


# -- the files behind a source


@dataclass(frozen=True, slots=True)
class FileOfFolder:
    """One file of a folder or glob: where that is, and what it is called there. There may be millions: it is small."""

    folder: str  # as messages name it
    place: str  # the folder's whole path
    name: str
    size: int
    note: str = ""  # on the first: what of the folder is left aside


def list_files(source: str, options: ReadOptions) -> list[FileOfFolder] | str:
    """The files of a folder or glob that make a corpus, none of them read; or why they are not read one by one."""
    folder, names, notes = listed_names(Path(source))
    if not names:
        refuse_missing(source, Path(source))
        return f"{source} is one file"
    name = shown_name(source)
    format_, files = candidates(name, names, options)
    if options.format is None and is_project(names):
        format_ = format_named(PROJECT_FORMAT)
    if format_ is not None and (format_.folder or format_.name == PROJECT_FORMAT):
        return f"{format_.title} is not read file by file"
    place = str(folder.absolute())
    sizes = (os.stat(os.path.join(place, each)).st_size for each in files)  # noqa: PTH116, PTH118  # millions of texts
    listed = [FileOfFolder(name, place, each, size) for each, size in zip(files, sizes, strict=True)]
    return [replace(listed[0], note="; ".join(notes)), *listed[1:]]


def files_behind(source: Path, format_name: str | None = None) -> set[Path]:
    """The files that may be read where this is an input, told by their names: those of a folder, glob or document."""
    if source.is_file():
        return {source, *(document_files(source) if source.suffix.lower() in {TEXT, ANNOTATIONS} else ())}
    try:
        paths = files_at(source)
        format_, named = candidates(str(source), list(paths), ReadOptions(format=format_name))
    except InputError:  # nothing there, or nothing of a known format
        return set()
    # What else lies in a brat folder is nobody's input: figures may go there.
    own = set() if format_ is not None and format_.folder and source.is_dir() else set(named)
    return {path for name, path in paths.items() if name in own or path.suffix.lower() in {TEXT, ANNOTATIONS}}


def read_files(files: Sequence[FileOfFolder], options: ReadOptions) -> tuple[Reading, list[bytes]]:
    """On a worker: read some files of a folder as if it held nothing else, and hash each."""
    try:
        contents = {file.name: Path(file.place, file.name).read_bytes() for file in files}
    except OSError as error:
        raise InputError(
            f"{error.filename}: a worker on {platform.node()} cannot read it: {error.strerror or error}. With "
            "--cluster, the files must lie at the same path on every worker."
        ) from None
    opened = opened_folder(contents, files[0].folder, options)
    opened.notes = (*opened.notes, *(file.note for file in files if file.note))
    format_ = find_format(opened, options)
    hashes = [file_digest(file.name, opened.part(file.name).data) for file in files]
    return _read_opened(opened, format_, options, None), hashes


# The key under which documents have their annotations.
ANNOTATION_KEYS = {
    "presidio": "spans",
    "tab": "annotations (predictions: presidio_detected_pii)",
    "label-studio": "annotations",
}


class Lacking(StrEnum):
    """What can be missing from an input as a whole."""

    ANNOTATIONS = "annotations"
    TOKENS = "tokens"
    DOCUMENT_TAG = "document tag"
    SENTENCE_TAG = "sentence tag"


@dataclass(frozen=True)
class Content:
    """An input by its name, format and number of documents, and what is missing from all of it."""

    name: str
    format: str
    documents: int
    missing: frozenset[Lacking]

    @classmethod
    def of(cls, reading: Reading, options: ReadOptions) -> Content:
        """Of a reading, whose tags go by these options."""
        homes = getattr(reading, "homes", ())
        source, missing = reading.source, set()
        if source.format in ANNOTATION_KEYS and homes and not any(home is not None for home in homes):
            missing.add(Lacking.ANNOTATIONS)
        if not (len(reading.corpus) if reading.tokenised else any(each.text.strip() for each in reading.documents)):
            missing.add(Lacking.TOKENS)
        if format_named(source.format).columns:
            if reading.nameless:
                missing.add(Lacking.DOCUMENT_TAG)
            if options.sentence_tag not in reading.corpus.regions:
                missing.add(Lacking.SENTENCE_TAG)
        return cls(source.name, source.format, len(homes), frozenset(missing))

    def __add__(self, other: Content) -> Content:
        """Of two parts of one input: what both of them lack."""
        return Content(self.name, self.format, self.documents + other.documents, self.missing & other.missing)


def refuse_empty(contents: Sequence[Content], options: ReadOptions) -> None:
    """Raise where a side has no token, lacks the key of annotations, or no side has a tag that was asked for."""
    for content in contents:
        if Lacking.ANNOTATIONS in content.missing:
            raise InputError(
                f"{content.name}: none of its {content.documents} documents has annotations. Allowed: the key "
                f"{ANNOTATION_KEYS[content.format]} in at least one. Check that this is the right file."
            )
        if Lacking.TOKENS in content.missing:
            raise InputError(
                f"{content.name}: no token was read. Check that this is the right file, and its format (--format)."
            )
    files = [content for content in contents if format_named(content.format).columns]
    if not files:
        return
    usual, names = ReadOptions(), " and ".join(dict.fromkeys(content.name for content in files))
    missing = frozenset.intersection(*(content.missing for content in files))
    for key, lack in (("document_tag", Lacking.DOCUMENT_TAG), ("sentence_tag", Lacking.SENTENCE_TAG)):
        tag = getattr(options, key)
        if tag != getattr(usual, key) and lack in missing:
            raise InputError(
                f"{names}: there is no <{tag}> in it. Give the element that opens a {key[:-4]} "
                f"(read.{key}), or leave it out."
            )


# ---- folders and globs: read file by file, joined, and taken apart again when they are corrected


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
