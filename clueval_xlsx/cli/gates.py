"""Gates for pipelines: rates that a run must reach or keep, listed with what was wanted and what came out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.parameters import group
from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean

if TYPE_CHECKING:
    from clueval_xlsx.figures import Figures
    from clueval_xlsx.outputs.baseline import Baseline
    from clueval_xlsx.views.trend import PastRun

FAILED = 4  # exit code: done, but a gate failed
_RATES = ("precision", "recall", "f1", "f_beta")
_GATE = re.compile(
    rf"(?P<rate>{'|'.join(_RATES)})(?P<bound>\.low|\.high)?(?:\[(?P<label>.+)\])?=(?P<value>[0-9.]+)(?P<unit>%|pp)?"
)
_ROUNDING = 1e-12


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


@dataclass(frozen=True)
class Verdict:
    """What one gate wanted of one run, and what it got; `least` and `got` are None where there is no such figure."""

    gate: Gate
    where: str
    least: float | None
    got: float | None
    before: float | None = None
    hint: str = ""  # where no span has the gate's label: what there is

    @property
    def passed(self) -> bool:
        """Whether it holds; what cannot be known does not."""
        return self.least is not None and self.got is not None and self.got >= self.least - _ROUNDING

    def __str__(self) -> str:
        got, outcome = _shown(self.got), "ok" if self.passed else "failed"
        where = f" ({self.where})" if self.where else ""
        if not self.gate.drop:
            return (
                f"Gate {self.gate.text}{where}: wanted at least {self.gate.value:g}, got {got}: {outcome}.{self.hint}"
            )
        return (
            f"Gate {self.gate.text}{where}: wanted at most {100 * self.gate.value:g} points less than the baseline's "
            f"{_shown(self.before)}, got {got}: {outcome}.{self.hint}"
        )

    def as_dict(self) -> dict[str, Any]:
        """For the history."""
        kind = "max-drop" if self.gate.drop else "fail-under"
        return {
            "gate": f"{kind} {self.gate.text}",
            "wanted": self.least,
            "baseline": self.before,
            "got": self.got,
            "passed": self.passed,
        }


def _shown(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"


class GateType(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """`RATE=VALUE`, `RATE.low=VALUE` or `RATE[LABEL]=VALUE`."""

    name = "RATE=VALUE"

    def __init__(self, *, drop: bool = False) -> None:
        self.drop = drop

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Gate:
        """Read a gate such as recall.low=0.93, or with `drop` recall=0.5pp."""
        if isinstance(value, Gate):
            return value
        found = _GATE.fullmatch(str(value).replace(" ", ""))
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

    def verdicts(self, runs: Sequence[tuple[str, Figures]]) -> list[list[Verdict]]:
        """How the gates come out for each run, named where there are several.

        A baseline that does not fit is an error, so this is asked before anything is written.
        """
        baseline = self._baseline()
        found = []
        for name, result in runs:
            if baseline is not None and not self.other_baseline:
                _check_fit(baseline, result)
            gates = (*self.fail_under, *self.max_drop)
            found.append([_verdict(gate, name, result, baseline) for gate in gates])
        return found

    def _baseline(self) -> Baseline | None:
        if self.baseline is None:
            return None
        from clueval_xlsx.outputs.baseline import read_baseline

        return read_baseline(_bytes_of(self.baseline, "--baseline"), str(self.baseline))

    def remember(
        self,
        runs: Sequence[tuple[str, Figures]],
        verdicts: Sequence[Sequence[Verdict]],
        inputs: Sequence[str],
        *,
        systems: bool = False,
    ) -> None:
        """Append a line for each run to the history, if there is one."""
        if self.history is None:
            return
        import datetime

        from clueval_xlsx.cli.console import say
        from clueval_xlsx.cli.writing import guarded_outputs
        from clueval_xlsx.files.locks import locked
        from clueval_xlsx.outputs.history import history_line, read_history

        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        with locked(self.history, say), guarded_outputs(inputs, force=False) as outputs:
            old = _text_of(self.history) if self.history.exists() else ""
            read_history(old, str(self.history))
            lines = [
                history_line(result, when, [verdict.as_dict() for verdict in found], name if systems else None)
                for (name, result), found in zip(runs, verdicts, strict=True)
            ]
            outputs.write_text(self.history, old + ("" if not old or old.endswith("\n") else "\n") + "".join(lines))

    def past_runs(self) -> tuple[PastRun, ...]:
        """The runs that the history knows; none where there is no history."""
        if self.history is None or not self.history.exists():
            return ()
        from clueval_xlsx.outputs.history import past_runs

        return past_runs(_text_of(self.history), str(self.history))

    def check_history(self, inputs: Sequence[str]) -> None:
        """Complain about a history that is none, or that is an input, before anything is written."""
        if self.history is None:
            return
        from clueval_xlsx.cli.writing import guarded_outputs
        from clueval_xlsx.outputs.history import read_history

        guarded_outputs(inputs, force=False).refuse_input(self.history)
        if self.history.exists():
            read_history(_text_of(self.history), str(self.history))


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


def named_runs(results: Sequence[Figures]) -> list[tuple[str, Figures]]:
    """The results of a run, each by its layer where layers were evaluated by themselves."""
    return [(result.layers[0] if len(results) > 1 else "", result) for result in results]


def say_verdicts(verdicts: Sequence[Sequence[Verdict]]) -> bool:
    """List every gate; whether all of them hold."""
    from clueval_xlsx.cli.console import say

    for verdict in (verdict for found in verdicts for verdict in found):
        say(str(verdict), urgent=not verdict.passed)
    return all(verdict.passed for found in verdicts for verdict in found)


def _verdict(gate: Gate, name: str, result: Figures, baseline: Baseline | None) -> Verdict:
    row = _row(result, gate)
    got = _figure(row, gate)
    if not gate.drop or baseline is None:
        return Verdict(gate, name, gate.value, got, hint=_hint(result, gate, row))
    # A file of several layers that were evaluated by themselves names the layer in every row.
    own = row and (baseline.row(row) or baseline.row({**row, "layer": result.layers[0]}))
    before = _figure(own, gate)
    return Verdict(gate, name, None if before is None else before - gate.value, got, before, _hint(result, gate, row))


def _hint(result: Figures, gate: Gate, row: dict[str, Any] | None) -> str:
    """What there is instead, if no span has the label."""
    if row is not None or gate.label is None:
        return ""
    labels = sorted(set(result.select(scheme="clueval", group_key=None)["label"].dropna()))
    return f" No span has this label.{did_you_mean(gate.label, labels)} Labels: {', '.join(labels) or 'none'}."


def _row(result: Figures, gate: Gate) -> dict[str, Any] | None:
    """The row that a gate looks at, as metrics.json has it; None where there is no such label."""
    from clueval_xlsx.outputs.json_values import score_row

    row = result.headline
    if gate.label is not None:
        options = result.options
        rows = result.select(scheme="clueval", level=options.level, labelled=options.labelled, group_key=None)
        rows = rows[rows["label"] == gate.label]
        if rows.empty:
            return None
        row = rows.iloc[0]
    return score_row(row.to_dict())


def _figure(row: dict[str, Any] | None, gate: Gate) -> float | None:
    if row is None:
        return None
    if not gate.bound:
        return row[gate.rate]
    interval = (row["interval"] or {}).get(gate.rate)
    return None if interval is None else interval[0 if gate.bound == "low" else 1]


def _check_fit(baseline: Baseline, result: Figures) -> None:
    differences = baseline.differences(result.signature)
    if differences:
        raise InputError(
            f"{baseline.name}: this baseline was computed differently: {'; '.join(differences)}. Make it anew with "
            "the same gold file and options, or accept it with --other-baseline."
        )


def _bytes_of(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path given to {option}.") from None


def _text_of(path: Path) -> str:
    try:
        return _bytes_of(path, "--history").decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no UTF-8. Give another file to --history.") from None
