"""Pairwise agreement as JSON; numbers are not rounded, what is not defined is null."""

from __future__ import annotations

from typing import Any

from clueval_xlsx.outputs.json_values import json_text, number, score_row
from clueval_xlsx.pairwise_agreement import AgreeingPair, PairwiseAgreement
from clueval_xlsx.scoring.levels import LEVELS

SCHEMA = 1


def pairwise_agreement_json(found: PairwiseAgreement) -> str:
    """Who was compared, a matrix of F1 for each level, who stands apart, and the score rows of every pair."""
    apart = found.apart
    head = {
        "schema": SCHEMA,
        "compared": [
            {"name": name, "path": reading.source.name, "sha256": reading.source.sha256}
            for name, reading in zip(found.names, found.readings, strict=True)
        ],
        "level": found.options.level,
        "labelled": found.options.labelled,
        "apart": None if apart is None else {"name": apart.name, "f1": apart.own, "f1_of_others": apart.others},
        "matrices": [
            {"level": level, "labelled": labelled, "f1": _matrix(found, level, labelled)}
            for labelled in (None, *found.layers)
            for level in LEVELS
        ],
    }
    return json_text(head, {"pairs": [_pair(pair) for pair in found.pairs]})


def _matrix(found: PairwiseAgreement, level: str, labelled: str | None) -> list[list[float | None]]:
    return [[number(value) for value in row] for row in found.matrix(level, labelled).to_numpy().tolist()]


def _pair(pair: AgreeingPair) -> dict[str, Any]:
    result = pair.evaluation
    return {
        "first": pair.first,
        "second": pair.second,
        "documents": 0 if result is None else len(result.pair.corpus.documents),
        "signature": None if result is None else result.signature,
        "scores": [] if result is None else [score_row(row) for row in result.scores.to_dict("records")],
        "notes": [] if result is None else list(result.notes),
    }
