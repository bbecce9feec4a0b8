"""Gold and prediction cut from one table that a person can read, and spans as plain tuples."""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.scoring.matching import MatchedSpans

SOUND = "Ann\tB-PER\tt1\nLee\tI-PER\tt2\nx\tO\tt3\n"  # a file with nothing wrong: tokens, tags, IDs


class Sides(NamedTuple):
    """The two files cut from one table."""

    gold: bytes
    pred: bytes


def cut(table: str) -> Sides:
    """Cut gold and prediction from one table.

    The first line names the columns. `gold…` and `pred…` go to one side each, everything else to both. Lines from
    `<` to `>` are structure and stand in both files, an empty line ends a sentence in both. Columns are separated
    by any white space in the table and by a tab in the files; `_` is an empty cell.

    >>> cut('''
    ...     token  gold   pred
    ...     <s>
    ...     Ann    B-PER  B-PER
    ...     Lee    I-PER  O
    ... ''').pred
    b'<s>\\nAnn\\tB-PER\\nLee\\tO\\n'
    """
    lines = [line.strip() for line in table.strip("\n").rstrip().splitlines()]
    header = lines[0].split()
    sides = []
    for own, other in (("gold", "pred"), ("pred", "gold")):
        kept = [index for index, name in enumerate(header) if not name.startswith(other) or name.startswith(own)]
        written = []
        for line in lines[1:]:
            cells = line.split()
            if line.startswith("<") and line.endswith(">"):
                written.append(line)
                continue
            written.append("\t".join("" if cells[index] == "_" else cells[index] for index in kept) if cells else "")
        sides.append(("\n".join(written) + "\n").encode("utf-8"))
    return Sides(*sides)


def pair_of(table: str | Sides, **options: object) -> Pair:
    """Read both sides of a table; keyword arguments are those of `ReadOptions`."""
    sides = cut(table) if isinstance(table, str) else table
    chosen = ReadOptions(**{"format": "vrt", **options})  # type: ignore[arg-type]
    readings = [read(io.BytesIO(side), chosen, name=name) for name, side in zip(("gold", "pred"), sides, strict=True)]
    return make_pair(*readings)


def spans_of(*spans: tuple[int, int] | tuple[int, int, str | None], layer: str = "span") -> pd.DataFrame:
    """A span frame from (start, end) or (start, end, label)."""
    start, end = np.array([span[0] for span in spans], int), np.array([span[1] for span in spans], int)
    return make_spans(start, end, {layer: [span[2] if len(span) > 2 else "X" for span in spans]})


def listed(spans: pd.DataFrame) -> list[tuple]:
    """A span frame as plain tuples, None where there is no label."""
    rows = spans.astype(object).where(spans.notna(), None)
    return [tuple(row) for row in rows.itertuples(index=False, name=None)]


def both_ways(gold: pd.DataFrame, pred: pd.DataFrame) -> tuple[MatchedSpans, MatchedSpans]:
    """Spans matched in both directions."""
    return MatchedSpans.of(gold, pred), MatchedSpans.of(pred, gold)
