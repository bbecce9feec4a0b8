"""Several threads: they are really used, and every output is the same to the byte for any number of them."""

from __future__ import annotations

import threading
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


def test_work_is_shared_and_comes_back_in_order() -> None:
    threads.set_threads(3)
    together = threading.Barrier(3, timeout=30)  # passes only if three threads work at the same time

    def work(number: int) -> int:
        together.wait()
        return number * number

    assert list(threads.in_order(work, range(9))) == [number * number for number in range(9)]


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    threads.set_threads(2)

    def work(number: int) -> int:
        raise ValueError(number)

    with pytest.raises(ValueError, match="0"):
        list(threads.in_order(work, [0, 1, 2]))


def test_problems_of_a_broken_file_do_not_depend_on_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "CHUNK_BYTES", 64)
    path = tmp_path / "broken.vrt"
    path.write_text("".join(f"w{number}\tO\nbroken{number}\n" for number in range(50)), "utf-8")
    said = {run("validate", path, "--set", f"general.threads={count}").out for count in (1, 2, 5)}
    assert len(said) == 1
    assert "50 times: 'broken0' has 1 column" in said.pop()  # every line of every piece was looked at


def test_a_number_of_threads_below_one_is_refused(tmp_path: Path) -> None:
    done = run("score", EXAMPLES / "gold.vrt", EXAMPLES / "pred.vrt", "--set", "general.threads=0")
    assert done.code == 2
    assert "general.threads" in done.err
