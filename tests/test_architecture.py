"""The house: which room may reach where, read from the imports."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.support.commands import run_process
from tests.support.folders import ROOT

PACKAGE = ROOT / "clueval_xlsx"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Libraries that talk to the world; only some rooms may.
SCREEN = ("click", "rich")
FILES = ("pathlib", "io", "os", "tempfile", "shutil")
BOOKS = ("xlsxwriter", "openpyxl", "python_calamine", "msoffcrypto")
PAGES = ("jinja2",)
# Rooms of our own that stand downstream.
RENDERINGS = ("workbook", "report_html", "report_json", "report_csv", "writers")
WAY_BACK = ("reimport", "correction")
SURFACE = ("cli", "config")
WORLD = (*SCREEN, *FILES, *BOOKS, *PAGES)

# room: what it may never import, at the top or inside a function
FORBIDDEN = {
    "strings": (*WORLD, "clueval_xlsx.corpus.corpus", "clueval_xlsx.readers", "networkx", "scipy"),
    "bio": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "matching", "networkx", "scipy"),
    "corpus": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "matching", "networkx", "scipy"),
    "spans": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "matching", "networkx", "scipy"),
    "written": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "clueval_xlsx.corpus.corpus", "networkx", "scipy"),
    "matching": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "scores", "schemes", "errors"),
    "merging": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "scores", "schemes", "errors"),
    "schemes": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "scores", "errors"),
    "scores": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "errors", "corpus"),
    "errors": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "scores"),
    "context": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "scores", "errors"),
    "confusion": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation"),
    "pairing": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "evaluation", "scores", "errors"),
    "readers": (*SCREEN, *PAGES, "xlsxwriter", *RENDERINGS, *WAY_BACK, *SURFACE, "evaluation", "matching", "scores"),
    "writers": (*SCREEN, *PAGES, *WAY_BACK, *SURFACE, "workbook", "evaluation", "scores"),
    "evaluation": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE),
    "layout": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "pandas", "numpy", "evaluation", "corpus", "spans"),
    "workbook": (*SCREEN, *WAY_BACK, *SURFACE, "readers", "matching", "merging", "schemes"),
    "report_html": (*SCREEN, *BOOKS, *WAY_BACK, *SURFACE, "readers", "matching", "merging", "schemes", "workbook"),
    "report_json": (*WORLD, *WAY_BACK, *SURFACE, "readers", "matching", "merging", "schemes", "workbook", "writers"),
    "report_csv": (*WORLD, *WAY_BACK, *SURFACE, "readers", "matching", "merging", "schemes", "workbook", "writers"),
    "reimport": (*SCREEN, *PAGES, *RENDERINGS, *SURFACE, "xlsxwriter"),
    "correction": (*WORLD, *RENDERINGS, *SURFACE),
    "detectors": (*SCREEN, *BOOKS, *RENDERINGS, *WAY_BACK, *SURFACE),
    "safety": (*SCREEN, *PAGES, *BOOKS, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "pandas"),
    "typed_json": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "pandas", "numpy"),
    "toml_source": (*WORLD, *RENDERINGS, *WAY_BACK, *SURFACE, "readers", "evaluation", "pandas", "numpy"),
    "config": (*SCREEN, *BOOKS, *PAGES, *RENDERINGS, *WAY_BACK, "pandas", "numpy"),
}  # fmt: skip

# Rooms that compute and therefore open nothing, print nothing, exit never.
PURE = (
    "strings", "written", "bio", "corpus", "spans", "matching", "merging", "schemes", "scores", "errors", "context",
    "confusion", "pairing", "evaluation", "layout", "correction",
)  # fmt: skip
IMPURE_CALLS = {"open", "print", "input", "exit", "quit", "write_text", "write_bytes", "read_text", "read_bytes"}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[int, str]]:
    """Line and full name of everything a module imports; imports for type checkers alone do not count."""
    tree = ast.parse(path.read_text("utf-8"))
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def reaches(imported: str, forbidden: str) -> bool:
    """Whether an import reaches a library, or a room of our own."""
    names = (forbidden, f"clueval_xlsx.{forbidden}") if "." not in forbidden else (forbidden,)
    return any(imported == name or imported.startswith(f"{name}.") for name in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_room_reaches_where_it_may_not(path: Path) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for line, name in imports(path)
        for forbidden in FORBIDDEN.get(room_of(path), ())
        if reaches(name, forbidden)
    ]
    assert not wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rooms_that_compute_open_and_print_nothing(path: Path) -> None:
    if room_of(path) not in PURE:
        return
    calls = [
        (node.lineno, node.func.id if isinstance(node.func, ast.Name) else node.func.attr)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    ]
    assert not [f"{path.name}:{line}: {name}()" for line, name in calls if name in IMPURE_CALLS]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_exits_prints_and_reads_arguments(path: Path) -> None:
    # A detector's process is a program of its own, which talks to the runner through its standard streams.
    if room_of(path) in {"cli", "__main__"} or path.relative_to(PACKAGE).as_posix() == "detectors/serve.py":
        return
    found = [
        f"{path.name}:{node.lineno}: sys.{node.attr}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys"
        if node.attr in {"exit", "stdout", "stderr", "stdin", "argv"}
    ]
    assert not found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_first_line_of_a_module_says_its_job(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert lines, f"{path} is empty"
    assert lines[0].startswith('"""'), lines[0]
    if path.name != "__main__.py":
        assert len(lines[0].strip('"')) > 10


def test_modules_keep_to_a_readable_size() -> None:
    assert not [path.name for path in MODULES if len(path.read_text("utf-8").splitlines()) > 500]


def test_the_rules_name_rooms_that_exist_or_are_planned() -> None:
    planned = {"workbook", "report_html", "reimport", "correction", "detectors"}
    assert set(FORBIDDEN) - {room_of(path) for path in MODULES} <= planned


def test_the_rules_would_notice_a_breach() -> None:
    assert reaches("clueval_xlsx.formats.vertical_writer.rewrite_layers", "writers")
    assert reaches("xlsxwriter", "xlsxwriter")
    assert reaches("os.path", "os")
    assert not reaches("clueval_xlsx.corpus.spans.make_spans", "click")
    assert not reaches("ostrich", "os")


HEAVY = ("pandas", "numpy", "scipy", "networkx", "xlsxwriter", "openpyxl", "jinja2", "rich", "regex")


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
        "assert all(getattr(clueval_xlsx, name) is not None for name in clueval_xlsx.__all__)\n"
        "assert set(clueval_xlsx._HOMES) <= set(clueval_xlsx.__all__)\n"
    )
    assert run_process(["-c", code], python=[sys.executable]).code == 0
