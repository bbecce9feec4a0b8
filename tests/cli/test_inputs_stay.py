"""No run changes its inputs, and one that fails leaves the old outputs whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from clueval_xlsx.cli import cli
from clueval_xlsx.cli.parameters import FileName
from clueval_xlsx.cli.writing import INPUT_OPTIONS, guarded_outputs
from clueval_xlsx.exceptions import OutputError
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

# Options that take a text which no file is behind, or only one that the run itself writes; by the way they are typed.
OUTPUTS = {
    "--output",
    "--json",
    "--html",
    "--files",
    "--history",
    "--report",
    "--changes",
    "--judgements",
    "--conflicts",
}
NO_FILES = {
    *("--detector", "--detector-language", "--cluster", "--labelled", "--by", "--type-layer", "--ignore", "--lang"),
    *("--contact", "--judges", "--double", "--unmarked-from", "--resolve", "--name", "--head"),
}
_READING = ("annotator", "encoding", "document-tag", "sentence-tag")
NO_FILES |= {f"--{side}{name}" for name in _READING for side in ("", "gold-", "pred-")}
READ_BY_ITSELF = {"--config"}  # remembered by the one who reads it


def options() -> Iterator[tuple[str, click.Option]]:
    """Every option of every command that could name a file: it takes a text, in whatever form."""
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        for param in command.params:
            text = isinstance(param.type, click.Path | click.File | FileName) or param.type is click.STRING
            if isinstance(param, click.Option) and text and not param.is_flag:
                yield name, param


def test_every_option_that_takes_a_text_is_known_as_an_input_an_output_or_neither() -> None:
    unknown = {
        f"{command} {option.opts[-1]}"
        for command, option in options()
        if option.name not in INPUT_OPTIONS and option.opts[-1] not in OUTPUTS | NO_FILES | READ_BY_ITSELF
    }
    assert unknown == set()
    typed = {option.opts[-1]: option.name for _, option in options()}
    assert set(typed) >= (OUTPUTS | NO_FILES | READ_BY_ITSELF)  # and nothing stands here that is gone
    assert set(INPUT_OPTIONS) <= set(typed.values())
    assert not {typed[option] for option in OUTPUTS} & set(INPUT_OPTIONS)


@pytest.mark.parametrize("name", INPUT_OPTIONS)
def test_what_an_input_option_names_is_no_place_for_an_output(name: str, write) -> None:
    first, second = write("first", ""), write("second", "")
    option = next(option for _, option in options() if option.name == name)
    with click.Context(click.Command("any")) as context:
        context.params[name] = (str(first), str(second)) if option.multiple else first
        for path in (first, second)[: 1 + option.multiple]:
            with pytest.raises(OutputError, match="is an input of this run"):
                guarded_outputs([], force=False).refuse_input(path)


def test_the_file_of_tag_names_is_not_overwritten(write) -> None:
    names = write("names.txt", "O\nB-X\n")
    gold = write("g.jsonl", '{"tokens": ["a", "b"], "ner_tags": [0, 1]}\n')
    done = run("score", gold, gold, "--tag-names", names, "--json", names)
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
