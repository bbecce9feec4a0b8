"""A file with very many names of tags is read in a time that grows with its length, not with its square."""

from __future__ import annotations

import time
from pathlib import Path

from clueval_xlsx.formats.loading import ReadOptions, read


def seconds(path: Path, tags: int) -> float:
    path.write_text("".join(f"<a{number}>\n" for number in range(tags)) + "Ann\tB-PER\n", "utf-8")
    began = time.process_time()
    read(path, ReadOptions(layers={"span": 2}))
    return time.process_time() - began


def test_tags_that_are_never_closed_cost_as_much_as_others(tmp_path: Path) -> None:
    path = tmp_path / "unclosed.vrt"
    seconds(path, 100)
    few = min(seconds(path, 4_000) for _ in range(2))
    assert seconds(path, 40_000) < 30 * few  # ten times the tags; a square would be a hundred times
