"""Schemes `chars` and `coverage` count annotations as they are listed; what the others dropped is in the signature."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.commands import refused, run

TEXT = "Ann Lee met Bob"  # 12 visible characters


def presidio(*spans: tuple[str, str]) -> str:
    found = [
        {
            "entity_type": label,
            "entity_value": words,
            "start_position": TEXT.index(words),
            "end_position": TEXT.index(words) + len(words),
        }
        for words, label in spans
    ]
    return json.dumps([{"full_text": TEXT, "spans": found, "metadata": {"doc_id": "d"}}])


@pytest.fixture
def files(write) -> tuple[Path, Path]:
    """Of the two predictions that overlap, `Ann Lee` (ORG) is the longer; `Ann` (PER) is dropped for other schemes."""
    gold = write("gold.json", presidio(("Ann", "PER"), ("Bob", "PER")))
    return gold, write("pred.json", presidio(("Ann Lee", "ORG"), ("Ann", "PER")))


def rows(files: tuple[Path, Path], *options: str) -> tuple[dict, str]:
    done = run("score", *files, *options, "--json", "-")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    overall = [row for row in content["scores"] if row["label"] is row["group"] is None and row["average"] == "micro"]
    return {(row["scheme"], row["variant"], row["level"], row["labelled"]): row for row in overall}, content[
        "signature"
    ]


def test_overlapping_predictions_need_no_choice_with_these_schemes(files: tuple[Path, Path]) -> None:
    refused(run("score", *files), "overlaps", "--nested longest|merge")
    found, signature = rows(files, "--scheme", "coverage,chars")
    # coverage: `Ann` finds the gold span of its label, the dropped one of the others; `Ann Lee` is a false alarm
    row = found["coverage", "0.3", None, "span"]
    assert (row["gold"], row["tp_gold"], row["pred"], row["tp_pred"]) == (2, 1, 2, 1)
    # chars: 6 gold characters, 3 of them masked; `Ann Lee` masks 4 more than gold (with the space)
    row = next(row for (scheme, *_), row in found.items() if scheme == "chars")
    assert (row["gold"], row["tp_gold"]) == (6, 3)
    # the others see the longest alone
    assert found["clueval", None, "exact", None]["pred"] == 1
    assert "|dropped:0/1|" in signature
    assert "|nested:longest|" in signature


def test_listed_predictions_on_tokens_count_too(files: tuple[Path, Path], write) -> None:
    gold = write("gold.vrt", '<text id="d">\nAnn\tB-PER\nLee\tO\nmet\tO\nBob\tB-PER\n</text>\n')
    found, signature = rows((gold, files[1]), "--scheme", "coverage")
    row = found["coverage", "0.3", None, "span"]
    assert (row["gold"], row["tp_gold"], row["pred"], row["tp_pred"]) == (2, 1, 2, 1)
    assert "dropped:0/1" in signature


def test_an_overlap_in_one_layer_brings_nothing_of_another_into_it(write) -> None:
    # Of layer a, `Ann` overlaps the longer `Ann Lee`; layer b has `Bob` alone, and `Ann Lee`, too.
    text = write("text.vrt", '<text id="d">\n' + "".join(f"{word}\tO\n" for word in TEXT.split()) + "</text>\n")
    sides = [write(f"{side}.csv", "start,end,a,b\n0,1,PER,HIGH\n0,0,X,\n3,3,,LOW\n") for side in ("gold", "pred")]
    options = ("--layer", "a=a", "--layer", "b=b", "--text", text, "--scheme", "coverage,chars", "--nested", "longest")

    def counts(*more: str) -> dict[tuple[str, ...], int]:
        done = run("score", *sides, *options, "--as", "csv", *more)
        assert done.code == 0, done.err
        scores = csv.DictReader(io.StringIO(done.out))
        rows = [row for row in scores if row["scheme"] != "clueval" and row["average"] == "micro"]
        rows = [row for row in rows if not row["label"] and not row["group"]]
        return {(row["layer"], row["scheme"]): int(row["gold"]) for row in rows}

    assert counts("--no-merge") == {("a", "coverage"): 2, ("a", "chars"): 7, ("b", "coverage"): 2, ("b", "chars"): 10}
    assert set(counts().values()) == {2, 10}  # merged, `Ann Lee` of both layers is one span
