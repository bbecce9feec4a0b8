"""One command for developers: format, lint, types, packages, tests, properties, benchmark: `python -m tests.check`.

Each step runs under a heading; a table at the end says how it went, and the exit code is 1 if anything failed.

    python -m tests.check --only lint,types     # some of the steps
    python -m tests.check --oldest              # the tests with the oldest libraries that pyproject.toml allows
    python -m tests.check --python 3.13         # the tests with another Python ("newest": the newest one here)
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / "build" / "environments"
SOURCES = ("clueval_xlsx", "tests")
QUICK = "not office and not browser and not slow"
# What is about our own arithmetic and the system rather than about Python and the libraries, and takes long:
ELSEWHERE = "not golden and not _properties and not fuzz and not faults and not platforms and not shapes"
NEW_EXAMPLES = ("-m", "properties", "--hypothesis-profile=new")  # a few, with a seed that the heading shows
FEW_EXAMPLES = "15"  # of hypothesis, a quarter of the usual
OLDEST_PYTHON = "3.11"
NEWEST = "newest"
DONE, FAILED, LEFT_OUT = "done", "FAILED", "left out"


@dataclass(frozen=True)
class Outcome:
    """How a step went."""

    name: str
    result: str
    seconds: float = 0.0
    why: str = ""


def steps(python: str) -> dict[str, list[str]]:
    """The steps by name, each a command."""
    return {
        "format": [python, "-m", "ruff", "format", "--check", *SOURCES],
        "lint": [python, "-m", "ruff", "check", *SOURCES],
        "types": [python, "-m", "mypy"],
        "packages": [python, "-m", "pip", "check"],
        "tests": [python, "-m", "pytest"],
        "properties": [python, "-m", "pytest", "-x", *NEW_EXAMPLES, f"--hypothesis-seed={secrets.randbelow(2**32)}"],
        "benchmark": [python, "-m", "tests.benchmark", "--quick"],
    }


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(prog="python -m tests.check", description=(__doc__ or "").splitlines()[0])
    names = list(steps(""))
    found.add_argument(
        "--only",
        metavar="STEPS",
        type=lambda text: _step_names(text, names),
        default=names,
        help=f"only these steps, separated by commas: {', '.join(names)}",
    )
    found.add_argument(
        "--oldest",
        action="store_true",
        help=f"run the quick tests with the oldest allowed libraries, on Python {OLDEST_PYTHON}, instead of the steps",
    )
    found.add_argument(
        "--python",
        metavar="VERSION",
        help=f"run the quick tests with this Python and the newest libraries, or with the {NEWEST} Python that is here",
    )
    found.add_argument("--whole", action="store_true", help="with --oldest and --python: all tests, the slow ones too")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; returns the exit code."""
    given = parser().parse_args(arguments)
    outcomes: list[Outcome] = []
    if given.oldest:
        outcomes += other_environment("oldest", OLDEST_PYTHON, oldest_requirements(), whole=given.whole)
    if given.python:
        outcomes += other_environment(f"python-{given.python}", given.python, [], whole=given.whole)
    if not (given.oldest or given.python):
        commands = steps(sys.executable)
        outcomes += [
            _benchmark(commands[name]) if name == "benchmark" else run(name, commands[name]) for name in given.only
        ]
    print(f"\n{table(outcomes)}", flush=True)
    return int(any(outcome.result == FAILED for outcome in outcomes))


def run(name: str, command: Sequence[str], **variables: str) -> Outcome:
    """Run one step under its heading, with these environment variables."""
    print(f"\n==== {name}: {' '.join(_shortened(command))}", flush=True)
    began = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False).returncode
    seconds = time.monotonic() - began
    return Outcome(name, DONE, seconds) if code == 0 else Outcome(name, FAILED, seconds, f"exit code {code}")


def table(outcomes: Iterable[Outcome]) -> str:
    """What happened, a line for each step.

    >>> print(table([Outcome("lint", DONE, 1.2), Outcome("types", FAILED, 61.0, "exit code 1")]))
    lint   done      1 s
    types  FAILED   61 s  exit code 1
    """
    rows = list(outcomes)
    wide = max((len(row.name) for row in rows), default=0)
    results = max((len(row.result) for row in rows), default=0)
    lines = [f"{row.name:<{wide}}  {row.result:<{results}}  {row.seconds:3.0f} s  {row.why}".rstrip() for row in rows]
    return "\n".join(lines)


# ---- other Pythons, other libraries ---------------------------------------------------------------------------------


def other_environment(name: str, version: str, pinned: Sequence[str], *, whole: bool) -> list[Outcome]:
    """Make an environment, check that its packages fit together, and run the tests in it."""
    python = newest_python() if version == NEWEST else find_python(version)
    if python is None:
        print(f"\n==== {name}: no such Python on this machine", flush=True)
        return [Outcome(name, LEFT_OUT if version == NEWEST else FAILED, why="no such Python on this machine")]
    # Where there is a wheel for everything, Presidio and spaCy belong to it; newer Pythons often wait for them.
    extras = "presidio,test" if pinned else "test"
    folder = ENVIRONMENTS / name
    made = _make(folder, python, f".[{extras}]", pinned, name)
    if made.result != DONE:
        return [made]
    own = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    chosen = [] if whole else ["-m", QUICK, "-k", ELSEWHERE]
    variables = {} if whole else {"CLUEVAL_EXAMPLES": FEW_EXAMPLES}
    tests = [own, "-m", "pytest", "-p", "no:cacheprovider", *chosen]
    return [made, run(f"{name}: packages", steps(own)["packages"]), run(f"{name}: tests", tests, **variables)]


def _make(folder: Path, python: str, package: str, pinned: Sequence[str], name: str) -> Outcome:
    """Make the environment, unless it is there and the same."""
    about = "\n".join([_version(python), package, *pinned, (ROOT / "pyproject.toml").read_text("utf-8")])
    stamp = folder / "made-of.txt"
    wanted = hashlib.sha256(about.encode("utf-8")).hexdigest()
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return Outcome(f"{name}: environment", DONE, why=f"Python {_version(python)}, as it was")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = run(f"{name}: environment", [python, "-m", "venv", str(folder)])
    own = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    constraints = folder / "constraints.txt"
    if made.result == DONE:
        constraints.write_text("".join(f"{line}\n" for line in pinned), "utf-8")
        install = [own, "-m", "pip", "install", "--quiet", "--editable", package, "--constraint", str(constraints)]
        made = run(f"{name}: environment", [*install, "hatchling"])
    if made.result == DONE:
        stamp.write_text(wanted, "utf-8")
        return Outcome(made.name, DONE, made.seconds, f"Python {_version(python)}")
    return made


def oldest_requirements(extras: Iterable[str] = ("presidio", "test")) -> list[str]:
    """The lowest version that pyproject.toml allows of everything it names, as constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    return [lowest(line) for line in named]


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
    return next((found for minor in range(first + 20, first, -1) if (found := find_python(f"3.{minor}"))), None)


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


def _benchmark(command: Sequence[str]) -> Outcome:
    from tests.support.folders import data_folder

    if data_folder() is None:
        return Outcome("benchmark", LEFT_OUT, why="its data are not here (set CLUEVAL_DATA)")
    return run("benchmark", command)


def _shortened(command: Sequence[str]) -> list[str]:
    return ["python" if word == command[0] and "python" in Path(word).name else word for word in command]


def _step_names(text: str, names: Sequence[str]) -> list[str]:
    chosen = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in names]
    if unknown or not chosen:
        raise argparse.ArgumentTypeError(f"found {', '.join(unknown) or 'nothing'}; allowed: {', '.join(names)}")
    return [name for name in names if name in chosen]


if __name__ == "__main__":
    sys.exit(main())
