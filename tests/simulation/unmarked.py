"""Of spans that were deleted on both sides, how many the unmarked passages bring back, and what one find costs.

python -m tests.simulation.unmarked            ler-dev and ler-dev in long documents, 2, 5 and 10 % deleted, ten seeds
python -m tests.simulation.unmarked 3          as many seeds
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from clueval_xlsx.cases.unmarked import UnmarkedOptions
from clueval_xlsx.corpus.corpus import Regions
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.options import Options
from tests.simulation.damage import delete_on_both_sides, read_ler
from tests.support.folders import NO_DATA, data_folder

SHARES = (0.02, 0.05, 0.10)
LEAST = (0.3, 0.5, 0.8)
SEEDS = 10
_TOGETHER = 20  # documents that are put together, so that names recur in them as they do in decisions


def found(pair: Pair, share: float, least: float, seed: int) -> tuple[int, int, int]:
    """How many were deleted, how many of them are listed with the right extent, and how many rows are listed."""
    damaged, deleted = delete_on_both_sides(pair, share, seed)
    passages = evaluate(damaged, Options(replicates=0)).with_unmarked(UnmarkedOptions(least=least)).unmarked
    assert passages is not None
    listed = set(zip(*(column.tolist() for column in positions(passages.spans)), strict=True))
    wanted = set(zip(*(column.tolist() for column in positions(deleted)), strict=True))
    return len(wanted), len(wanted & listed), len(listed)


def long_documents(pair: Pair) -> Pair:
    """The same text in fewer and longer documents."""
    documents = pair.corpus.documents
    first = np.arange(0, len(documents), _TOGETHER)
    last = np.minimum(first + _TOGETHER, len(documents)) - 1
    regions = Regions(documents.start[first], documents.stop[last], rows=[{} for _ in first])
    names = tuple(pair.corpus.doc_ids[place] for place in first.tolist())
    return replace(pair, corpus=replace(pair.corpus, documents=regions, doc_ids=names))


def main() -> None:
    """Print the table."""
    folder = data_folder()
    if folder is None:
        raise SystemExit(NO_DATA)
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    pair = read_ler(folder)
    print(f"{seeds} seeds\ndocuments       deleted  from chance  deleted  found   share  rows read  rows a find")
    for name, own in (("as they are", pair), ("20 together", long_documents(pair))):
        for share in SHARES:
            for least in LEAST:
                total = np.sum([found(own, share, least, seed) for seed in range(seeds)], axis=0)
                deleted, hits, rows = total / seeds
                cost = rows / hits if hits else float("nan")
                print(
                    f"{name:14}  {share:6.0%}  {least:11.0%}  {deleted:7.1f}  {hits:5.1f}  {hits / deleted:6.3f}"
                    f"  {rows:9.1f}  {cost:11.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
