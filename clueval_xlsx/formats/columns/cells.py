"""The columns of a new token file, and where its documents begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import label_list, positions
from clueval_xlsx.corpus.tags import encode
from clueval_xlsx.exceptions import InputError


def tag_cells(corpus: Corpus, layers: Mapping[str, pd.DataFrame], what: str, separators: str) -> list[list[str]]:
    """The tags of each layer; a label with a separator of the format in it would be read as another."""
    columns = []
    for layer, spans in layers.items():
        labels = label_list(spans[layer])
        for label in labels:
            if label is not None and re.search(separators, label):
                raise InputError(
                    f"layer {layer}: label {label!r} has white space in it that {what} cannot hold. Rename it first."
                )
        columns.append(encode(*positions(spans), labels, len(corpus)))
    return columns


def document_bounds(corpus: Corpus) -> Iterator[tuple[int, int]]:
    """The first position of each document and the one behind its last."""
    return zip(corpus.documents.start.tolist(), corpus.documents.stop.tolist(), strict=True)
