"""The long run: `python -m tests.fuzz --cases 100000 --seed 1 [--only vertical] [--case 7]`; exit code 1: failures."""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz import books, formats, others  # noqa: F401  (each registers its subjects)
from tests.fuzz.cases import FAILED, SUBJECTS, make_files, run_case

MEMORY = 4 << 30  # bytes: an input that takes more fails


def main(arguments: list[str] | None = None) -> int:
    """Run the cases, each in a folder of its own; says of a failure what it is and how to repeat it."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="how many cases in all")
    parser.add_argument("--seed", type=int, default=1, help="other numbers give other cases")
    parser.add_argument("--only", action="append", default=[], choices=sorted(SUBJECTS), help="this subject")
    parser.add_argument("--case", type=int, help="try this one case again, and keep its input")
    given = parser.parse_args(arguments)
    names = given.only or list(SUBJECTS)
    whole = sum(SUBJECTS[name].share for name in names)
    counts: Counter[str] = Counter()
    for name in names:
        most = -(-given.cases * SUBJECTS[name].share // whole)
        for number in range(most) if given.case is None else [given.case]:
            with tempfile.TemporaryDirectory() as folder:
                outcome = run_case(name, given.seed, number, Path(folder))
            counts[f"{name} {outcome.kind}"] += 1
            if outcome.kind == FAILED:
                print(f"{outcome.detail}\n  python -m tests.fuzz --only {name} --seed {given.seed} --case {number}")
            if given.case is not None:
                place = Path(tempfile.mkdtemp(prefix="clueval-fuzz-"))
                for file, content in make_files(name, given.seed, number).items():
                    (place / file.replace("/", "_")).write_bytes(content)
                print(f"{outcome.kind}: {outcome.detail}\nIts input is in {place}")
    print("\n".join(f"{name:<30}{count:>8,}" for name, count in counts.items()))
    return int(any(name.endswith(FAILED) for name in counts))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.exit(main())
