"""The result of a run as `metrics.json`, ours and the one that Presidio's pipeline writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from clueval_xlsx.figures import Figures, InputFacts, SideFacts
from clueval_xlsx.options import LabelRules
from clueval_xlsx.outputs.json_values import WrittenScore, counts, json_text, missing, number, score_row, score_rows
from clueval_xlsx.scoring.scores import COUNTS
from clueval_xlsx.scoring.strict_relaxed import strict_against_relaxed

SCHEMA = 2


def to_json(evaluation: Figures, *others: Figures) -> str:
    """Ours: headline, score rows, and Presidio's figures under a key of their own.

    Layers that were evaluated by themselves share one file: every row then names its layer, and `layers` has the
    headline of each; the other keys speak of the first.
    """
    head = {"schema": SCHEMA, **_description(evaluation)}
    if others:
        head["layers"] = {
            part.layers[0]: {"signature": part.signature, "headline": score_row(part.headline.to_dict())}
            for part in (evaluation, *others)
        }
    head["presidio"] = {**presidio_part(evaluation), "confusion": _confusion(evaluation)}
    return json_text(head, {"scores": _rows(evaluation, *others)})


def presidio_json(evaluation: Figures) -> str:
    """The file that Presidio's pipeline writes, key by key, and ours below it."""
    ours = {"schema": SCHEMA, **_description(evaluation), "scores": msgspec.to_builtins(_rows(evaluation))}
    return json_text({**presidio_part(evaluation), "clueval": ours}, {})


def _rows(*parts: Figures) -> list[WrittenScore]:
    rows = {part.layers[0]: score_rows(part.scores) for part in parts}
    for layer, own in rows.items() if len(parts) > 1 else ():
        for row in own:
            row.layer = layer
    return [row for own in rows.values() for row in own]


def _description(evaluation: Figures) -> dict[str, Any]:
    """What was evaluated, and how it came out."""
    return {
        "signature": evaluation.signature,
        "inputs": {
            "gold": _describe(evaluation.inputs, evaluation.inputs.gold),
            "pred": _describe(evaluation.inputs, evaluation.inputs.pred),
        },
        "headline": score_row(evaluation.headline.to_dict()),
        **_label_part(evaluation),
        "notes": list(evaluation.notes),
    }


def _describe(inputs: InputFacts, side: SideFacts) -> dict[str, Any]:
    return {
        "path": side.name,
        "sha256": side.sha256,
        "documents": inputs.documents,
        "sentences": inputs.sentences,
        "tokens": inputs.tokens,
        "spans": side.spans,
        "orphans": dict(side.orphans),
    }


def _label_part(evaluation: Figures) -> dict[str, Any]:
    """What was done to labels, and strict against relaxed; nothing if nothing was asked for."""
    if evaluation.options.labels == LabelRules():
        return {}
    part: dict[str, Any] = {"labels": evaluation.alignment.describe()}
    relaxed = strict_against_relaxed(evaluation.scores)
    if len(relaxed):
        part["strict_relaxed"] = [_strict_relaxed(row) for row in relaxed.to_dict("records")]
    return part


def _strict_relaxed(row: Mapping[Any, Any]) -> dict[str, Any]:
    """One row: counts and rates of both, and what distinguishes them."""
    written = {name: None if missing(value) else value for name, value in row.items()}
    for state in ("strict", "relaxed", "difference"):
        known = counts({**row, **{name: row[f"{name}_{state}"] for name in COUNTS}})
        written |= {f"{name}_{state}": value for name, value in known.items()}
    return written


def _confusion(evaluation: Figures) -> dict[str, dict[str, int]] | None:
    """By type of gold, then by type of the predictions; `O` is none."""
    if (counts := evaluation.presidio_confusion) is None:
        return None
    found: dict[str, dict[str, int]] = {}
    for (gold, pred), count in sorted(counts.items()):
        found.setdefault(gold, {})[pred] = count
    return found


def presidio_part(evaluation: Figures) -> dict[str, Any]:
    """What Presidio's pipeline reports: any type and by type, F2 under the name of F1."""
    rows = evaluation.presidio
    overall = rows[rows["labelled"].isna() & rows["layer"].isna()].iloc[0]
    found = {name: number(overall[name]) for name in ("precision", "recall", "f_beta")}
    found_somewhere = (rows["gold"] > 0) | (rows["pred"] > 0)
    by_type = rows[rows["labelled"].notna() & rows["label"].notna() & found_somewhere]
    documents = evaluation.inputs.documents
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
