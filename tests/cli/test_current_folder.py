"""No module of the current folder is run: planted beside workbooks, for every command that starts a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from clueval_xlsx.detectors.base import DetectorSettings
from clueval_xlsx.detectors.process import LineProcess
from clueval_xlsx.detectors.worker import Worker
from clueval_xlsx.files.python_processes import safe_python_processes
from clueval_xlsx.files.workbooks import read_workbook
from tests.support.commands import EXAMPLE_OPTIONS
from tests.support.detector_scripts import install_package
from tests.support.folders import ROOT

OTHERS = (
    "clueval_xlsx_extra dask distributed lxml msgspec msoffcrypto numpy olefile openpyxl pandas presidio_analyzer "
    "python_calamine regex sitecustomize spacy tornado typing_extensions usercustomize yaml"
)
MARKER = "run.txt"
PLANTED = f"import builtins\nwith builtins.open({MARKER!r}, 'a') as file:\n    file.write(__name__ + ' ')\n"
PLAIN = ("--layer", "category=2")
COMMANDS: dict[str, Sequence[str]] = {
    "status": ["status", "review.xlsx"],
    "re-import": ["reimport", "review.xlsx", "--gold", "gold.vrt", "-o", "new.vrt"],
    "an output that may hold work": ["evaluate", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS, "-o", "review.xlsx"],
    "validate": ["validate", "spans.xlsx", "--text", "gold.vrt"],
    "convert": ["convert", "spans.xlsx", "spans.tsv", "--text", "gold.vrt"],
    "score": ["score", "gold.vrt", "spans.xlsx", *PLAIN],
    "a detector": ["predict", "gold.vrt", "-o", "found.tsv", "--detector", "capitals", *PLAIN],
    "a detector's text": [
        *("evaluate", "gold.vrt", "--detector", "capitals", *PLAIN),
        *("--set", "labels.unmapped=keep", "--json", "m.json"),
    ],
    "Presidio": ["predict", "gold.vrt", "-o", "found.tsv", "--detector", "presidio", *PLAIN],
    "detectors of a cluster": [
        *("predict", "gold.vrt", "-o", "found.tsv", "--detector", "capitals", *PLAIN),
        *("--cluster", "local:1"),
    ],
    "scores of a cluster": ["score", "many", "many", "--cluster", "local:1"],
}


def run_there(arguments: Sequence[str], folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """A command as its script runs it, in a folder; `path` comes before everything else that Python looks through."""
    package = folder.parent / "package"
    return subprocess.run(
        [sys.executable, "-P", "-m", "clueval_xlsx", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([path, str(package), str(ROOT)]).lstrip(os.pathsep)},
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    """A folder with workbooks, and with a module of the name of everything that somebody might import."""
    base = tmp_path_factory.mktemp("planted")
    (base / "package").mkdir()
    install_package(base / "package")
    folder = base / "work"
    (folder / "many").mkdir(parents=True)
    for name in ("gold.vrt", "pred.vrt"):
        (folder / name).write_bytes((examples / name).read_bytes())
    for number in range(4):
        (folder / "many" / f"{number}.vrt").write_text("Ann\tB-PER\nLee\tI-PER\n", "ascii")
    for arguments in (
        ["evaluate", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS, "-o", "review.xlsx"],
        ["convert", "gold.vrt", "spans.xlsx", *PLAIN],
    ):
        assert run_there(arguments, folder).returncode == 0
    for name in {*sys.stdlib_module_names, *OTHERS.split()}:
        (folder / f"{name}.py").write_text(PLANTED, "ascii")
    return folder


@pytest.mark.parametrize("which", COMMANDS)
def test_no_module_of_the_current_folder_is_run(folder: Path, which: str) -> None:
    if "cluster" in which:
        pytest.importorskip("distributed")
    done = run_there(COMMANDS[which], folder)
    assert not (folder / MARKER).exists(), (folder / MARKER).read_text("ascii")
    assert "Traceback" not in done.stderr, done.stderr
    if which != "Presidio":  # its models may not be there
        assert done.returncode in {0, 1}, done.stderr


@pytest.mark.parametrize("path", ["", ".", "the folder itself"])
def test_a_path_with_the_current_folder_in_it_does_not_bring_it_back(
    folder: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(folder) if path == "the folder itself" else path
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [path, str(folder.parent / "package"), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([path, str(folder.parent / "package")]))
    assert read_workbook(Path("spans.xlsx").read_bytes(), "spans.xlsx").sheets
    detector = Worker(DetectorSettings("capitals"), None)
    detector.close()
    with safe_python_processes():
        assert subprocess.run([sys.executable, "-c", "import zipfile, typing"], check=False).returncode == 0
    assert sys.path[0] == path
    assert "PYTHONSAFEPATH" not in os.environ
    assert not Path(MARKER).exists(), Path(MARKER).read_text("ascii")


def test_a_program_that_people_give_finds_its_own_modules_beside_it_whoever_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    (tmp_path / "beside.py").write_text("print('found')", "ascii")
    (tmp_path / "program.py").write_text("import beside", "ascii")
    with safe_python_processes():
        process = LineProcess([sys.executable, str(tmp_path / "program.py")])
        assert process.receive(30) == b"found\n"
        process.close()
