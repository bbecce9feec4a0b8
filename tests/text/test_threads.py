"""Several threads: they are really used, and every output is the same to the byte for any number of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx import threads
from clueval_xlsx.formats.columns import lines as fields
from clueval_xlsx.text import rendering as written
from tests.support.commands import run
from tests.support.folders import ROOT

EXAMPLES = ROOT / "examples"
ALL = ("--layer", "category=2", "--layer", "risk=3", "--token-id", "4", "--level", "exact", "--scheme", "all")


@pytest.fixture(autouse=True)
def _as_before() -> object:
    yield
    threads.set_threads(None)


def outputs(folder: Path, count: int) -> dict[str, bytes]:
    """Everything that `evaluate` and `reimport` write, by name."""
    sides = (EXAMPLES / "gold.vrt", EXAMPLES / "pred.vrt")
    done = run(
        "evaluate", *sides, *ALL, "-o", folder / "review.xlsx", "--html", folder / "report.html",
        "--files", folder / "files", "--set", f"general.threads={count}",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert threads.thread_count() == count
    back = run(
        "reimport",
        folder / "review.xlsx",
        "--gold",
        sides[0],
        "-o",
        folder / "corrected.vrt",
        "--set",
        f"general.threads={count}",
    )
    assert back.code == 0, back.err
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_output_is_the_same_for_any_number_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "CHUNK_BYTES", 500)  # so that there is something to share even in the example
    monkeypatch.setattr(written, "_TOKENS_AT_ONCE", 50)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    found = []
    for count in (1, 7):
        folder = tmp_path / str(count)
        folder.mkdir()
        found.append(outputs(folder, count))
    assert found[0].keys() == found[1].keys()
    assert len(found[0]) > 6
    for name, content in found[0].items():
        assert content == found[1][name], name
