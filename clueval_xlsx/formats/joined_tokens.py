"""Files of tokens as one corpus: put together as vertical text, corrected there, and each written back by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import pandas as pd

from clueval_xlsx.corpus.reading import annotate
from clueval_xlsx.corpus.token_reading import TokenReading
from clueval_xlsx.formats.columns.reader import read_columns
from clueval_xlsx.formats.columns.token_format import TokenFormat
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.vrt import vertical_text
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.entities import written_token


def join_tokens(
    parts: Sequence[TokenReading],
    ids: Sequence[Sequence[str]],
    names: Sequence[str],
    others: Mapping[str, bytes],
    name: str,
) -> TokenReading:
    """One reading of several, whose documents get these IDs; corrected, it gives all files, `others` as they are."""
    layers = list(parts[0].layers)
    text = "".join(_with_ids(part, own) for part, own in zip(parts, ids, strict=True)).encode("utf-8", "replace")
    columns = {layer: column for column, layer in enumerate(layers, 2)}
    settings = TokenFormat(ReadOptions(layers=columns, document_tag=parts[0].corpus.document_tag))
    reading = read_columns(OpenedSource(name, text), settings)
    bounds = list(pairwise(accumulate((len(part.corpus) for part in parts), initial=0)))

    def split(whole: bytes) -> dict[str, bytes]:
        frames = annotate(read_columns(OpenedSource(name, whole), settings)).layers
        files = dict(others)
        for part, path, (first, stop) in zip(parts, names, bounds, strict=True):
            own = annotate(part).layers if whole == text else {key: _cut(frames[key], first, stop) for key in frames}
            (files[path],) = part.correct(own).values()
        return files

    source = replace(parts[0].source, name=name)
    return replace(reading, source=source, notes=tuple(note for part in parts for note in part.notes), split=split)


def _with_ids(part: TokenReading, ids: Sequence[str]) -> str:
    """The tokens and tags of a part as vertical text, its documents called so."""
    given = iter(ids)
    opening = re.compile(rf'^<{re.escape(part.corpus.document_tag)}(?: id="[^"]*")?(?=[ >])', re.MULTILINE)
    text = vertical_text(part.corpus, annotate(part).layers)
    return opening.sub(lambda _: f'<{part.corpus.document_tag} id="{written_token(next(given), quote=True)}"', text)


def _cut(frame: pd.DataFrame, first: int, stop: int) -> pd.DataFrame:
    """The spans of one part, on its own positions."""
    own = frame[(frame["start"] >= first) & (frame["start"] < stop)].reset_index(drop=True)
    return own.assign(start=own["start"] - first, end=own["end"] - first)
