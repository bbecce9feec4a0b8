"""Gates: a run that stays under what was wanted ends with exit code 4, and says what it wanted and got."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run

# Two of three gold spans are found: recall 2/3; PER 1/2, LOC 1.
GOLD = "a\tB-PER\nb\tO\nc\tB-PER\nd\tO\ne\tB-LOC\n"
PRED = "a\tB-PER\nb\tO\nc\tO\nd\tO\ne\tB-LOC\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, pred = tmp_path / "gold.vrt", tmp_path / "pred.vrt"
    gold.write_text(GOLD, "utf-8")
    pred.write_text(PRED, "utf-8")
    return gold, pred


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("recall=0.66", 0, "wanted at least 0.66, got 0.6667: ok"),
        ("recall=66%", 0, "ok"),
        ("recall=0.67", 4, "got 0.6667: failed"),
        ("recall[PER]=0.5", 0, "got 0.5000: ok"),
        ("recall[PER]=0.51", 4, "failed"),
        ("recall[NOBODY]=0", 4, "got n/a: failed"),
        ("recall.low=0.1", 4, "got n/a: failed"),  # one document has no interval
        ("recall=2", 2, "recall.low=0.93"),
        ("leaks=0.5", 2, "precision, recall"),
    ],
)
def test_score_ends_with_4_where_a_gate_fails(files: tuple[Path, Path], gate: str, code: int, said: str) -> None:
    done = run("score", *files, "--fail-under", gate)
    assert done.code == code, done.err
    assert said in " ".join(done.err.split())


def test_every_gate_is_listed_and_the_outputs_are_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "metrics.json"
    done = run("evaluate", *files, "--json", target, "--fail-under", "recall=0.9", "--fail-under", "precision=1")
    assert done.code == 4
    assert "Gate recall: wanted at least 0.9, got 0.6667: failed." in done.err
    assert "Gate precision: wanted at least 1, got 1.0000: ok." in done.err
    assert json.loads(target.read_text("utf-8"))["headline"]["fn"] == 1
