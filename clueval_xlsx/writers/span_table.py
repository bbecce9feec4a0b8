"""Spans as a table: positions, token IDs, labels and words, one span a row."""

from __future__ import annotations

import pandas as pd

from clueval_xlsx.corpus import Corpus
from clueval_xlsx.spans import layers_of, positions


def span_table(spans: pd.DataFrame, corpus: Corpus, separator: str = "\t") -> str:
    """The spans of one sequence with everything that helps to find them again; exact, nothing escaped."""
    start, end = positions(spans)
    table = pd.DataFrame(
        {"doc_id": [corpus.doc_ids[index] for index in corpus.document_of(start).tolist()], "start": start, "end": end}
    )
    if corpus.token_ids is not None:
        table["start_id"] = corpus.token_ids.take(start.tolist())
        table["end_id"] = corpus.token_ids.take(end.tolist())
    for layer in layers_of(spans):
        table[layer] = spans[layer].astype(object)
    table["text"] = [corpus.text(first, last) for first, last in zip(start.tolist(), end.tolist(), strict=True)]
    return table.to_csv(sep=separator, index=False, lineterminator="\n")
