"""One line a run in a history file, from which a trend can be read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.figures import Figures
from clueval_xlsx.outputs.baseline import what_is_wrong
from clueval_xlsx.outputs.json_results import score_row
from clueval_xlsx.outputs.json_structs import ScoreRow

SCHEMA = 2


def history_line(evaluation: Figures, when: str, gates: Sequence[dict[str, Any]], system: str | None = None) -> str:
    """What is remembered of a run: when, what was compared how, its headline, and how its gates came out."""
    gold, pred = evaluation.inputs.gold, evaluation.inputs.pred
    content = {
        "schema": SCHEMA,
        "time": when,
        "signature": evaluation.signature,
        "system": system,
        "gold": {"path": gold.name, "sha256": gold.sha256},
        "pred": {"path": pred.name, "sha256": pred.sha256},
        "headline": msgspec.to_builtins(score_row(evaluation.headline)),
        "gates": list(gates),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


class HistoryLine(msgspec.Struct):
    """What is read back of a line."""

    schema: Literal[2]
    headline: ScoreRow
    time: str = ""
    signature: str = ""
    system: str | None = None
    pred: dict[str, Any] = {}


def read_history(text: str, name: str) -> list[HistoryLine]:
    """The runs of a history file; a line that is none is an error."""
    runs = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            runs.append(msgspec.convert(json.loads(line), HistoryLine))
        except (ValueError, RecursionError) as error:
            what = what_is_wrong(error) if isinstance(error, msgspec.ValidationError) else "not valid JSON"
            raise InputError(
                f"{name}:{number}: is no line of a history: {what}. Allowed: what `--history` wrote. Give another file."
            ) from None
    return runs
