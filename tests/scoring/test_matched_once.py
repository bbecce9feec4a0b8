"""A run matches its spans once in each direction, and makes contexts for the cases that it writes, and no others."""

from __future__ import annotations

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import clueval_xlsx
from clueval_xlsx.corpus.spans import touching
from clueval_xlsx.scoring.matching import match_spans
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.teams import all_cases

pytestmark = pytest.mark.slow

EVERYTHING = ("--scheme", "all", "--equivalent", "PERSON,ORGANISATION", "--labelled", "category", "--by", "domain")


def counted(monkeypatch: pytest.MonkeyPatch, function: Any, size: Any = lambda *_: 1) -> Counter[str]:
    """Count the calls of a function, wherever it was imported to; `size` says what a call counts."""
    calls: Counter[str] = Counter()

    def counting(*arguments: Any, **options: Any) -> Any:
        calls[function.__name__] += size(*arguments)
        return function(*arguments, **options)

    for name in [module.name for module in walk_packages(clueval_xlsx.__path__, "clueval_xlsx.")]:
        if "__main__" not in name:
            import_module(name)
    for name, module in list(sys.modules.items()):
        if name.startswith("clueval_xlsx") and getattr(module, function.__name__, None) is function:
            monkeypatch.setattr(module, function.__name__, counting)
    return calls


@pytest.mark.parametrize("function", [match_spans, touching])
def test_an_evaluation_with_every_output_matches_once_in_each_direction(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Any
) -> None:
    calls = counted(monkeypatch, function)
    done = run(
        "evaluate", examples / "gold.vrt", examples / "pred.vrt", *EXAMPLE_OPTIONS, *EVERYTHING,
        "-o", tmp_path / "review.xlsx", "--json", tmp_path / "m.json", "--html", tmp_path / "r.html",
        "--files", tmp_path / "files", "--judges", "anna,ben", "--agreed", "5", "--without-text",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert calls[function.__name__] == 2


@pytest.mark.parametrize("more", [(), ("--without-text",), ("--json", "m.json")])
def test_contexts_are_made_for_the_cases_that_are_written_and_no_others(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    from clueval_xlsx.cases.contexts import contexts

    monkeypatch.chdir(tmp_path)
    calls = counted(monkeypatch, contexts, lambda _, own, *__: len(own.start))
    sides = examples / "gold.vrt", examples / "pred.vrt"
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", "review.xlsx", "--sample", "3", *more)
    assert done.code == 0, done.err
    written = all_cases(tmp_path / "review.xlsx")
    assert 3 <= len(written) < 10
    assert calls["contexts"] == len(written)
