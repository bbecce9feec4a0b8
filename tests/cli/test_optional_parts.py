"""What is not installed is not needed, until somebody asks for it: then a message says how to get it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import EXAMPLE_OPTIONS, Result
from tests.support.folders import ROOT

PRESIDIO = ("presidio_analyzer", "spacy", "tldextract", "yaml", "phonenumbers", "thinc")
# What is there for the tests alone.
TESTS_ONLY = ("pytest", "hypothesis", "seqeval", "nervaluate", "selenium", "sklearn", "openpyxl")


def run_without(missing: tuple[str, ...], *arguments: object) -> Result:
    """Run the command in a process in which modules are as good as uninstalled, as far as it can tell."""
    code = (
        "import sys\n"
        "class Without:\n"
        "    def __init__(self, finder): self.finder = finder\n"
        "    def __getattr__(self, name): return getattr(self.finder, name)\n"
        "    def find_spec(self, name, *more):\n"
        f"        return None if name.split('.')[0] in {missing!r} else self.finder.find_spec(name, *more)\n"
        "sys.meta_path[:] = map(Without, sys.meta_path)\n"
        "from clueval_xlsx.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("missing", [PRESIDIO, ("presidio_analyzer",), ("spacy",)])
def test_a_detector_that_is_not_installed_is_named_with_the_way_to_get_it(
    missing: tuple[str, ...], examples: Path, tmp_path: Path
) -> None:
    arguments = (
        "--layer",
        "category=2",
        "-o",
        tmp_path / "pred.vrt",
        "--detector",
        "presidio",
        "--detector-language",
        "de",
    )
    done = run_without(missing, "predict", examples / "gold.vrt", *arguments)
    assert done.code == 2, done.err
    assert "Presidio is not installed here" in done.err
    assert "pip install clueval-xlsx[presidio]" in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_nothing_else_needs_the_extras_or_what_only_tests_use(examples: Path, tmp_path: Path) -> None:
    done = run_without((*PRESIDIO, *TESTS_ONLY), "demo", tmp_path / "demo")
    assert done.code == 0, done.err
    sides = examples / "gold.vrt", examples / "pred.vrt", *EXAMPLE_OPTIONS
    done = run_without((*PRESIDIO, *TESTS_ONLY), "score", *sides, "--scheme", "all")
    assert done.code == 0, done.err
