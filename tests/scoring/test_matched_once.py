"""A run matches its spans once in each direction, and makes contexts for the cases that it writes, and no others."""

from __future__ import annotations

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest

import clueval_xlsx
from clueval_xlsx.corpus.spans import touching
from clueval_xlsx.review.assignment import agreed_rows, select
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.scoring.matching import match_spans
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.teams import all_cases
from tests.support.workbooks import example

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


@pytest.mark.parametrize("function", [match_spans, touching])
def test_judgements_find_their_spans_without_matching_again(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    evaluation = example(replicates=0)
    agreed = set(select(evaluation, agreed=4).cases["AG"]["case_id"])
    calls = counted(monkeypatch, function)
    book = CaseBook(evaluation, dict.fromkeys(agreed))
    assert agreed <= set(book.cases)
    assert not calls


def test_a_case_carries_the_row_of_its_span() -> None:
    evaluation = example(replicates=0)
    agreed = select(evaluation, agreed=4).cases["AG"]
    assert set(agreed["row"]) <= set(agreed_rows(evaluation).tolist())
    gold, pred = evaluation.strict.sides
    for cases, side in ((evaluation.bare_cases[0], gold), (evaluation.bare_cases[1], pred), (agreed, gold)):
        assert len(cases)
        own = side.spans.iloc[cases["row"].to_numpy()]
        assert own[["start", "end"]].to_numpy().tolist() == cases[["start", "end"]].to_numpy().tolist()
        first, stop = (column[cases["row"].to_numpy()] for column in side.touched)
        touched = [side.others.iloc[low:high]["start"].min() for low, high in zip(first, stop, strict=True)]
        assert np.nan_to_num(touched, nan=-1).tolist() == cases["other_start"].tolist()


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


def test_a_sample_of_three_makes_three_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    from clueval_xlsx.cases.contexts import contexts

    evaluation = example(replicates=0, level="exact")
    linked = {case for table in evaluation.bare_cases for related in table["related"] for case in related}
    for seed in range(50):
        with monkeypatch.context() as patched:
            calls = counted(patched, contexts, lambda _, own, *__: len(own.start))
            chosen = [
                case for table in select(evaluation, sample=3, seed=seed).cases.values() for case in table.case_id
            ]
        assert calls["contexts"] == len(chosen)
        if not linked & set(chosen):
            assert calls["contexts"] == 3
            return
    raise AssertionError("no seed draws three cases that are linked to none")
