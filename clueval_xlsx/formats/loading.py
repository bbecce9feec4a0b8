"""From paths and open streams to readings and pairs: opens the source, finds its format, and has it read."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO

from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.outputs import shown_name
from clueval_xlsx.formats.module import OpenedSource, find_format, module_of
from clueval_xlsx.formats.options import PRED, ReadOptions
from clueval_xlsx.formats.registry import FOLDER_FORMAT, Format, formats_ending

InputSource = str | Path | BinaryIO
_TEXT, _ANNOTATIONS = ".txt", ".ann"


def read(
    source: InputSource,
    options: ReadOptions | None = None,
    *,
    name: str | None = None,
    base: Reading | None = None,
) -> Reading:
    """Read a file (or a brat folder) in any known format, by itself.

    `base` is the side whose text annotations belong to that have none of their own, if no other text is given.

    >>> import io
    >>> reading = read(io.BytesIO(b"Ann\\tB-PER\\nLee\\tI-PER\\n"), name="ann.vrt")
    >>> len(reading.corpus), reading.corpus.text(0, 1)
    (2, 'Ann Lee')
    """
    options = options or ReadOptions()
    opened = _open(source, options, name)
    return _read_opened(opened, find_format(opened, options.format), options, base)


def _read_opened(opened: OpenedSource, format_: Format, options: ReadOptions, base: Reading | None) -> Reading:
    if format_.needs_text:
        opened.base = base
        if options.text is not None:
            # The text's own annotations do not matter here, so nothing about them can be wrong.
            opened.base = read(options.text, replace(options, text=None, format=None, layers={}, nested="longest"))
    reading = module_of(format_).read(opened, options)
    known = {**asdict(options), "text": None if options.text is None else str(options.text)}
    return reading.with_source(replace(reading.source, reading=known))


def _open(source: InputSource, options: ReadOptions, name: str | None) -> OpenedSource:
    if not isinstance(source, str | Path):
        return OpenedSource(str(name or getattr(source, "name", None) or "<stream>"), source.read())
    path = Path(source)
    try:
        if path.is_dir():
            return _open_folder(_folder_files(path), name or shown_name(source), options)
        if options.format == FOLDER_FORMAT or (options.format is None and _is_part_of_folder(path)):
            return _open_folder(_sibling_files(path), name or shown_name(path.parent), options)
        return OpenedSource(name or shown_name(source), path.read_bytes())
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror or error}. Check the path.") from None


def _is_part_of_folder(path: Path) -> bool:
    return any(each.folder for each in formats_ending(path.name))


def _open_folder(files: dict[str, bytes], name: str, options: ReadOptions) -> OpenedSource:
    if options.format not in {None, FOLDER_FORMAT}:
        raise OptionError(
            f"{name}: a folder is read as {FOLDER_FORMAT}, but --format says {options.format}. Give a file."
        )
    texts = None
    if options.text is not None:
        folder = Path(options.text)
        if not folder.is_dir():
            raise InputError(f"{folder}: is no folder. --text names the folder of the .txt files of {name}.")
        texts = _folder_files(folder)
    return OpenedSource(name, files=files, texts=texts, text_name=str(options.text or ""))


def _folder_files(folder: Path) -> dict[str, bytes]:
    """The texts and annotations below a folder, by their path in it."""
    return {
        path.relative_to(folder).as_posix(): _read_inside(path, folder)
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in {_TEXT, _ANNOTATIONS} and path.is_file()
    }


def _read_inside(path: Path, folder: Path) -> bytes:
    """A file of a folder; a symbolic link out of it would pull in any file of the machine."""
    if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
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
    gold_options = gold_options or ReadOptions()
    pred_options = replace(pred_options or gold_options, side=PRED)
    opened = _open(gold, gold_options, names[0])
    format_ = find_format(opened, gold_options.format)
    if format_.needs_text and gold_options.text is None:
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
    strict_tags: bool = False,
    align: bool = False,
) -> Pair:
    """Read gold and prediction and bring them together; the prediction is read like gold unless told otherwise."""
    names = (None if isinstance(gold, str | Path) else "gold", None if isinstance(pred, str | Path) else "pred")
    sides = read_sides(gold, pred, gold_options, pred_options, names=names)
    return make_pair(*sides, strict_tags=strict_tags, align=align)
