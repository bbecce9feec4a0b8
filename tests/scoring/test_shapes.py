"""Corpora of unkind shape go through every output; their counts are those of seqeval."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

from tests.support.ci import some_of
from tests.support.commands import run
from tests.support.shapes import write_shape

pytestmark = pytest.mark.slow

SHAPES = {
    "one sentence": {"tokens": 3000, "sentence": 3000},
    "one document": {"tokens": 3000},
    "many labels": {"tokens": 3000, "documents": 5, "labels": 400},
    "many layers": {"tokens": 1200, "documents": 4, "layers": 30, "density": 0.003},
    "every sentence a token": {"tokens": 300, "sentence": 1, "documents": 3},
    "every document a token": {"tokens": 150, "sentence": 1, "documents": 150},
}


def tags(path: Path, column: int) -> list[list[str]]:
    sentences: list[list[str]] = []
    for line in path.read_text("utf-8").splitlines():
        if line == "<s>":
            sentences.append([])
        elif "\t" in line:
            sentences[-1].append(line.split("\t")[column])
    return sentences


@pytest.mark.sweep
@pytest.mark.parametrize("shape", some_of(SHAPES.values()), ids=some_of(SHAPES))
def test_unkind_shapes_go_through_every_output(shape: dict, tmp_path: Path) -> None:
    gold, pred = write_shape(tmp_path, **shape)
    layers = [f"l{number}" for number in range(shape.get("layers", 1))]
    options = [word for number, name in enumerate(layers, 2) for word in ("--layer", f"{name}={number}")]
    outputs = ("-o", tmp_path / "r.xlsx", "--html", tmp_path / "r.html", "--files", tmp_path / "files")
    done = run("evaluate", gold, pred, *options, "--level", "exact", "--scheme", "seqeval", *outputs)
    assert done.code == 0, done.err
    assert "Warning" not in done.err
    metrics = json.loads((tmp_path / "files" / "metrics.json").read_text("utf-8"))
    found = {
        row["labelled"]: row
        for row in metrics["clueval"]["scores"]
        if row["scheme"] == "clueval" and row["level"] == "exact" and not row["layer"] and not row["group"]
        and row["average"] == "micro"
    }  # fmt: skip
    if len(layers) == 1:  # what seqeval knows
        sides = tags(gold, 1), tags(pred, 1)
        precision, recall, *_ = precision_recall_fscore_support(*sides, average="micro", zero_division=0)
        assert found["l0"]["precision"] == pytest.approx(precision)
        assert found["l0"]["recall"] == pytest.approx(recall)
    else:
        assert set(found) == {None, *layers}
    back = run("reimport", tmp_path / "r.xlsx", "--gold", gold, "-o", tmp_path / "corrected.vrt")
    assert back.code == 0, back.err
    assert (tmp_path / "corrected.vrt").read_bytes() == gold.read_bytes()  # nobody has judged anything
