"""How much of known damage to gold is found early in order of suspicion, against the order of the text and chance.

python -m tests.simulation.suspicion           ler-dev, 2, 5 and 10 % damaged, ten seeds each
python -m tests.simulation.suspicion 3         as many seeds
"""

from __future__ import annotations

import sys

import numpy as np

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.samples import span_components
from clueval_xlsx.cases.suspicion import CasePlaces
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.options import Options
from tests.simulation.damage import LAYER, Damaged, damage, read_ler
from tests.support.folders import NO_DATA, data_folder

SHARES = (0.02, 0.05, 0.10)
JUDGED = (0.10, 0.20, 0.40)
SEEDS = 10


def found_shares(damaged: Damaged, seed: int) -> dict[str, list[float]]:
    """The share of the damages among the cases that is found after judging each part of both sheets.

    Linked cases show one disagreement, of which one is judged: they count once, on the sheet of misses. `ranked` is
    suspicion by itself, `suspicion` the order as it is shown, with the random sample among the first.
    """
    options = Options(level="exact", labelled=LAYER, replicates=0, seed=seed)
    result = evaluate(damaged.pair, options).with_order("suspicion")
    assert result.order is not None
    dice = np.random.default_rng(seed)
    pair = damaged.pair
    components = span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start)
    known = np.empty(0, dtype=np.int64)
    seen: dict[str, list[list[int]]] = {}
    for sheet, side, wrong, component in zip((FN, FP), result.strict.sides, result.errors, components, strict=True):
        rows = np.flatnonzero(wrong)
        places = CasePlaces.of(rows, side, of_gold=sheet == FN)
        hit, unit = damaged.hits(places.start, places.end), component[rows]
        order = result.order.sheets[sheet]
        orders = {"ranked": order.ranked, "suspicion": order.shown, "place": np.arange(len(hit))}
        for name, shown in {**orders, "chance": dice.permutation(len(hit))}.items():
            first = np.sort(np.unique(unit[shown], return_index=True)[1])  # each unit where it is met first
            own = shown[first][~np.isin(unit[shown[first]], known)]
            parts = [hit[own[: round(part * len(own))]].tolist() for part in (*JUDGED, 1.0)]
            before = seen.get(name, [[] for _ in parts])
            seen[name] = [[*old, *new] for old, new in zip(before, parts, strict=True)]
        known = np.union1d(known, unit)
    return {
        name: [len(set(part) - {-1}) / max(len(set(parts[-1]) - {-1}), 1) for part in parts[:-1]]
        for name, parts in seen.items()
    }


def table(pair: Pair, share: float, seeds: int) -> dict[str, np.ndarray]:
    """The mean over seeded damages."""
    runs = [found_shares(damage(pair, share, seed), seed) for seed in range(seeds)]
    return {name: np.mean([run[name] for run in runs], axis=0) for name in runs[0]}


def main() -> None:
    """Print the table."""
    folder = data_folder()
    if folder is None:
        raise SystemExit(NO_DATA)
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    pair = read_ler(folder)
    print(f"share of the damage found, {seeds} seeds, level exact with labels\ndamage  order      " + "".join(
        f"{part:>8.0%}" for part in JUDGED))  # fmt: skip
    for share in SHARES:
        for name, found in table(pair, share, seeds).items():
            print(f"{share:>6.0%}  {name:10}" + "".join(f"{value:8.3f}" for value in found), flush=True)


if __name__ == "__main__":
    main()
