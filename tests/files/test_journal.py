"""Several outputs of one run: killed at any moment, and mended by the next run, they are all old or all new."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clueval_xlsx.files import journal
from clueval_xlsx.files.journal import NAME, settle
from clueval_xlsx.files.temporaries import new_temporary, remove_abandoned
from tests.support.commands import run
from tests.support.folders import ROOT
from tests.support.killing_outputs import NEW, OLD, SIDE


@pytest.mark.slow
def test_wherever_a_run_and_the_one_that_mends_it_are_killed_old_and_new_are_never_mixed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killing_outputs", str(tmp_path / "work")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    points = [json.loads(line) for line in done.stdout.splitlines()]
    old, new = {**OLD, SIDE: "found so far"}, NEW
    mixed = 0
    for point in points:
        files = {name: text for name, text in point["mended"].items() if not name.endswith(".tmp")}
        assert files in (old, new), point
        assert point["after"] == new, point  # the next run that writes clears the rest away
        seen = {name: text for name, text in point["left"].items() if name in {**old, **new}}
        mixed += seen not in (old, new)
        assert bool(point["said"]) >= (seen not in (old, new)), point
    assert len(points) > 150
    assert mixed > 15  # or there was nothing to mend


_BROKEN_OFF = """
import os, signal, sys
from pathlib import Path
from clueval_xlsx.files.outputs import Outputs
moves = 0

def watch(event, arguments):
    global moves
    if event == "os.rename":
        moves += 1
        if moves == 2:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
with Outputs() as outputs:
    for target in sys.argv[1:]:
        outputs.write_text(Path(target), "new")
"""


def broken_off(folder: Path) -> list[Path]:
    """Three files of a run that was killed when the first of them had been moved."""
    targets = [folder / name for name in ("a.txt", "b.txt", "c.txt")]
    for target in targets[:2]:
        target.write_text("old")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", _BROKEN_OFF, *targets], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert contents(targets) == ["new", "old", None]
    assert (folder / NAME).exists()
    return targets


def contents(targets: list[Path]) -> list[str | None]:
    return [target.read_text() if target.exists() else None for target in targets]


def test_the_next_run_completes_what_was_begun_and_says_so(tmp_path: Path) -> None:
    targets = broken_off(tmp_path)
    assert contents(targets) == ["new", "old", None]
    (sentence,) = settle(tmp_path)
    assert "An earlier run was killed while it put its files in place. Now all are new" in sentence
    assert contents(targets) == ["new"] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt", "c.txt"]
    assert settle(tmp_path) == []


@pytest.mark.parametrize("changed", [0, 1])
def test_a_file_that_was_changed_since_stays_and_the_old_ones_come_back(changed: int, tmp_path: Path) -> None:
    targets = broken_off(tmp_path)
    targets[changed].write_text("somebody's work")
    (sentence,) = settle(tmp_path)
    assert "What stood there before is back" in sentence
    assert f"Changed since then, and left as they are: {targets[changed]}" in sentence
    expected: list[str | None] = ["old", "old", None]
    expected[changed] = "somebody's work"
    assert contents(targets) == expected
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("command", ["status", "validate", "score", "convert"])
def test_any_command_that_touches_the_files_notices(command: str, tmp_path: Path) -> None:
    targets = broken_off(tmp_path)
    more = {"score": [targets[1]], "convert": [tmp_path / "out.tsv"]}.get(command, [])
    done = run(command, targets[0], *more)
    assert "An earlier run was killed" in done.err
    assert contents(targets) == ["new"] * 3


def test_a_journal_that_was_cut_off_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('{"moves": [{"temp')
    assert settle(tmp_path) == []
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize("how", ["other folder", "no temporary file", "removal", "numbers", "itself"])
def test_a_journal_from_a_stranger_moves_and_removes_nothing(how: str, tmp_path: Path) -> None:
    folder, victim = tmp_path / "came by mail", tmp_path / "victim.txt"
    folder.mkdir()
    victim.write_text("mine")
    evil = new_temporary(folder / "x.txt") if how == "other folder" else folder / "evil.txt"
    evil.write_text("evil")
    before, after = journal.state(victim), journal.state(evil)
    target = "../victim.txt" if how == "other folder" else "new.txt"
    move = {"temporary": evil.name, "target": target, "kept": None, "before": before, "after": after}
    plan: dict[str, object] = {"moves": [move], "removals": []}
    if how == "no temporary file":
        move["before"] = None
    if how == "removal":
        plan = {"moves": [], "removals": ["../victim.txt", "evil.txt"]}
    if how == "numbers":
        plan = {"moves": [{**move, "before": "x"}], "removals": 7}
    if how == "itself":
        plan = {"journal": NAME}
    (folder / NAME).write_text(json.dumps(plan))
    assert settle(folder) == []
    assert victim.read_text() == "mine"
    assert evil.read_text() == "evil"
    assert not (folder / "new.txt").exists()


def test_files_of_a_process_that_runs_are_left_alone(tmp_path: Path) -> None:
    mine = new_temporary(tmp_path / "a.txt")
    dead = mine.with_name(mine.name.replace(f"-{os.getpid()}.", "-4194305."))  # more than any process has
    elsewhere = mine.with_name(mine.name.replace(mine.name.split(".cx-")[1][:8], "0" * 8))
    for path in (dead, elsewhere, tmp_path / ".other.tmp"):
        path.write_text("")
    os.utime(elsewhere, (1, 1))
    remove_abandoned(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([".other.tmp", mine.name])
