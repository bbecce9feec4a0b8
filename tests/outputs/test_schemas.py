"""Every JSON output of every command is what its JSON Schema in the package says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clueval_xlsx.resources import package_text
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.folders import ROOT

SCHEMAS = sorted(path.name.removesuffix(".schema.json") for path in (ROOT / "clueval_xlsx" / "schemas").glob("*.json"))


def schema(name: str) -> dict[str, Any]:
    return json.loads(package_text(f"schemas/{name}.schema.json"))


def check(name: str, content: Any) -> None:
    problems = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        for error in Draft202012Validator(schema(name)).iter_errors(content)
    ]
    assert not problems, problems[:5]


def check_command(name: str, *arguments: object, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
    done = run(*arguments, "--json", "-")
    assert done.code in codes, done.err
    content = json.loads(done.out)
    check(name, content)
    return content


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


def test_metrics_of_score_and_evaluate_with_everything(sides: tuple[Path, Path], tmp_path: Path) -> None:
    more = ("--scheme", "all", "--by", "domain", "--equivalent", "PERSON,ORGANISATION", "--labelled", "category")
    printed = check_command("metrics", "score", *sides, *EXAMPLE_OPTIONS, *more)
    assert printed["strict_relaxed"]
    check_command("metrics", "score", *sides, *EXAMPLE_OPTIONS, "--no-merge")
    assert check_command("metrics", "evaluate", *sides, *EXAMPLE_OPTIONS, *more) == printed
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, *more, "--files", tmp_path).code == 0
    content = json.loads((tmp_path / "metrics.json").read_text("utf-8"))
    check("presidio-metrics", content)
    assert content["clueval"]["scores"] == printed["scores"]


def test_nothing_but_whole_numbers_is_a_count(sides: tuple[Path, Path]) -> None:
    """A schema takes 2.0 for an integer; a reader in another language may not."""
    content = check_command("metrics", "score", *sides, *EXAMPLE_OPTIONS, "--scheme", "all")
    for row in content["scores"]:
        for name in ("gold", "tp_gold", "fn", "pred", "tp_pred", "fp"):
            assert row[name] is None or type(row[name]) is int
        assert all(type(value) is int for value in row.get("counts", {}).values())


def test_comparison(sides: tuple[Path, Path]) -> None:
    check_command("comparison", "compare", sides[0], *sides, *EXAMPLE_OPTIONS, "--scheme", "all")


def test_sweep_and_agreement(sides: tuple[Path, Path], write) -> None:
    table = write("p.tsv", "start\tend\tspan\tscore\n0\t1\tX\t0.5\n4\t4\tX\t0.25\n")
    how = ("--text", sides[0], "--gold-layer", "span=2")
    check_command("sweep", "sweep", sides[0], table, *how)
    check_command("agreement", "agree", *sides, "--layer", "category=2")


def test_history(sides: tuple[Path, Path], tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    assert run("score", *sides, *EXAMPLE_OPTIONS, "--history", runs, "--fail-under", "recall=1").code == 4
    for line in runs.read_text("utf-8").splitlines():
        check("history", json.loads(line))


def test_status_and_adjudication(tmp_path: Path) -> None:
    assert run("demo", tmp_path).code in {0, 3}
    books = sorted(tmp_path.glob("review*.xlsx"))
    check_command("status", "status", *books, codes=(0, 3))
    log = tmp_path / "log.jsonl"
    content = check_command(
        "adjudication",
        *("reimport", *books, "--gold", tmp_path / "gold.vrt", "--judgements", log),
        codes=(0, 3),
    )
    assert content["runs"][0]["scores"]
    lines = log.read_text("utf-8").splitlines()
    assert lines
    for line in lines:
        check("judgement", json.loads(line))
