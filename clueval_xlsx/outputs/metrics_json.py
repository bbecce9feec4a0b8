"""The result of a run as `metrics.json`; numbers are not rounded, what is not defined is null."""

from __future__ import annotations

import json
import math
from typing import Any

from clueval_xlsx.corpus.annotation import Annotation
from clueval_xlsx.corpus.label_rules import LabelRules
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.scoring.scores import COUNTS, RATES
from clueval_xlsx.scoring.strict_relaxed import strict_against_relaxed

SCHEMA = 1


def metrics(evaluation: Evaluation) -> dict[str, Any]:
    """Everything the JSON file holds, as plain dicts and lists."""
    return {
        "schema": SCHEMA,
        "signature": evaluation.signature,
        "inputs": {
            "gold": _describe(evaluation, evaluation.pair.gold),
            "pred": _describe(evaluation, evaluation.pair.pred),
        },
        "headline": score_row(evaluation.headline.to_dict()),
        "scores": [score_row(row) for row in evaluation.scores.to_dict("records")],
        **_label_part(evaluation),
        "notes": list(evaluation.notes),
        **_presidio_part(evaluation),
    }


def to_json(evaluation: Evaluation, *others: Evaluation) -> str:
    """The JSON text, one score row a line so that it can be read and compared.

    Layers that were evaluated by themselves share one file: every row then names its layer.
    """
    content = metrics(evaluation)
    rows = content.pop("scores")
    if others:  # each layer has its own headline; the keys above speak of the first
        content["layers"] = {
            part.pair.layers[0]: {"signature": part.signature, "headline": score_row(part.headline.to_dict())}
            for part in (evaluation, *others)
        }
    for part in others:
        rows += [score_row(row) for row in part.scores.assign(layer=part.pair.layers[0]).to_dict("records")]
    if others:
        rows[: len(evaluation.scores)] = [
            {**row, "layer": evaluation.pair.layers[0]} for row in rows[: len(evaluation.scores)]
        ]
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    lines = ",\n  ".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return f'{text[:-2]},\n "scores": [\n  {lines}\n ]\n}}\n'


def score_row(row: dict[Any, Any]) -> dict[str, Any]:
    """One score row the way metrics.json lays it out."""
    interval = {
        name: [row[f"{name}_low"], row[f"{name}_high"]] for name in RATES if not _missing(row.get(f"{name}_low"))
    }
    written: dict[str, Any] = {
        name: None if _missing(row[name]) else row[name]
        for name in ("scheme", "variant", "level", "labelled", "layer", "label", "average")
    }
    written["group"] = None if _missing(row["group_key"]) else {row["group_key"]: row["group"]}
    written.update({name: number(row[name], whole=True) for name in COUNTS})
    written.update({name: number(row[name]) for name in RATES})
    written["interval"] = interval or None
    if isinstance(row.get("counts"), dict):
        written["counts"] = row["counts"]
    return written


def number(value: Any, *, whole: bool = False) -> float | int | None:
    """A number for JSON: null if undefined, an integer where it is a whole count."""
    if _missing(value):
        return None
    return int(value) if whole and float(value).is_integer() else float(value)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _describe(evaluation: Evaluation, side: Annotation) -> dict[str, Any]:
    corpus = evaluation.pair.corpus
    return {
        "path": side.source.name,
        "sha256": side.source.sha256,
        "documents": len(corpus.documents),
        "sentences": len(corpus.breaks),
        "tokens": len(corpus),
        "spans": len(side.spans),
        "orphans": dict(side.orphans),
    }


def _label_part(evaluation: Evaluation) -> dict[str, Any]:
    """What was done to labels, and strict against relaxed; nothing if nothing was asked for."""
    if evaluation.options.labels == LabelRules():
        return {}
    part: dict[str, Any] = {"labels": evaluation.alignment.describe()}
    relaxed = strict_against_relaxed(evaluation.scores)
    if len(relaxed):
        part["strict_relaxed"] = [
            {name: None if _missing(value) else value for name, value in row.items()}
            for row in relaxed.to_dict("records")
        ]
    return part


def _presidio_part(evaluation: Evaluation) -> dict[str, Any]:
    """The keys that readers of the Presidio pipeline look for, from scheme `iou` at 0.9, F2 under the name of F1."""
    rows = evaluation.presidio
    overall = rows[rows["labelled"].isna() & rows["layer"].isna()].iloc[0]
    found = {name: number(overall[name]) for name in ("precision", "recall", "f_beta")}
    by_type = rows[rows["labelled"].notna() & rows["label"].notna()]
    documents = len(evaluation.pair.corpus.documents)
    discarded = len(evaluation.alignment.discarded)
    return {
        "precision": found["precision"],
        "recall": found["recall"],
        "f1_score": found["f_beta"],
        "details": {
            "pii_precision": found["precision"],
            "pii_recall": found["recall"],
            "pii_f1_score": found["f_beta"],
            "entity_precision_dict": {row["label"]: number(row["precision"]) for _, row in by_type.iterrows()},
            "entity_recall_dict": {row["label"]: number(row["recall"]) for _, row in by_type.iterrows()},
            "total_samples": documents,
            "samples_evaluated": documents - discarded,
            "samples_discarded": discarded,
        },
    }
