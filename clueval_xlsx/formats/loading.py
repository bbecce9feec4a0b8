"""From paths and open streams to readings and pairs: chooses the reader and hands it its options."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, TypeVar

from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.standoff import DEFAULT_LAYER, GOLD, PRED, TextFormat, TextReading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.outputs import shown_name
from clueval_xlsx.formats.detect import BRAT, CONLL, FORMATS, JSON, LABEL_STUDIO, PRESIDIO, TAB, TABLE, detect_format
from clueval_xlsx.formats.span_table import SpanTable
from clueval_xlsx.formats.vertical import LAST_COLUMN, TokenFormat, read_vertical

DEFAULT_COLUMN = 2
_MOST_COLUMNS = 1_000_000

Source = str | Path | BinaryIO


@dataclass(frozen=True)
class ReadOptions:
    """How to read one side.

    `layers` maps a layer to its column, or in formats without columns to a field (None: the field of that name).
    Without layers there is one, `span`: column 2 of `.vrt`, the last of CoNLL, the main label elsewhere. `text`
    is where the text lies if not with the annotations: a folder for brat, a file for a span table.
    """

    format: str | None = None
    layers: Mapping[str, int | str | None] = field(default_factory=dict)
    token_id: int | None = None
    document_id: int | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    space_column: int | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"
    text: str | Path | None = None
    nested: str | None = None
    offsets: str = "codepoints"
    annotator: str | None = None
    side: str = GOLD

    def __post_init__(self) -> None:
        numbered = {
            **{f"--layer {layer}={column}": column for layer, column in self.layers.items()},
            **{f"--column {name}={column}": column for name, column in self.columns.items()},
            "--token-id": self.token_id,
            "--document-id": self.document_id,
            "--space-column": self.space_column,
        }
        for name, column in numbered.items():
            if isinstance(column, int) and not 1 <= column <= _MOST_COLUMNS:
                raise OptionError(f"{name}: there is no column {column}. Allowed: 1 to {_MOST_COLUMNS:,}.")

    def text_format(self) -> TextFormat:
        """What a standoff reader needs of this."""
        return TextFormat(self.layers, self.nested, self.offsets, self.annotator, self.side)


def read(source: Source, options: ReadOptions | None = None, *, name: str | None = None) -> Reading:
    """Read a file (or a brat folder) in any known format, by itself.

    >>> import io
    >>> reading = read(io.BytesIO(b"Ann\\tB-PER\\nLee\\tI-PER\\n"), name="ann.vrt")
    >>> len(reading.corpus), reading.corpus.text(0, 1)
    (2, 'Ann Lee')
    """
    found = complete(load(source, options, name=name), options)
    return found.reading if isinstance(found, TextReading) else found


def load(
    source: Source, options: ReadOptions | None = None, *, name: str | None = None
) -> Reading | TextReading | SpanTable:
    """Read what stands in a source: tokens, running text (not yet cut into tokens), or a table without its text."""
    options = options or ReadOptions()
    if isinstance(source, str | Path):
        path = Path(source)
        try:
            if path.is_dir():
                return _read_folder(_folder_files(path), name or shown_name(source), options)
            if options.format == BRAT or (options.format is None and path.suffix.lower() == ".ann"):
                return _read_folder(_sibling_files(path), name or shown_name(path.parent), options)
            with path.open("rb") as stream:
                return load(stream, options, name=name or shown_name(source))
        except OSError as error:
            raise InputError(f"{source}: cannot be read: {error.strerror or error}. Check the path.") from None
    name = str(name or getattr(source, "name", None) or "<stream>")
    return _read_bytes(source.read(), name, options)


def _read_bytes(data: bytes, name: str, options: ReadOptions) -> Reading | TextReading | SpanTable:
    found = options.format or detect_format(name, data)
    if found not in (*FORMATS, JSON):
        raise OptionError(f"unknown format {found!r}. Allowed: {', '.join(FORMATS)}.")
    if found == BRAT:
        raise OptionError(f"{name}: brat is read from a folder or a file, not from a stream. Give its path.")
    if found == TABLE:
        from clueval_xlsx.formats.span_table import read_span_table

        return read_span_table(data, name, options.text_format())
    if found in {JSON, TAB, PRESIDIO, LABEL_STUDIO}:
        return remember(_read_json(data, name, found, options.text_format()), options)
    conll = found == CONLL
    token_format = TokenFormat(
        conll=conll,
        layers=_token_columns(options.layers, name) or {DEFAULT_LAYER: LAST_COLUMN if conll else DEFAULT_COLUMN},
        token_id=options.token_id,
        document_id=options.document_id,
        columns=options.columns,
        space_column=options.space_column,
        document_tag=options.document_tag,
        sentence_tag=options.sentence_tag,
    )
    stream = io.BytesIO(data)
    del data  # the reader lets go of it
    return remember(read_vertical(stream, name, token_format), options)


Found = TypeVar("Found", bound=Reading | TextReading)


def remember(reading: Found, options: ReadOptions) -> Found:
    """A reading that knows the options it was made with."""
    known = {**asdict(options), "text": None if options.text is None else str(options.text)}
    return replace(reading, source=replace(reading.source, reading=known))


def _token_columns(layers: Mapping[str, int | str | None], name: str) -> dict[str, int]:
    found = {}
    for layer, column in layers.items():
        if not isinstance(column, int):
            raise OptionError(
                f"{name}: --layer {layer}{f'={column}' if column else ''}: here a layer is a column of tags. Give its "
                f"number, such as {layer}={DEFAULT_COLUMN} (--gold-layer, --pred-layer for one side)."
            )
        found[layer] = column
    return found


def _read_json(data: bytes, name: str, found: str, options: TextFormat) -> TextReading:
    from clueval_xlsx.formats.json_source import json_format, parse_documents
    from clueval_xlsx.formats.label_studio import read_label_studio
    from clueval_xlsx.formats.presidio_json import read_presidio
    from clueval_xlsx.formats.tab_json import read_tab

    documents = parse_documents(data, name)
    readers = {TAB: read_tab, PRESIDIO: read_presidio, LABEL_STUDIO: read_label_studio}
    return readers[json_format(documents, name) if found == JSON else found](data, name, options, documents)


def _read_folder(files: Mapping[str, bytes], name: str, options: ReadOptions) -> TextReading:
    from clueval_xlsx.formats.brat import read_brat

    if options.format not in {None, BRAT}:
        raise OptionError(f"{name}: a folder is read as brat, but --format says {options.format}. Give a file.")
    texts = None
    if options.text is not None:
        folder = Path(options.text)
        if not folder.is_dir():
            raise InputError(f"{folder}: is no folder. --text names the folder of the .txt files of {name}.")
        texts = _folder_files(folder)
    return remember(read_brat(files, name, options.text_format(), texts, str(options.text or "")), options)


def _folder_files(folder: Path) -> dict[str, bytes]:
    """The texts and annotations below a folder, by their path in it."""
    return {
        path.relative_to(folder).as_posix(): _read_inside(path, folder)
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in {".txt", ".ann"} and path.is_file()
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
    for ending in (".txt", ".ann"):
        other = path.with_suffix(ending)
        if other != path and other.is_file():
            found[other.name] = _read_inside(other, path.parent)
    return found


def complete(
    found: Reading | TextReading | SpanTable,
    options: ReadOptions | None,
    other: Reading | TextReading | SpanTable | None = None,
) -> Reading | TextReading:
    """Put a span table on its text: that of `--text`, or the other side's."""
    if not isinstance(found, SpanTable):
        return found
    from clueval_xlsx.formats.span_table import place

    options = options or ReadOptions()
    base = other
    if options.text is not None:
        # The text's own annotations do not matter here, so nothing about them can be wrong.
        base = load(options.text, replace(options, text=None, format=None, layers={}, nested="longest"))
    if base is None or isinstance(base, SpanTable):
        raise OptionError(
            f"{found.name}: a span table needs the text it belongs to. Give it with --text FILE (a .vrt, or the "
            "source of the character offsets), or let the other side be that file."
        )
    return remember(place(found, base), options)


def read_sides(
    gold: Source,
    pred: Source,
    gold_options: ReadOptions | None = None,
    pred_options: ReadOptions | None = None,
    *,
    names: tuple[str | None, str | None] = (None, None),
) -> tuple[Reading | TextReading, Reading | TextReading]:
    """Read gold and prediction, each on the text it needs."""
    gold_options = gold_options or ReadOptions()
    pred_options = replace(pred_options or gold_options, side=PRED)
    first = load(gold, gold_options, name=names[0])
    if pred_options.text is None and isinstance(first, TextReading) and _lacks_texts(pred):
        folder = gold if isinstance(gold, str | Path) and Path(gold).is_dir() else None
        pred_options = replace(pred_options, text=gold_options.text or folder)
    second = load(pred, pred_options, name=names[1])
    return complete(first, gold_options, second), complete(second, pred_options, first)


def _lacks_texts(source: Source) -> bool:
    """Whether a source is a brat folder of annotations alone."""
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        return False
    endings = {path.suffix.lower() for path in Path(source).rglob("*")}
    return ".txt" not in endings and ".ann" in endings


def read_pair(
    gold: Source,
    pred: Source,
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
