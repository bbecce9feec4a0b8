"""The long run: `python -m tests.fuzz --cases 100000 --seed 1 [--only vertical]`; exit code 1 if anything failed."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.cases import ACCEPTED, FAILED, REFUSED, Outcome, make_files, run_case
from tests.fuzz.pool import batches, run_batches
from tests.fuzz.subjects import SUBJECTS, shares

_EVERY = 30.0  # seconds between lines of progress
_SHOWN = 5  # cases listed for each cause


class Findings:
    """What became of the cases so far: counts by subject, and the failures with their input saved."""

    def __init__(self, seed: int, folder: Path, total: int) -> None:
        self.counts = {name: Counter[str]() for name in SUBJECTS}
        self.failures: dict[str, list[Outcome]] = {}
        self._seed, self._folder, self._total = seed, folder, total
        self._began = self._said = time.monotonic()

    def add(self, outcome: Outcome) -> None:
        """Count an outcome; save the input of a failure and say how to repeat it."""
        self.counts[outcome.subject][outcome.kind] += 1
        if outcome.kind == FAILED:
            cause = f"{outcome.subject}: {outcome.cause}"
            self.failures.setdefault(cause, []).append(outcome)
            if len(self.failures[cause]) <= _SHOWN:
                save(outcome, self._seed, self._folder)
            if len(self.failures[cause]) == 1:
                print(f"FAILED {cause}\n  repeat: {repetition(outcome, self._seed)}", flush=True)
        if time.monotonic() - self._said > _EVERY:
            self._said = time.monotonic()
            done = sum(sum(counts.values()) for counts in self.counts.values())
            rate = done / (self._said - self._began)
            failed = sum(counts[FAILED] for counts in self.counts.values())
            print(f"{done:,} of {self._total:,} cases, {rate:.0f} a second, {failed} failed", flush=True)

    def summary(self) -> str:
        """A table by subject, and the causes of failures."""
        lines = [f"{'subject':<14}{'cases':>9}{'accepted':>10}{'refused':>9}{'failed':>8}"]
        total = Counter[str]()
        for name, counts in self.counts.items():
            if counts:
                lines.append(_line(name, counts))
                total.update(counts)
        lines.append(_line("all", total))
        lines.append(f"{time.monotonic() - self._began:.0f} seconds")
        for cause, outcomes in sorted(self.failures.items(), key=lambda item: -len(item[1])):
            numbers = ", ".join(str(outcome.number) for outcome in outcomes[:_SHOWN])
            lines.append(f"{len(outcomes)} x {cause} (cases {numbers})")
        if self.failures:
            lines.append(f"Their input is in {self._folder}")
        return "\n".join(lines)


def _line(name: str, counts: Counter[str]) -> str:
    kinds = (counts[ACCEPTED], counts[REFUSED], counts[FAILED])
    return f"{name:<14}{sum(kinds):>9,}{kinds[0]:>10,}{kinds[1]:>9,}{kinds[2]:>8,}"


def repetition(outcome: Outcome, seed: int) -> str:
    """The command that tries one case again."""
    return f"python -m tests.fuzz --only {outcome.subject} --seed {seed} --case {outcome.number}"


def save(outcome: Outcome, seed: int, folder: Path) -> Path:
    """Write the input of a case and what became of it; returns the folder."""
    place = folder / f"{outcome.subject}-{seed}-{outcome.number}"
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(Exception):  # where the fuzzer itself is at fault there is no input
        for name, content in make_files(outcome.subject, seed, outcome.number).items():
            (place / "input" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "input" / name).write_bytes(content)
    report = f"{repetition(outcome, seed)}\n\n{outcome.kind}\n{outcome.detail}\n"
    (place / "outcome.txt").write_text(report, "utf-8", errors="backslashreplace")
    return place


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; returns the exit code."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="how many cases in all")
    parser.add_argument("--seed", type=int, default=1, help="other numbers give other cases")
    parser.add_argument(
        "--only", action="append", default=[], choices=sorted(SUBJECTS), help="this subject; repeatable"
    )
    parser.add_argument("--case", type=int, help="try this one case of --only again, in this process")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--folder", type=Path, help="where the input of failures goes")
    given = parser.parse_args(arguments)
    folder = given.folder or Path(tempfile.gettempdir()) / "clueval-fuzz"
    if given.case is not None:
        if len(given.only) != 1:
            parser.error("--case needs --only with one subject")
        return _repeat(given.only[0], given.seed, given.case, folder)
    counts = shares(given.cases, tuple(given.only))
    findings = Findings(given.seed, folder, sum(counts.values()))
    try:
        run_batches(batches(counts, given.seed), findings.add, given.workers)
    finally:
        print(findings.summary(), flush=True)
    return 1 if findings.failures else 0


def _repeat(name: str, seed: int, number: int, folder: Path) -> int:
    with tempfile.TemporaryDirectory() as place:
        outcome = run_case(name, seed, number, Path(place))
    print(f"{outcome.kind}\n{outcome.detail}\nIts input is in {save(outcome, seed, folder)}")
    return 1 if outcome.kind == FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
