"""Gates for pipelines: which rates a run must reach or keep, each listed with what it wanted and what it got."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import say
from clueval_xlsx.cli.inputs import file_content
from clueval_xlsx.exceptions import InputError, did_you_mean
from clueval_xlsx.options import GateOptions

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.figures import Figures
    from clueval_xlsx.options.values import Gate
    from clueval_xlsx.outputs.json_structs import Baseline, ScoreRow

FAILED = 4  # exit code: done, but a gate failed
_ROUNDING = 1e-12
_PLACES = range(4, 17)  # digits of a figure behind the point: as few as show why it passed or failed


@dataclass(frozen=True)
class Verdict:
    """What one gate wanted of a run, and what it got; None where there is no such figure."""

    gate: Gate
    where: str
    got: float | None = None
    before: float | None = None  # the baseline's
    hint: str = ""  # where no span has the gate's label: what there is

    @property
    def least(self) -> float | None:
        """The least that it may be."""
        if not self.gate.drop:
            return self.gate.value
        return None if self.before is None else self.before - self.gate.value

    @property
    def passed(self) -> bool:
        """Whether it holds; what cannot be known does not."""
        return self.least is not None and self.got is not None and self.got >= self.least - _ROUNDING

    def __str__(self) -> str:
        got = before = "n/a"
        for places in _PLACES:
            got, before = ("n/a" if value is None else f"{value:.{places}f}" for value in (self.got, self.before))
            if self.got is None or self.least is None:
                break
            least = float(before) - self.gate.value if self.gate.drop else self.least
            if (float(got) >= least - _ROUNDING) is self.passed:
                break
        wanted = f"at least {self.gate.value:.15g}"
        if self.gate.drop:
            points = f"{100 * self.gate.value:.10g} point"
            wanted = f"at most {points}{'' if points == '1 point' else 's'} less than the baseline's {before}"
        where = f" ({self.where})" if self.where else ""
        outcome = "ok" if self.passed else "failed"
        return f"Gate {self.gate.text}{where}: wanted {wanted}, got {got}: {outcome}.{self.hint}"


@contextmanager
def gated(call: Call, runs: Sequence[tuple[str, Figures]]) -> Iterator[int]:
    """Hold the gates against figures, each with its system's name; yields the exit code.

    A baseline that does not fit is an error before anything is written. At the end every gate is listed, even
    where something could not be written.
    """
    found = _verdicts(call.of(GateOptions), runs)
    try:
        yield 0 if all(verdict.passed for verdict in found) else FAILED
    finally:
        for verdict in found:
            say(str(verdict), urgent=not verdict.passed)


def _verdicts(options: GateOptions, runs: Sequence[tuple[str, Figures]]) -> list[Verdict]:
    baseline = _baseline(options.baseline, runs)
    found = []
    for gate in (*options.fail_under, *options.max_drop):
        for system in dict.fromkeys(name for name, _ in runs):
            own = [figures for name, figures in runs if name == system]
            rows = [(figures, row) for figures in own for row in _rows(figures, gate)]
            if not rows:
                found.append(Verdict(gate, system, hint=_hint(own, gate)))
            for figures, row in rows:
                layer = figures.layers[0]
                before = None if baseline is None else _figure(baseline.row(row, layer), gate)
                if len(own) == 1:  # all layers in one
                    layer = row.layer or "" if gate.label is not None and len(figures.layers) > 1 else ""
                where = ", ".join(part for part in (system, layer) if part)
                found.append(Verdict(gate, where, _figure(row, gate), before if gate.drop else None))
    return found


def _rows(figures: Figures, gate: Gate) -> list[ScoreRow]:
    """The rows that a gate looks at, as metrics.json has them: the headline, or a label's in each layer that has it."""
    from clueval_xlsx.outputs.json_results import score_row, score_rows

    if gate.label is None:
        return [score_row(figures.headline)]
    options = figures.options
    rows = figures.select(scheme="clueval", level=options.level, labelled=options.labelled, group_key=None)
    return score_rows(rows[rows["label"] == gate.label])


def _figure(row: ScoreRow | None, gate: Gate) -> float | None:
    if row is None:
        return None
    if not gate.bound:
        value: float | None = getattr(row, gate.rate)
        return value
    interval = (row.interval or {}).get(gate.rate)
    return None if interval is None else interval[0 if gate.bound == "low" else 1]


def _hint(runs: Sequence[Figures], gate: Gate) -> str:
    """What there is instead of a label that no span has."""
    known: set[str] = set()
    for figures in runs:
        known.update(figures.select(scheme="clueval", group_key=None)["label"].dropna())
    labels = sorted(known)
    return f" No span has this label.{did_you_mean(str(gate.label), labels)} Labels: {', '.join(labels) or 'none'}."


def _baseline(path: str | None, runs: Sequence[tuple[str, Figures]]) -> Baseline | None:
    if path is None:
        return None
    from clueval_xlsx.outputs.json_structs import read_baseline

    baseline = read_baseline(file_content(path, "--baseline"), path)
    for _, figures in runs:
        differences = baseline.differences(figures.signature)
        if differences:
            raise InputError(
                f"{path}: this baseline was computed differently: {'; '.join(differences)}. Make it anew with the "
                "same gold file and options."
            )
    return baseline
