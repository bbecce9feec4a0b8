"""What a detector costs when we run it, against a plain loop over it: `python -m tests.benchmark_engines [--quick]`.

Presidio with its pattern recognizers and a pipeline without a model, on the documents of ler-dev (or copies of the
example). Both sides look at the same texts one by one, in turn for several rounds. Processor time is compared, all
processes together, because the machine may be busy; loading and the first document (it compiles patterns) are not
counted. The best round of each side stands.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from clueval_xlsx.engines.base import Document, EngineSettings
from clueval_xlsx.engines.runner import RunOptions, run_engine
from clueval_xlsx.engines.texts import render
from clueval_xlsx.loading import ReadOptions, read
from tests.conftest import ROOT, data_folder

ALLOWED = 1.05
NLP = "nlp_engine_name: spacy\nmodels:\n  - {lang_code: de, model_name: 'blank:de'}\n"


def texts(quick: bool) -> list[Document]:
    """The documents of ler-dev, or of the example twenty times."""
    folder = data_folder()
    if folder is None:
        found = render(read(ROOT / "examples" / "gold.vrt", ReadOptions(layers={"category": 2})).corpus).documents * 20
    else:
        found = render(read(folder / "ler-dev.gold.vrt").corpus).documents
    return found[:60] if quick else found


def processor_time() -> float:
    """Seconds of this process and of all that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


PLAIN = """
import json, resource, sys
from clueval_xlsx.engines.base import EngineSettings
from clueval_xlsx.engines.presidio import make

texts, language, nlp_config = json.load(sys.stdin)
analyzer = make(EngineSettings("presidio", language, nlp_config=nlp_config)).analyzer
analyzer.analyze(texts[0], language)
began = resource.getrusage(resource.RUSAGE_SELF)
for text in texts[1:]:
    analyzer.analyze(text, language)
ended = resource.getrusage(resource.RUSAGE_SELF)
print(ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime)
"""


def plain_loop(documents: list[Document], settings: EngineSettings) -> float:
    """Seconds for a loop over Presidio's own call, nothing else, in a process with nothing else in it."""
    given = json.dumps([[document.text for document in documents], settings.language, settings.nlp_config])
    done = subprocess.run([sys.executable, "-c", PLAIN], input=given, capture_output=True, text=True, check=True)
    return float(done.stdout)


def wrapper(documents: list[Document], settings: EngineSettings, folder: Path) -> float:
    """Seconds for the same through the runner, with its process, its checks and its side file."""
    used = []
    for texts in (documents[:1], documents):  # the difference is what all but the first cost
        began = processor_time()
        run = run_engine(texts, settings, RunOptions(workers=1), side_file=folder / "side.jsonl")
        assert not run.failures
        used.append(processor_time() - began)
    return used[1] - used[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="60 documents, two rounds")
    quick = parser.parse_args().quick
    documents = texts(quick)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nlp.yaml").write_text(NLP, "utf-8")
        settings = EngineSettings("presidio", "de", nlp_config=str(folder / "nlp.yaml"))
        rounds = [
            (plain_loop(documents, settings), wrapper(documents, settings, folder)) for _ in range(2 if quick else 4)
        ]
    plain, ours = (min(times) for times in zip(*rounds, strict=True))
    count = len(documents) - 1
    share = f"{100 * ours / plain:.1f} % of the loop's time"
    print(f"{count} documents, {sum(len(document.text) for document in documents[1:])} characters, processor time")
    print(f"plain loop  {plain:7.2f} s  {count / plain:7.1f} documents/s")
    print(f"wrapper     {ours:7.2f} s  {count / ours:7.1f} documents/s  {share}")
    print("within 5 %" if ours <= ALLOWED * plain else "MORE than 5 % slower")


if __name__ == "__main__":
    main()
