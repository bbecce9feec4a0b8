"""Two commands at the same moment, again and again: `python -m tests.support.racing`.

Reads a task as JSON from standard input: `rounds`, `runs` (two argument lists, in which {round} is the number of the
round). Prints one JSON line for each round: the exit codes and what the two said. Each command is a process of its own,
forked from one that has loaded what they need, and waits until the other is ready, too.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from tests.support.killing import load


def main() -> None:
    """All rounds, one after the other."""
    task = json.load(sys.stdin)
    load()
    for number in range(task["rounds"]):
        ready, go = os.pipe(), os.pipe()
        began = [_begin([word.format(round=number) for word in run], ready[1], go) for run in task["runs"]]
        for _ in began:
            os.read(ready[0], 1)
        os.close(go[1])  # the start for both
        codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process, _ in began]
        said = []
        for _, errors in began:
            errors.seek(0)
            said.append(errors.read().decode("utf-8"))
            errors.close()
        for end in (*ready, go[0]):
            os.close(end)
        print(json.dumps({"codes": codes, "said": said}), flush=True)


def _begin(arguments: list[str], ready: int, go: tuple[int, int]) -> tuple[int, tempfile._TemporaryFileWrapper[bytes]]:
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process has ended
    process = os.fork()
    if process:
        return process, errors
    code = 1
    try:
        os.close(go[1])
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(errors.fileno(), 2)
        from clueval_xlsx.__main__ import main as command

        sys.argv = ["clueval-xlsx", *arguments]
        os.write(ready, b"x")
        os.read(go[0], 1)
        command()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
