"""The command: which rows, on which sizes, the table, and what must hold."""

from __future__ import annotations

import argparse
import tempfile
from itertools import pairwise
from pathlib import Path

from tests import benchmark
from tests.benchmark import commands, results  # noqa: F401  (these and what they import register their rows)
from tests.benchmark.limits import verdicts
from tests.benchmark.measuring import copy_data, machine, measure, measured_sizes
from tests.benchmark.rows import COPIES, ROWS, Measurement
from tests.support.folders import NO_DATA, data_folder

Sizes = dict[int, Measurement]


def parser() -> argparse.ArgumentParser:
    """The options."""
    about = (benchmark.__doc__ or "").partition("\n")[0]
    found = argparse.ArgumentParser(prog="python -m tests.benchmark", description=about)
    found.add_argument("--quick", action="store_true", help="the data once, no copies")
    found.add_argument("--only", default="", help="only groups whose name contains this, or one of these (a,b)")
    found.add_argument("--row", type=int, help=argparse.SUPPRESS)
    found.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return found


def main() -> None:
    """Measure every row on every size, print the table, and say what holds."""
    given = parser().parse_args()
    if given.row is not None:
        measure(given.row, given.folder)
        return
    source = data_folder()
    if source is None:
        raise SystemExit(NO_DATA)
    sizes = COPIES[:1] if given.quick else COPIES
    print(f"{machine()}\nProcessor time, all threads; `vs first` is the time of the group's first row over this row's.")
    with tempfile.TemporaryDirectory() as temporary:
        folders = {copies: Path(temporary) / str(copies) for copies in sizes}
        for copies, folder in folders.items():
            folder.mkdir()
            copy_data(source, folder, copies)
        found = measured_rows(given.only.split(","), folders)
    print("\nwhat must hold")
    for verdict in verdicts(found):
        print(f"  {verdict}")


def measured_rows(wanted: list[str], folders: dict[int, Path]) -> dict[tuple[str, str], Sizes]:
    """Measure the rows of the wanted groups, and print each when it is done."""
    group = ""
    first: Sizes = {}
    every: dict[tuple[str, str], Sizes] = {}
    for number, item in enumerate(ROWS):
        if not any(name in item.group for name in wanted):
            continue
        found = measured_sizes(number, folders)
        every[item.group, item.name] = found
        if item.group != group:
            group, first = item.group, found
            print(f"\n{group}\n{'':58}" + "".join(f"{f'{size} x':>10}{'vs first':>9}{'peak':>9}" for size in folders))
        print(f"  {item.name:56}" + "".join(_cells(found.get(size), first.get(size)) for size in folders), end="")
        grown = [f"{found[b].seconds / found[a].seconds:.1f}" for a, b in pairwise(found)]
        print(f"   grows {', '.join(grown)} x" if grown else "", flush=True)
    return every


def _cells(result: Measurement | None, first: Measurement | None) -> str:
    if result is None or first is None:
        return f"{'–':>10}{'':9}{'':9}"
    return f"{result.seconds:9.3f}s{first.seconds / result.seconds:8.2f}x{result.megabytes:7.0f}MB"
