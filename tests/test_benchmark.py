"""The benchmark measures what the limits are about, and says what is not kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.benchmark import clusters, program
from tests.benchmark.commands import shape
from tests.benchmark.detectors import all_documents
from tests.benchmark.limits import GROWTH, LIMITS, RATIO, Limit, verdicts
from tests.benchmark.rows import ROWS, Measurement

NAMES = {(row.group, row.name): row for row in ROWS}


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.what)
def test_every_limit_is_about_rows_that_are_measured(limit: Limit) -> None:
    row = NAMES[limit.group, limit.name]
    assert row.ours
    if limit.kind != GROWTH:
        assert max(limit.sizes) <= row.most
    if limit.kind == RATIO:
        assert (limit.group, limit.against) in NAMES


def test_no_two_rows_share_a_name() -> None:
    assert len(NAMES) == len(ROWS)


def test_what_is_not_kept_is_said() -> None:
    took = {
        ("score from tags", "ours: four levels, with and without labels"): {1: Measurement(2.0, 1)},
        ("score from tags", "seqeval precision_recall_fscore_support"): {1: Measurement(20.0, 1)},
        ("start", "ours: --help"): {1: Measurement(0.2, 1)},
        ("command", "ours: evaluate --level exact --sample 5000"): {10: Measurement(10, 1), 94: Measurement(94, 2999)},
    }
    found = {(verdict.limit.what, verdict.size): verdict for verdict in verdicts(took)}
    assert {name: (round(verdict.found, 2), verdict.kept) for name, verdict in found.items()} == {
        ("score from parsed tags : seqeval", 1): (0.1, True),
        ("--help", 1): (0.2, False),
        ("ten times the data, a sample", 94): (10.0, True),
        ("20 million tokens with --sample 5000", 94): (2999, True),
    }
    assert " ".join(str(found["--help", 1]).split()) == "--help 1 x 0.20 s at most 0.15 s NOT KEPT"
    assert "NOT KEPT" not in str(found["score from parsed tags : seqeval", 1])


def test_without_data_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "data_folder", lambda: None)
    monkeypatch.setattr("sys.argv", ["benchmark", "--quick"])
    with pytest.raises(SystemExit, match="the ler-dev data are not there"):
        program.main()


def test_a_corpus_of_unkind_shape_does_not_replace_the_data(tmp_path: Path) -> None:
    """All rows of a run share a folder, and whichever is measured next reads the data in it."""
    folder = tmp_path / "1"
    folder.mkdir()
    for side in ("gold", "pred"):
        (folder / f"{side}.vrt").write_text("the data", "utf-8")
    shape(folder, tokens=200)
    assert [(folder / f"{side}.vrt").read_text("utf-8") for side in ("gold", "pred")] == ["the data"] * 2


def test_a_cluster_is_compared_with_one_process_by_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Starts of 2 s and 4 s; a document takes 0.1 s of processor time, and 0.01 s more on the cluster."""

    def predict(texts: Path, target: Path, words: Sequence[str]) -> clusters.Used:
        documents = len(json.loads(texts.read_text("utf-8")))
        target.write_text("the same", "utf-8")
        if "--cluster" in words:
            return clusters.Used(4 + documents * 0.055, 1, documents * 0.11)
        return clusters.Used(2 + documents * 0.1, 0, documents * 0.1)

    monkeypatch.setattr(clusters, "predict", predict)
    clusters.compare("patterns", ["x"] * 1000, [], tmp_path)
    shown = capsys.readouterr().out
    assert "the whole command 1.73 x as fast, at least 1.8   NOT KEPT; without the start 1.82 x" in shown
    assert "by processor time at most 1.80 x on 2 idle cores" in shown


def test_scores_on_a_cluster_are_told_by_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """2 s and 100 MB for nothing; 1 ms and 10 kB for each document, on the cluster 2 ms of workers, too."""

    def run(_score: str, gold: Path, _pred: Path, *words: object) -> tuple[clusters.Used, str]:
        documents = len(list(gold.iterdir()))
        if "--json" in words:
            (tmp_path / "metrics.json").write_text("the same", "utf-8")
        others = documents * 0.002 if "--cluster" in words else 0
        return clusters.Used(9, 2 + documents * 0.001, others, 100 + documents * 10 / 1024), "the same"

    monkeypatch.setattr(clusters, "run", run)
    clusters.compare_scores(50, tmp_path)
    one, two, *_ = capsys.readouterr().out.splitlines()[-4:]
    assert " ".join(one.split()).endswith(" 1.00 ms 100 MB 10.0 kB 1502 s, 0 s, 14.4 GB")
    assert " ".join(two.split()).endswith(" 3.00 ms 100 MB 10.0 kB 1502 s, 3000 s, 14.4 GB")


def test_scores_that_differ_on_a_cluster_are_no_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "run", lambda *words: (clusters.Used(1, 1, 1), str("--cluster" in words)))
    with pytest.raises(SystemExit, match="scores of 2 files, table: the two ways found different things"):
        clusters.compare_scores(20, tmp_path)


def test_there_are_documents_to_measure_detectors_on() -> None:
    assert len(all_documents()) > 100
