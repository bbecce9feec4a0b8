"""Kills a command (kill -9) at its file operations in turn: `python -m tests.support.killing`.

Reads a task as JSON from standard input: `folder`, `old` (file names and what stands there before), `runs` (argument
lists; the first is killed, the others come after it and are not), `opening` (whether it is killed where it opens a
file, too, or only where it makes, moves or removes one). Writes one JSON line for each point: whether the command was
killed there, the exit codes, and hash and number of lines of every file that is left then and after each of the other
runs.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.support.commands import run

CHANGES = frozenset({"os.rename", "os.remove", "os.chmod", "os.link", "os.mkdir", "os.rmdir", "os.truncate"})
OPERATIONS = CHANGES | {"open"}
MOST_POINTS = 300


def main() -> None:
    """Kill at the first operation, the second, … until the command comes through."""
    task = json.load(sys.stdin)
    folder = Path(task["folder"])
    operations = OPERATIONS if task["opening"] else CHANGES
    load()
    for arguments in task[
        "runs"
    ]:  # once in this process: what they load and keep need not be made in each of the others
        _reset(folder, task["old"])
        run(*arguments)
    gc.freeze()
    for point in range(1, MOST_POINTS):
        _reset(folder, task["old"])
        code = _run(task["runs"][0], folder, point, operations)
        left = _left(folder)
        codes, afters = [code], []
        for arguments in task["runs"][1:]:
            codes.append(_run(arguments, folder, 0))
            afters.append(_left(folder))
        killed = code == -signal.SIGKILL
        print(json.dumps({"killed": killed, "codes": codes, "left": left, "afters": afters}), flush=True)
        if not killed:
            return
    raise SystemExit(f"the command is not through after {MOST_POINTS} file operations")


def load() -> None:
    """Load what the commands need once, so that each run costs little."""
    import clueval_xlsx.detectors.prediction
    import clueval_xlsx.outputs.xlsx
    import clueval_xlsx.review.reimport  # noqa: F401


def _run(arguments: list[str], folder: Path, point: int, operations: frozenset[str] = OPERATIONS) -> int:
    """Run a command in a process of its own, which kills itself at the given operation (0: at none)."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    code = 1
    try:
        if point:
            kill_at(point, str(folder), operations)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        from clueval_xlsx.__main__ import main as command

        sys.argv = ["clueval-xlsx", *arguments]
        command()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        os._exit(code)


def kill_at(point: int, folder: str, operations: frozenset[str] = OPERATIONS) -> None:
    """Kill this process at the given operation on files below a folder."""
    seen = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in operations and any(str(item).startswith(folder) for item in arguments[:2]):
            seen += 1
            if seen == point:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def _reset(folder: Path, old: dict[str, str]) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, content in old.items():
        (folder / name).write_text(content, "utf-8")


def _left(folder: Path) -> dict[str, list[str | int]]:
    contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return {name: [hashlib.sha256(data).hexdigest(), data.count(b"\n")] for name, data in contents.items()}


if __name__ == "__main__":
    main()
