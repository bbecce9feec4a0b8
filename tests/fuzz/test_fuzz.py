"""A short run of the fuzzer in every test run: nothing but documented refusals, and what is accepted is sound."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz.__main__ import SUBJECTS
from tests.fuzz.cases import ACCEPTED, FAILED, REFUSED, Outcome, run_case
from tests.support.ci import THOROUGH

SEED = 20_240
# Cases that take longer are fewer, and a thorough run has three times as many of all; the long run tries them all by
# the thousand.
CASES = {"review": 8, "manifest": 8, "config": 20, "records": 40, "columns": 40}
USUAL, TIMES = 15, 3 if THOROUGH else 1


def run_all(name: str, count: int, folder: Path) -> list[Outcome]:
    outcomes = []
    for number in range(count):
        folder.mkdir()
        outcomes.append(run_case(name, SEED, number, folder, seconds=60))
        shutil.rmtree(folder)
    return outcomes


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("name", SUBJECTS)
def test_whatever_is_read_is_refused_by_name_or_sound(name: str, tmp_path: Path) -> None:
    outcomes = run_all(name, CASES.get(name, USUAL) * TIMES, tmp_path / "case")
    failed = [outcome for outcome in outcomes if outcome.kind == FAILED]
    assert not failed, f"{name}, case {failed[0].number} of seed {SEED}:\n{failed[0].detail}"
    kinds = Counter(outcome.kind for outcome in outcomes)
    assert kinds[ACCEPTED] + kinds[REFUSED] == len(outcomes)
    if name != "hostile":  # a fuzzer whose input is all good or all bad finds nothing
        assert kinds[ACCEPTED]
        assert kinds[REFUSED]
