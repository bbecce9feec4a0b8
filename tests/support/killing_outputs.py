"""Kills a process (kill -9) that puts several files in place, and the one that mends it, at each operation in turn.

`python -m tests.support.killing_outputs FOLDER`: three files in two folders, two of them there before. Prints one JSON
line for each pair of points: what was left, what a third process found mended, and what it said.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from clueval_xlsx.files.journal import settle
from clueval_xlsx.files.outputs import Outputs
from tests.support.killing import kill_at

OLD = {"one/a.txt": "old", "two/b.txt": "old"}
NEW = {"one/a.txt": "new", "one/c.txt": "new", "two/b.txt": "new"}
SIDE = "two/b.txt.progress.jsonl"
MOST_POINTS = 200


def main() -> None:
    """Every point of the first run; for each, every point of the one that mends it."""
    folder = Path(sys.argv[1])
    for point in range(1, MOST_POINTS):
        for second in range(MOST_POINTS):
            _lay_out(folder)
            killed = _killed(lambda: _write(folder), folder, point)
            again = second > 0 and _killed(lambda: _mend(folder), folder, second)
            left = _left(folder)
            said = _mend(folder)
            outcome = {"points": [point, second], "left": left, "mended": _left(folder), "said": said}
            _write(folder)
            print(json.dumps({**outcome, "killed": killed, "after": _left(folder)}), flush=True)
            if second and not again:
                break
        if not killed:
            return
    raise SystemExit("there is no end to the operations")


def _lay_out(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in {**OLD, SIDE: "found so far"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


def _write(folder: Path) -> None:
    with Outputs() as outputs:
        for name, content in NEW.items():
            outputs.write_text(folder / name, content)
        outputs.remove_afterwards(folder / SIDE)


def _mend(folder: Path) -> list[str]:
    return [sentence for name in ("one", "two") for sentence in settle(folder / name)]


def _killed(work: Callable[[], object], folder: Path, point: int) -> bool:
    """Whether a process was killed at a point of its work, or came through before it."""
    process = os.fork()
    if not process:
        try:
            kill_at(point, str(folder))
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


def _left(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


if __name__ == "__main__":
    main()
