"""Python processes that are started here: they run nothing that lies in the current folder, which anybody may fill.

Python itself looks for modules there first, where it runs `-c` or `-m`: a `typing.py` beside a workbook would be run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD_VARIABLE = "CLUEVAL_PASSWORD"
_PATH, _SAFE_PATH = "PYTHONPATH", "PYTHONSAFEPATH"
_OURS = "clueval-xlsx"  # what the variable is set to here, by which it is known; Python takes any value


def import_path() -> list[str]:
    """Where this process finds its modules, less the current folder; this package stays where it is."""
    home = str(Path(__file__).resolve().parents[2])
    return [*_elsewhere(sys.path), home]


def python_command(code: str) -> list[str]:
    """The call that runs some code in a Python process with the modules of this one, less the current folder's."""
    path = f"import sys; path = {import_path()!r}; sys.path[:] = [*path, *(p for p in sys.path if p not in path)]"
    return [sys.executable, "-P", "-c", f"{path}; {code}"]


def environment() -> dict[str, str]:
    """The environment for another program: without the password of the workbooks, and as it was when we began."""
    kept = {key: value for key, value in os.environ.items() if key != PASSWORD_VARIABLE}
    if kept.get(_SAFE_PATH) == _OURS:
        del kept[_SAFE_PATH]
    return kept


def python_environment() -> dict[str, str]:
    """The environment for a Python process of ours: modules in the current folder are not found by it, either."""
    kept = environment()
    if _PATH in kept:
        kept[_PATH] = _without_current_folder(kept[_PATH])
    return kept


@contextmanager
def safe_python_processes() -> Iterator[None]:
    """Whatever Python processes others start meanwhile run nothing that lies in the current folder."""
    path, variables = list(sys.path), {key: os.environ.get(key) for key in (_PATH, _SAFE_PATH)}
    sys.path[:] = import_path()
    os.environ.setdefault(_SAFE_PATH, _OURS)
    if _PATH in os.environ:
        os.environ[_PATH] = _without_current_folder(os.environ[_PATH])
    try:
        yield
    finally:
        sys.path[:] = path
        for key, value in variables.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def _without_current_folder(path: str) -> str:
    return os.pathsep.join(_elsewhere(path.split(os.pathsep)))


def _elsewhere(entries: list[str]) -> list[str]:
    """The entries of a path that are not the current folder, as absolute ones."""
    here = os.path.realpath(os.curdir)
    return [os.path.abspath(entry) for entry in entries if os.path.realpath(entry) != here]  # noqa: PTH100
