"""Whole commands, from the files on disk to the outputs, also on corpora of unkind shape."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest import mock

from tests.benchmark.reading import parse
from tests.benchmark.rows import Work, row
from tests.support.commands import EXAMPLE_OPTIONS, run, run_process
from tests.support.folders import ROOT

LAYERS = ("--layer", "fine=2", "--layer", "coarse=3", "--token-id", "4")


def command(*arguments: object) -> Work:
    """The command line in this process, start-up of Python not included."""

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
    return command("score", folder / "gold.vrt", folder / "pred.vrt", *LAYERS, "--json", "-")


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
    return command("convert", folder / "gold.vrt", folder / "merged.tsv", *LAYERS, "--merge")


# ---- whole processes, the start of Python included


def process(*arguments: object, python: tuple[str, ...] | None = None) -> Work:
    """A process of its own, from its start to its end."""

    def work() -> None:
        done = run_process(arguments, python=python)
        assert done.code == 0, done.err

    return work


@row("whole command", "ours: evaluate --json")
def _process_json(folder: Path) -> Work:
    sides = folder / "gold.vrt", folder / "pred.vrt"
    return process("evaluate", *sides, *LAYERS, "--json", folder / "metrics.json", "--force")


@row("whole command", "pandas' C parser: both files")
def _read_both(folder: Path) -> Work:
    parse(folder / "gold.vrt")  # the library is loaded now, not while the time is taken
    return lambda: [parse(folder / f"{side}.vrt") for side in ("gold", "pred")]


@row("start", "ours: score on the example", most=1)
def _start_score(folder: Path) -> Work:
    examples = ROOT / "examples"
    return process("score", examples / "gold.vrt", examples / "pred.vrt", *EXAMPLE_OPTIONS)


@row("start", "import pandas", most=1)
def _start_pandas(folder: Path) -> Work:
    return process("-c", "import pandas", python=(sys.executable,))


@row("start", "ours: --help", most=1)
def _start_help(folder: Path) -> Work:
    return process("--help")


@row("start", "python -c pass", most=1)
def _start_python(folder: Path) -> Work:
    return process("-c", "pass", python=(sys.executable,))


# ---- a sample: contexts are made for the cases that are drawn


def sample(folder: Path) -> Work:
    """A small sample into a workbook."""
    sides = folder / "gold.vrt", folder / "pred.vrt"
    return command(
        "evaluate", *sides, *LAYERS, "--level", "exact", "--sample", 500, "-o", folder / "drawn.xlsx", "--force"
    )


@row("sample", "ours: evaluate --sample 500", most=10)
def _sample(folder: Path) -> Work:
    return sample(folder)


@row("sample", "ours: without contexts of the rest", most=10)
def _sample_alone(folder: Path) -> Work:
    """The same, where nothing can ask for the contexts of all cases."""
    from clueval_xlsx.evaluation import Evaluation

    work = sample(folder)

    def alone() -> None:
        with mock.patch.object(Evaluation, "cases", property(Evaluation.bare_cases.func)):  # type: ignore[attr-defined]
            work()

    return alone


@row("sample", "ours: every case", most=10)
def _sample_of_all(folder: Path) -> Work:
    sides = folder / "gold.vrt", folder / "pred.vrt"
    return command("evaluate", *sides, *LAYERS, "--level", "exact", "-o", folder / "every.xlsx", "--force")


# ---- unkind shapes: ten times as much should take ten times as long


def shape(folder: Path, *options: object, **what: Any) -> Work:
    """The whole command on a corpus of such a shape."""
    from tests.support.shapes import write_shape

    own = folder / "shape"  # not beside the data: the files have the same names
    own.mkdir(exist_ok=True)
    sides = write_shape(own, **what)
    return command("evaluate", *sides, "--level", "exact", *options, "-o", own / "shape.xlsx", "--force")


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
