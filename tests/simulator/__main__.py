"""The long run: `python -m tests.simulator --sequences 2000 --seed 1 [--office] [--jobs 2]`.

Prints a table of operations by outcomes and the failing sequences; exit code 1 if a judgement was lost or moved.
`--replay SEED:NUMBER` shows one sequence again, step by step, `--alone N` tries every operation by itself N times.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.simulator.pool import DIGITS, Task, run_tasks, simulator_for
from tests.simulator.registry import OPERATIONS
from tests.simulator.table import Findings

_EVERY = 30.0  # seconds between lines of progress


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("--sequences", type=int, default=200, help="how many random sequences")
    parser.add_argument("--alone", type=int, default=0, help="try every operation by itself so often, no sequences")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="operations to draw from: those whose name holds this text")
    parser.add_argument("--office", action="store_true", help="carry everything out in a real LibreOffice")
    parser.add_argument("--digits", choices=DIGITS, default="auto", help="whether judgements are typed as digits")
    parser.add_argument("--replay", metavar="SEED:NUMBER", help="show one sequence again and keep its files")
    return parser.parse_args()


def _replay(given: argparse.Namespace) -> int:
    seed, _, number = given.replay.partition(":")
    given.seed = int(seed)
    folder = Path(tempfile.mkdtemp(prefix="simulator-"))
    with simulator_for(given, folder) as simulator:
        whole = simulator.run(int(number))
        for length in range(len(whole.names) + 1):
            ran = simulator.run(int(number), length)
            print(f"\n== {' > '.join(ran.names) or '(only judged)'}: exit {ran.back.code if ran.back else ''}")
            for verdict in ran.failures:
                print(f"    {verdict}")
        print(f"\n{whole.back.errors if whole.back else ''}\nFiles: {', '.join(map(str, whole.files))}")
    return 1 if whole.failures else 0


def _tasks(given: argparse.Namespace) -> list[Task]:
    if given.alone:
        return [(name, number) for name in OPERATIONS if given.only in name for number in range(given.alone)]
    return [("", number) for number in range(given.sequences)]


def _long_run(given: argparse.Namespace) -> int:
    findings, began = Findings(), time.monotonic()
    said, tasks = began, _tasks(given)
    for done, (ran, shortest) in enumerate(run_tasks(given, tasks), 1):
        findings.add(ran, shortest)
        if time.monotonic() - said > _EVERY:
            said = time.monotonic()
            print(f"{done} of {len(tasks)}, {done / (said - began):.1f} a second", file=sys.stderr, flush=True)
    print(findings.failures(given.seed))
    print(findings.summary())
    print(f"{time.monotonic() - began:.0f} seconds")
    return 0 if findings.clean else 1


if __name__ == "__main__":
    chosen = _arguments()
    sys.exit(_replay(chosen) if chosen.replay else _long_run(chosen))
