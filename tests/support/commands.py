"""The command line in this process or in one of its own, and what it did."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.folders import ROOT

EXAMPLE_LAYERS = ("--layer", "category=2", "--layer", "risk=3")
EXAMPLE_OPTIONS = (*EXAMPLE_LAYERS, "--token-id", "4")


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str


class _Stream(io.TextIOWrapper):
    def __init__(self, content: bytes = b"") -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8", write_through=True, newline="")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def run(*arguments: object, stdin: bytes = b"") -> Result:
    """Run the whole command line in this process, `main` with its exit codes included."""
    from clueval_xlsx.cli import main

    saved = sys.argv, sys.stdin, sys.stdout, sys.stderr
    out, err = _Stream(), _Stream()
    sys.argv = ["clueval-xlsx", *map(str, arguments)]
    sys.stdin, sys.stdout, sys.stderr = _Stream(stdin), out, err
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = saved
    return Result(code, out.text(), err.text())


def run_process(
    arguments: Sequence[object], *, stdin: bytes = b"", cwd: Path | None = None, python: Sequence[str] | None = None
) -> Result:
    """Run a Python process (by default `python -m clueval_xlsx …`) that sees this checkout."""
    command = [*(python or [sys.executable, "-m", "clueval_xlsx"]), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    done = subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=environment, check=False)
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def refused(result: Result, *words: str) -> None:
    """A command refused its input: exit code 2, all these words in the message, no traceback, no data."""
    assert result.code == 2, (result.code, result.err)
    for word in words:
        assert word in result.err, result.err
    assert "Traceback" not in result.err, result.err
    assert result.out == "", result.out
