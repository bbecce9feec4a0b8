"""A short run of the fuzzer in every test run: nothing but documented refusals, and what is accepted is sound."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats import json_reading
from clueval_xlsx.formats.columns.cells import TagCells
from tests.fuzz import cases, pool
from tests.fuzz.__main__ import main
from tests.fuzz.cases import ACCEPTED, FAILED, REFUSED, SUBJECTS, Files, Outcome, make_files, run_case
from tests.fuzz.mutators import mutate_bytes
from tests.fuzz.subjects import shares
from tests.support.ci import THOROUGH
from tests.support.commands import run_process

SEED = 20_240
# Cases that take longer are fewer, and a thorough run has three times as many of all; the long run tries them all by
# the thousand.
CASES = {"encrypted": 2, "review-xlsx": 5, "review-ods": 5, "manifest": 8, "config": 20, "rules": 5}
USUAL, TIMES = 15, 3 if THOROUGH else 1


def run_all(name: str, numbers: range, folder: Path) -> list[Outcome]:
    outcomes = []
    for number in numbers:
        folder.mkdir()
        outcomes.append(run_case(name, SEED, number, folder, seconds=60))
        shutil.rmtree(folder)
    return outcomes


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("name", SUBJECTS)
def test_whatever_is_read_is_refused_by_name_or_sound(name: str, tmp_path: Path) -> None:
    outcomes = run_all(name, range(CASES.get(name, USUAL) * TIMES), tmp_path / "case")
    failed = [outcome for outcome in outcomes if outcome.kind == FAILED]
    assert not failed, f"{name}, case {failed[0].number} of seed {SEED}:\n{failed[0].detail}"
    kinds = Counter(outcome.kind for outcome in outcomes)
    assert kinds[ACCEPTED] + kinds[REFUSED] == len(outcomes)
    if name not in {"encrypted", "hostile", "language"}:  # a fuzzer whose input is all good or all bad finds nothing
        assert kinds[ACCEPTED]
        assert kinds[REFUSED]


def test_a_case_is_the_same_whenever_it_is_made() -> None:
    for name in SUBJECTS:
        assert make_files(name, 3, 7) == make_files(name, 3, 7), name
        assert any(make_files(name, 3, 7) != make_files(name, seed, 7) for seed in range(4, 8)), name


def test_a_case_is_the_same_in_another_process() -> None:
    names = [name for name in SUBJECTS if name not in {"encrypted", "hostile"}]  # their seeds take a new key each time
    code = f"from tests.fuzz.test_fuzz import digests; print(*digests({names}))"
    other = run_process(["-c", code], python=[sys.executable])
    assert other.out.split() == digests(names), other.err


def digests(names: Sequence[str]) -> list[str]:
    """What a case of each subject consists of, in short."""
    return [hashlib.sha256(repr(make_files(name, 3, 7)).encode()).hexdigest() for name in names]


def test_the_cases_of_a_run_are_shared_out_to_the_last() -> None:
    assert sum(shares(1003).values()) == 1003
    assert shares(50, ("brat",)) == {"brat": 50}


# ---- the fuzzer notices --------------------------------------------------------------------------------------------


def planted(
    monkeypatch: pytest.MonkeyPatch, check: Callable[..., None], make: Callable[[Random], Files] | None = None
) -> str:
    """A subject with a fault."""
    making = make or (lambda rng: {"fuzzed.txt": mutate_bytes(rng, b"one\ntwo\n")})
    monkeypatch.setitem(SUBJECTS, "planted", cases.Subject("planted", making, check))
    return "planted"


def test_a_fault_in_a_reader_is_reported_with_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> None:
        raise KeyError("doc_id")

    monkeypatch.setattr(json_reading, "scalar_attributes", broken)
    outcomes = run_all("presidio", range(30), tmp_path / "case")
    failed = [outcome for outcome in outcomes if outcome.kind == FAILED]
    assert failed
    assert "KeyError: 'doc_id'" in failed[0].cause
    assert any("json_reading.py" in outcome.detail for outcome in failed)


def test_a_wrong_result_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(TagCells, "splice", lambda _cells, _reading, _changes: {"fuzzed.vrt": b"something else"})
    outcomes = run_all("vertical", range(30), tmp_path / "case")
    assert any("fuzzed.vrt changed though nothing was corrected" in outcome.cause for outcome in outcomes)


def test_a_message_that_names_no_file_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def check(files: Files, rng: Random, folder: Path) -> None:
        raise InputError("something is wrong")

    outcome = run_case(planted(monkeypatch, check), 1, 1, tmp_path)
    assert (outcome.kind, "does not name the file" in outcome.detail) == (FAILED, True)


def test_a_case_that_takes_too_long_is_reported_even_if_the_alarm_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def check(files: Files, rng: Random, folder: Path) -> None:
        try:
            while True:
                time.sleep(0)
        except BaseException:
            raise InputError("fuzzed.txt: cannot be read") from None

    outcome = run_case(planted(monkeypatch, check), 1, 1, tmp_path, seconds=0.05)
    assert (outcome.kind, "took longer" in outcome.detail) == (FAILED, True)


def test_a_process_that_dies_fails_its_case_alone() -> None:
    """Without subjects of its own to plant, the worker is made to die: its parent sees what it would see of a crash."""
    outcomes: list[Outcome] = []

    def report(outcome: Outcome) -> None:
        outcomes.append(outcome)

    import multiprocessing

    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=os._exit, args=(7,))
    process.start()
    theirs.close()
    worker = pool._Worker(process, ours, pool.Batch("table", 1, 10, 20), 13)
    process.join()
    assert not pool._take(worker, report)
    rest = pool._bury(worker, report)
    assert (outcomes[0].number, outcomes[0].kind, outcomes[0].detail) == (13, FAILED, "the process ended with 7")
    assert rest == pool.Batch("table", 1, 14, 20)


def test_a_worker_may_use_only_so_much_memory() -> None:
    code = "from tests.fuzz import pool; pool.MEMORY = 1 << 26; pool._limit_memory(); bytearray({size})"
    assert run_process(["-c", code.format(size=1 << 20)], python=[sys.executable]).code == 0
    done = run_process(["-c", code.format(size=1 << 28)], python=[sys.executable])
    assert (done.code, "MemoryError" in done.err) == (1, True)


def test_the_long_run_counts_saves_and_says_how_to_repeat(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def check(files: Files, rng: Random, folder: Path) -> None:
        raise KeyError("planted")

    name = planted(monkeypatch, check)

    def in_this_process(work: object, report: Callable[[Outcome], None], _workers: int) -> None:
        for batch in work:  # type: ignore[attr-defined]
            for number in range(batch.start, batch.stop):
                report(run_case(batch.subject, batch.seed, number, tmp_path))

    monkeypatch.setattr("tests.fuzz.__main__.run_batches", in_this_process)
    assert main(["--only", name, "--cases", "8", "--seed", "5", "--folder", str(tmp_path / "found")]) == 1
    printed = capsys.readouterr().out
    assert "python -m tests.fuzz --only planted --seed 5 --case 0" in printed
    assert "8 x planted: KeyError: 'planted'" in printed
    saved = tmp_path / "found" / "planted-5-0"
    assert (saved / "input" / "fuzzed.txt").read_bytes() == make_files(name, 5, 0)["fuzzed.txt"]
    assert "KeyError" in (saved / "outcome.txt").read_text("utf-8")
    assert main(["--only", name, "--seed", "5", "--case", "3", "--folder", str(tmp_path / "found")]) == 1
    assert "KeyError: 'planted'" in capsys.readouterr().out


def test_cases_run_in_processes_with_limits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--only", "detector", "--cases", "20", "--folder", str(tmp_path)]) == 0
    assert "detector             20" in capsys.readouterr().out
