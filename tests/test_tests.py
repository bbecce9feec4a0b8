"""The tests themselves: they stand in the rooms that they test and share nothing but what stands in tests/support."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.folders import ROOT

TESTS = ROOT / "tests"
FILES = sorted(TESTS.rglob("*.py"))
# Folders that are no mirror of a room: what the tests share, data, and programs for developers.
OTHERS = {"support", "fixtures", "golden", "audit", "benchmark", "fuzz", "programs", "simulation", "simulator"}


def name_of(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def imported(path: Path) -> list[str]:
    """The modules, and the names in modules, that a file imports anywhere."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def is_of_tests(module: str) -> bool:
    """Whether a name belongs to a test file or a conftest, which nobody imports from.

    >>> is_of_tests("tests.review.test_reimport.case"), is_of_tests("tests.support.judging.case")
    (True, False)
    """
    parts = module.split(".")
    return parts[0] == "tests" and any(part == "conftest" or part.startswith("test_") for part in parts)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_is_imported_from_a_test_or_a_conftest(path: Path) -> None:
    assert not [module for module in imported(path) if is_of_tests(module)]


def test_every_folder_of_tests_mirrors_a_room() -> None:
    rooms = {path.stem for path in (ROOT / "clueval_xlsx").iterdir() if not path.name.startswith("_")}
    folders = {path.relative_to(TESTS).parts[0] for path in FILES if path.parent != TESTS}
    assert folders - rooms <= OTHERS


def test_tests_stand_beside_their_room_and_helpers_do_not() -> None:
    """In the folder of a room lie tests; at the top lie tests of the whole."""
    strays = [
        name_of(path)
        for path in FILES
        if path.relative_to(TESTS).parts[0] not in OTHERS
        if not path.name.startswith(("test_", "__init__", "conftest"))
    ]
    assert not strays


def test_no_two_tests_of_a_file_share_a_name() -> None:
    """The second of two functions with one name hides the first, which then never runs."""
    for path in FILES:
        names = [node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
        assert sorted(names) == sorted(set(names)), path
