"""Unkind texts are read or refused in a time that grows with their length, not with its square."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import ReadOptions, read


def seconds(path: Path, tags: int) -> float:
    path.write_text("".join(f"<a{number}>\n" for number in range(tags)) + "Ann\tB-PER\n", "utf-8")
    return quickest(lambda: read(path, ReadOptions(layers={"span": 2})))


def quickest(work: Callable[[], object]) -> float:
    """The least of three times, nobody looking for garbage meanwhile: a test that measures must not measure others."""
    times = []
    gc.disable()
    try:
        for _ in range(3):
            began = time.process_time()
            work()
            times.append(time.process_time() - began)
    finally:
        gc.enable()
    return min(times)


def test_tags_that_are_never_closed_cost_as_much_as_others(tmp_path: Path) -> None:
    path = tmp_path / "unclosed.vrt"
    seconds(path, 100)
    assert seconds(path, 40_000) < 30 * seconds(path, 4_000)  # ten times the tags; a square would be a hundred times


def test_a_tag_of_megabytes_takes_no_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "spaces.vrt"
    path.write_text(f"<text{' ' * 3_000_000}x>\nAnn\tB-PER\n", "utf-8")
    tracemalloc.start()
    with pytest.raises(InputError, match="not a well-formed tag"):
        read(path, ReadOptions(layers={"span": 2}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20
