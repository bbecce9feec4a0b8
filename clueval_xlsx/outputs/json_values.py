"""Values as every JSON file has them: counts are integers, what is not defined is null, nothing is rounded."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from clueval_xlsx.scoring.scheme_settings import gives_half_credit
from clueval_xlsx.scoring.scores import COUNTS, RATES, RIGHT_OR_WRONG


def missing(value: Any) -> bool:
    """Whether there is no value."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: Any) -> float | None:
    """A rate or a score; null if it is not defined."""
    return None if missing(value) else float(value)


def whole(value: Any) -> int | None:
    """A count; null where nothing was counted.

    >>> whole(3.0), whole(float("nan"))
    (3, None)
    """
    return None if missing(value) else int(value)


def counts(row: Mapping[Any, Any]) -> dict[str, int | None]:
    """The counts of a score row; where matches may be half right there are no whole true positives, and so none."""
    halves = gives_half_credit(row.get("scheme", ""), row.get("variant"))
    return {name: None if halves and name in RIGHT_OR_WRONG else whole(row[name]) for name in COUNTS}


def rates(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The rates of a score row, and the intervals that are known."""
    interval = {
        name: [row[f"{name}_low"], row[f"{name}_high"]] for name in RATES if not missing(row.get(f"{name}_low"))
    }
    return {**{name: number(row[name]) for name in RATES}, "interval": interval or None}


def score_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    """One score row the way metrics.json lays it out."""
    written: dict[str, Any] = {
        name: None if missing(row[name]) else row[name]
        for name in ("scheme", "variant", "level", "labelled", "layer", "label", "average")
    }
    written["group"] = None if missing(row["group_key"]) else {row["group_key"]: row["group"]}
    written |= counts(row) | rates(row)
    if isinstance(row.get("counts"), dict):
        written["counts"] = row["counts"]
    return written


def json_text(head: Mapping[str, Any], lists: Mapping[str, Sequence[Any]]) -> str:
    """An object whose lists have one item a line, so that it can be read and compared line by line."""
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False)[:-2]
    for name, rows in lists.items():
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
        text += f',\n "{name}": [\n  {lines}\n ]' if rows else f',\n "{name}": []'
    return f"{text}\n}}\n"
