"""UIMA CAS as XMI (`.xmi`): one document a file; new ones are written by dkpro-cassis."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.formats.cas.reader import read_cas_file
from clueval_xlsx.formats.cas.writer import document_files, xmi_of
from clueval_xlsx.formats.cas.xmi import looks_like_xmi, read_xmi
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.options import ReadOptions


def tell(opened: OpenedSource) -> bool:
    """Whether the root element is that of XMI."""
    return looks_like_xmi(opened.head)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read one CAS."""
    return read_cas_file(opened, read_xmi(opened.data, opened.name), format_named("cas"), options)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file, or one for each document."""
    return document_files(reading, layers, how, ".xmi", xmi_of)
