"""The developers' commands: `nox` checks format, lint, types, imports and packages and runs the tests.

    nox --sessions lint types       some of them
    nox --sessions oldest           the quick tests with the oldest libraries that pyproject.toml allows
    nox --sessions newest           the quick tests with the newest Python here (--force-python 3.13: with that one)
    nox --sessions oldest -- whole  all tests there, the slow ones too

Checks of the code run in the environment that nox itself is in; `oldest` and `newest` make environments of their own.
"""

from __future__ import annotations

import functools
import os
import re
import secrets
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from tests.support.folders import data_folder  # noqa: E402

SOURCES = ("clueval_xlsx", "tests", "noxfile.py")
QUICK = "not office and not browser and not slow"
# What is about our own arithmetic and the system rather than about Python and the libraries, and takes long:
ELSEWHERE = "not golden and not _properties and not fuzz and not faults and not terminals"
FEW_EXAMPLES = "15"  # of hypothesis

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


nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["format", "lint", "types", "imports", "packages", "tests"]
nox.options.envdir = "build/environments"
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = True


def here(session: nox.Session, *words: str, **variables: str) -> None:
    """Run a Python module in the environment that nox is in."""
    session.run(sys.executable, "-m", *words, env=variables, external=True)


@nox.session(venv_backend="none")
def format(session: nox.Session) -> None:  # noqa: A001  # what it is called on the command line
    """Whether the code is formatted."""
    here(session, "ruff", "format", "--check", *SOURCES)


@nox.session(venv_backend="none")
def lint(session: nox.Session) -> None:
    """What ruff has to say."""
    here(session, "ruff", "check", *SOURCES)


@nox.session(venv_backend="none")
def types(session: nox.Session) -> None:
    """Whether the types are right, strictly."""
    here(session, "mypy")


@nox.session(venv_backend="none")
def imports(session: nox.Session) -> None:
    """Whether every room imports only from rooms below it, and no two modules import each other."""
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    if program is None:
        session.error("lint-imports is not installed. Get it with: pip install --editable .[dev]")
    session.run(program, "--no-cache", external=True)


@nox.session(venv_backend="none")
def packages(session: nox.Session) -> None:
    """Whether the installed packages fit together."""
    here(session, "pip", "check")


@nox.session(venv_backend="none")
def tests(session: nox.Session) -> None:
    """All tests, or those that are named behind `--`."""
    here(session, "pytest", *session.posargs)


def seed_of_commit() -> int:
    """A number that is another with every commit: whoever runs one again sees the same. Drawn where there is none."""
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return secrets.randbelow(2**32) if git.returncode else int(git.stdout[:8], 16)


@nox.session(venv_backend="none")
def properties(session: nox.Session) -> None:
    """The properties on examples that are new with every commit, and every case of the sweeps."""
    seed = f"--hypothesis-seed={seed_of_commit()}"
    chosen = ("-x", "-m", "properties or sweep", "--hypothesis-profile=new", seed)
    here(session, "pytest", *chosen, *session.posargs, CLUEVAL_THOROUGH="1")


@nox.session(venv_backend="none")
def benchmark(session: nox.Session) -> None:
    """Ratios against other programs; behind `--` how many copies of the data."""
    if data_folder() is None:
        session.skip("its data are not here (set CLUEVAL_DATA)")
    here(session, "tests.benchmark", *session.posargs)


@nox.session(python=find_python(OLDEST_PYTHON) or OLDEST_PYTHON, venv_backend="venv")
def oldest(session: nox.Session) -> None:
    """The quick tests with the oldest libraries that pyproject.toml allows, on the oldest Python."""
    pinned = Path(session.create_tmp()) / "constraints.txt"
    pinned.write_text("".join(f"{line}\n" for line in oldest_requirements()), "utf-8")
    session.install("--editable", f".[{','.join(extras())}]", "hatchling", "--constraint", str(pinned))
    _test_elsewhere(session)


@nox.session(python=newest_python(), venv_backend="venv")
def newest(session: nox.Session) -> None:
    """The quick tests with the newest Python here; newer ones than this often wait for wheels of the extras."""
    if session.python is None:
        session.skip(f"there is no Python newer than {OLDEST_PYTHON} on this machine")
    session.install("--editable", ".[test]", "hatchling")
    _test_elsewhere(session)


def _test_elsewhere(session: nox.Session) -> None:
    session.run("python", "-m", "pip", "check")
    if "whole" in session.posargs:
        session.run("python", "-m", "pytest", "-p", "no:cacheprovider")
        return
    chosen = ("-m", QUICK, "-k", ELSEWHERE)
    session.run("python", "-m", "pytest", "-p", "no:cacheprovider", *chosen, env={"CLUEVAL_EXAMPLES": FEW_EXAMPLES})
