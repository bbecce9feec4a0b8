"""What came of many sequences, as tables to read: outcomes by operation, failures with their shortest beginning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.simulator.oracle import KEPT, LOST, MOVED, OUTCOMES, REPORTED, Verdict
from tests.simulator.sequences import Ran

_WIDTH = 46
_SHOWN = 30  # failing sequences whose judgements are listed


@dataclass
class Findings:
    """Counts of judgements by operation and outcome, and the sequences that failed.

    What was kept and reported counts for every operation of a sequence; what was lost or moved counts for the last
    operation of its shortest failing beginning.
    """

    sequences: Counter[str] = field(default_factory=Counter)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    all: Counter[str] = field(default_factory=Counter)
    exits: Counter[int] = field(default_factory=Counter)
    readable: int = 0
    readable_reported: int = 0
    failed: list[tuple[Ran, Ran]] = field(default_factory=list)  # the whole sequence, its shortest failing beginning

    unclosed: list[Ran] = field(default_factory=list)

    def add(self, ran: Ran, shortest: Ran | None) -> None:
        """Count a sequence; `shortest` is given where it failed."""
        self.sequences["all"] += 1
        outcomes = Counter(verdict.outcome for verdict in ran.verdicts)
        self.all.update(outcomes)
        self.exits[ran.back.code if ran.back else -1] += 1
        self._count_readable(ran.verdicts)
        if not ran.closes:
            self.unclosed.append(ran)
        for name in set(ran.names):
            self.sequences[name] += 1
            own = self.counts.setdefault(name, Counter())
            own.update({outcome: outcomes[outcome] for outcome in (KEPT, REPORTED)})
        if shortest is not None:
            self.failed.append((ran, shortest))
            culprit = shortest.names[-1] if shortest.names else "(nothing)"
            failed = Counter(verdict.outcome for verdict in shortest.failures)
            self.counts.setdefault(culprit, Counter()).update(failed)

    def _count_readable(self, verdicts: Sequence[Verdict]) -> None:
        readable = [verdict for verdict in verdicts if verdict.readable]
        self.readable += len(readable)
        self.readable_reported += sum(verdict.outcome == REPORTED for verdict in readable)

    def summary(self) -> str:
        """The table, and what it comes to."""
        lines = [f"{'operation':<{_WIDTH}}{'sequences':>10}" + "".join(f"{name:>10}" for name in OUTCOMES)]
        for name in sorted(self.counts):
            lines.append(_line(name, self.sequences[name], self.counts[name]))
        lines.append(_line("all", self.sequences["all"], self.all))
        share = self.readable_reported / self.readable if self.readable else 0.0
        lines.append(
            f"Reported although a careful person could have read it: {self.readable_reported:,} of {self.readable:,} "
            f"({share:.1%}). Sequences with a judgement lost or moved: {len(self.failed):,}. "
            f"Books that do not close: {len(self.unclosed):,}. "
            f"Exit codes: {', '.join(f'{code}: {count}' for code, count in sorted(self.exits.items()))}."
        )
        return "\n".join(lines)

    def failures(self, seed: int) -> str:
        """The failing sequences, each with its shortest failing beginning and how to see it again."""
        lines = []
        for place, (ran, shortest) in enumerate(self.failed):
            lines.append(f"{seed}:{ran.number}: {' > '.join(shortest.names) or '(nothing)'}")
            if place >= _SHOWN:
                continue
            lines += [f"    {verdict}" for verdict in shortest.failures[:3]]
            if len(shortest.failures) > 3:
                lines.append(f"    and {len(shortest.failures) - 3} more")
        for ran in self.unclosed:
            accounts = ran.back.accounts if ran.back else []
            lines.append(f"{seed}:{ran.number}: the books do not close: {accounts} after {' > '.join(ran.names)}")
        return "\n".join(lines)

    @property
    def clean(self) -> bool:
        """Whether nothing was lost, nothing moved, and every case is accounted for."""
        return not self.all[LOST] and not self.all[MOVED] and not self.unclosed


def _line(name: str, sequences: int, counts: Counter[str]) -> str:
    return f"{name:<{_WIDTH}}{sequences:>10,}" + "".join(f"{counts[outcome]:>10,}" for outcome in OUTCOMES)
