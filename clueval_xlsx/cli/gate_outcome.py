"""How gates came out: each with what it wanted and what it got, said and remembered whatever else happens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clueval_xlsx.cli.run_history import history_so_far
from clueval_xlsx.exceptions import CluevalError, InputError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from clueval_xlsx.cli.gates import GateRequest
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
    layer: str | None = None  # of the label that the gate looks at
    hint: str = ""  # where no span has the gate's label: what there is

    @property
    def passed(self) -> bool:
        """Whether it holds; what cannot be known does not."""
        return self.least is not None and self.got is not None and self.got >= self.least - _ROUNDING

    def __str__(self) -> str:
        got, before = self._shown()
        outcome = "ok" if self.passed else "failed"
        where = f" ({self.where})" if self.where else ""
        if not self.gate.drop:
            least = f"{self.gate.value:.15g}"
            return f"Gate {self.gate.text}{where}: wanted at least {least}, got {got}: {outcome}.{self.hint}"
        drop = f"{100 * self.gate.value:.10g}"
        points = f"{drop} point{'' if drop == '1' else 's'}"
        return (
            f"Gate {self.gate.text}{where}: wanted at most {points} less than the baseline's "
            f"{before}, got {got}: {outcome}.{self.hint}"
        )

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

    def as_dict(self) -> dict[str, Any]:
        """For the history."""
        kind = "max-drop" if self.gate.drop else "fail-under"
        return {
            "gate": f"{kind} {self.gate.text}",
            "layer": self.layer,
            "wanted": self.least,
            "baseline": self.before,
            "got": self.got,
            "passed": self.passed,
        }


@dataclass(frozen=True)
class GateOutcome:
    """The runs of a command, how the gates came out for each of them, and where this is remembered."""

    runs: Sequence[GatedRun]
    history: Path | None = None
    verdicts: Sequence[list[Verdict]] = field(default_factory=list)

    def say(self) -> bool:
        """List every gate; whether all of them hold."""
        from clueval_xlsx.cli.console import say

        found = [verdict for verdicts in self.verdicts for verdict in verdicts]
        for verdict in found:
            say(str(verdict), urgent=not verdict.passed)
        return all(verdict.passed for verdict in found)

    @contextmanager
    def outputs(self, inputs: Iterable[str | Path], *, force: bool) -> Iterator[Outputs]:
        """The outputs of a command, which are written together with the history, or not at all.

        Where they cannot be written the gates are said all the same.
        """
        from clueval_xlsx.cli.writing import guarded_outputs

        try:
            with ExitStack() as lock, guarded_outputs(inputs, force=force) as outputs:
                yield outputs
                if self.history is not None:
                    outputs.write_text(self.history, self._remembered(self.history, lock))
        except (CluevalError, OSError):
            self.say()
            raise

    def _remembered(self, history: Path, lock: ExitStack) -> str:
        """The history with a line for each run; nobody else appends to it until the lock is let go."""
        import datetime

        from clueval_xlsx.cli.console import say
        from clueval_xlsx.files.locks import locked
        from clueval_xlsx.outputs.history import history_line

        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        lines = [
            history_line(run.figures, when, [verdict.as_dict() for verdict in found], run.name if run.system else None)
            for run, found in zip(self.runs, self.verdicts, strict=True)
        ]
        lock.enter_context(locked(history, say))
        return history_so_far(history) + "".join(lines)


def outcome_of(gates: GateRequest, runs: Sequence[GatedRun]) -> GateOutcome:
    """How the gates come out for each run.

    A baseline that does not fit is an error, so this is asked before anything is written.
    """
    baseline = _baseline(gates)
    if baseline is not None and not gates.other_baseline:
        for run in runs:
            _check_fit(baseline, run.figures)
    found: list[list[Verdict]] = [[] for _ in runs]
    for gate in (*gates.fail_under, *gates.max_drop):
        rows = [_rows(run.figures, gate) for run in runs]
        for run, own, verdicts in zip(runs, rows, found, strict=True):
            verdicts += [_verdict(gate, run, row, baseline) for row in own]
            if not any(there for there, other in zip(rows, runs, strict=True) if other.system == run.system):
                least = None if gate.drop else gate.value
                verdicts.append(Verdict(gate, run.name, least, None, hint=_hint(run.figures, gate)))
    return GateOutcome(runs, gates.history, found)


def runs_by_layer(results: Sequence[Figures]) -> list[GatedRun]:
    """The results of a command, each by its layer where layers were evaluated by themselves."""
    return [GatedRun(result, layer=result.layers[0] if len(results) > 1 else "") for result in results]


def _verdict(gate: Gate, run: GatedRun, row: ScoreRow, baseline: Baseline | None) -> Verdict:
    layer = row.layer if gate.label is not None else None
    own = layer if len(run.figures.layers) > 1 else None
    where = ", ".join(part for part in (run.name, own) if part)
    got = _figure(row, gate)
    if not gate.drop or baseline is None:
        return Verdict(gate, where, gate.value, got, layer=layer)
    before = _figure(baseline.row(row, run.figures.layers[0]), gate)
    return Verdict(gate, where, None if before is None else before - gate.value, got, before, layer)


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


def _baseline(gates: GateRequest) -> Baseline | None:
    if gates.baseline is None:
        return None
    from clueval_xlsx.outputs.baseline import read_baseline

    try:
        data = gates.baseline.read_bytes()
    except OSError as error:
        raise InputError(
            f"{gates.baseline}: cannot be read: {error.strerror}. Check the path given to --baseline."
        ) from None
    return read_baseline(data, str(gates.baseline))


def _check_fit(baseline: Baseline, figures: Figures) -> None:
    differences = baseline.differences(figures.signature)
    if differences:
        raise InputError(
            f"{baseline.name}: this baseline was computed differently: {'; '.join(differences)}. Make it anew with "
            "the same gold file and options, or accept it with --other-baseline."
        )
