"""A detector on a cluster of two workers against one process: `python -m tests.benchmark.clusters [--quick]`.

Two detectors that take their time: a program that sleeps, and Presidio with its pattern recognizers. Each runs as a
user would run it, `predict --workers 1` and `predict --cluster local:2`, the whole command with all that it starts,
on the same file, with the same limit of one thread for each process; both must write the same bytes. What a start
costs is measured on the first few documents, and shown: the ratio that must hold is that of the whole commands.

Wall time decides, which needs a machine with two idle cores. Processor time is shown as well, since it says on a busy
machine what an idle one could do: whatever the detectors need beside what the client, the scheduler and the workers
add, spread over two cores, cannot be done faster.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmark.detectors import NLP, all_documents
from tests.support.folders import ROOT

WANTED = 1.8
CORES = 2
FEW = 8  # documents that show what a start costs: each worker has its first among them
SLEEPER = """
import json, sys, time
for line in sys.stdin:
    document = json.loads(line)
    time.sleep(0.1)
    print(json.dumps({"id": document["id"], "spans": [{"start": 0, "end": 1, "label": "X"}]}), flush=True)
"""
# The command, and what it and all that it started have used.
COMMAND = """
import json, resource, sys
from clueval_xlsx.__main__ import main
try:
    main()
finally:
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps([each.ru_utime + each.ru_stime for each in (own, others)]))
"""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PLACES = {"one process": ("--workers", "1"), "two workers": ("--cluster", "local:2")}


@dataclass(frozen=True)
class Used:
    """Seconds of one command: by the clock, of its own process (with the scheduler), and of all others."""

    wall: float
    own: float
    others: float

    @property
    def processor(self) -> float:
        return self.own + self.others


def predict(texts: Path, target: Path, words: Sequence[str]) -> Used:
    """Run one command."""
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", COMMAND, "predict", str(texts), "-o", str(target), "--no-resume", *words]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    own, _ = json.loads(done.stdout.splitlines()[-1])
    every = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    return Used(wall, own, every - own)


def compare(name: str, texts: Sequence[str], words: Sequence[str], folder: Path) -> None:
    """Run a detector both ways, on a few documents and on all, and print what came of it."""
    found: dict[tuple[str, int], Used] = {}
    for size in (FEW, len(texts)):
        source = folder / "texts.json"
        source.write_text(json.dumps([{"full_text": text, "spans": []} for text in texts[:size]]), "utf-8")
        targets = {place: folder / f"{place}.json" for place in PLACES}
        for place, more in PLACES.items():
            found[place, size] = predict(source, targets[place], [*words, *more])
        if len({target.read_bytes() for target in targets.values()}) > 1:
            raise SystemExit(f"{name}: the two ways found different things")
    print(f"\n{name}: {len(texts)} documents, {sum(map(len, texts))} characters")
    print(f"{'':14}{'clock':>10}{'start of it':>13}{'processor: own':>16}{'others':>9}{'a document':>13}")
    for place in PLACES:
        used, start = found[place, len(texts)], found[place, FEW]
        each = 1000 * (used.processor - start.processor) / (len(texts) - FEW)
        print(f"  {place:12}{used.wall:9.2f}s{start.wall:12.2f}s{used.own:15.2f}s{used.others:8.2f}s{each:10.2f} ms")
    one, two = (found[place, len(texts)] for place in PLACES)
    bare_one, bare_two = (found[place, len(texts)].wall - found[place, FEW].wall for place in PLACES)
    ratio = one.wall / two.wall
    verdict = "" if ratio >= WANTED else "   NOT KEPT"
    print(f"  the whole command {ratio:.2f} x as fast, at least {WANTED}{verdict}; without the start ", end="")
    print(f"{bare_one / bare_two:.2f} x; the client has {two.own / two.processor:.1%} of the processor time")
    if one.processor > one.wall / 2:  # a detector that sleeps is not bound by processors
        print(f"  by processor time at most {CORES * one.processor / two.processor:.2f} x on {CORES} idle cores")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents, which is too few for the ratio")
    parser.add_argument("--only", choices=("sleeper", "presidio"), help="one of the two detectors")
    given = parser.parse_args()
    texts = [document.text for document in all_documents()]
    share = 10 if given.quick else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nlp.yaml").write_text(NLP, "utf-8")
        (folder / "sleeper.py").write_text(SLEEPER, "utf-8")
        if given.only != "presidio":
            sleeper = f"command:{shlex.quote(sys.executable)} {shlex.quote(str(folder / 'sleeper.py'))}"
            compare("a program that sleeps 0.1 s", (texts * 4)[: 1000 // share], ["--detector", sleeper], folder)
        if given.only != "sleeper":
            words = ["--detector", "presidio", "--detector-language", "de", "--nlp-config", str(folder / "nlp.yaml")]
            compare("Presidio's patterns", (texts * 20)[: 5000 // share], words, folder)


if __name__ == "__main__":
    main()
