"""Killed, out of space, in each other's way: the old file stays whole or the new one is whole."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.folders import ROOT

OLD = b"the old file"


def process(*arguments: object, limit: int | None = None) -> subprocess.Popen[bytes]:
    """The command as a process; `limit` is the size in bytes that a file may reach, like a disk that fills up."""

    def before() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails with an error, as on a full disk
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [sys.executable, "-m", "clueval_xlsx", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=before,  # noqa: PLW1509 - nothing else runs in the test's process
    )


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def sides(examples: Path) -> tuple[Path, Path]:
    return examples / "gold.vrt", examples / "pred.vrt"


def whole(path: Path) -> bool:
    """Whether a file is what stood there before, or a sound new workbook."""
    if path.read_bytes() == OLD:
        return True
    with zipfile.ZipFile(path) as archive:
        return archive.testzip() is None


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.3, 0.9, 1.5])
def test_a_run_that_is_killed_leaves_the_old_file_or_a_whole_new_one(
    after: float, sides: tuple[Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "review.xlsx"
    target.write_bytes(OLD)
    running = process("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target)
    time.sleep(after)
    running.kill()
    running.communicate()
    assert whole(target)


@pytest.mark.parametrize("limit", [0, 4096, 20_000])
def test_a_full_disk_is_a_message_and_leaves_nothing_behind(
    limit: int, sides: tuple[Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "review.xlsx"
    target.write_bytes(OLD)
    running = process(
        "evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target, "--json", tmp_path / "metrics.json", limit=limit
    )
    _, message = running.communicate()
    assert running.returncode == 2, message
    assert b"Error: " in message
    assert b"Traceback" not in message
    assert b"cannot be written" in message
    assert target.read_bytes() == OLD
    assert names(tmp_path) == ["review.xlsx"]


@pytest.mark.slow
def test_two_runs_on_the_same_output_leave_one_whole_file(sides: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "review.xlsx"
    running = [process("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target) for _ in range(2)]
    for each in running:
        _, message = each.communicate()
        assert each.returncode == 0, message
    assert whole(target)
    assert names(tmp_path) == ["review.xlsx"]


def test_an_interrupted_run_says_so_and_cleans_up(sides: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "review.xlsx"
    running = process("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", target)
    time.sleep(1.0)
    running.send_signal(signal.SIGINT)
    _, message = running.communicate()
    assert running.returncode in {0, 130, -signal.SIGINT}  # the last: Python was already on its way out
    assert running.returncode != 130 or message.strip() == b"Error: stopped."
    assert not target.exists() or whole(target)
    assert not [name for name in names(tmp_path) if name.endswith(".tmp")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_cleans_up(number: signal.Signals, sides: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "review.xlsx"
    target.write_bytes(OLD)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from clueval_xlsx.__main__ import main\n"
        "from clueval_xlsx.outputs.xlsx import review\n"
        f"review.write_guide = lambda *_, **__: os.kill(os.getpid(), {int(number)})\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", *map(str, sides), *EXAMPLE_OPTIONS, "-o", str(target)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 128 + number, done.stderr
    assert b"Traceback" not in done.stderr
    assert target.read_bytes() == OLD
    assert names(tmp_path) == ["review.xlsx"]


def test_a_name_that_is_too_long_is_a_message(write, tmp_path: Path) -> None:
    gold = write("gold.vrt", f'<text id="{"a" * 5000}">\nAnn\tB-PER\n</text>\n')
    long = tmp_path / ("x" * 300)
    for arguments in (
        ("convert", gold, tmp_path / "out"),  # brat: documents become files
        ("evaluate", gold, gold, "-o", f"{long}.xlsx"),
        ("evaluate", gold, gold, "--files", long),
        ("score", gold, long),
        ("status", long),
        ("score", gold, gold, "--config", long),
    ):
        refused(run(*arguments), "File name too long")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.vrt"]
