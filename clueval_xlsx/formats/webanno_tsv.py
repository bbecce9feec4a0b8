"""WebAnno TSV 3 (`.tsv`), as INCEpTION and WebAnno export it: one document a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.formats.cas.reader import CasDocument, read_cas
from clueval_xlsx.formats.cas.webanno import looks_like_webanno, read_webanno
from clueval_xlsx.formats.cas.webanno_writer import webanno_text
from clueval_xlsx.formats.cas.writer import document_files
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.options import ReadOptions


def tell(opened: OpenedSource) -> bool:
    """Whether the first line says so."""
    return looks_like_webanno(opened.first_line)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read one document."""
    name, raw = opened.name, opened.data
    content = read_webanno(raw, name)
    path = PurePath(name).name
    return read_cas(
        [CasDocument(None, {path: content}, content.text)],
        Source(name, "webanno", digest(raw)),
        format_named("webanno"),
        options,
        lambda corrected: {path: raw, **corrected},
    )


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file, or one for each document."""
    return document_files(reading, layers, how, ".tsv", lambda document: webanno_text(document).encode("utf-8"))
