"""Throughput of a detector run by us against a plain loop over it: `python -m tests.benchmark_engines [--quick]`.

Presidio with its pattern recognizers and a pipeline without a model, on the documents of ler-dev (or copies of the
example). Both sides look at the same texts one by one, in turn for several rounds; loading is not counted, the first
document neither (it compiles patterns). The best round of each side is compared: the machine may be busy.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from clueval_xlsx.engines.base import Document, EngineSettings
from clueval_xlsx.engines.presidio import make
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


def plain_loop(documents: list[Document], settings: EngineSettings) -> float:
    """Seconds for a loop over Presidio's own call, nothing else."""
    analyzer = make(settings).analyzer
    analyzer.analyze(documents[0].text, settings.language)
    began = time.perf_counter()
    for document in documents[1:]:
        analyzer.analyze(document.text, settings.language)
    return time.perf_counter() - began


def wrapper(documents: list[Document], settings: EngineSettings, workers: int, folder: Path) -> float:
    """Seconds for the same through the runner, with its process, its checks and its side file."""
    ticks: list[float] = []
    run = run_engine(
        documents,
        settings,
        RunOptions(workers=workers),
        side_file=folder / "side.jsonl",
        advance=lambda _number: ticks.append(time.perf_counter()),
    )
    assert not run.failures
    return ticks[-1] - ticks[0]


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
            (plain_loop(documents, settings), wrapper(documents, settings, 1, folder)) for _ in range(2 if quick else 5)
        ]
        two = wrapper(documents, settings, 2, folder)
    plain, ours = (min(times) for times in zip(*rounds, strict=True))
    count = len(documents) - 1
    print(f"{count} documents, {sum(len(document.text) for document in documents[1:])} characters")
    print(f"plain loop      {plain:7.2f} s  {count / plain:7.1f} documents/s")
    print(
        f"wrapper         {ours:7.2f} s  {count / ours:7.1f} documents/s  {100 * ours / plain:.1f} % of the loop's time"
    )
    print(f"two workers     {two:7.2f} s  {count / two:7.1f} documents/s")
    print("within 5 %" if ours <= ALLOWED * plain else "MORE than 5 % slower")


if __name__ == "__main__":
    main()
