"""The developers' commands: which there are, what they run, and that lower bounds can be pinned."""

from __future__ import annotations

import importlib.util
import sys
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


def test_new_examples_are_drawn_with_a_seed_that_is_shown(noxfile: ModuleType) -> None:
    sessions = [FakeSession(), FakeSession()]
    for session in sessions:
        noxfile.properties.func(session)
    seeds = [session.commands[0][-1] for session in sessions]
    assert seeds[0] != seeds[1]
    assert all(seed.startswith("--hypothesis-seed=") for seed in seeds)


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
