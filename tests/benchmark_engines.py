"""What a detector costs when we run it, against a plain loop over it: `python -m tests.benchmark_engines [--quick]`.

Presidio with its pattern recognizers and a pipeline without a model, on documents of ler-dev (or copies of the
example). Processor time is compared, all processes together, because the machine may be busy; loading and the first
document (it compiles patterns) are not counted.

The same loop differs by several per cent from process to process, with the seed of Python's hashes and with where
things come to lie in memory. So there are many short rounds: in each, both sides get the same texts and the same
seed, each round has another seed, and who goes first alternates. The median of the rounds' ratios stands.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from clueval_xlsx.engines.base import Document, EngineSettings
from clueval_xlsx.engines.runner import RunOptions, run_engine
from clueval_xlsx.engines.texts import render
from clueval_xlsx.loading import ReadOptions, read
from tests.conftest import ROOT, data_folder

ALLOWED = 1.05
DOCUMENTS = 60  # a round
NLP = "nlp_engine_name: spacy\nmodels:\n  - {lang_code: de, model_name: 'blank:de'}\n"


def all_documents() -> list[Document]:
    """The documents of ler-dev, or of the example many times."""
    folder = data_folder()
    if folder is None:
        return render(read(ROOT / "examples" / "gold.vrt", ReadOptions(layers={"category": 2})).corpus).documents * 40
    return render(read(folder / "ler-dev.gold.vrt").corpus).documents


PLAIN = """
import json, sys, time
from clueval_xlsx.engines.base import EngineSettings
from clueval_xlsx.engines.presidio import make

texts, language, nlp_config = json.load(sys.stdin)
analyzer = make(EngineSettings("presidio", language, nlp_config=nlp_config)).analyzer
analyzer.analyze(texts[0], language)
began = time.process_time()
for text in texts[1:]:
    analyzer.analyze(text, language)
print(time.process_time() - began)
"""


def plain_loop(documents: list[Document], settings: EngineSettings) -> float:
    """Seconds for a loop over Presidio's own call, nothing else, in a process with nothing else in it."""
    given = json.dumps([[document.text for document in documents], settings.language, settings.nlp_config])
    done = subprocess.run([sys.executable, "-c", PLAIN], input=given, capture_output=True, text=True, check=True)
    return float(done.stdout)


def wrapper(documents: list[Document], settings: EngineSettings, folder: Path) -> float:
    """Seconds for the same through the runner, with its process, its checks and its side file."""
    moments = []

    def advance(number: int) -> None:
        if number in {0, len(documents) - 1}:
            moments.append(time.process_time() + sum(map(processor_time, children())))

    run = run_engine(
        documents, settings, RunOptions(workers=1, resume=False), side_file=folder / "side.jsonl", advance=advance
    )
    assert not run.failures
    return moments[1] - moments[0]


def children() -> list[int]:
    """The processes that this one has started and that are still there (Linux)."""
    return [int(word) for task in Path("/proc/self/task").glob("*/children") for word in task.read_text().split()]


def processor_time(process: int) -> float:
    """Seconds that another process has used: Linux has a clock for each, numbered like this."""
    return time.clock_gettime((~process << 3) | 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="three rounds instead of eleven")
    rounds = 3 if parser.parse_args().quick else 11
    documents = all_documents()
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nlp.yaml").write_text(NLP, "utf-8")
        settings = EngineSettings("presidio", "de", nlp_config=str(folder / "nlp.yaml"))
        for number in range(rounds):
            os.environ["PYTHONHASHSEED"] = str(number + 1)  # both sides' processes inherit it
            first = number * DOCUMENTS % max(len(documents) - DOCUMENTS, 1)
            own = documents[first : first + DOCUMENTS]
            measures: dict[str, Callable[[], float]] = {
                "loop": partial(plain_loop, own, settings),
                "ours": partial(wrapper, own, settings, folder),
            }
            used = {side: measures[side]() for side in sorted(measures, reverse=number % 2 == 1)}
            ratios.append(used["ours"] / used["loop"])
            print(
                f"round {number + 1:2}: plain loop {used['loop']:6.2f} s, ours {used['ours']:6.2f} s, {ratios[-1]:.1%}"
            )
    median = statistics.median(ratios)
    print(f"{rounds} rounds of {DOCUMENTS} documents, processor time, ours to the plain loop:")
    print(f"median {median:.1%}, from {min(ratios):.1%} to {max(ratios):.1%}")
    print("within 5 %" if median <= ALLOWED else "MORE than 5 % slower")


if __name__ == "__main__":
    main()
