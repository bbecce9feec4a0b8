"""Things that happen beside what a test does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path


def when(true: Callable[[], bool], act: Callable[[], object]) -> threading.Thread:
    """Do something as soon as a thing is true, beside what the test does."""

    def watch() -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end and not true():
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def lines_in(path: Path) -> int:
    """How many lines a file has so far."""
    return path.read_bytes().count(b"\n") if path.exists() else 0
