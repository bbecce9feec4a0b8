"""The commands `score`, `evaluate`, `merge` and `validate`, as people and pipes use them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run, run_process


@pytest.fixture(scope="module")
def sides(examples: Path) -> tuple[Path, Path]:
    return examples / "gold.vrt", examples / "pred.vrt"


# ---- score -------------------------------------------------------------------------------------------------------


# ---- evaluate ----------------------------------------------------------------------------------------------------


# ---- merge -------------------------------------------------------------------------------------------------------


# ---- the program itself --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CLUEVAL_XLSX_COMPLETE", f"{shell}_source")
    done = run_process([])
    assert done.code == 0, done.err
    assert "_CLUEVAL_XLSX_COMPLETE" in done.out


def test_half_a_surrogate_pair_stops_no_command(write, tmp_path: Path) -> None:
    """JSON can hold what is no character; texts, labels and IDs with it go through every output."""
    span = {"entity_type": "P\ud803", "start_position": 0, "end_position": 5}
    document = {"full_text": "Ann \ud800 Lee", "doc_id": "d\ud801", "metadata": {"court": "x\ud802"}, "spans": [span]}
    gold = write("gold.json", json.dumps([document]))
    pred = write("pred.json", json.dumps([{**document, "spans": [{**span, "end_position": 3}]}]))
    review, log, corrected = tmp_path / "r.xlsx", tmp_path / "log.jsonl", tmp_path / "c.json"
    more = ("--html", tmp_path / "r.html", "--json", tmp_path / "m.json", "--files", tmp_path / "csv", "--by", "court")
    for arguments in (
        ("evaluate", gold, pred, "--level", "exact", "-o", review, *more),
        ("score", gold, pred, "--by", "court"),
        ("score", gold, gold),
        ("score", gold, pred, "--json", "-"),
        ("convert", gold, tmp_path / "again.json", "--to", "presidio"),
        ("convert", gold, tmp_path / "again.vrt"),
        ("convert", gold, tmp_path / "merged.tsv", "--merge"),
        ("reimport", review, "--gold", gold, "-o", corrected, "--judgements", log, "--html", tmp_path / "a.html"),
        ("validate", gold, corrected),
    ):
        done = run(*arguments)
        assert done.code == 0, (arguments[0], done.err)
    assert json.loads((tmp_path / "again.json").read_text("utf-8"))[0]["full_text"] == document["full_text"]
    assert corrected.read_bytes() == gold.read_bytes()
    assert json.loads((tmp_path / "m.json").read_text("utf-8"))["scores"]


# ---- lists -------------------------------------------------------------------------------------------------------


def test_a_list_is_given_with_commas_or_by_repeating_the_option(sides: tuple[Path, Path], tmp_path: Path) -> None:
    repeated = ("--layer", "category=2", "--layer", "risk=3", "--scheme", "tokens", "--scheme", "iou", "--ignore", "X")
    joined = ("--layer", "category=2, risk=3", "--scheme", "tokens,iou", "--ignore", "X,")
    config = tmp_path / "c.toml"
    config.write_text(
        '[read]\nlayer = "category=2,risk=3"\n[scheme]\nscheme = ["tokens", "iou"]\n[labels]\nignore = "X"\n', "utf-8"
    )
    outputs = [
        run("score", *sides, "--token-id", "4", "--json", "-", *how) for how in (repeated, joined, ("--config", config))
    ]
    assert [done.code for done in outputs] == [0, 0, 0]
    assert outputs[0].out == outputs[1].out == outputs[2].out
