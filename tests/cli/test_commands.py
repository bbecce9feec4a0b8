"""The commands `score`, `evaluate`, `merge` and `validate`, as people and pipes use them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.commands import EXAMPLE_OPTIONS, run, run_process
from tests.support.tables import cut


@pytest.fixture(scope="module")
def sides(examples: Path) -> tuple[Path, Path]:
    return examples / "gold.vrt", examples / "pred.vrt"


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


# ---- score -------------------------------------------------------------------------------------------------------


def test_score_as_json_is_the_content_of_metrics_json(sides: tuple[Path, Path], tmp_path: Path) -> None:
    printed = run("score", *sides, *EXAMPLE_OPTIONS, "--json", "-")
    target = tmp_path / "metrics.json"
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "--json", target).code == 0
    assert json.loads(printed.out) == json.loads(target.read_text("utf-8"))


def test_the_chosen_level_and_layer_are_the_headline(sides: tuple[Path, Path]) -> None:
    done = run("score", *sides, *EXAMPLE_OPTIONS, "--level", "exact", "--labelled", "category", "--json", "-")
    headline = json.loads(done.out)["headline"]
    assert (headline["level"], headline["labelled"], headline["tp_gold"]) == ("exact", "category", 40)


# ---- evaluate ----------------------------------------------------------------------------------------------------


def test_evaluate_writes_the_files_it_is_asked_for(sides: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "files"
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "--files", folder)
    assert done.code == 0, done.err
    assert done.out == ""
    assert "recall 72.0 % (54 of 75), precision 82.4 % (61 of 74), level overlap" in done.err
    missed = table(folder / "false_negatives.csv")
    unsupported = table(folder / "false_positives.csv")
    assert (len(missed), len(unsupported)) == (21, 13)
    assert all(row["case_id"].startswith("FN-") for row in missed)
    assert all("🟥" in row["context"] or "🟩" in row["context"] for row in missed)
    assert all("🟧" in row["context"] or "🟩" in row["context"] for row in unsupported)
    scores = table(folder / "scores.csv")
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    assert list(metrics) == ["precision", "recall", "f1_score", "details", "clueval"]
    assert len(scores) == len(metrics["clueval"]["scores"])
    assert not list(folder.glob(".*"))  # no temporary file is left


def test_cells_that_a_spreadsheet_would_calculate_are_escaped_in_error_tables(write_pair, tmp_path: Path) -> None:
    gold, pred = write_pair("token gold pred\n=1+1 B-X O\n@x B-X O\n-5 B-X O\n+4 B-X O\nAnna B-X O\n")
    assert run("evaluate", gold, pred, "--files", tmp_path / "f").code == 0
    rows = table(tmp_path / "f" / "false_negatives.csv")
    assert [row["surface"] for row in rows] == ["'=1+1", "'@x", "'-5", "'+4", "Anna"]
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "@"))]


def test_a_window_replaces_the_sentence(write_pair, tmp_path: Path) -> None:
    words = "".join(f"w{number} O O\n" for number in range(9))
    gold, pred = write_pair(f"token gold pred\n{words}here B-X O\n{words}")
    assert run("evaluate", gold, pred, "--files", tmp_path / "f", "--context", "2").code == 0
    (row,) = table(tmp_path / "f" / "false_negatives.csv")
    assert row["context"].replace("\u2060", "") == "w7 w8 🟥here🟥 w0 w1"


# ---- merge -------------------------------------------------------------------------------------------------------

TWO_LAYERS = cut("""
    token  gold.a  gold.b
    <s>
    Ann    B-P     O
    Lee    I-P     B-H
    x      O       I-H
    y      O       O
    z      B-Q     O
    </s>
""").gold


def test_merge_prints_a_span_table(write) -> None:
    done = run("convert", write("two.vrt", TWO_LAYERS), "-", "--merge", "--layer", "a=2", "--layer", "b=3")
    assert done.code == 0, done.err
    rows = list(csv.reader(io.StringIO(done.out), delimiter="\t"))
    assert rows == [
        ["doc_id", "start", "end", "a", "b", "text"],
        ["#1", "0", "2", "P", "H", "Ann Lee x"],
        ["#1", "4", "4", "Q", "", "z"],
    ]


def test_merge_writes_vertical_text_with_the_merged_tags(write, tmp_path: Path) -> None:
    target = tmp_path / "merged.vrt"
    done = run("convert", write("two.vrt", TWO_LAYERS), target, "--merge", "--layer", "a=2", "--layer", "b=3")
    assert done.code == 0, done.err
    assert "1 document with 2 merged spans from 2 spans of a, 1 span of b (vrt)." in done.err
    assert target.read_bytes() == (b"<s>\nAnn\tB-P\tB-H\nLee\tI-P\tI-H\nx\tI-P\tI-H\ny\tO\tO\nz\tB-Q\tB\n</s>\n")
    again = run("convert", target, "-", "--merge", "--layer", "a=2", "--layer", "b=3")
    assert again.out == run("convert", tmp_path / "two.vrt", "-", "--merge", "--layer", "a=2", "--layer", "b=3").out


# ---- the program itself --------------------------------------------------------------------------------------------


def test_no_command_shows_the_help() -> None:
    assert "Commands:" in run().out + run().err


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
