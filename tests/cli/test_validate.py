"""What `validate` says about files: every problem by its cause, or what is in a sound one."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import run
from tests.support.tables import SOUND


def test_validate_lists_every_problem_by_its_cause_with_the_lines(write) -> None:
    bad = write("bad.vrt", "Ann\tX\tt1\nLee\n\tO\tt1\nx\tB-\tt4\ny\tO\tt4\n")
    done = run("validate", bad, "--token-id", "3")
    assert done.code == 2
    causes = [line for line in done.out.splitlines() if line]
    assert len(causes) == 4
    assert "2 times: layer span: 'X' is no BIO tag" in causes[0]
    assert causes[0].endswith(f"Places: {bad}:1, {bad}:4.")
    assert causes[3].endswith(f"Places: {bad}:3, {bad}:5.")
    assert done.err == "6 problems found.\n"


def test_validate_counts_all_problems_of_a_cause(write) -> None:
    bad = write("bad.vrt", "".join(f"w{number}\tword{number}\n" for number in range(5000)))
    done = run("validate", bad)
    assert done.out.startswith("5000 times: layer span: 'word0' is no BIO tag.")
    assert len(done.out.splitlines()) == 1
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


def test_problems_of_one_cause_are_one_line_with_a_count_and_the_first_three_places(tmp_path: Path) -> None:
    path = tmp_path / "x.vrt"
    path.write_text("".join(f"a\tX{number}\n" for number in range(5)) + "b\tB-PER\nc\n", "utf-8")
    result = run("validate", path, "--layer", "span=2")
    assert result.code == 2
    lines = [line for line in result.out.splitlines() if "times: " in line]
    assert len(lines) == 1
    assert lines[0].startswith("5 times: ")
    assert "'X0' is no BIO tag" in lines[0]
    places = lines[0].partition("First places: ")[2]
    assert [part.rpartition(":")[2] for part in places.split(", ")] == ["1", "2", "3", "…."]
    assert "6 problems found" in result.err


def test_what_was_left_alone_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text(
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Span|value\n\n\n#Text=This\n"
        "1-1\t0-4\tThis\tX\t\n1-1.1\t0-0\t\tY\t\n"
    )
    result = run("validate", path)
    assert result.code == 0, result.err
    assert "1 annotations without width are left alone" in result.out


def test_a_file_without_a_token_is_a_problem(write) -> None:
    done = run("validate", write("empty.conll", ""), write("sound.vrt", SOUND))
    assert done.code == 2
    assert "empty.conll: no token was read" in done.out
    assert done.err == "1 problem found.\n"


def test_labels_without_a_prefix_continue_nothing_and_need_not(write) -> None:
    done = run("validate", write("plain.conll", "Mira PER\nLotta PER\nkam O\n"))
    assert done.code == 0
    assert "continue nothing" not in done.out


def test_a_layer_needs_a_name(write) -> None:
    done = run("validate", write("sound.vrt", SOUND), "--layer", "2")
    assert done.code == 2
    assert "found '2'. Allowed: NAME or NAME=COLUMN" in done.err
