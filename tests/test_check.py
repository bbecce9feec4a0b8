"""The developers' command: which steps it runs, what it says, and that lower bounds can be pinned."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests import check
from tests.support.folders import ROOT


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the command would run; `mypy` fails."""
    ran: list[list[str]] = []

    def run(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(list(command))
        return subprocess.CompletedProcess(command, returncode=int("mypy" in command), stdout="", stderr="")

    monkeypatch.setattr(check.subprocess, "run", run)
    return ran


def test_every_step_runs_and_one_that_fails_is_named(
    commands: list[list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.folders.data_folder", Path)
    assert check.main([]) == 1
    assert [command[1:4] for command in commands] == [
        ["-m", "ruff", "format"],
        ["-m", "ruff", "check"],
        ["-m", "mypy"],
        ["-m", "pip", "check"],
        ["-m", "pytest"],
        ["-m", "pytest", "-x"],
        ["-m", "tests.benchmark", "--quick"],
    ]
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in shown[-7:]] == [
        ["format", "done"],
        ["lint", "done"],
        ["types", "FAILED"],
        ["packages", "done"],
        ["tests", "done"],
        ["properties", "done"],
        ["benchmark", "done"],
    ]
    assert sum(line.startswith("==== ") for line in shown) == 7


def test_new_examples_are_drawn_with_a_seed_that_is_shown(
    commands: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert check.main(["--only", "properties"]) == 0
    seeds = [command[-1] for command in commands]
    assert seeds[0] != seeds[1]
    assert all(seed.startswith("--hypothesis-seed=") for seed in seeds)
    shown = capsys.readouterr().out
    assert all(seed in shown for seed in seeds)


def test_only_some_steps_in_their_order(commands: list[list[str]]) -> None:
    assert check.main(["--only", "packages, lint"]) == 0
    assert [command[2] for command in commands] == ["ruff", "pip"]


def test_a_step_that_is_not_there_is_refused(commands: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        check.main(["--only", "lint,typos"])
    assert stop.value.code == 2
    assert "found typos; allowed: format, lint, types" in capsys.readouterr().err
    assert not commands


def test_no_data_no_benchmark(
    commands: list[list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.folders.data_folder", lambda: None)
    assert check.main(["--only", "benchmark"]) == 0
    assert "left out" in capsys.readouterr().out
    assert not commands


def test_the_oldest_versions_are_those_of_pyproject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = check.oldest_requirements()
    names = {Requirement(line).name for line in pinned}
    assert {"pandas", "numpy", "spacy", "pytest"} <= names
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    for line in pinned:
        requirement = Requirement(line)
        assert f'"{requirement.name}>={line.split("==")[1]}"' in text


def test_a_requirement_without_a_plain_lower_bound_is_noticed() -> None:
    for text in ("pandas", "pandas<3", "pandas>=2,<3"):
        with pytest.raises(ValueError, match="no plain lower bound"):
            check.lowest(text)


def test_a_python_that_is_not_here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(check, "find_python", lambda _version: None)
    assert check.main(["--python", "3.99"]) == 1  # somebody asked for this one
    assert check.main(["--python", "newest"]) == 0  # nobody asked for any in particular
    assert "no such Python on this machine" in capsys.readouterr().out


def test_this_python_is_found() -> None:
    assert check.find_python(f"{sys.version_info.major}.{sys.version_info.minor}") == sys.executable
    assert check.find_python("2.99") is None


def test_ci_runs_every_part_of_it() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    for option in ("--only properties,format,lint,types,packages", "--oldest", "--python newest"):
        assert f"python -m tests.check {option}" in script
