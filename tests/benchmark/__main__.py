"""Measures the tool against others on the same data in one run: `python -m tests.benchmark [--quick]`.

Each row is measured in a process of its own: its best processor time of several, and the peak memory of the process.
The data are ler-dev (214,443 tokens), ten copies of it and 94 (20 million), with IDs of their own. A row is a
function that prepares and returns the work to be timed; add one with `@row`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.support.folders import ROOT, data_folder

Work = Callable[[], Any]
COPIES = (1, 10, 94)
ENOUGH = 3.0  # seconds after which a row is not repeated
PATIENCE = 180.0  # seconds; others that would need longer on the next size are left out there


@dataclass(frozen=True)
class Row:
    """One thing to measure: `group` rows are compared with each other, the first of a group with all others."""

    group: str
    name: str
    prepare: Callable[[Path], Work]
    most: int = COPIES[-1]  # copies of the data

    @property
    def ours(self) -> bool:
        return self.name.startswith("ours")


ROWS: list[Row] = []


def row(group: str, name: str, most: int = COPIES[-1]) -> Callable[[Callable[[Path], Work]], Callable[[Path], Work]]:
    """Register a row."""

    def register(prepare: Callable[[Path], Work]) -> Callable[[Path], Work]:
        ROWS.append(Row(group, name, prepare, most))
        return prepare

    return register


# ---- reading -------------------------------------------------------------------------------------------------------


@row("read gold", "ours: tokens, IDs, both layers, checks")
def _read(folder: Path) -> Work:
    from clueval_xlsx.formats.loading import ReadOptions, read

    options = ReadOptions(layers={"fine": 2, "coarse": 3}, token_id=4)
    return lambda: read(folder / "gold.vrt", options)


@row("read gold", "pandas' C parser: four columns of strings")
def _read_pandas(folder: Path) -> Work:
    import csv

    import pandas as pd

    return lambda: pd.read_csv(
        folder / "gold.vrt", sep="\t", header=None, names=list("abcd"), dtype=str, quoting=csv.QUOTE_NONE,
        keep_default_na=False, engine="c",
    )  # fmt: skip


def long_documents(folder: Path) -> Path:
    """1,000 documents of 30,000 characters with 60 spans each as Presidio JSON, made of the corpus's own words."""
    path = folder / "long.json"
    if not path.exists():
        lines = (folder / "gold.vrt").read_text("utf-8").splitlines()
        words = [line.partition("\t")[0] for line in lines if "\t" in line][:50_000]
        text = " ".join(words)
        documents = []
        for number in range(1000):
            begin = number * 137 % (len(text) - 30_000)
            own = text[begin : begin + 30_000]
            spans = [
                {"entity_type": "X", "entity_value": own[i : i + 15], "start_position": i, "end_position": i + 15}
                for i in range(100, 30_000, 498)
            ]
            documents.append({"full_text": own, "spans": spans, "metadata": {"doc_id": f"d{number}"}})
        path.write_text(json.dumps(documents, ensure_ascii=False), "utf-8")
    return path


@row("read JSON", "ours: 1,000 x 30,000 characters, spans checked", most=1)
def _read_json(folder: Path) -> Work:
    from clueval_xlsx.formats.loading import load

    path = long_documents(folder)
    return lambda: load(path)


@row("read JSON", "json.load", most=1)
def _read_json_plainly(folder: Path) -> Work:
    path = long_documents(folder)
    return lambda: json.loads(path.read_bytes())


@row("read JSON", "ours: and cut into tokens", most=1)
def _read_json_tokens(folder: Path) -> Work:
    from clueval_xlsx.formats.loading import read

    path = long_documents(folder)
    return lambda: read(path)


# ---- scoring, from the same lists of tags --------------------------------------------------------------------------

Sentences = list[list[str]]


def tags(path: Path) -> Sentences:
    """The tags of layer `fine` as others want them: a list of strings for each sentence."""
    sentences: Sentences = []
    for line in path.read_text("utf-8").split("\n"):
        if line.startswith("<s "):
            sentences.append([])
        elif "\t" in line:
            sentences[-1].append(line.split("\t")[1])
    return sentences


def both(folder: Path) -> tuple[Sentences, Sentences]:
    return tags(folder / "gold.vrt"), tags(folder / "pred.vrt")


def score_tags(folder: Path, replicates: int) -> Work:
    """From lists of strings to counts and rates at all four levels: overall, by label and by document.

    The corpus is read beforehand, as the lists are; decoding the tags is part of the work, as it is for the others.
    """
    from dataclasses import replace

    from clueval_xlsx.corpus.pair import Pair, annotate
    from clueval_xlsx.corpus.tags import TagColumn
    from clueval_xlsx.evaluation import Evaluation, Options, evaluate
    from clueval_xlsx.formats.loading import ReadOptions, read

    reading = read(folder / "gold.vrt", ReadOptions(layers={"fine": 2}))
    corpus = reading.corpus
    sides = both(folder)

    def work() -> Evaluation:
        gold, pred = (
            annotate(
                replace(reading, layers={"fine": TagColumn.of([tag for sentence in side for tag in sentence])}),
                corpus,
                corpus.breaks,
            )
            for side in sides
        )
        evaluation = evaluate(Pair(corpus, gold, pred, ("fine",)), Options(replicates=replicates))
        assert len(evaluation.scores)  # computed when somebody looks
        return evaluation

    found = work().overall("clueval", level="exact", labelled="fine")["tp_gold"]
    copies = len(corpus) // 214_443
    assert found == 3039 * copies, found  # the figure of the data, once for each copy
    return work


@row("score from tags", "ours: four levels, with and without labels")
def _score(folder: Path) -> Work:
    return score_tags(folder, 0)


@row("score from tags", "ours: with 1,000 bootstrap replicates")
def _score_intervals(folder: Path) -> Work:
    return score_tags(folder, 1000)


@row("score from tags", "ours: decoding and matching alone")
def _match(folder: Path) -> Work:
    from clueval_xlsx.corpus.spans import from_decoded
    from clueval_xlsx.corpus.tags import TagColumn, decode
    from clueval_xlsx.formats.loading import ReadOptions, read
    from clueval_xlsx.scoring.matching import match_spans

    breaks = read(folder / "gold.vrt", ReadOptions(layers={"fine": 2})).corpus.breaks
    sides = both(folder)

    def work() -> None:
        gold, pred = (
            from_decoded(decode(TagColumn.of([tag for sentence in side for tag in sentence]), breaks), "fine")
            for side in sides
        )
        match_spans(gold, pred)
        match_spans(pred, gold)

    return work


@row("score from tags", "seqeval precision_recall_fscore_support")
def _seqeval_scores(folder: Path) -> Work:
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

    gold, pred = both(folder)
    return lambda: precision_recall_fscore_support(gold, pred, average="micro")


@row("score from tags", "seqeval classification_report", most=10)
def _seqeval_report(folder: Path) -> Work:
    from seqeval.metrics import classification_report

    gold, pred = both(folder)
    return lambda: classification_report(gold, pred, zero_division=0)


@row("score from tags", "nervaluate")
def _nervaluate(folder: Path) -> Work:
    from nervaluate import Evaluator

    gold, pred = both(folder)
    labels = sorted({tag[2:] for sentence in gold for tag in sentence if tag != "O"})
    return lambda: Evaluator(gold, pred, tags=labels, loader="list").evaluate()


# ---- every scheme, from parsed files -------------------------------------------------------------------------------


def scheme_scores(folder: Path, *names: str, replicates: int = 0) -> Work:
    """From parsed columns of tags and tokens to the scores of some schemes (clueval is always among them)."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.evaluation import Options, evaluate
    from clueval_xlsx.formats.loading import ReadOptions, read
    from clueval_xlsx.scoring.schemes.settings import SchemeOptions

    options = ReadOptions(layers={"fine": 2}, token_id=4)
    sides = [read(folder / f"{side}.vrt", options) for side in ("gold", "pred")]
    chosen = Options(replicates=replicates, schemes=SchemeOptions(names, allow=(("ALL", r"\s"),)))
    return lambda: evaluate(make_pair(*sides), chosen).scores


# The group's first row is the outside scorer: its column "vs first" is the ratio that each scheme must keep.
row("schemes", "seqeval precision_recall_fscore_support")(_seqeval_scores)
for _scheme in ("clueval", "seqeval", "semeval", "scenario", "tokens", "iou", "coverage", "chars", "documents", "all"):
    row("schemes", f"ours: {_scheme}", most=94 if _scheme == "all" else 10)(
        lambda folder, name=_scheme: scheme_scores(folder, name)
    )  # type: ignore[misc]
row("schemes", "ours: all, with 1,000 bootstrap replicates")(
    lambda folder: scheme_scores(folder, "all", replicates=1000)
)


# ---- the error tables; a scorer's time is there for comparison ------------------------------------------------------


@row("error tables", "ours: every case with its context, level exact")
def _cases(folder: Path) -> Work:
    from dataclasses import replace

    evaluation = evaluated(folder)

    def work() -> None:
        found = replace(evaluation)  # nothing cached
        assert sum(map(len, found.cases))

    return work


row("error tables", "seqeval precision_recall_fscore_support", most=10)(_seqeval_scores)


# ---- the report to read, likewise -----------------------------------------------------------------------------------


@row("HTML", "ours: the report with the whole text")
def _html(folder: Path) -> Work:
    from clueval_xlsx.outputs.html.report import to_html

    evaluation = evaluated(folder)
    return lambda: to_html(evaluation)


row("HTML", "seqeval precision_recall_fscore_support", most=10)(_seqeval_scores)


# ---- the review workbook, against the library alone ----------------------------------------------------------------


def evaluated(folder: Path) -> Any:
    """Both layers at level exact: many cases."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.evaluation import Options, evaluate
    from clueval_xlsx.formats.loading import ReadOptions, read

    options = ReadOptions(layers={"fine": 2, "coarse": 3}, token_id=4)
    sides = [read(folder / f"{side}.vrt", options) for side in ("gold", "pred")]
    evaluation = evaluate(make_pair(*sides), Options(level="exact"))
    assert len(evaluation.cases) == 2  # made here, like the scores, and not while the time is taken
    assert len(evaluation.scores)
    return evaluation


@row("workbook", "ours: all sheets, level exact")
def _workbook(folder: Path) -> Work:
    from clueval_xlsx.outputs.xlsx import write_workbook

    evaluation = evaluated(folder)
    return lambda: write_workbook(evaluation, folder / "review.xlsx")


@row("workbook", "XlsxWriter alone, the same calls replayed")
def _workbook_bare(folder: Path) -> Work:
    from tests.support.recording import record

    return record(evaluated(folder), folder / "recorded.xlsx").replay


# ---- the way back: every case of the workbook judged (2,645 rows, tenfold 26,450) ------------------------------------


def judged_workbook(folder: Path) -> Path:
    """The review workbook with a judgement in every row; written once."""
    from clueval_xlsx.outputs.xlsx import ReviewOptions, write_workbook
    from clueval_xlsx.review.vocabulary import Answer

    path = folder / "judged.xlsx"
    if not path.exists():
        evaluation = evaluated(folder)
        codes = (("model_error", "gold_wrong", "acceptable"), ("model_error", "gold_missing", "acceptable"))
        answers = {
            case_id: Answer(own[number % 3], severity="quasi", comment="seen")
            for own, table in zip(codes, evaluation.bare_cases, strict=True)
            for number, case_id in enumerate(table["case_id"])
        }
        write_workbook(evaluation, path, ReviewOptions(answers=answers))
    return path


@row("re-import", "ours: read, checked, decided, matched anew, corrected file")
def _reimport(folder: Path) -> Work:
    from clueval_xlsx.review.reimport import reimport

    path = judged_workbook(folder)
    return lambda: reimport([path], folder / "gold.vrt").content


@row("re-import", "openpyxl: reading the rows alone", most=10)
def _reimport_openpyxl(folder: Path) -> Work:
    import openpyxl

    path = judged_workbook(folder)

    def work() -> int:
        book = openpyxl.load_workbook(path, read_only=True)
        return sum(1 for name in ("FN", "FP") for _ in book[name].iter_rows(values_only=True))

    return work


# ---- whole commands ------------------------------------------------------------------------------------------------

LAYERS = ("--layer", "fine=2", "--layer", "coarse=3", "--token-id", "4")


def command(*arguments: object) -> Work:
    """The command line in this process, start-up of Python not included."""
    from tests.support.commands import run

    def work() -> None:
        done = run(*arguments)
        assert done.code == 0, done.err

    return work


@row("command", "ours: evaluate --level exact --sample 5000")
def _command_sample(folder: Path) -> Work:
    sides = folder / "gold.vrt", folder / "pred.vrt"
    return command(
        "evaluate", *sides, *LAYERS, "--level", "exact", "--sample", 5000, "-o", folder / "sample.xlsx", "--force"
    )


@row("command", "ours: score, both layers merged, with intervals")
def _command_score(folder: Path) -> Work:
    return command("score", folder / "gold.vrt", folder / "pred.vrt", *LAYERS, "--json")


@row("command", "ours: evaluate --level exact -o review.xlsx")
def _command_workbook(folder: Path) -> Work:
    sides = folder / "gold.vrt", folder / "pred.vrt"
    return command("evaluate", *sides, *LAYERS, "--level", "exact", "-o", folder / "review.xlsx")


@row("command", "ours: evaluate --level exact --files (fine)", most=10)
def _command_evaluate(folder: Path) -> Work:
    sides = folder / "gold.vrt", folder / "pred.vrt"
    return command("evaluate", *sides, "--layer", "fine=2", "--level", "exact", "--files", folder / "files")


@row("command", "ours: merge both layers into a span table")
def _command_merge(folder: Path) -> Work:
    return command("merge", folder / "gold.vrt", *LAYERS, "-o", folder / "merged.tsv")


# ---- unkind shapes: ten times as much should take ten times as long --------------------------------------------------


def shape(folder: Path, *options: object, **what: Any) -> Work:
    """The whole command on a corpus of such a shape."""
    from tests.support.shapes import write_shape

    sides = write_shape(folder, **what)
    return command("evaluate", *sides, "--level", "exact", *options, "-o", folder / "shape.xlsx", "--force")


def times(folder: Path) -> int:
    """How many times as much as the smallest: the folder's name says so."""
    return int(folder.name)


@row("unkind shapes", "ours: one document, 0.5 and 5 million tokens, a sample", most=10)
def _one_document(folder: Path) -> Work:
    return shape(folder, "--sample", 5000, tokens=500_000 * times(folder))


@row("unkind shapes", "ours: one sentence, 10,000 and 100,000 tokens", most=10)
def _one_sentence(folder: Path) -> Work:
    return shape(folder, tokens=10_000 * times(folder), sentence=10_000 * times(folder))


@row("unkind shapes", "ours: 20 and 200 layers, 20,000 tokens", most=10)
def _many_layers(folder: Path) -> Work:
    count = 20 * times(folder)
    options = [word for number in range(count) for word in ("--layer", f"l{number}={number + 2}")]
    return shape(folder, *options, tokens=20_000, documents=20, layers=count, density=0.0008)


@row("unkind shapes", "ours: 500 and 5,000 labels, 200,000 tokens", most=10)
def _many_labels(folder: Path) -> Work:
    return shape(folder, "--labelled", "span", tokens=200_000, documents=20, labels=500 * times(folder))


# ---- measuring -----------------------------------------------------------------------------------------------------


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


def measure(number: int, folder: Path) -> None:
    """Measure one row in this process and print what came out as JSON."""
    work = ROWS[number].prepare(folder)
    times: list[float] = []
    while len(times) < 5 and sum(times) < ENOUGH:
        began = time.process_time()  # other programs on the machine do not count
        work()
        times.append(time.process_time() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": min(times), "megabytes": peak / (1024 if sys.platform != "darwin" else 1 << 20)}))


def measured(number: int, folder: Path) -> dict[str, float]:
    """Measure one row in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "tests.benchmark", "--row", str(number), "--folder", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{ROWS[number].name}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> str:
    """What this was measured on."""
    import platform

    names = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = next((int(line.split()[1]) >> 20 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    processor = names[0] if names else platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} cores, {memory} GB, {platform.system()}, Python {platform.python_version()}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def measured_sizes(number: int, folders: dict[int, Path]) -> dict[int, dict[str, float]]:
    """Measure a row on every size that it is meant for and that somebody would wait for."""
    item = ROWS[number]
    found: dict[int, dict[str, float]] = {}
    for copies, folder in folders.items():
        last = max(found, default=None)
        expected = found[last]["seconds"] * copies / last if last else 0.0
        if copies <= item.most and (item.ours or expected < PATIENCE):
            found[copies] = measured(number, folder)
    return found


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(prog="python -m tests.benchmark", description=(__doc__ or "").partition("\n")[0])
    found.add_argument("--quick", action="store_true", help="the data once, no copies")
    found.add_argument("--only", default="", help="only groups whose name contains this, or one of these (a,b)")
    found.add_argument("--row", type=int, help=argparse.SUPPRESS)
    found.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return found


def main() -> None:
    """Measure every row on every size and print the table."""
    given = parser().parse_args()
    if given.row is not None:
        measure(given.row, given.folder)
        return
    source = data_folder()
    if source is None:
        raise SystemExit("the ler-dev data are not there (../shared/data, or set CLUEVAL_DATA)")
    sizes = COPIES[:1] if given.quick else COPIES
    print(f"{machine()}\nProcessor time, all threads; `vs first` is the time of the group's first row over this row's.")
    with tempfile.TemporaryDirectory() as temporary:
        folders = {copies: Path(temporary) / str(copies) for copies in sizes}
        for copies, folder in folders.items():
            folder.mkdir()
            copy_data(source, folder, copies)
        group, first = "", {}
        for number, item in enumerate(ROWS):
            if not any(name in item.group for name in given.only.split(",")):
                continue
            found = measured_sizes(number, folders)
            if item.group != group:
                group, first = item.group, found
                print(f"\n{group}\n{'':58}" + "".join(f"{f'{size} x':>10}{'vs first':>9}{'peak':>9}" for size in sizes))
            print(f"  {item.name:56}" + "".join(_cells(found.get(size), first.get(size)) for size in sizes), end="")
            grown = [f"{found[b]['seconds'] / found[a]['seconds']:.1f}" for a, b in pairwise(found)]
            print(f"   grows {', '.join(grown)} x" if grown else "", flush=True)


def _cells(result: dict[str, float] | None, first: dict[str, float] | None) -> str:
    if result is None or first is None:
        return f"{'–':>10}{'':9}{'':9}"
    ratio = first["seconds"] / result["seconds"]
    return f"{result['seconds']:9.3f}s{ratio:8.2f}x{result['megabytes']:7.0f}MB"


if __name__ == "__main__":
    main()
