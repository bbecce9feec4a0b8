"""What a detector costs when we run it, against a plain loop over it: `python -m tests.benchmark.detectors [--quick]`.

Presidio with its pattern recognizers and a pipeline without a model, on documents of ler-dev (or copies of the
example). Processor time is compared, because the machine may be busy; loading and the first document (it compiles
patterns) are not counted.

One and the same loop differs by ten per cent and more from process to process, with the seed of Python's hashes and
with where things come to lie in memory. So both sides are measured in one process, document by document, each of the
two first by turns: the analyzer's own call, and what the detector's process does for a document when we run it. What
our own process uses meanwhile is taken from a whole run and added.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from clueval_xlsx.detectors.base import DetectorSettings, Document
from clueval_xlsx.detectors.prediction import make_dataset
from clueval_xlsx.detectors.runner import RunOptions, run_detector
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.folders import ROOT, data_folder

ALLOWED = 1.05
NLP = "nlp_engine_name: spacy\nmodels:\n  - {lang_code: de, model_name: 'blank:de'}\n"

PAIRED = """
import io, json, sys, time
from clueval_xlsx.detectors.base import DetectorSettings
from clueval_xlsx.detectors.presidio import make
from clueval_xlsx.detectors.serve import answer_all

texts, language, nlp_config = json.load(sys.stdin)
detector = make(DetectorSettings("presidio", language, nlp_config=nlp_config))

def plain(text, _line):
    detector.analyzer.analyze(text, language)

def ours(_text, line):
    answer_all(detector, io.BytesIO(line), io.BytesIO())

lines = [json.dumps({"texts": [text]}).encode("ascii") + b"\\n" for text in texts]
ways = {"plain": plain, "ours": ours}
for way in ways.values():
    way(texts[0], lines[0])
used = dict.fromkeys(ways, 0.0)
for number, (text, line) in enumerate(zip(texts, lines)):
    for name in sorted(ways, reverse=number % 2 == 1):
        began = time.process_time()
        ways[name](text, line)
        used[name] += time.process_time() - began
print(json.dumps(used))
"""


def all_documents() -> list[Document]:
    """The documents of ler-dev, or of the example many times."""
    folder = data_folder()
    source = ROOT / "examples" / "gold.vrt" if folder is None else folder / "ler-dev.gold.vrt"
    documents = make_dataset(read(source, ReadOptions(layers={"category": 2}))).documents
    return documents * 40 if folder is None else documents


def in_the_detector(documents: list[Document], settings: DetectorSettings) -> dict[str, float]:
    """Seconds that the detector's process uses, for a plain loop and when we run it."""
    given = json.dumps([[document.text for document in documents], settings.language, settings.nlp_config])
    done = subprocess.run([sys.executable, "-c", PAIRED], input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def in_our_process(documents: list[Document], settings: DetectorSettings, folder: Path) -> float:
    """Seconds that our own process uses for a whole run, with its checks and its side file."""
    began = time.process_time()
    run = run_detector(documents, settings, RunOptions(workers=1, resume=False), side_file=folder / "side.jsonl")
    assert not run.failures
    return time.process_time() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="60 documents")
    documents = all_documents()[: 60 if parser.parse_args().quick else None]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nlp.yaml").write_text(NLP, "utf-8")
        settings = DetectorSettings("presidio", "de", nlp_config=str(folder / "nlp.yaml"))
        used = in_the_detector(documents, settings)
        own = in_our_process(documents, settings, folder)
    ratio = (used["ours"] + own) / used["plain"]
    print(f"{len(documents)} documents, {sum(len(document.text) for document in documents)} characters, processor time")
    print(f"plain loop over the analyzer     {used['plain']:7.2f} s")
    print(f"the same in the detector's own   {used['ours']:7.2f} s")
    print(f"our process beside it            {own:7.2f} s")
    print(f"ours to the plain loop           {ratio:7.1%}   {'within' if ratio <= ALLOWED else 'MORE than'} 5 %")


if __name__ == "__main__":
    main()
