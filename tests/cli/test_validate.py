"""What `validate` says about files: every problem by its line, or what is in a sound one."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import run
from tests.support.tables import SOUND


def test_validate_lists_every_problem_by_line(write) -> None:
    bad = write("bad.vrt", "Ann\tX\tt1\nLee\n\tO\tt1\nx\tB-\tt4\ny\tO\tt4\n")
    done = run("validate", bad, "--token-id", "3")
    assert done.code == 2
    assert [line.removeprefix(str(bad)).split(": ")[0] for line in done.out.splitlines()] == [
        ":1", ":2", ":3", ":3", ":4", ":5",
    ]  # fmt: skip
    assert done.err == "6 problems found.\n"


def test_validate_counts_what_it_does_not_list(write) -> None:
    bad = write("bad.vrt", "".join(f"w{number}\tword{number}\n" for number in range(5000)))
    done = run("validate", bad)
    assert len(done.out.splitlines()) == 1001
    assert "and 4000 more problems" in done.out
    assert done.err == "5000 problems found.\n"


def test_validate_compares_further_files_with_the_first(write) -> None:
    one, other = write("a.vrt", SOUND), write("b.vrt", SOUND.replace("Lee", "Leo"))
    done = run("validate", one, one, other)
    assert done.code == 2
    assert "a.vrt:2 has 'Lee'" in done.out
    assert run("validate", one, one).code == 0


def test_validate_describes_a_sound_file(examples: Path) -> None:
    done = run("validate", examples / "pred.vrt", "--layer", "category=2", "--token-id", "4")
    assert done.code == 0
    assert "4 documents" in done.out
    assert "6 I- that continue nothing" in done.out
    assert "metadata: id, domain, s_id" in done.out
