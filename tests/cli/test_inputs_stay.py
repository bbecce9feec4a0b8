"""No run changes its inputs, and one that fails leaves the old outputs whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx.cli.settings import Call, Given
from clueval_xlsx.cli.writing import Writing
from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.options.declaration import all_settings
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.tables import SOUND


@pytest.mark.parametrize("option", ["--html", "--json"])
@pytest.mark.parametrize("name", ["gold.vrt", "pred.vrt"])
def test_an_output_never_overwrites_an_input(option: str, name: str, home: Path) -> None:
    before = (home / name).read_bytes()
    done = run("evaluate", home / "gold.vrt", home / "pred.vrt", *EXAMPLE_OPTIONS, option, home / "." / name)
    refused(done, f"{name}: is an input of this run and would be overwritten. Choose another name.")
    assert (home / name).read_bytes() == before
    assert sorted(path.name for path in home.iterdir()) == ["gold.vrt", "pred.vrt"]


def test_the_corrected_file_never_overwrites_gold(home: Path) -> None:
    sides = home / "gold.vrt", home / "pred.vrt"
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", home / "review.xlsx").code == 0
    done = run("reimport", home / "review.xlsx", "--gold", sides[0], "-o", sides[0])
    assert done.code == 2
    assert "gold.vrt" in done.err
    done = run("convert", sides[0], sides[0], "--layer", "category=2")
    refused(done, "is an input of this run")


def test_a_folder_of_annotations_is_not_overwritten_but_other_files_may_go_there(home: Path) -> None:
    assert run("convert", home / "gold.vrt", home / "brat", "--layer", "category=2").code == 0
    before = {path.name: path.read_bytes() for path in (home / "brat").iterdir()}
    refused(run("convert", home / "brat", home / "brat"), "is an input of this run and would be overwritten")
    assert run("convert", home / "brat", home / "brat" / "gold.tsv").code == 0
    assert {name: (home / "brat" / name).read_bytes() for name in before} == before


def test_a_failing_run_leaves_the_old_file_whole(write, tmp_path: Path) -> None:
    old = write("out/metrics.json", "old")
    gold = write("gold.vrt", SOUND)
    blocked = write("file", "in the way")
    done = run("evaluate", gold, gold, "--json", old, "--files", blocked / "sub")
    refused(done, "file/sub: the folder cannot be made: Not a directory")
    assert old.read_text() == "old"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "gold.vrt", "metrics.json", "out"]


# ---- what options and folders name ---------------------------------------------------------------------------------

FILES = [key for key, setting in all_settings().items() if setting.is_file and setting.section != "output"]


@pytest.mark.parametrize("key", [*FILES, "read.tag_names", "detector.option"])
def test_what_a_setting_names_as_an_input_is_no_place_for_an_output(key: str, write) -> None:
    first = str(write("first", ""))
    setting = all_settings()[key]
    given = {"nlp_config": first} if key == "detector.option" else (first,) if setting.shape == "list" else first
    call = Call("evaluate", (Given(setting, given, ""),))
    with pytest.raises(OutputError, match="is an input of this run"):
        Writing(call, []).refuse_input(Path(first))


def test_the_file_of_tag_names_is_not_overwritten(write) -> None:
    names = write("names.txt", "O\nB-X\n")
    gold = write("g.jsonl", '{"tokens": ["a", "b"], "ner_tags": [0, 1]}\n')
    done = run("score", gold, gold, "--set", f"read.tag_names={names}", "--json", names)
    refused(done, "names.txt: is an input of this run and would be overwritten")
    assert names.read_text("utf-8") == "O\nB-X\n"


@pytest.mark.parametrize("how", ["gold", "gold/*.vrt", "gold/**/*.vrt"])
@pytest.mark.parametrize("options", [(), ("--format", "vrt")])
def test_a_file_of_a_folder_or_glob_is_an_input(how: str, options: tuple[str, ...], write, tmp_path: Path) -> None:
    first, second = write("gold/1.vrt", SOUND), write("gold/deep/2.vrt", SOUND)
    write("pred/1.vrt", SOUND), write("pred/deep/2.vrt", SOUND)
    given = ("score", tmp_path / how, tmp_path / how.replace("gold", "pred"), *options, "--json")
    read = [first, second] if how != "gold/*.vrt" else [first]
    for path in read:
        refused(run(*given, path), "is an input of this run and would be overwritten")
        assert path.read_text("utf-8") == SOUND
    assert run(*given, tmp_path / "gold" / "m.txt").code == 0  # a new file may lie there
