"""Gates for pipelines: which rates a run must reach or keep, each listed with what it wanted and what it got."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import say
from clueval_xlsx.cli.writing import guarded_outputs
from clueval_xlsx.exceptions import CluevalError, InputError, did_you_mean
from clueval_xlsx.options import GateOptions

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.figures import Figures
    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.options.values import Gate
    from clueval_xlsx.outputs.baseline import Baseline
    from clueval_xlsx.outputs.json_structs import ScoreRow

FAILED = 4  # exit code: done, but a gate failed
_ROUNDING = 1e-12
_LEAST_PLACES, _MOST_PLACES = 4, 17  # digits of a figure behind the point


@dataclass(frozen=True)
class GatedRun:
    """Figures that gates are held against: of which system, and of which layer where each stands by itself."""

    figures: Figures
    system: str = ""
    layer: str = ""

    @property
    def name(self) -> str:
        """What a gate's line calls it; nothing where there is only one."""
        return ", ".join(part for part in (self.system, self.layer) if part)


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
        got, before = self._shown()
        where = f" ({self.where})" if self.where else ""
        wanted = f"at least {self.gate.value:.15g}"
        if self.gate.drop:
            drop = f"{100 * self.gate.value:.10g}"
            wanted = f"at most {drop} point{'' if drop == '1' else 's'} less than the baseline's {before}"
        outcome = "ok" if self.passed else "failed"
        return f"Gate {self.gate.text}{where}: wanted {wanted}, got {got}: {outcome}.{self.hint}"

    def _shown(self) -> tuple[str, str]:
        """What it got and the baseline's figure, with as many digits as show why it passed or failed."""
        for places in range(_LEAST_PLACES, _MOST_PLACES):
            got, before = ("n/a" if value is None else f"{value:.{places}f}" for value in (self.got, self.before))
            if self.got is None or self.least is None:
                break
            least = float(before) - self.gate.value if self.gate.drop and self.before is not None else self.least
            if (float(got) >= least - _ROUNDING) is self.passed:
                break
        return got, before


def verdicts(call: Call, runs: Sequence[GatedRun]) -> list[Verdict]:
    """How the gates come out, for each run; a baseline that does not fit is an error before anything is written."""
    options = call.of(GateOptions)
    baseline = None if options.baseline is None else _baseline(Path(options.baseline))
    if baseline is not None:
        for run in runs:
            _check_fit(baseline, run.figures)
    found = []
    for gate in (*options.fail_under, *options.max_drop):
        rows = [_rows(run.figures, gate) for run in runs]
        for run, own in zip(runs, rows, strict=True):
            found += [_verdict(gate, run, row, baseline) for row in own]
            if not any(there for there, other in zip(rows, runs, strict=True) if other.system == run.system):
                least = None if gate.drop else gate.value
                found.append(Verdict(gate, run.name, least, None, hint=_hint(run.figures, gate)))
    return found


def say_verdicts(found: Sequence[Verdict]) -> bool:
    """List every gate; whether all of them hold."""
    for verdict in found:
        say(str(verdict), urgent=not verdict.passed)
    return all(verdict.passed for verdict in found)


@contextmanager
def gated_outputs(call: Call, inputs: Sequence[str], found: Sequence[Verdict]) -> Iterator[Outputs]:
    """The outputs of a command; where they cannot be written the gates are said all the same."""
    try:
        with guarded_outputs(call, inputs) as outputs:
            yield outputs
    except (CluevalError, OSError):
        say_verdicts(found)
        raise


def runs_by_layer(results: Sequence[Figures], system: str = "") -> list[GatedRun]:
    """The results of a command, each by its layer where layers were evaluated by themselves."""
    return [GatedRun(result, system, result.layers[0] if len(results) > 1 else "") for result in results]


def _verdict(gate: Gate, run: GatedRun, row: ScoreRow, baseline: Baseline | None) -> Verdict:
    layer = row.layer if gate.label is not None and len(run.figures.layers) > 1 else None
    where = ", ".join(part for part in (run.name, layer) if part)
    got = _figure(row, gate)
    if not gate.drop or baseline is None:
        return Verdict(gate, where, gate.value, got)
    before = _figure(baseline.row(row, run.figures.layers[0]), gate)
    return Verdict(gate, where, None if before is None else before - gate.value, got, before)


def _hint(figures: Figures, gate: Gate) -> str:
    """What there is instead of a label that no span has."""
    labels = sorted(set(figures.select(scheme="clueval", group_key=None)["label"].dropna()))
    return f" No span has this label.{did_you_mean(str(gate.label), labels)} Labels: {', '.join(labels) or 'none'}."


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


def _baseline(path: Path) -> Baseline:
    from clueval_xlsx.outputs.baseline import read_baseline

    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path given to --baseline.") from None
    return read_baseline(data, str(path))


def _check_fit(baseline: Baseline, figures: Figures) -> None:
    differences = baseline.differences(figures.signature)
    if differences:
        raise InputError(
            f"{baseline.name}: this baseline was computed differently: {'; '.join(differences)}. Make it anew with "
            "the same gold file and options."
        )
