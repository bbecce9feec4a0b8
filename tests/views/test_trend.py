"""The trend from run to run: read from a history, drawn in the report, only over runs that can be compared."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import run
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
    assert "for lack of room: 1." in text
    assert f"Written: {history}" in second.err
