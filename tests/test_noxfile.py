"""The developers' commands: which there are, what they run, and that lower bounds can be pinned."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

from tests.support import environments
from tests.support.folders import ROOT

STATIC = ["format", "lint", "types", "imports", "packages"]


class SkippedError(Exception):
    """A session that was left out."""


class FakeSession:
    """Records what a session would run."""

    posargs: tuple[str, ...] = ()
    python: str | None = "python"

    def __init__(self) -> None:
        self.commands: list[tuple[str, ...]] = []
        self.variables: dict[str, str] = {}

    def run(self, *words: str, env: dict[str, str] | None = None, **_: object) -> None:
        self.commands.append(words)
        self.variables.update(env or {})

    install = run

    def skip(self, reason: str) -> None:
        raise SkippedError(reason)


@pytest.fixture(scope="module")
def noxfile() -> ModuleType:
    pytest.importorskip("nox", reason="nox is not installed: pip install --editable .[dev]")
    path = ROOT / "noxfile.py"
    if not path.is_file():
        pytest.skip("the noxfile is not beside the tests (an installed wheel)")
    spec = importlib.util.spec_from_file_location("noxfile", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_command_runs_the_checks_and_the_tests(noxfile: ModuleType) -> None:
    import nox

    assert list(nox.options.sessions) == [*STATIC, "tests"]
    ran = []
    for name in nox.options.sessions:
        session = FakeSession()
        getattr(noxfile, name).func(session)
        ran += session.commands
    assert [command[1:4] for command in ran if command[0] == sys.executable] == [
        ("-m", "ruff", "format"),
        ("-m", "ruff", "check"),
        ("-m", "mypy"),
        ("-m", "pip", "check"),
        ("-m", "pytest"),
    ]
    assert [command[1:] for command in ran if "lint-imports" in command[0]] == [("--no-cache",)]


def seeds(noxfile: ModuleType, root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What two runs of a checkout draw their examples with."""
    monkeypatch.setattr(noxfile, "ROOT", root)
    sessions = [FakeSession(), FakeSession()]
    for session in sessions:
        noxfile.properties.func(session)
    return [session.commands[0][-1] for session in sessions]


def test_examples_are_the_same_for_one_commit_and_others_for_the_next(
    noxfile: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit(message: str) -> None:
        named = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *named, "commit", "--quiet", "--allow-empty", "-m", message], cwd=tmp_path, check=True)

    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    commit("one")
    first = seeds(noxfile, tmp_path, monkeypatch)
    commit("two")
    second = seeds(noxfile, tmp_path, monkeypatch)
    assert len(set(first)) == len(set(second)) == 1
    assert first != second
    assert all(re.fullmatch("--hypothesis-seed=[0-9]+", seed) for seed in (*first, *second))


def test_examples_are_drawn_where_there_is_no_commit(
    noxfile: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(set(seeds(noxfile, tmp_path, monkeypatch))) == 2


def test_sweeps_are_whole_where_new_examples_are_drawn(noxfile: ModuleType) -> None:
    session = FakeSession()
    noxfile.properties.func(session)
    assert "properties or sweep" in session.commands[0]
    assert session.variables == {"CLUEVAL_THOROUGH": "1"}


def test_no_data_no_benchmark(noxfile: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noxfile, "data_folder", lambda: None)
    session = FakeSession()
    with pytest.raises(SkippedError, match="CLUEVAL_DATA"):
        noxfile.benchmark.func(session)
    assert not session.commands


def test_a_machine_without_a_newer_python_leaves_that_session_out(noxfile: ModuleType) -> None:
    session = FakeSession()
    session.python = None
    with pytest.raises(SkippedError, match="no Python newer than"):
        noxfile.newest.func(session)
    assert not session.commands


def test_the_oldest_versions_are_those_of_pyproject() -> None:
    pinned = environments.oldest_requirements()
    names = {Requirement(line).name for line in pinned}
    assert {"pandas", "numpy", "spacy", "pytest"} <= names
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    for line in pinned:
        assert f'"{Requirement(line).name}>={line.split("==")[1]}"' in text


def test_a_requirement_without_a_plain_lower_bound_is_noticed() -> None:
    for text in ("pandas", "pandas<3", "pandas>=2,<3"):
        with pytest.raises(ValueError, match="no plain lower bound"):
            environments.lowest(text)


def test_this_python_is_found() -> None:
    assert environments.find_python(f"{sys.version_info.major}.{sys.version_info.minor}") == sys.executable
    assert environments.find_python("2.99") is None


def test_ci_runs_the_new_examples_and_every_check_of_the_code() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    (line,) = [line for line in script.splitlines() if line.startswith(".venv/bin/nox ")]
    assert line.split("--sessions ")[1].split() == ["properties", *STATIC]
