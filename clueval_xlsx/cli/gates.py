"""Gates for pipelines: rates that a run must reach, listed with what was wanted and what came out."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clueval_xlsx.evaluation import Evaluation

FAILED = 4  # exit code: done, but a gate failed
_RATES = ("precision", "recall", "f1", "f_beta")
_GATE = re.compile(
    rf"(?P<rate>{'|'.join(_RATES)})(?P<bound>\.low|\.high)?(?:\[(?P<label>.+)\])?=(?P<least>[0-9.]+)(?P<per_cent>%?)"
)


@dataclass(frozen=True)
class Gate:
    """The least that a rate of the headline, or of one label there, may be; or its lower or upper bound."""

    text: str
    rate: str
    bound: str
    label: str | None
    least: float


class GateType(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """`RATE=VALUE`, `RATE.low=VALUE` or `RATE[LABEL]=VALUE`."""

    name = "RATE=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Gate:
        """Read a gate such as recall.low=0.93."""
        if isinstance(value, Gate):
            return value
        found = _GATE.fullmatch(str(value).replace(" ", ""))
        try:
            least = float(found["least"]) / (100 if found["per_cent"] else 1) if found else -1.0
        except ValueError:
            least = -1.0
        if found is None or not 0 <= least <= 1:
            self.fail(
                f"{value!r} is no gate. Allowed: RATE=VALUE with one of {', '.join(_RATES)} and a value from 0 to 1, "
                "such as recall=0.95, recall.low=0.93 for the lower bound, or recall[PERSON]=0.99 for a label.",
                param,
                ctx,
            )
        text = str(value).partition("=")[0].strip()
        return Gate(text, found["rate"], (found["bound"] or "").replace(".", "_"), found["label"], least)


fail_under = click.option(
    "--fail-under",
    "gates",
    type=GateType(),
    multiple=True,
    help="End with exit code 4 if this rate of the headline is lower: recall=0.95, recall.low=0.93 (the lower bound), "
    "recall[PERSON]=0.99; repeatable.",
)


def check_gates(results: Sequence[Evaluation], gates: Sequence[Gate]) -> None:
    """Say how every gate came out; one that failed ends the command with its own exit code, when all is done."""
    from clueval_xlsx.cli.console import say

    failed = False
    for gate in gates:
        for result in results:
            where = f" ({result.pair.layers[0]})" if len(results) > 1 else ""
            got = _reached(result, gate)
            passed = got is not None and got >= gate.least
            failed |= not passed
            shown = "n/a" if got is None else f"{got:.4f}"
            say(
                f"Gate {gate.text}{where}: wanted at least {gate.least:g}, got {shown}: {'ok' if passed else 'failed'}."
            )
    if failed:
        click.get_current_context().exit(FAILED)


def _reached(result: Evaluation, gate: Gate) -> float | None:
    """What a gate looks at; None where there is no such label, or the rate is not defined."""
    row = result.headline
    if gate.label is not None:
        options = result.options
        rows = result.select(scheme="clueval", level=options.level, labelled=options.labelled, group_key=None)
        rows = rows[rows["label"] == gate.label]
        if rows.empty:
            return None
        row = rows.iloc[0]
    value = float(row[gate.rate + gate.bound])
    return None if math.isnan(value) else value
