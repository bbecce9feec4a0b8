"""Ratios against other programs on the same data: `python -m tests.benchmark [COPIES]` (of ler-dev, 214,443 tokens).

Each side of a row is measured in a process of its own, by the best processor time of several; their ratio must hold.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock

from tests.support.commands import EXAMPLE_OPTIONS, run, run_process
from tests.support.folders import NO_DATA, ROOT, data_folder

Work = Callable[[], Any]
LAYERS = ("--layer", "fine=2", "--layer", "coarse=3", "--token-id", "4", "--level", "exact")
SIDES = ("gold.vrt", "pred.vrt")


def tags(path: str) -> list[list[str]]:
    """The tags of layer `fine` as seqeval wants them."""
    sentences: list[list[str]] = []
    for line in Path(path).read_text("utf-8").splitlines():
        if line.startswith("<s "):
            sentences.append([])
        elif "\t" in line:
            sentences[-1].append(line.split("\t")[1])
    return sentences


def seqeval() -> Work:
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

    sides = [tags(side) for side in SIDES]
    return lambda: precision_recall_fscore_support(*sides, average="micro")


def score() -> Work:
    """From lists of tags to all levels, with and without labels, by label and document; the corpus is read before."""
    from dataclasses import replace

    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import on_same
    from clueval_xlsx.corpus.tags import TagColumn
    from clueval_xlsx.evaluation import evaluate
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.options import Options, ReadOptions

    reading = read(SIDES[0], ReadOptions(layers={"fine": 2}))
    corpus = reading.corpus
    sides = [list(chain.from_iterable(tags(side))) for side in SIDES]

    def work() -> None:
        both = []
        for side in sides:
            columns = {"fine": TagColumn.of(side)}
            both.append(replace(reading, columns=columns).on(corpus, on_same, corpus.breaks))
        assert len(evaluate(Pair(corpus, *both, ("fine",)), Options(replicates=0)).scores)

    return work


def pandas_reads(*sides: str) -> Work:
    import csv

    import pandas as pd

    how = {"sep": "\t", "header": None, "names": list("abcd"), "dtype": str, "quoting": csv.QUOTE_NONE}
    return lambda: [pd.read_csv(side, keep_default_na=False, engine="c", **how) for side in sides]


def ours_reads() -> Work:
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.options import ReadOptions

    return lambda: read(SIDES[0], ReadOptions(layers={"fine": 2, "coarse": 3}, token_id=4))


def evaluated() -> Any:
    """Both layers at level exact: many cases; scores and cases are there already."""
    from clueval_xlsx import Options, ReadOptions, evaluate, read_pair

    evaluation = evaluate(
        read_pair(*SIDES, ReadOptions(layers={"fine": 2, "coarse": 3}, token_id=4)), Options(level="exact")
    )
    assert len(evaluation.case_tables) == 2
    assert len(evaluation.scores)
    return evaluation


def cases() -> Work:
    from dataclasses import replace

    evaluation = evaluated()
    return lambda: replace(evaluation).case_tables


def workbook() -> Work:
    from clueval_xlsx import write_workbook

    evaluation = evaluated()
    return lambda: write_workbook(evaluation, "review.xlsx")


class Recorder:
    """Passes every call on to a workbook, sheet, format or chart of XlsxWriter, and writes it down."""

    def __init__(self, calls: list[tuple[Any, ...]], real: Any, number: int) -> None:
        self.__dict__.update(calls=calls, real=real, number=number)

    def __getattr__(self, name: str) -> Any:
        made = getattr(self.real, name)
        if not callable(made):
            return made

        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append((self.number, name, arguments, options))
            result = made(*map(plain, arguments), **{key: plain(value) for key, value in options.items()})
            return Recorder(self.calls, result, len(self.calls)) if name.startswith("add_") and result else result

        return call


def plain(value: Any, made: dict[int, Any] | None = None) -> Any:
    """An argument with the real thing, or what was made in its place, for each recorder."""
    if isinstance(value, Recorder):
        return made[value.number] if made else value.real
    return {key: plain(inner, made) for key, inner in value.items()} if isinstance(value, dict) else value


def xlsxwriter_alone() -> Work:
    """The calls of our workbook again, without any code of ours between them."""
    import xlsxwriter

    calls: list[tuple[Any, ...]] = []
    opened = xlsxwriter.Workbook
    with mock.patch("xlsxwriter.Workbook", lambda *how: Recorder(calls, opened(*how), 0)):
        workbook()()

    def replay() -> None:
        made: dict[int, Any] = {0: opened("replayed.xlsx", {"strings_to_urls": False})}
        for place, (owner, name, arguments, options) in enumerate(calls, 1):
            given = [plain(value, made) for value in arguments[: 1 if name == "add_worksheet" else None]]
            more = {key: plain(value, made) for key, value in options.items()}
            made[place] = getattr(made[owner], name)(*given, **more)

    return replay


def judged() -> Path:
    """The review workbook with a judgement in every row."""
    from clueval_xlsx.outputs.xlsx import Handout, write_workbook
    from clueval_xlsx.review.judgements import Judgement

    evaluation = evaluated()
    answers = {}
    for codes, table in zip(
        (("gold_wrong", "acceptable"), ("gold_missing", "acceptable")), evaluation.bare_cases, strict=True
    ):
        for number, case in enumerate(table["case_id"]):
            answers[case] = Judgement(codes[number % 2], severity="quasi", comment="seen")
    write_workbook(evaluation, "judged.xlsx", Handout(answers=answers))
    return Path("judged.xlsx")


def reimport() -> Work:
    import clueval_xlsx

    path = judged()
    return lambda: clueval_xlsx.reimport([path], SIDES[0]).content


def openpyxl_reads() -> Work:
    import openpyxl

    path = judged()
    names = "Missed (FN)", "Unsupported (FP)"

    def work() -> int:
        book = openpyxl.load_workbook(path, read_only=True)
        return sum(len(list(book[name].iter_rows(values_only=True))) for name in names)

    return work


def command(*words: object) -> Work:
    """A whole command in a process of its own."""
    return lambda: ended_well(run_process(words))


def ended_well(done: Any) -> None:
    assert done.code == 0, done.err


def example() -> Work:
    sides = [ROOT / "examples" / side for side in SIDES]
    return command("score", *sides, *EXAMPLE_OPTIONS)


def sample(*more: object) -> Work:
    return lambda: ended_well(run("evaluate", *SIDES, *LAYERS, *more, "-o", "sample.xlsx", "--force"))


# what, ours, the other, at most
ROWS: tuple[tuple[str, Callable[[], Work], Callable[[], Work], float], ...] = (
    ("score from parsed tags : seqeval's fastest", score, seqeval, 0.15),
    ("every error with its context : seqeval's fastest", cases, seqeval, 1.0),
    ("read and check a .vrt : pandas' C parser", ours_reads, lambda: pandas_reads(SIDES[0]), 0.4),
    ("evaluate --json : pandas' C parser reading both",
     lambda: command("evaluate", *SIDES, *LAYERS, "--json", "m.json", "--force"), lambda: pandas_reads(*SIDES), 1.0),
    ("score on the example : import pandas", example,
     lambda: lambda: subprocess.run([sys.executable, "-c", "import pandas"], check=True), 1.5),
    ("workbook : XlsxWriter with the same calls", workbook, xlsxwriter_alone, 1.2),
    ("re-import : openpyxl reading the rows", reimport, openpyxl_reads, 0.3),
    ("evaluate --sample 500 : with every case", lambda: sample("--sample", 500), sample, 1.0),
)  # fmt: skip


def used() -> float:
    """Processor time of this process and of those it has waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def measure(work: Work) -> float:
    times: list[float] = []
    while not times or (len(times) < 5 and sum(times) < 10):
        began = used()
        work()
        times.append(used() - began)
    return min(times)


def copy_data(source: Path, target: Path, copies: int) -> None:
    """Gold and prediction so many times over, with document, sentence and token IDs of their own."""
    for side in ("gold", "pred"):
        lines = (source / f"ler-dev.{side}.vrt").read_text("utf-8").splitlines()
        with (target / f"{side}.vrt").open("w", encoding="utf-8", newline="\n") as stream:
            for copy in range(copies):
                for line in lines:
                    stream.write(f"{line}.{copy}\n" if "\t" in line else line.replace('id="', f'id="{copy}-') + "\n")


def main() -> None:
    """Measure each row's two sides, each in a process of its own, and print their ratio."""
    if sys.argv[1:2] == ["--row"]:
        _, ours, other, _ = ROWS[int(sys.argv[2]) // 2]
        print(measure((other if int(sys.argv[2]) % 2 else ours)()))
        return
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    source = data_folder()
    if source is None:
        raise SystemExit(NO_DATA)
    with tempfile.TemporaryDirectory() as name:
        copy_data(source, Path(name), int(sys.argv[1]) if sys.argv[1:] else 1)
        for number, (what, _, _, most) in enumerate(ROWS):
            times = []
            for place in (2 * number, 2 * number + 1):
                words = [sys.executable, "-m", "tests.benchmark", "--row", str(place)]
                done = subprocess.run(words, cwd=name, env=environment, stdout=subprocess.PIPE, text=True, check=True)
                times.append(float(done.stdout.splitlines()[-1]))
            ratio = times[0] / times[1]
            verdict = "" if ratio <= most else "   NOT KEPT"
            print(f"{what:52}{times[0]:8.3f} s{times[1]:8.3f} s{ratio:7.2f}   at most {most}{verdict}", flush=True)


if __name__ == "__main__":
    main()
