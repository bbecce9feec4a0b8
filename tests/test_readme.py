"""The README cannot rot: its commands run, its code runs, its tables name what there is."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from pathlib import Path

import pytest

from clueval_xlsx.cli import cli
from tests.benchmark.program import parser as benchmark_parser
from tests.support.commands import run
from tests.support.folders import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a checkout to the commands of the README."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_ci_runs_the_test_command_that_the_readme_gives() -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines() if "pytest" in line]
    assert len(commands) == 1
    assert commands[0] in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


def test_the_developers_commands_name_sessions_that_there_are() -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines() if "bin/nox" in line]
    assert len(lines) > 2
    tree = ast.parse((ROOT / "noxfile.py").read_text("utf-8"))
    sessions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list}
    for line in lines:
        _, _, named = shlex.join(shlex.split(line, comments=True)).partition("--sessions ")
        assert set(named.split()) <= sessions


def test_the_tour_runs_as_it_is_written(home: Path) -> None:
    tour = README[README.index("## The tour") : README.index("## Which number")]
    evaluate = next(line for line in tour.splitlines() if line.startswith("clueval-xlsx evaluate"))
    done = run(*shlex.split(evaluate)[1:])
    assert done.code == 0, done.err
    assert (home / "review.xlsx").stat().st_size > 10_000
    assert (home / "report.html").stat().st_size > 10_000
    for name in ("anna", "ben"):
        shutil.copy(home / "review.xlsx", home / f"review-{name}.xlsx")
    shutil.copy(home / "examples" / "gold.vrt", home / "gold.vrt")
    reimport = next(line for line in tour.splitlines() if line.startswith("clueval-xlsx reimport"))
    done = run(*shlex.split(reimport)[1:])
    assert done.code == 0, done.err
    assert (home / "corrected.vrt").read_bytes() == (home / "gold.vrt").read_bytes()  # nothing was judged
    assert (home / "adjudicated.xlsx").is_file()


def test_the_demo_is_the_first_command_and_runs(home: Path) -> None:
    command = next(line for block in blocks("sh") for line in block.splitlines() if " demo" in line)
    done = run(*command.split("clueval-xlsx ")[-1].split())
    assert done.code == 0, done.err
    assert (home / "demo" / "review.xlsx").is_file()


def test_the_python_code_runs(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_the_config_is_one(home: Path) -> None:
    (home / "config.toml").write_text(blocks("toml")[0], "utf-8")
    done = run("evaluate", "examples/gold.vrt", "examples/pred.vrt", "--config", "config.toml", "-o", "review.xlsx")
    assert done.code == 0, done.err


def test_every_command_is_in_the_table_and_every_option_named_exists() -> None:
    for name, command in cli.commands.items():
        assert f"| `{name}" in README, name
        assert command.help
    known = {option for command in cli.commands.values() for param in command.params for option in param.opts}
    known |= {
        option for command in cli.commands.values() for param in command.params for option in param.secondary_opts
    }
    known |= {option for action in benchmark_parser()._actions for option in action.option_strings}
    known |= {"--help", "--version", "--quiet", "--editable", "--sessions", "--force-python"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))
    assert not named - known


def test_every_option_explains_itself() -> None:
    silent = [
        f"{name} {param.opts[0]}"
        for name, command in cli.commands.items()
        for param in command.params
        if param.param_type_name == "option" and not getattr(param, "help", None)
    ]
    assert not silent


def test_pictures_are_there() -> None:
    for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file(), path
