"""From open streams (or paths) to readings and pairs: chooses the reader and hands it its options."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.pairing import Pair, make_pair
from clueval_xlsx.readers import FORMATS, Reading, TokenFormat, detect_format, read_vertical
from clueval_xlsx.readers.vertical import LAST_COLUMN

DEFAULT_LAYER = "span"
DEFAULT_COLUMN = 2


@dataclass(frozen=True)
class ReadOptions:
    """How to read one side. Without layers there is one, `span`, in column 2 (CoNLL: in the last column)."""

    format: str | None = None
    layers: Mapping[str, int] = field(default_factory=dict)
    token_id: int | None = None
    document_id: int | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    space_column: int | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"


def read(source: str | Path | BinaryIO, options: ReadOptions | None = None, *, name: str | None = None) -> Reading:
    """Read a file in any known format.

    >>> import io
    >>> reading = read(io.BytesIO(b"Ann\\tB-PER\\nLee\\tI-PER\\n"), name="ann.vrt")
    >>> len(reading.corpus), reading.corpus.text(0, 1)
    (2, 'Ann Lee')
    """
    options = options or ReadOptions()
    if isinstance(source, str | Path):
        try:
            with Path(source).open("rb") as stream:
                return read(stream, options, name=name or str(source))
        except OSError as error:
            raise InputError(f"{source}: cannot be read: {error.strerror or error}. Check the path.") from None
    name = name or getattr(source, "name", None) or "<stream>"
    data = source.read()
    found = options.format or detect_format(str(name), data)
    if found not in FORMATS:
        raise OptionError(f"unknown format {found!r}. Allowed: {', '.join(FORMATS)}.")
    conll = found == "conll"
    default = {DEFAULT_LAYER: LAST_COLUMN if conll else DEFAULT_COLUMN}
    token_format = TokenFormat(
        conll=conll,
        layers=dict(options.layers) or default,
        token_id=options.token_id,
        document_id=options.document_id,
        columns=options.columns,
        space_column=options.space_column,
        document_tag=options.document_tag,
        sentence_tag=options.sentence_tag,
    )
    return remember(read_vertical(io.BytesIO(data), str(name), token_format), options)


def remember(reading: Reading, options: ReadOptions) -> Reading:
    """A reading that knows the options it was made with."""
    return replace(reading, source=replace(reading.source, reading=asdict(options)))


def read_pair(
    gold: str | Path | BinaryIO,
    pred: str | Path | BinaryIO,
    gold_options: ReadOptions | None = None,
    pred_options: ReadOptions | None = None,
    *,
    strict_tags: bool = False,
) -> Pair:
    """Read gold and prediction and bring them together; the prediction is read like gold unless told otherwise."""
    gold_reading = read(gold, gold_options, name=None if isinstance(gold, str | Path) else "gold")
    pred_reading = read(pred, pred_options or gold_options, name=None if isinstance(pred, str | Path) else "pred")
    return make_pair(gold_reading, pred_reading, strict_tags=strict_tags)
