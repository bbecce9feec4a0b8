"""The page on gates: its script fails where it says so, and the steps of its workflow run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from clueval_xlsx.resources import package_text

pytestmark = pytest.mark.slow

PAGE = package_text("manual/outputs.md").partition("## Gates")[2]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def folder(home: Path) -> Path:
    """A folder with the example files and the program."""
    (home / "bin").mkdir()
    program = home / "bin" / "clueval-xlsx"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clueval_xlsx "$@"\n', "utf-8")
    program.chmod(0o755)
    return home


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    environment["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
    command = [shutil.which("bash") or "bash", "-e", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_shell_example_runs_and_its_gate_fails_as_it_says(folder: Path) -> None:
    (script,) = blocks("sh")
    done = shell(script, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "exit code 4\n"
    assert "Gate recall[PERSON]: wanted at least 0.99" in done.stderr
    assert "| exact |" in (folder / "table.md").read_text("utf-8")


def test_the_steps_of_the_github_actions_example_run(folder: Path) -> None:
    (text,) = blocks("yaml")
    steps = yaml.safe_load(text)["jobs"]["evaluate"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step and not step["run"].startswith("pip ")]
    assert len(scripts) == 2
    assert shell("clueval-xlsx score gold.vrt pred.vrt --layer category=2 --json metrics.json", folder).returncode == 0
    for script in scripts:
        done = shell(script, folder)
        assert done.returncode == 0, done.stderr
    assert (folder / "report.html").is_file()
    assert "By match level" in (folder / "summary.md").read_text("utf-8")
    # and with a worse model the job stops
    gold = folder / "gold.vrt"
    worse = re.sub(r"^(.*)\t[BI]-PERSON\t", r"\1\tO\t", gold.read_text("utf-8"), flags=re.MULTILINE)
    (folder / "pred.vrt").write_text(worse, "utf-8")
    assert shell(scripts[0], folder).returncode == 4
