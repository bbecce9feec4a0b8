"""The command in a process in which some modules are as good as uninstalled."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.commands import Result
from tests.support.folders import ROOT


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
