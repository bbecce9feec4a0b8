"""From paths and open streams to readings and pairs: opens the source, finds its format, and has it read."""

from __future__ import annotations

import errno
import glob
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from typing import BinaryIO

from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.names import natural_key
from clueval_xlsx.files.outputs import shown_name
from clueval_xlsx.formats.module import OpenedSource, find_format, module_of
from clueval_xlsx.formats.options import PRED
from clueval_xlsx.formats.recognition import GZIP
from clueval_xlsx.formats.registry import FOLDER_FORMAT, FORMATS, Format, formats_ending
from clueval_xlsx.formats.stored import ReadOnly, Storage, StoredFiles, as_utf8, unpacked
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.options.declaration import one_of, shown, wanted

InputSource = str | Path | BinaryIO
_TEXT, _ANNOTATIONS = ".txt", ".ann"


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
    opened = _open(source, options, name)
    return _read_opened(opened, _format_of(opened, options), options, base)


def annotators(source: InputSource, options: ReadOptions | None = None, *, name: str | None = None) -> list[str]:
    """Who annotated a source, by the names that `ReadOptions(annotator=…)` takes; empty where it names nobody."""
    options = options or ReadOptions()
    opened = _open(source, options, name)
    listing = getattr(module_of(_format_of(opened, options)), "annotators", None)
    return [] if listing is None else list(listing(opened))


def _read_opened(opened: OpenedSource, format_: Format, options: ReadOptions, base: Reading | None) -> Reading:
    opened.known_ids = base.corpus.token_ids if base is not None and base.tokenised else None
    if _needs_text(opened, format_):
        opened.base = base
        if options.text is not None:
            # The text's own annotations do not matter here, so nothing about them can be wrong.
            opened.base = read(
                options.text, replace(options, text=None, format=None, layers={}, nested="longest", text_only=True)
            )
    if opened.files is not None and not format_.folder and not format_.project:
        from clueval_xlsx.formats.folders import folder_format, read_folder

        _, files = folder_format(opened, options)
        reading = read_folder(opened, format_, files, options, lambda part: module_of(format_).read(part, options))
    else:
        reading = module_of(format_).read(opened, options)
    carrier = reading.carrier
    if carrier is None:
        carrier = ReadOnly(format_.title)
    elif opened.stored:
        carrier = StoredFiles(carrier, Storage(opened.stored, options.encoding))
    reading = replace(reading, carrier=carrier)
    known = {**asdict(options), "text": None if options.text is None else str(options.text)}
    return reading.with_source(replace(reading.source, reading=known))


def _needs_text(opened: OpenedSource, format_: Format) -> bool:
    """Whether the text of a source lies elsewhere; some formats can tell only from its content."""
    asked = getattr(module_of(format_), "needs_text", None) if format_.needs_text else None
    return format_.needs_text if asked is None else bool(asked(opened))


def _format_of(opened: OpenedSource, options: ReadOptions) -> Format:
    """The format of a source; that of a folder is the one of its files."""
    if opened.files is not None:
        from clueval_xlsx.formats.folders import folder_format

        project = next((each for each in FORMATS if each.project and _is_project(each, list(opened.files))), None)
        return folder_format(opened, options)[0] if project is None or options.format is not None else project
    return find_format(opened, options.format, options.fields)


def _is_project(format_: Format, files: list[str]) -> bool:
    """Whether a folder of these files is the unpacked export of a project."""
    return bool(module_of(format_).is_project(files))  # type: ignore[attr-defined]


def _open(source: InputSource, options: ReadOptions, name: str | None) -> OpenedSource:
    if not isinstance(source, str | Path):
        return _opened_file(str(name or getattr(source, "name", None) or "<stream>"), _content(source), options)
    path = Path(source)
    try:
        if path.is_dir():
            return _open_folder(_folder_files(path), name or shown_name(source), options)
        matching = _matching_files(path)
        if matching:
            return _open_folder(matching, name or shown_name(source), options)
        if options.format == FOLDER_FORMAT or (options.format is None and _is_part_of_folder(path)):
            return _open_folder(_sibling_files(path), name or shown_name(path.parent), options)
        return _opened_file(name or shown_name(source), path.read_bytes(), options)
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror or error}. Check the path.") from None


def _read_options(name: str, options: ReadOptions | None) -> ReadOptions:
    such_as = 'ReadOptions, such as ReadOptions(layers={"category": 2})'
    return wanted(name, ReadOptions() if options is None else options, ReadOptions, such_as)


def _content(source: BinaryIO) -> bytes:
    content: object = source.read() if hasattr(source, "read") else None
    if not isinstance(content, bytes):
        found = shown(source) if content is None else "a file opened as text"
        raise OptionError(f"source: found {found}. Allowed: a path, or a file opened for reading bytes (mode 'rb').")
    return content


def _opened_file(name: str, data: bytes, options: ReadOptions) -> OpenedSource:
    """A file, unpacked if it is packed by gzip; then its name is the one without `.gz`."""
    plain = unpacked(data, name)
    own = name[:-3] if plain is not data and name.lower().endswith(".gz") else name
    text = as_utf8(plain, options.encoding, name)
    return OpenedSource(own, text, stored={} if text is plain else {PurePath(own).name: plain})


def _is_part_of_folder(path: Path) -> bool:
    return any(each.folder for each in formats_ending(path.name))


def _open_folder(files: dict[str, bytes], name: str, options: ReadOptions) -> OpenedSource:
    texts = None
    if options.text is not None and any(path.lower().endswith((_TEXT, _ANNOTATIONS)) for path in files):
        folder = Path(options.text)
        if not folder.is_dir():
            raise InputError(f"{folder}: is no folder. --text names the folder of the .txt files of {name}.")
        texts = _folder_files(folder)
    return replace(_opened_files(files, name, options), texts=texts, text_name=str(options.text or ""))


def _opened_files(files: dict[str, bytes], name: str, options: ReadOptions) -> OpenedSource:
    """The files of a folder in UTF-8, and how those are stored that are not plain."""
    read_as = {path: as_utf8(data, options.encoding, f"{name}/{path}") for path, data in files.items()}
    stored = {path: data for path, data in files.items() if data.startswith(GZIP) or read_as[path] is not data}
    return OpenedSource(name, files=read_as, stored=stored)


def _folder_files(folder: Path) -> dict[str, bytes]:
    """The files below a folder."""
    return {name: _read_inside(path, folder) for name, path in _folder_paths(folder).items()}


def _folder_paths(folder: Path) -> dict[str, Path]:
    """The files below a folder, by their path in it, in natural order; links that lead out of it are left alone."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: found[name]
        for name in sorted(found, key=natural_key)
        if found[name].suffix.lower() in {_TEXT, _ANNOTATIONS} or not _leads_out(found[name], folder)
    }


def _matching_files(path: Path) -> dict[str, bytes]:
    """The files that a glob names."""
    return {name: each.read_bytes() for name, each in _matching_paths(path).items()}


def _matching_paths(path: Path) -> dict[str, Path]:
    """The files that a glob names, by their path in the folder that they share; none for an ordinary path."""
    if path.exists() or not glob.has_magic(str(path)):
        return {}
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207  # the pattern may be absolute
    found = [Path(each) for each in matches if Path(each).is_file()]
    if not found:
        raise InputError(f"{path}: no file is called like that. Check the path.")
    shared = Path(os.path.commonpath([each.parent for each in found]))
    texts = {each.with_suffix(_TEXT) for each in found if each.suffix.lower() == _ANNOTATIONS}
    named = {each.relative_to(shared).as_posix(): each for each in [*found, *filter(Path.is_file, texts)]}
    return {key: named[key] for key in sorted(named, key=natural_key)}


@dataclass(frozen=True, slots=True)
class FileOfFolder:
    """One file of a folder or glob: where it is, and what it is called there. There may be millions: it is small."""

    folder: str
    name: str
    path: str
    size: int


def list_files(source: str, options: ReadOptions) -> list[FileOfFolder] | None:
    """The files of a folder or glob that make a corpus, none of them read; None where the source is one file."""
    path = Path(source)
    found = _folder_paths(path) if path.is_dir() else _matching_paths(path)
    if not found:
        if path.is_dir():
            raise InputError(f"{source}: there is no file in the folder. Check the path.")
        if source != "-" and not path.exists():
            raise InputError(f"{source}: cannot be read: {os.strerror(errno.ENOENT)}. Check the path.")
        return None
    from clueval_xlsx.formats.folders import candidates

    name = shown_name(source)
    format_, files = candidates(name, list(found), options)
    project = next((each for each in FORMATS if each.project and _is_project(each, list(found))), None)
    _refuse_whole(project if project is not None and options.format is None else format_, name)
    return [FileOfFolder(name, each, str(found[each].absolute()), found[each].stat().st_size) for each in files]


def files_behind(source: Path, format_name: str | None = None) -> set[Path]:
    """The files that may be read where this is an input, told by their names: those of a folder, glob or document."""
    if source.is_file():
        brat = source.suffix.lower() in {_TEXT, _ANNOTATIONS}
        return {source, *(source.with_suffix(ending) for ending in (_TEXT, _ANNOTATIONS) if brat)}
    from clueval_xlsx.formats.folders import candidates

    try:
        found = _folder_paths(source) if source.is_dir() else _matching_paths(source)
        format_, named = candidates(str(source), list(found), ReadOptions(format=format_name))
    except InputError:  # nothing there, or nothing of a known format
        return set()
    # What else lies in a brat folder is nobody's input: figures may go there.
    own = set() if format_ is not None and format_.folder and source.is_dir() else set(named)
    beside = {name for name in found if PurePath(name).suffix.lower() in {_TEXT, _ANNOTATIONS}}
    return {found[name] for name in own | beside}


def _refuse_whole(format_: Format | None, name: str) -> None:
    if format_ is not None and (format_.folder or format_.project):
        raise OptionError(f"{name}: {format_.title} is not read file by file, as --cluster does it. Convert it first.")


def read_files(files: Sequence[FileOfFolder], options: ReadOptions) -> tuple[Reading, list[bytes]]:
    """On a worker: read some files of a folder as if it held nothing else, and hash each."""
    from clueval_xlsx.formats.folders import file_digest, folder_format, opened_part

    try:
        opened = _opened_files({file.name: Path(file.path).read_bytes() for file in files}, files[0].folder, options)
    except OSError as error:
        raise InputError(
            f"{error.filename}: a worker on {platform.node()} cannot read it: {error.strerror or error}. With "
            "--cluster, the files must lie at the same path on every worker."
        ) from None
    format_ = folder_format(opened, options)[0]
    _refuse_whole(format_, files[0].folder)
    hashes = [file_digest(file.name, opened_part(opened, file.name).data) for file in files]
    return _read_opened(opened, format_, options, None), hashes


def _leads_out(path: Path, folder: Path) -> bool:
    return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())


def _read_inside(path: Path, folder: Path) -> bytes:
    """A file of a folder; a symbolic link out of it would pull in any file of the machine."""
    if _leads_out(path, folder):
        raise InputError(
            f"{path}: is a symbolic link to {path.resolve()}, which lies outside {folder}. "
            "Allowed: files of the folder itself. Copy the file into the folder."
        )
    return path.read_bytes()


def _sibling_files(path: Path) -> dict[str, bytes]:
    """One document of a brat folder: the file and the one that belongs to it."""
    found = {path.name: path.read_bytes()}
    for ending in (_TEXT, _ANNOTATIONS):
        other = path.with_suffix(ending)
        if other != path and other.is_file():
            found[other.name] = _read_inside(other, path.parent)
    return found


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
    pred_options = replace(
        _read_options("pred_options", gold_options if pred_options is None else pred_options), side=PRED
    )
    opened = _open(gold, gold_options, names[0])
    format_ = _format_of(opened, gold_options)
    if _needs_text(opened, format_) and gold_options.text is None:
        second = read(pred, pred_options, name=names[1])
        return _read_opened(opened, format_, gold_options, second), second
    first = _read_opened(opened, format_, gold_options, None)
    if pred_options.text is None and not first.tokenised and _lacks_texts(pred):
        folder = str(gold) if isinstance(gold, str | Path) and Path(gold).is_dir() else None
        pred_options = replace(pred_options, text=gold_options.text or folder)
    return first, read(pred, pred_options, name=names[1], base=first)


def _lacks_texts(source: InputSource) -> bool:
    """Whether a source is a brat folder of annotations alone."""
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        return False
    endings = {path.suffix.lower() for path in Path(source).rglob("*")}
    return _TEXT not in endings and _ANNOTATIONS in endings


def read_pair(
    gold: InputSource,
    pred: InputSource,
    gold_options: ReadOptions | None = None,
    pred_options: ReadOptions | None = None,
    *,
    align: str = "tokens",
    align_limit: float = 50,
) -> Pair:
    """Read gold and prediction and bring them together.

    `gold`, `pred`  a path each, or a file opened for reading bytes
    `gold_options`  how to read gold, such as `ReadOptions(layers={"category": 2})`; None: found out from its content
    `pred_options`  how to read the prediction; None: like gold
    `align`  whether both sides must have the same `tokens`, the same `text`, or as many tokens (`position`)
    `align_limit`  with `position`: the largest share of words that may differ, in percent

    Gives the pair that `evaluate` takes. Raises `InputError` with the place where the sides do not fit each other,
    `OptionError` if an option does not fit a file.

    >>> import io
    >>> pair = read_pair(io.BytesIO(b"Ann\\tB-PER\\n"), io.BytesIO(b"Ann\\tO\\n"))
    >>> len(pair.gold.spans), len(pair.pred.spans)
    (1, 0)
    """
    one_of("align", align, ("tokens", "text", "position"))
    if not isinstance(align_limit, int | float) or not 0 <= align_limit <= 100:
        raise OptionError(f"align_limit: found {shown(align_limit)}. Allowed: a percentage, 0 to 100.")
    names = (None if isinstance(gold, str | Path) else "gold", None if isinstance(pred, str | Path) else "pred")
    sides = read_sides(gold, pred, gold_options, pred_options, names=names)
    return make_pair(
        *sides,
        strict_tags=any(each is not None and each.bio == "strict" for each in (gold_options, pred_options)),
        align=align == "text",
        by_position=align_limit / 100 if align == "position" else None,
    )
