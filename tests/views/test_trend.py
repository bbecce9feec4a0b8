"""The trend from run to run: read from a history, drawn in the report, only over runs that can be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import refused, run
from tests.support.folders import ROOT

SIDES = (ROOT / "examples" / "gold.vrt", ROOT / "examples" / "pred.vrt")
OPTIONS = ("--layer", "category=2", "--token-id", "4", "--replicates", "0")


def test_the_report_draws_the_trend_over_runs_that_were_counted_alike(tmp_path: Path) -> None:
    history, page = tmp_path / "runs.jsonl", tmp_path / "r.html"
    first = run("evaluate", *SIDES, *OPTIONS, "--html", page, "--history", history)
    assert first.code == 0, first.err
    assert "From run to run" not in page.read_text("utf-8")  # nothing to compare with yet
    other = run("score", *SIDES, *OPTIONS, "--level", "exact", "--history", history)
    assert other.code == 0, other.err
    second = run("evaluate", *SIDES, *OPTIONS, "--html", page, "--history", history)
    assert second.code == 0, second.err
    text = page.read_text("utf-8")
    day = json.loads(history.read_text("utf-8").splitlines()[0])["time"][:10]
    assert "From run to run" in text
    assert text.count(f'<span class="name">{day} pred.vrt</span>') == 1  # the exact run was counted in another way
    assert '<span class="name">this run</span>' in text
    assert "the reference or the way of counting was another: 1." in text
    assert "In the latest of them: level exact there, overlap here." in second.err
    assert "for lack of room" not in text
    assert f"Written: {history}" in second.err


def presidio_file(write, name: str, *spans: tuple[int, int]) -> Path:
    text = "aa bbbbbbbb cc"
    found = [{"entity_type": "P", "start_position": a, "end_position": b, "entity_value": text[a:b]} for a, b in spans]
    return write(name, json.dumps([{"full_text": text, "spans": found}]))


def test_detections_that_gave_way_to_others_do_not_end_a_trend(write, tmp_path: Path) -> None:
    """As with --baseline: how many of the predictions overlap is a matter of the model."""
    gold = presidio_file(write, "g.json", (0, 11))
    models = presidio_file(write, "single.json", (0, 2)), presidio_file(write, "dup.json", (0, 2), (0, 2))
    page, history, metrics = (tmp_path / name for name in ("r.html", "runs.jsonl", "m.json"))
    for pred in models:
        given = ("evaluate", gold, pred, "--scheme", "coverage", "--history", history, "--html", page)
        done = run(*given, "--json", metrics)
        assert done.code == 0, done.err
    signatures = [json.loads(line)["signature"] for line in history.read_text("utf-8").splitlines()]
    assert ["dropped:" in signature for signature in signatures] == [False, True]
    assert "single.json</span>" in page.read_text("utf-8")
    assert "not shown" not in page.read_text("utf-8")
    compared = ("--baseline", metrics, "--max-drop", "recall=0pp")
    assert run("score", gold, models[0], "--scheme", "coverage", *compared).code == 0


def test_runs_that_cannot_be_shown_are_counted_with_the_reason_also_where_there_is_no_trend(tmp_path: Path) -> None:
    history, page = tmp_path / "runs.jsonl", tmp_path / "r.html"
    assert run("compare", SIDES[0], *SIDES, *OPTIONS, "--history", history).code == 0
    assert run("score", *SIDES, *OPTIONS, "--level", "exact", "--history", history).code == 0
    done = run("evaluate", *SIDES, *OPTIONS, "--html", page, "--history", history)
    assert done.code == 0, done.err
    text, said = page.read_text("utf-8"), " ".join(done.err.split())
    assert "From run to run" in text
    assert "this run</span>" not in text
    for shown in (text, said):
        assert "since they stood in a comparison of systems: 2." in shown
        assert "since the reference or the way of counting was another: 1." in shown
    runs = history.read_text("utf-8").splitlines()
    history.write_text("\n".join([*runs, *(runs[-1] for _ in range(24))]), "utf-8")  # 25 that are alike
    assert run("evaluate", *SIDES, *OPTIONS, "--html", page, "--history", history).code == 0
    assert "for lack of room: 5." in page.read_text("utf-8")
    assert page.read_text("utf-8").count(" pred.vrt</span>") == 20


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"recall": ', '"recall": "', "not valid JSON"),
        ('"recall": ', '"recall": NaN, "x": ', "headline.recall: expected `float` >= 0"),
        ('"recall": ', '"recall": "1", "x": ', "headline.recall: expected `float | null`, got `str`"),
        ('"schema": 2', '"schema": 1', "schema: invalid enum value 1"),
        ('"signature": ', '"signature": 7, "x": ', "signature: expected `str`, got `int`"),
    ],
)
def test_a_damaged_line_is_refused_by_its_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    history, page = tmp_path / "runs.jsonl", tmp_path / "r.html"
    for _ in range(2):
        assert run("score", *SIDES, *OPTIONS, "--history", history).code == 0
    first, second = history.read_text("utf-8").splitlines()
    damaged = f"{first}\n{second.replace(old, new, 1)}\n"
    history.write_text(damaged, "utf-8")
    done = run("evaluate", *SIDES, *OPTIONS, "--html", page, "--history", history)
    refused(done, f"runs.jsonl:2: is no line of a history: {said}")
    assert history.read_text("utf-8") == damaged
    assert not page.exists()


def test_a_file_name_may_hold_what_other_programs_take_for_the_end_of_a_line(tmp_path: Path) -> None:
    history, pred = tmp_path / "runs.jsonl", tmp_path / "a\u2028b.vrt"
    pred.write_bytes(SIDES[1].read_bytes())
    for _ in range(2):
        done = run("score", SIDES[0], pred, *OPTIONS, "--history", history)
        assert done.code == 0, done.err
