"""Every JSON output of every command is what its JSON Schema says, which `help schemas` prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tests.support.commands import EXAMPLE_OPTIONS, run


def schema(name: str) -> dict[str, Any]:
    """The schema of what a command writes; no other keys may stand there."""
    whole = json.loads(run("help", "schemas").out)
    parts = {key: {**part, "additionalProperties": False} for key, part in whole["$defs"].items()}
    (found,) = [own for title, own in whole["outputs"].items() if name in title.split(", ")]
    return {"$defs": parts, **found}


def check(name: str, content: Any) -> None:
    Draft202012Validator.check_schema(schema(name))
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


def test_metrics_of_score_and_evaluate_with_everything(sides: tuple[Path, Path], tmp_path: Path) -> None:
    more = ("--scheme", "all", "--by", "domain", "--equivalent", "PERSON,ORGANISATION", "--labelled", "category")
    printed = check_command("score --json", "score", *sides, *EXAMPLE_OPTIONS, *more)
    assert any(row["variant"] == "relaxed" for row in printed["scores"])
    check_command("score --json", "score", *sides, *EXAMPLE_OPTIONS, "--no-merge")
    assert check_command("evaluate --json", "evaluate", *sides, *EXAMPLE_OPTIONS, *more) == printed
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, *more, "--files", tmp_path).code == 0
    content = json.loads((tmp_path / "metrics.json").read_text("utf-8"))
    check("metrics.json", content)
    assert content["clueval"]["scores"] == printed["scores"]


def test_nothing_but_whole_numbers_is_a_count(sides: tuple[Path, Path]) -> None:
    """A schema takes 2.0 for an integer; a reader in another language may not."""
    content = check_command("score --json", "score", *sides, *EXAMPLE_OPTIONS, "--scheme", "all")
    for row in content["scores"]:
        for name in ("gold", "tp_gold", "fn", "pred", "tp_pred", "fp"):
            assert row[name] is None or type(row[name]) is int
        assert all(type(value) is int for value in row.get("counts", {}).values())


def test_comparison(sides: tuple[Path, Path]) -> None:
    check_command("compare --json", "compare", sides[0], *sides, *EXAMPLE_OPTIONS, "--scheme", "all")


def test_sweep_and_agreement(sides: tuple[Path, Path], write) -> None:
    table = write("p.tsv", "start\tend\tspan\tscore\n0\t1\tX\t0.5\n4\t4\tX\t0.25\n")
    how = ("--text", sides[0], "--gold-layer", "span=2")
    check_command("score --thresholds --json", "score", "--thresholds", sides[0], table, *how)
    check_command("agree --json", "agree", *sides, "--layer", "category=2")


def test_status_and_adjudication(tmp_path: Path) -> None:
    assert run("demo", tmp_path).code in {0, 3}
    books = sorted(tmp_path.glob("review*.xlsx"))
    check_command("status --json", "status", *books, codes=(0, 3))
    content = check_command(
        "reimport --json",
        *("reimport", *books, "--gold", tmp_path / "gold.vrt"),
        codes=(0, 3),
    )
    assert content["runs"][0]["scores"]
