"""The README cannot rot: its blocks work when they are pasted, its pictures are there, and it stays short."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.folders import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_ci_runs_the_test_command_that_the_readme_gives() -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines() if "pytest" in line]
    assert len(commands) == 1
    assert commands[0] in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_every_block_of_the_tour_works_when_it_is_pasted_into_a_fresh_shell(tmp_path: Path) -> None:
    """In an empty folder: the first command has made .venv, here the environment of the tests, and the demo."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    first = next(line for block in blocks("sh") for line in block.splitlines() if " demo" in line)
    tour = README[README.index("## The tour") : README.index("## Which number")]
    pasted = [first.split(" && ")[-1], *re.findall(r"```sh\n(.*?)```", tour, flags=re.DOTALL)]
    assert len(pasted) == 5
    shown = subprocess.run(
        ["bash", "-e", "-c", "\n".join(pasted)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    written = ["demo/mine.xlsx", "demo/report.html", "demo/corrected-by-me.vrt", "demo/adjudicated.xlsx"]
    for name in written:
        assert (tmp_path / name).stat().st_size > 1_000, name


def test_it_is_short_enough_to_be_read() -> None:
    assert len(README.splitlines()) <= 150


def test_pictures_are_there() -> None:
    for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file(), path
