"""A comparison of systems as JSON; numbers are not rounded, what is not defined is null."""

from __future__ import annotations

from typing import Any

from clueval_xlsx.comparison import IDENTITY, Comparison
from clueval_xlsx.outputs.json_values import json_text, number, score_row

SCHEMA = 2
_CASE_COLUMNS = ("case_id", "sheet", "document", "surface", "start", "end", "context")


def comparison_json(comparison: Comparison) -> str:
    """Everything that `compare` found, one row a line."""
    lists = {
        "metrics": [{"system": row["system"], **score_row(row)} for row in comparison.metrics.to_dict("records")],
        "differences": [_difference(row) for row in comparison.differences.to_dict("records")],
        "errors": [
            {"sheet": row["sheet"], "systems": list(row["systems"]), "count": row["count"]}
            for row in comparison.shared.to_dict("records")
        ],
        "cases": [_case(row, comparison.names) for row in comparison.errors.to_dict("records")],
    }
    head = {
        "schema": SCHEMA,
        "signature": comparison.signature,
        "systems": [
            {
                "name": system.name,
                "path": system.evaluation.pair.pred.source.name,
                "sha256": system.evaluation.pair.pred.source.sha256,
                "signature": system.evaluation.signature,
            }
            for system in comparison.systems
        ],
        "documents": len(comparison.documents),
        "notes": list(comparison.notes),
    }
    return json_text(head, lists)


def _difference(row: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: row[name] if isinstance(row[name], str) else None for name in IDENTITY}
    found.update({name: row[name] for name in ("rate", "first", "second")})
    found.update({name: number(row[name]) for name in ("first_value", "second_value", "difference")})
    low, high = number(row["low"]), number(row["high"])
    found["interval"] = None if low is None or high is None else [low, high]
    return {**found, "p": number(row["p"]), "p_holm": number(row["p_holm"])}


def _case(row: dict[Any, Any], names: list[str]) -> dict[str, Any]:
    found = {name: row[name] for name in _CASE_COLUMNS}
    found["labels"] = {key.removeprefix("label_"): row[key] for key in row if key.startswith("label_")}
    found["class"] = {name: row[f"class_{index}"] or None for index, name in enumerate(names)}
    return found
