"""Spans as a table: positions, token IDs or character offsets, labels and words, one span a row."""

from __future__ import annotations

import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import layers_of, positions


def span_frame(spans: pd.DataFrame, corpus: Corpus) -> pd.DataFrame:
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
    table["text"] = corpus.texts(start, end)
    return table


def span_table(spans: pd.DataFrame, corpus: Corpus, separator: str = "\t") -> str:
    """The table as text; exact, nothing escaped."""
    return span_frame(spans, corpus).to_csv(sep=separator, index=False, lineterminator="\n")


def span_workbook(spans: pd.DataFrame, corpus: Corpus) -> bytes:
    """The table as a workbook."""
    from clueval_xlsx.formats.table_edit import workbook_of

    table = span_frame(spans, corpus).astype(object)
    table = table.where(table.notna(), "")
    return workbook_of([list(table.columns), *([str(cell) for cell in row] for row in table.to_numpy().tolist())])
