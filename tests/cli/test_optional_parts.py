"""What is not installed is not needed, until somebody asks for it: then a message says how to get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import EXAMPLE_OPTIONS
from tests.support.uninstalled import run_without

PRESIDIO = ("presidio_analyzer", "spacy", "tldextract", "yaml", "phonenumbers", "thinc")
# What is there for the tests alone.
TESTS_ONLY = ("pytest", "hypothesis", "seqeval", "nervaluate", "selenium", "sklearn", "openpyxl")


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
    assert 'pip install "clueval-xlsx[presidio]"' in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_nothing_else_needs_the_extras_or_what_only_tests_use(examples: Path, tmp_path: Path) -> None:
    done = run_without((*PRESIDIO, *TESTS_ONLY), "demo", tmp_path / "demo")
    assert done.code == 0, done.err
    sides = examples / "gold.vrt", examples / "pred.vrt", *EXAMPLE_OPTIONS
    done = run_without((*PRESIDIO, *TESTS_ONLY), "score", *sides, "--scheme", "all")
    assert done.code == 0, done.err
