"""The house, as far as import-linter cannot say it (its contracts stand in pyproject.toml): who prints, who opens,
what is loaded late, how modules look, and what lies where."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.commands import run_process
from tests.support.folders import ROOT

PACKAGE = ROOT / "clueval_xlsx"
MODULES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("pandas", "numpy", "scipy", "networkx", "xlsxwriter", "openpyxl", "jinja2", "rich", "regex")

# Rooms that compute or choose what is shown, and therefore open nothing.
COMPUTING = {
    "text", "corpus", "scoring", "figures", "cases", "evaluation", "batches", "comparison",
    "pairwise_agreement", "pages",
}  # fmt: skip
OPENING = {"open", "write_text", "write_bytes", "read_text", "read_bytes"}
TALKING = {"print", "input", "exit", "quit", "echo"}
# What lies directly in the package; everything else has a room. `comparison` and `pairwise_agreement` put several
# evaluations beside each other, so they stand above `evaluation`, and no room is made for two modules.
AT_THE_TOP = {
    "__init__", "__main__", "version", "exceptions", "words", "evaluation", "comparison", "pairwise_agreement",
    "resources", "threads", "clusters", "figures",
}  # fmt: skip


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def calls(tree: ast.Module) -> list[tuple[int, str]]:
    """Line and last name of everything that is called."""
    return [
        (node.lineno, node.func.id if isinstance(node.func, ast.Name) else node.func.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    ]


def talk(tree: ast.Module) -> list[str]:
    """Where a module prints, exits, or reaches for the standard streams and the arguments."""
    reached = [
        f"{node.lineno}: sys.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys"
        if node.attr in {"exit", "stdout", "stderr", "stdin", "argv"}
    ]
    return reached + [f"{line}: {name}()" for line, name in calls(tree) if name in TALKING]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_prints_exits_and_reads_arguments(path: Path) -> None:
    # The processes of detectors and of parsers are programs of their own, which talk through their standard streams.
    programs = {"detectors/base.py", "files/parsing.py"}
    if room_of(path) not in {"cli", "__main__"} and path.relative_to(PACKAGE).as_posix() not in programs:
        assert not talk(tree_of(path))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rooms_that_compute_open_nothing(path: Path) -> None:
    if room_of(path) in COMPUTING:
        assert not [f"{line}: {name}()" for line, name in calls(tree_of(path)) if name in OPENING]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_first_line_of_a_module_says_its_job(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert lines, f"{path} is empty"
    assert lines[0].startswith('"""'), lines[0]
    if path.name != "__main__.py":
        assert len(lines[0].strip('"')) > 10


def test_modules_keep_to_a_readable_size() -> None:
    assert not [path.name for path in MODULES if len(path.read_text("utf-8").splitlines()) > 450]


def test_imports_name_the_whole_way() -> None:
    relative = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


def test_nothing_lies_about_outside_the_rooms() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} == AT_THE_TOP


def test_no_two_public_classes_share_a_name() -> None:
    names = Counter(
        node.name
        for path in MODULES
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert not [name for name, count in names.items() if count > 1]


def test_every_dependency_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {re.split(r"[>=<\[]", line)[0].lower() for line in project["dependencies"]}
    imported = {
        name.split(".")[0]
        for tree in map(tree_of, MODULES)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    homes = metadata.packages_distributions()
    used = {home.lower() for name in imported for home in homes.get(name, ())}
    assert not named - used


@pytest.mark.parametrize("arguments", [["--help"], ["score", "--help"], ["evaluate", "--help"], ["--version"]])
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom clueval_xlsx.cli import main\n"
        f"sys.argv = ['clueval-xlsx', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = run_process(["-c", code], python=[sys.executable])
    assert done.code == 0
    assert done.err == "[]\n"


def test_importing_the_package_loads_no_heavy_library_and_every_public_name_is_there() -> None:
    code = (
        "import sys, clueval_xlsx\n"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not heavy, heavy\n"
        "assert dir(clueval_xlsx) == sorted(clueval_xlsx.__all__)\n"
        "assert all(getattr(clueval_xlsx, name) is not None for name in clueval_xlsx.__all__)\n"
        "assert {*clueval_xlsx._HOMES, '__version__'} == set(clueval_xlsx.__all__)\n"
    )
    done = run_process(["-c", code], python=[sys.executable])
    assert done.code == 0, done.err


def test_a_type_checker_sees_every_public_name_and_a_misspelt_one_is_an_error() -> None:
    tree = tree_of(PACKAGE / "__init__.py")
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    (public,) = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    assert {*seen, "__version__"} == set(ast.literal_eval(public))
    assert not [node for node in tree.body if isinstance(node, ast.FunctionDef)]  # `__getattr__` would allow any name


def test_xlsxwriter_is_called_from_one_module() -> None:
    called = re.compile(r"^\s*(import|from) xlsxwriter", re.M)
    assert [path.name for path in MODULES if called.search(path.read_text("utf-8"))] == ["book.py"]
