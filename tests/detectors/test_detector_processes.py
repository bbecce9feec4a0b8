"""The process of a detector: what it leaves behind does not hold anybody up, and it does not outlive us."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clueval_xlsx.detectors import process
from clueval_xlsx.detectors.base import DetectorSettings, Document
from clueval_xlsx.detectors.runner import RunOptions, run_detector
from tests.support.detector_scripts import DETACHING, command
from tests.support.folders import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sessions and groups are POSIX's")

BUSY = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
# Starts a busy program, says its number, and waits to be killed.
PARENT = f"""
import sys, time
from clueval_xlsx.detectors.process import LineProcess
process = LineProcess([sys.executable, "-c", {BUSY!r}])
process.receive(30)
print(process._process.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place for the numbers of processes that detectors start; they are ended with the test."""
    monkeypatch.chdir(tmp_path)
    yield
    for number in (tmp_path / "helper").read_text("ascii").split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(number), signal.SIGKILL)


@pytest.mark.usefixtures("helpers")
def test_a_helper_that_outlives_the_detector_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_DRAINING", 0.2)
    texts = ["fine", "CRASH", "fine"]
    asked = [Document(f"doc-{number}", text) for number, text in enumerate(texts, 1)]
    begin = time.monotonic()
    run = run_detector(asked, DetectorSettings(command(tmp_path, DETACHING)), RunOptions(time_limit=None))
    assert time.monotonic() - begin < 30  # the helper lives for sixty seconds
    assert run.found == ((), None, ())
    assert run.failures == {1: "the detector crashed: it ended with exit code 7; its last words: out of coffee"}


def test_a_detector_ends_when_whoever_started_it_is_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert parent.stdout is not None
    detector = int(parent.stdout.readline())
    assert _is_there(detector)
    parent.kill()
    parent.communicate()
    end = time.monotonic() + 20
    while time.monotonic() < end and _is_there(detector):
        time.sleep(0.05)
    assert not _is_there(detector)


def _is_there(number: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, 0)
        return True
    return False
