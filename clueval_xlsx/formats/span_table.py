"""Span tables (TSV, CSV, XLSX): pre-computed spans, one a row, on the text of another file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import layers_of, positions, same_extents
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.workbooks import WORKBOOKS, Kind, kind_of
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.tables.cells import SCORE_COLUMN, WORKBOOK_START, SpanTable, is_span_table, read_cells
from clueval_xlsx.formats.tables.placing import place
from clueval_xlsx.formats.tables.workbook import new_workbook
from clueval_xlsx.options import ReadOptions


def tell(opened: OpenedSource) -> bool:
    """Whether a file is a workbook, or its first line the header of a table of spans."""
    if opened.head.startswith(WORKBOOK_START):
        return kind_of(opened.data) in WORKBOOKS - {Kind.DAMAGED, Kind.ODS}
    return is_span_table(opened.first_line)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the spans and put them on their text."""
    return place_on(read_cells(opened.data, opened.name, options), opened.base)


def place_on(table: SpanTable, base: Reading | None) -> Reading:
    """Put the spans of a table on their text, which must be there."""
    if base is None:
        raise OptionError(
            f"{table.name}: a span table needs the text it belongs to. Give it with --text FILE (a .vrt, or the "
            "source of the character offsets), or let the other side be that file."
        )
    return place(table, base)


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new table, in the form that the ending asks for."""
    rows, ending = same_extents(layers), PurePath(how.name).suffix.lower()
    if ending == ".xlsx":
        return {how.name: span_workbook(rows, reading.corpus, reading.annotation.scores)}
    text = span_table(rows, reading.corpus, "," if ending == ".csv" else "\t", reading.annotation.scores)
    return {how.name: text.encode("utf-8", "replace")}


def span_frame(spans: pd.DataFrame, corpus: Corpus, scores: pd.DataFrame | None = None) -> pd.DataFrame:
    """The spans of one sequence with everything that helps to find them again.

    Tokens of running text depend on what it was compared with, so there the table has character offsets instead
    of positions.
    """
    start, end = positions(spans)
    table = pd.DataFrame({"doc_id": [corpus.doc_ids[index] for index in corpus.document_of(start).tolist()]})
    if corpus.char_start is not None and corpus.char_end is not None:
        table["char_start"], table["char_end"] = corpus.char_start[start], corpus.char_end[end]
    else:
        table["start"], table["end"] = start, end
    if corpus.token_ids is not None:
        table["start_id"] = corpus.token_ids.take(start)
        table["end_id"] = corpus.token_ids.take(end)
    for layer in layers_of(spans):
        table[layer] = spans[layer].astype(object)
    if scores is not None:
        known = dict(zip(zip(*positions(scores), strict=True), scores["score"], strict=True))
        own = [known.get(extent) for extent in zip(start, end, strict=True)]
        table[SCORE_COLUMN] = pd.Series(own, dtype=object)
    table["text"] = corpus.texts(start, end)
    return table


def span_table(spans: pd.DataFrame, corpus: Corpus, separator: str = "\t", scores: pd.DataFrame | None = None) -> str:
    """The table as text; exact, nothing escaped."""
    return span_frame(spans, corpus, scores).to_csv(sep=separator, index=False, lineterminator="\n")


def span_workbook(spans: pd.DataFrame, corpus: Corpus, scores: pd.DataFrame | None = None) -> bytes:
    """The table as a workbook."""
    table = span_frame(spans, corpus, scores).astype(object)
    table = table.where(table.notna(), "")
    return new_workbook([list(table.columns), *([str(cell) for cell in row] for row in table.to_numpy().tolist())])
