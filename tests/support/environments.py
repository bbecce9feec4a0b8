"""Other environments to test in: the oldest libraries that pyproject.toml allows, other Pythons on this machine."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OLDEST_PYTHON = "3.11"
_DEVELOPERS = "dev"  # the extra with the tools that check the code; tests elsewhere do without
_NEWER = 20  # how many versions after the oldest are looked for


def extras() -> list[str]:
    """The extras that people install, and what the tests need."""
    return sorted(name for name in _project()["optional-dependencies"] if name != _DEVELOPERS)


def oldest_requirements() -> list[str]:
    """The lowest version that pyproject.toml allows of everything it names, as constraints."""
    project = _project()
    named = [*project["dependencies"], *(line for name in extras() for line in project["optional-dependencies"][name])]
    own = f"{project['name']}["  # an extra that is made of others names nothing new
    return [lowest(line) for line in dict.fromkeys(named) if not line.startswith(own)]


def lowest(requirement: str) -> str:
    """The lowest version that a requirement allows.

    >>> lowest("pandas>=2.1")
    'pandas==2.1'
    """
    found = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9][0-9A-Za-z.]*)", requirement)
    if found is None:
        raise ValueError(f"{requirement}: no plain lower bound. Write NAME>=VERSION.")
    return f"{found[1]}=={found[2]}"


def find_python(version: str) -> str | None:
    """The interpreter of a version such as 3.13: this one, one on the path, or one that pyenv has installed."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(versions.glob(f"{version}.*/bin/python"), key=lambda path: _numbers(path.parts[-3]), reverse=True)
    for candidate in (sys.executable, shutil.which(f"python{version}"), *map(str, kept)):
        if candidate and _version(candidate).startswith(f"{version}."):
            return candidate
    return None


def newest_python() -> str | None:
    """The newest interpreter here that is newer than the oldest allowed one."""
    first = int(OLDEST_PYTHON.split(".")[1])
    return next((found for minor in range(first + _NEWER, first, -1) if (found := find_python(f"3.{minor}"))), None)


@functools.cache
def _version(python: str) -> str:
    """The version of an interpreter; empty if it does not run, like a shim for a version that is not there."""
    command = [python, "-c", "import platform, venv, ensurepip; print(platform.python_version())"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def _project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
