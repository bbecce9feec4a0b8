"""A sweep over thresholds as JSON: one row a threshold; numbers are not rounded, what is not defined is null."""

from __future__ import annotations

from typing import Any

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.json_values import json_text, number
from clueval_xlsx.scoring.scores import RATES
from clueval_xlsx.scoring.thresholds import COUNTS, Thresholds

SCHEMA = 1


def sweep_json(evaluation: Evaluation, found: Thresholds, least: float) -> str:
    """Every threshold, and the one that was chosen for this least recall."""
    chosen = found.highest_with_recall(least)
    rows = [_row(found, place) for place in range(len(found.threshold))]
    head = {
        "schema": SCHEMA,
        "signature": evaluation.signature,
        "inputs": {
            name: {"path": side.source.name, "sha256": side.source.sha256}
            for name, side in (("gold", evaluation.pair.gold), ("pred", evaluation.pair.pred))
        },
        "least_recall": least,
        "chosen": None if chosen is None else rows[chosen],
        "constant": found.constant,
        "unscored": found.unscored,
        "notes": list(evaluation.notes),
    }
    return json_text(head, {"thresholds": rows})


def _row(found: Thresholds, place: int) -> dict[str, Any]:
    row: dict[str, Any] = {"threshold": float(found.threshold[place])}
    row |= {name: int(found.counts[name][place]) for name in COUNTS}
    row |= {"fn": row["gold"] - row["tp_gold"], "fp": row["pred"] - row["tp_pred"]}
    row |= {name: number(float(found.rates[name][place])) for name in RATES}
    between = {name: [float(side[place]) for side in found.bounds[name]] for name in RATES}
    known = {name: pair for name, pair in between.items() if number(pair[0]) is not None}
    return {**row, "interval": known or None}
