"""What a file brings along never commands a terminal: control characters are shown, not sent."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.folders import ROOT

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
GOLD = f"Ann\tB-PER{EVIL}\nLee\tO\nBonn\tB-LOC\n"


@pytest.fixture
def sides(write) -> tuple[Path, Path]:
    return write("gold.vrt", GOLD), write("pred.vrt", GOLD.replace("Bonn\tB-LOC", f"Bonn\tB-{EVIL}"))


def harmless(text: str) -> bool:
    return not any(character in text for character in "\x1b\x07\x9b\u202e")


@pytest.mark.parametrize("command", ["score", "compare", "validate", "evaluate"])
def test_labels_with_escape_sequences_do_not_reach_the_terminal(command: str, sides, tmp_path: Path) -> None:
    gold, pred = sides
    more = {"compare": (gold,), "evaluate": ("--json", tmp_path / "m.json")}.get(command, ())
    done = run(command, gold, pred, *more)
    assert done.code in {0, 2}, done.err
    assert harmless(done.out + done.err)


@pytest.mark.parametrize("terminal", [True, False])
def test_data_are_exact_for_a_program_and_harmless_for_a_person(terminal: bool, sides) -> None:
    reader, writer = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-m", "clueval_xlsx", "convert", str(sides[0]), "-", "--merge"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, stdout=writer, stderr=subprocess.PIPE, env=environment)
    os.close(writer)
    assert done.returncode == 0, done.stderr
    shown = os.read(reader, 100_000).decode("utf-8")
    os.close(reader)
    assert ("\\x1b]0;owned" in shown) is terminal
    assert harmless(shown) is terminal


def test_json_keeps_the_label_as_it_is(sides, tmp_path: Path) -> None:
    assert run("evaluate", *sides, "--json", tmp_path / "m.json").code == 0
    scores = json.loads((tmp_path / "m.json").read_text("utf-8"))["scores"]
    assert f"PER{EVIL}" in {row["label"] for row in scores}
