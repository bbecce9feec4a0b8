"""Gates for pipelines: the options that say which rates a run must reach or keep, and where it is remembered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from clueval_xlsx.cli.parameters import group
from clueval_xlsx.exceptions import OptionError, did_you_mean

_RATES = ("precision", "recall", "f1", "f_beta")
_GATE = re.compile(
    rf"\s*(?P<rate>{'|'.join(_RATES)})\s*(?P<bound>\.low|\.high)?\s*(?:\[\s*(?P<label>.*\S)\s*\])?\s*=\s*"
    r"(?P<value>[0-9.]+)\s*(?P<unit>%|pp)?\s*"
)


@dataclass(frozen=True)
class Gate:
    """A rate of the headline, or of one label there, or its lower or upper bound: the least it may be.

    With `drop` the value is how much less than the baseline's it may be.
    """

    text: str
    rate: str
    bound: str
    label: str | None
    value: float
    drop: bool = False


class GateType(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """`RATE=VALUE`, `RATE.low=VALUE` or `RATE[LABEL]=VALUE`."""

    name = "RATE=VALUE"

    def __init__(self, *, drop: bool = False) -> None:
        self.drop = drop

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Gate:
        """Read a gate such as recall.low=0.93, or with `drop` recall=0.5pp."""
        if isinstance(value, Gate):
            return value
        found = _GATE.fullmatch(str(value))
        try:
            amount = float(found["value"]) / (100 if found["unit"] else 1) if found else -1.0
        except ValueError:
            amount = -1.0
        if found is None or not 0 <= amount <= 1 or (found["unit"] == "pp" and not self.drop):
            example = "recall=0.5pp (percentage points) or recall=0.005" if self.drop else "recall=0.95 or recall=95%"
            rate = re.split(r"[.\[=]", str(value))[0].strip()
            hint = "" if rate in _RATES else did_you_mean(rate, _RATES)
            self.fail(
                f"{value!r} is no gate.{hint} Allowed: RATE=VALUE with one of {', '.join(_RATES)} and a value "
                f"from 0 to 1, such as {example}, recall.low=… for the lower bound, or recall[PERSON]=… for a label.",
                param,
                ctx,
            )
        text = str(value).rpartition("=")[0].strip()
        bound = (found["bound"] or "").removeprefix(".")
        return Gate(text, found["rate"], bound, found["label"], amount, self.drop)


@dataclass(frozen=True)
class GateRequest:
    """Which gates a run must pass, the earlier run that it is compared with, and where it is remembered."""

    fail_under: tuple[Gate, ...] = ()
    baseline: Path | None = None
    max_drop: tuple[Gate, ...] = ()
    other_baseline: bool = False
    history: Path | None = None

    def __post_init__(self) -> None:
        if bool(self.max_drop) != (self.baseline is not None):
            raise OptionError(
                "--baseline and --max-drop belong together: give the metrics.json of an earlier run and what may be "
                "lost, such as --baseline metrics.json --max-drop recall=0.5pp."
            )
        if self.other_baseline and self.baseline is None:
            raise OptionError("--other-baseline belongs to --baseline. Leave it out, or give the earlier run.")


gating = group(
    "gates",
    GateRequest,
    [
        click.option(
            "--fail-under",
            type=GateType(),
            multiple=True,
            help="Exit code 4 if this rate is lower: recall=0.95, recall.low=0.93, recall[PERSON]=0.99; repeatable.",
        ),
        click.option(
            "--baseline",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="The metrics.json of an earlier run on the same gold, for --max-drop.",
        ),
        click.option(
            "--max-drop",
            type=GateType(drop=True),
            multiple=True,
            help="End with exit code 4 if this rate is lower than the baseline's by more: recall=0.5pp; repeatable.",
        ),
        click.option(
            "--other-baseline", is_flag=True, help="Accept a baseline of another gold file or of other settings."
        ),
        click.option(
            "--history",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Append a line about this run to this file (JSON Lines).",
        ),
    ],
)
