"""A detector on a cluster of two workers against one process: `python -m tests.benchmark.clusters [--quick]`.

Two detectors that take their time: a program that sleeps, and Presidio with its pattern recognizers. Each runs as a
user would run it, `predict --workers 1` and `predict --cluster local:2`, the whole command with all that it starts,
on the same file, with the same limit of one thread for each process; both must write the same bytes. What a start
costs is measured on the first few documents, and shown: the ratio that must hold is that of the whole commands.

Wall time decides, which needs a machine with two idle cores. Processor time is shown as well, since it says on a busy
machine what an idle one could do: whatever the detectors need beside what the client, the scheduler and the workers
add, spread over two cores, cannot be done faster.

With `--scores 100000` so many pairs of files are scored, `score` and `score --cluster local:2`, as a table and with a
row for each document (`--json`); both must give the same bytes. A tenth of them is scored first, so that what a
document adds is known, in time and in memory of the client, and what a country's decisions would need.
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
# The command, and what it has used itself: seconds and kilobytes.
COMMAND = """
import json, resource, sys
from clueval_xlsx.__main__ import main
try:
    main()
finally:
    own = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([own.ru_utime + own.ru_stime, own.ru_maxrss]))
"""
COUNTRY = 1_500_000  # decisions
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
TWO_WORKERS = ("--cluster", "local:2")
PLACES = {"one process": ("--workers", "1"), "two workers": TWO_WORKERS}


@dataclass(frozen=True)
class Used:
    """Of a command: seconds by the clock, of its own process (with the scheduler), of others; its own peak in MB."""

    wall: float
    own: float
    others: float
    memory: float = 0.0

    @property
    def processor(self) -> float:
        return self.own + self.others


def run(*words: object) -> tuple[Used, str]:
    """Run one command: what it used, and what it printed."""
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", COMMAND, *map(str, words)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    *printed, last = done.stdout.splitlines(keepends=True)
    own, peak = json.loads(last)
    every = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    return Used(wall, own, every - own, peak / 1024), "".join(printed)


def predict(texts: Path, target: Path, words: Sequence[str]) -> Used:
    """Let a detector look at all texts."""
    return run("predict", texts, "-o", target, "--no-resume", *words)[0]


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


def write_files(folder: Path, begin: int, end: int) -> None:
    """Decisions of 54 tokens, a file each; in some the model misses a name, or sees one too many."""
    for side in ("gold", "pred"):
        (folder / side).mkdir(exist_ok=True)
        for number in range(begin, end):
            tags = ["O"] * 54
            tags[3:5] = ["B-PER", "I-PER"]
            tags[20 + number % 9] = "B-LOC"
            if side == "pred" and number % 5 == 0:
                tags[3:5] = ["O", "B-PER"]
            if side == "pred" and number % 3 == 0:
                tags[40] = "B-ORG"
            lines = [f"w{(number + place) % 997}\t{tag}\n" for place, tag in enumerate(tags)]
            text = f'<text id="decision-{number}">\n{"".join(lines)}</text>\n'
            (folder / side / f"decision-{number}.vrt").write_text(text, "utf-8")


def compare_scores(files: int, folder: Path) -> None:
    """Score a tenth of the files and all of them, both ways, and print what came of it."""
    few = files // 10
    found: dict[tuple[str, str, int], Used] = {}
    for begin, size in ((0, few), (few, files)):
        write_files(folder, begin, size)
        for form, target in (("table", None), ("with documents", folder / "metrics.json")):
            results = set()
            for place, more in (("one process", ()), ("two workers", TWO_WORKERS)):
                json_too = () if target is None else ("--json", target)
                used, printed = run("score", folder / "gold", folder / "pred", *json_too, *more)
                found[form, place, size] = used
                results.add((printed, b"" if target is None else target.read_bytes()))
            if len(results) > 1:
                raise SystemExit(f"scores of {size} files, {form}: the two ways found different things")
    print(f"\nscores of {files} files of one document each; the same bytes both ways")
    print(f"{'':30}{'clock':>8}{'processor: own':>16}{'others':>10}{'a document':>13}{'peak, own':>11}", end="")
    print(f"{'a document':>13}   {COUNTRY} documents: own, others, peak")
    for (form, place, size), used in found.items():
        if size == few:
            continue
        less = found[form, place, few]
        own, others, memory = (
            (getattr(used, name) - getattr(less, name)) / (files - few) for name in ("own", "others", "memory")
        )
        whole = [
            getattr(used, name) + each * (COUNTRY - files)
            for name, each in (("own", own), ("others", others), ("memory", memory))
        ]
        print(f"  {place:12}{form:16}{used.wall:7.1f}s{used.own:15.1f}s{used.others:9.1f}s", end="")
        print(f"{1000 * (own + others):10.2f} ms{used.memory:8.0f} MB{1024 * memory:10.1f} kB", end="")
        print(f"   {whole[0]:.0f} s, {whole[1]:.0f} s, {whole[2] / 1024:.1f} GB")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents, which is too few for the ratio")
    parser.add_argument("--only", choices=("sleeper", "presidio"), help="one of the two detectors")
    parser.add_argument("--scores", type=int, metavar="FILES", help="scores of so many files instead, such as 100000")
    given = parser.parse_args()
    if given.scores:
        with tempfile.TemporaryDirectory() as name:
            compare_scores(given.scores, Path(name))
        return
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
            words = [
                "--detector",
                "presidio",
                "--detector-language",
                "de",
                "--detector-option",
                f"nlp_config={folder / 'nlp.yaml'!s}",
            ]
            compare("Presidio's patterns", (texts * 20)[: 5000 // share], words, folder)


if __name__ == "__main__":
    main()
