"""Whatever a command writes, it names when it is done; nothing is named that was not written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.commands import refused, run
from tests.support.folders import ROOT

SIDES = (ROOT / "examples" / "gold.vrt", ROOT / "examples" / "pred.vrt")
LAYERS = ("--layer", "category=2", "--layer", "risk=3", "--token-id", "4")


def named(said: str) -> list[str]:
    return re.findall(r"^Written: (.+)$", said, re.M)


def files(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*") if path.is_file()}


def test_evaluate_names_the_files_of_every_layer_and_its_folder(tmp_path: Path) -> None:
    targets = ["-o", tmp_path / "r.xlsx", "--html", tmp_path / "r.html", "--files", tmp_path / "files"]
    done = run("evaluate", *SIDES, *LAYERS, "--no-merge", *targets, "--set", "score.replicates=0")
    assert done.code == 0, done.err
    assert sorted(named(done.err)) == sorted(files(tmp_path))
    assert any(name.endswith("r-category.xlsx") for name in named(done.err))


def test_convert_and_merge_name_what_they_write_and_refused_calls_name_nothing(tmp_path: Path) -> None:
    made = run("convert", SIDES[0], tmp_path / "gold.jsonl", "--layer", "category=2")
    assert (made.code, named(made.err)) == (0, [str(tmp_path / "gold.jsonl")])
    merged = run("convert", SIDES[0], tmp_path / "merged.tsv", *LAYERS, "--merge")
    assert (merged.code, named(merged.err)) == (0, [str(tmp_path / "merged.tsv")])
    wrong = run("convert", SIDES[0], tmp_path / "no.jsonl", "--layer", "category=99")
    assert (wrong.code, named(wrong.err)) == (2, [])


@pytest.mark.parametrize("layers", [(), ("--no-merge",)])
@pytest.mark.parametrize("place", [".", "..", "/"])
@pytest.mark.parametrize(
    ("command", "option"),
    [("evaluate", "--json"), ("evaluate", "--html"), ("evaluate", "-o"), ("compare", "--json"), ("compare", "-o")],
)
def test_a_folder_is_no_file_however_it_is_called(
    command: str, option: str, place: str, layers: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = (*SIDES, SIDES[0]) if command == "compare" else SIDES
    done = run(command, *given, *LAYERS, *layers, "--set", "score.replicates=0", option, place)
    refused(done, f"{place}: is a directory. Give the name of a file.")
    assert files(tmp_path) == set()


def test_files_go_to_the_folder_one_is_in_and_their_edition_without_text_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    done = run("evaluate", *SIDES, *LAYERS, "--set", "score.replicates=0", "--files", ".", "--without-text")
    assert done.code == 0, done.err
    written = {str(Path(path).relative_to(tmp_path)) for path in files(tmp_path)}
    assert {"here/metrics.json", "here-without-text/metrics.json"} <= written
    refused(run("evaluate", *SIDES, *LAYERS, "--files", "-"), "--files -: several files cannot go to standard output")
    assert not (here / "-").exists()
