"""The manual cannot rot: its commands run in order in an empty folder, its code runs, and it names every option."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from clueval_xlsx.cli import cli
from clueval_xlsx.cli.help import topics
from clueval_xlsx.cli.parameters import options_of
from clueval_xlsx.cli.settings import call_of
from tests.support.commands import run
from tests.support.folders import ROOT

FOLDER = ROOT / "clueval_xlsx" / "manual"
PAGES = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md"))}
ALLOWED = {"|| test $? = 3": 3, "|| test $? = 4": 4}  # what a command may end with where the page says so
ELSEWHERE = {"formats"}  # its samples and calls have a test of their own: tests/formats/test_formats_manual.py
NO_OPTIONS = {"--editable", "--nthreads"}  # of other programs


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def statements(block: str) -> Iterator[str]:
    """The commands of a block; a here-document belongs to its command."""
    lines = iter(block.splitlines())
    for first in lines:
        line = first
        if end := re.search(r"<<'(\w+)'", line):
            for more in lines:
                line += f"\n{more}"
                if more == end[1]:
                    break
        if line.strip() and not line.startswith("#"):
            yield line


def carry_out(statement: str) -> None:
    """A command of ours in this process, which saves its start; anything else in a shell."""
    if not statement.startswith("clueval-xlsx "):
        subprocess.run(["bash", "-ec", statement], check=True)
        return
    allowed = {0}
    for words, code in ALLOWED.items():
        if words in statement:
            statement, allowed = statement.replace(words, ""), {0, code}
    given: list[str] = []
    for word in shlex.split(statement, comments=True)[1:]:
        given += sorted(map(str, Path().glob(word))) or [word] if "*" in word else [word]
    if ">" in given:
        place = given.index(">")
        given, target = given[:place], given[place + 1]
        done = run(*given)
        Path(target).write_text(done.out, "utf-8")
    else:
        done = run(*given)
    assert done.code in allowed, f"{statement}\n{done.err}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAGES if name not in ELSEWHERE])
def test_a_page_runs_as_it_stands(name: str, tmp_path: Path, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for side in ("gold.vrt", "pred.vrt"):  # what pages call the example files
        shutil.copy(examples / side, tmp_path / side)
    if name == "detectors":
        pytest.importorskip("distributed", reason="needs Dask: pip install clueval-xlsx[dask]")
    for language, block in re.findall(r"^```(sh|python)\n(.*?)^```", PAGES[name], flags=re.DOTALL | re.MULTILINE):
        if language == "python":
            exec(compile(block, f"{name}.md", "exec"), {})
            continue
        if re.search(r"^if ", block, flags=re.MULTILINE):  # a script
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            subprocess.run(["bash", "-c", block], check=True, env={**os.environ, "PATH": path})
            continue
        for statement in statements(block):
            carry_out(statement)


def test_configs_shown_are_configs(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    nothing = {str(option.name): None for option, _, _ in options_of("evaluate")}
    for page in PAGES.values():
        for block in blocks(page, "toml"):
            if not block.startswith("[sheet]"):  # of a language
                config.write_text(block, "utf-8")
                call_of("evaluate", {**nothing, "config": (str(config),)})


def test_every_option_of_every_command_is_in_the_manual() -> None:
    words = "\n".join([*PAGES.values(), (ROOT / "README.md").read_text("utf-8")])
    named = set(re.findall(r"--[a-z][a-z-]+", words))
    missing = {
        f"{name} --{option.lstrip('-')}"
        for name, command in cli.commands.items()
        for param in command.params
        if isinstance(param, click.Option)
        for option in param.opts
        if option.startswith("--") and option not in named
    }
    assert not sorted(missing)


def test_every_option_that_the_manual_names_exists() -> None:
    known = {
        option
        for command in cli.commands.values()
        for param in command.params
        for option in (*param.opts, *param.secondary_opts)
    } | {"--help", "--version", *NO_OPTIONS}
    for name, page in PAGES.items():
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page))
        assert not named - known, name


def test_every_page_is_listed_in_the_read_me_and_has_a_title() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in PAGES:
        assert f"(clueval_xlsx/manual/{name}.md)" in readme, name
    assert set(topics()) == set(PAGES)
    linked = set(re.findall(r"\(clueval_xlsx/manual/([\w-]+)\.md\)", readme))
    assert linked == set(PAGES)


def test_the_product_speaks_of_itself_alone() -> None:
    for name, page in PAGES.items():
        assert not re.search(r"\bissue \d|\bsession\b|\bhelper\b|\bcoordinator\b", page), name
