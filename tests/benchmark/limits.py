"""What must hold: ratios of two rows of the same run, growth with the data, peak memory, seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tests.benchmark.rows import COPIES, Measurement

Results = Mapping[tuple[str, str], Mapping[int, Measurement]]  # group and name of a row -> copies -> what it took
RATIO, GROWTH, MEGABYTES, SECONDS = "ratio", "growth", "MB", "s"


@dataclass(frozen=True)
class Limit:
    """One thing that must hold for a row of ours, on some sizes; a ratio also names the row of the other."""

    what: str
    group: str
    name: str
    kind: str
    most: float
    against: str = ""  # of the same group
    sizes: tuple[int, ...] = COPIES


@dataclass(frozen=True)
class Verdict:
    """What was found on one size."""

    limit: Limit
    size: int
    found: float

    @property
    def kept(self) -> bool:
        return self.found <= self.limit.most

    def __str__(self) -> str:
        kind = "" if self.limit.kind in (RATIO, GROWTH) else f" {self.limit.kind}"
        sentence = (
            f"{self.limit.what:62}{f'{self.size} x':>6}{self.found:9.2f}{kind:3}   at most {self.limit.most:g}{kind}"
        )
        return f"{sentence:96} {'' if self.kept else 'NOT KEPT'}".rstrip()


SCORE = "ours: four levels, with and without labels"
SEQEVAL = "seqeval precision_recall_fscore_support"
LIMITS = (
    Limit("score from parsed tags : seqeval", "score from tags", SCORE, RATIO, 0.15, SEQEVAL),
    Limit(
        "twins, order and unmarked passages : the run with them",
        "twins, order, unmarked", "ours: they alone", RATIO, 0.2, "ours: evaluate with all of them, every case",
    ),
    Limit(
        "read and check a .vrt : pandas' C parser",
        "read gold", "ours: tokens, IDs, both layers, checks", RATIO, 0.5,
        "pandas' C parser: four columns of strings", sizes=(10,),
    ),
    Limit(
        "evaluate --json, the whole command : pandas reading both files",
        "whole command", "ours: evaluate --json", RATIO, 1.0, "pandas' C parser: both files", sizes=(10,),
    ),
    Limit(
        "score on the example : import pandas",
        "start", "ours: score on the example", RATIO, 1.5, "import pandas", sizes=(1,),
    ),
    Limit(
        "workbook with all cases : XlsxWriter with the same calls",
        "workbook", "ours: all sheets, level exact", RATIO, 1.2, "XlsxWriter alone, the same calls replayed",
    ),
    Limit(
        "evaluate --sample 500 : the same without contexts of the rest",
        "sample", "ours: evaluate --sample 500", RATIO, 1.1, "ours: without contexts of the rest", sizes=(10,),
    ),
    Limit(
        "re-import : openpyxl reading the rows",
        "re-import", "ours: read, checked, decided, matched anew, corrected file", RATIO, 0.2,
        "openpyxl: reading the rows alone", sizes=(10,),
    ),
    Limit("ten times the data, score", "command", "ours: score, both layers merged, with intervals", GROWTH, 10.5),
    Limit("ten times the data, a sample", "command", "ours: evaluate --level exact --sample 5000", GROWTH, 10.5),
    Limit("ten times the data, the workbook", "command", "ours: evaluate --level exact -o review.xlsx", GROWTH, 10.5),
    Limit(
        "20 million tokens with --sample 5000",
        "command", "ours: evaluate --level exact --sample 5000", MEGABYTES, 3000, sizes=(COPIES[-1],),
    ),
    Limit("--help", "start", "ours: --help", SECONDS, 0.15, sizes=(1,)),
)  # fmt: skip


def verdicts(results: Results) -> Iterator[Verdict]:
    """What holds and what does not, of what was measured."""
    for limit in LIMITS:
        ours = results.get((limit.group, limit.name), {})
        for size, found in _found(limit, ours, results.get((limit.group, limit.against), {})):
            yield Verdict(limit, size, found)


def _found(
    limit: Limit, ours: Mapping[int, Measurement], other: Mapping[int, Measurement]
) -> Iterator[tuple[int, float]]:
    """Sizes and figures of one limit."""
    if limit.kind == GROWTH:
        for small, large in pairwise(ours):  # for ten times as much, whatever the step
            yield large, ours[large].seconds / ours[small].seconds * 10 * small / large
        return
    for size in limit.sizes:
        if size not in ours or (limit.kind == RATIO and size not in other):
            continue
        if limit.kind == RATIO:
            yield size, ours[size].seconds / other[size].seconds
        else:
            yield size, ours[size].megabytes if limit.kind == MEGABYTES else ours[size].seconds
