"""The long run: `python -m tests.simulator --sequences 2000 [--office]`; exit code 1: something was lost or moved.

Of each sequence that failed it says the shortest beginning that fails; `--replay NUMBER` shows one and keeps its files.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from tests.simulator.mirror import mirrored
from tests.simulator.registry import OPERATIONS
from tests.simulator.sequences import Ran, Simulator


def described(ran: Ran) -> str:
    """A sequence, and what became of judgements that did not come home."""
    lines = [f"{ran.number}: {' > '.join(ran.names) or '(only judged)'}, exit {ran.back.code if ran.back else ''}"]
    return "\n    ".join([*lines, *map(str, ran.failures)])


def main() -> int:
    """Run the sequences one after the other."""
    parser = argparse.ArgumentParser("python -m tests.simulator", description=__doc__)
    parser.add_argument("--sequences", type=int, default=200, help="how many random sequences")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="operations to draw from: those whose name holds this text")
    parser.add_argument("--office", action="store_true", help="carry everything out in a real LibreOffice")
    parser.add_argument("--replay", type=int, metavar="NUMBER", help="show one sequence again and keep its files")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="simulator-"))
    simulator = Simulator(folder, given.seed, [name for name in OPERATIONS if given.only in name], None)
    outcomes: Counter[str] = Counter()
    failed = 0
    with mirrored(folder) if given.office else nullcontext() as program:
        simulator = replace(simulator, program=program) if program else simulator
        for number in range(given.sequences) if given.replay is None else [given.replay]:
            ran = simulator.run(number)
            outcomes.update(verdict.outcome for verdict in ran.verdicts)
            failed += bool(ran.failures) or not ran.closes
            if ran.failures or not ran.closes:
                print(described(simulator.shortest(ran) if ran.failures else ran), flush=True)
            if given.replay is not None:
                print(f"{described(ran)}\n{ran.back.errors if ran.back else ''}\n{', '.join(map(str, ran.files))}")
    print(f"{dict(outcomes)}; sequences that failed: {failed}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
