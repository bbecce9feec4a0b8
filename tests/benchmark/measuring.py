"""Measuring one row: data of every size, a process of its own, processor time and peak memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.benchmark.rows import ROWS, Measurement
from tests.support.folders import ROOT

ENOUGH = 3.0  # seconds after which a row is not repeated more than once
LONG = 20.0  # seconds; a row that takes so long is not repeated: what it loads the first time is nothing beside it
PATIENCE = 180.0  # seconds; others that would need longer on the next size are left out there


def copy_data(source: Path, target: Path, copies: int) -> None:
    """Write gold and prediction `copies` times over, with document, sentence and token IDs of their own."""
    for side in ("gold", "pred"):
        lines = (source / f"ler-dev.{side}.vrt").read_text("utf-8").removesuffix("\n").split("\n")
        with (target / f"{side}.vrt").open("w", encoding="utf-8", newline="\n") as stream:
            for copy in range(copies):
                for line in lines:
                    if "\t" in line:
                        stream.write(f"{line}.{copy}\n")  # the token ID is the last column
                    else:
                        stream.write(line.replace('id="', f'id="{copy}-') + "\n")


def used() -> float:
    """Processor time of this process and of those it has waited for; other programs on the machine do not count."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measure(number: int, folder: Path) -> None:
    """Measure one row in this process and print what came out as JSON."""
    work = ROWS[number].prepare(folder)
    times: list[float] = []
    while not times or (sum(times) < LONG and (len(times) < 2 or (len(times) < 5 and sum(times) < ENOUGH))):
        began = used()
        work()
        times.append(used() - began)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps([min(times), peak / (1024 if sys.platform != "darwin" else 1 << 20)]))


def measured(number: int, folder: Path) -> Measurement:
    """Measure one row in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode, as the others do
    words = [sys.executable, "-m", "tests.benchmark", "--row", str(number), "--folder", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{ROWS[number].name}: {done.stderr}")
    return Measurement(*json.loads(done.stdout.splitlines()[-1]))


def machine() -> str:
    """What this was measured on."""
    import platform

    names = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = next((int(line.split()[1]) >> 20 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    processor = names[0] if names else platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} cores, {memory} GB, {platform.system()}, Python {platform.python_version()}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def measured_sizes(number: int, folders: dict[int, Path]) -> dict[int, Measurement]:
    """Measure a row on every size that it is meant for and that somebody would wait for."""
    item = ROWS[number]
    found: dict[int, Measurement] = {}
    for copies, folder in folders.items():
        last = max(found, default=None)
        expected = found[last].seconds * copies / last if last else 0.0
        if copies <= item.most and (item.ours or expected < PATIENCE):
            found[copies] = measured(number, folder)
    return found
