"""One line a run in a history file, from which a trend can be read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.figures import Figures
from clueval_xlsx.outputs.json_values import score_row
from clueval_xlsx.views.scores import RateView
from clueval_xlsx.views.trend import PastRun

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
        "headline": score_row(evaluation.headline.to_dict()),
        "gates": list(gates),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


def read_history(text: str, name: str) -> list[dict[str, Any]]:
    """The runs of a history file; a line that is none is an error."""
    runs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            run = json.loads(line)
            known = isinstance(run, dict) and run.get("schema") == SCHEMA and isinstance(run.get("headline"), dict)
        except (ValueError, RecursionError):
            known = False
        if not known:
            raise InputError(
                f"{name}:{number}: is no line of a history. Allowed: what `--history` wrote. Give another file."
            )
        runs.append(run)
    return runs


def past_runs(text: str, name: str) -> tuple[PastRun, ...]:
    """The runs of a history file as views show them; those of compared systems are left aside."""
    found = []
    for run in read_history(text, name):
        if run.get("system") is None:
            headline = run["headline"]
            model = PurePath(str(run.get("pred", {}).get("path", ""))).name
            rates = (_rate(headline, rate) for rate in ("recall", "precision"))
            found.append(PastRun(str(run.get("time", "")), model, str(run.get("signature", "")), *rates))
    return tuple(found)


def _rate(headline: dict[str, Any], name: str) -> RateView:
    low, high = (headline.get("interval") or {}).get(name) or (None, None)
    return RateView(*(float("nan") if value is None else float(value) for value in (headline.get(name), low, high)))
