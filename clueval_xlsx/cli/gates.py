"""Gates for pipelines: the options that say which rates a run must reach or keep, and where it is remembered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from clueval_xlsx.cli.parameters import group
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options.declaration import SettingError
from clueval_xlsx.options.values import Gate, drop, floor


class GateType(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """`RATE=VALUE`, `RATE.low=VALUE` or `RATE[LABEL]=VALUE`."""

    name = "RATE=VALUE"

    def __init__(self, *, drop: bool = False) -> None:
        self.drop = drop

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Gate:
        """Read a gate such as recall.low=0.93, or with `drop` recall=0.5pp."""
        if isinstance(value, Gate):
            return value
        try:
            return (drop if self.drop else floor)(str(value))
        except SettingError as error:
            return self.fail(str(error), param, ctx)


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
