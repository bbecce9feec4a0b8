"""Help that people find their way in: grouped, short first, with examples, a manual, and files that complete."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from clueval_xlsx.cli import cli
from clueval_xlsx.cli.help import topics
from clueval_xlsx.cli.help_pages import SECTIONS, GroupedCommand, long_name
from tests.support.commands import refused, run

GROUPED = [name for name, command in cli.commands.items() if isinstance(command, GroupedCommand)]


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_every_command_has_grouped_help() -> None:
    assert set(GROUPED) == set(cli.commands)


@pytest.mark.parametrize("name", GROUPED)
def test_help_is_short_and_ends_with_examples(name: str) -> None:
    lines = run(name, "--help").out.splitlines()
    assert len(lines) <= 70
    assert max(map(len, lines)) <= 80
    assert any(line.startswith(f"  clueval-xlsx {name}") for line in lines[-4:])


@pytest.mark.parametrize("name", GROUPED)
def test_every_option_has_a_heading_and_is_shown_under_it_once(name: str) -> None:
    headings = {option: heading for heading, parts in SECTIONS.items() for names in parts for option in names}
    options = [param for param in cli.commands[name].params if isinstance(param, click.Option)]
    assert not [long_name(param) for param in options if long_name(param) not in headings]
    wanted = "--help-all" if any(long_name(param) == "help-all" for param in options) else "--help"
    shown = run(name, wanted).out
    for param in options:
        assert (
            shown.count(f"\n  {', '.join(sorted(param.opts, key=len))} ") + shown.count(f"--{long_name(param)}\n") >= 1
        )


def test_help_names_what_it_leaves_out() -> None:
    assert "further options: clueval-xlsx score --help-all" in run("score", "--help").out
    assert "--beta" not in run("score", "--help").out
    assert "--beta" in run("score", "--help-all").out


def test_commands_stand_in_the_order_of_the_work_with_their_whole_sentence() -> None:
    shown = run("--help").out
    places = [shown.index(f"\n  {name} ") for name in ("evaluate", "reimport", "score", "demo", "help")]
    assert places == sorted(places)
    assert "..." not in shown.partition("Commands:")[2]


def test_without_a_topic_help_lists_the_pages_with_their_titles() -> None:
    shown = run("help").out
    assert len(topics()) >= 3
    assert all(f"  {name}" in shown and title in shown for name, title in topics().items())


@pytest.mark.parametrize("topic", sorted(topics()))
def test_a_page_goes_to_a_program_as_it_is(topic: str) -> None:
    assert run("help", topic).out.startswith("# ")


def test_help_of_a_command_is_its_help() -> None:
    assert run("help", "score").out.strip() == run("score", "--help").out.strip()


def test_a_misspelt_page_is_answered_with_the_nearest() -> None:
    refused(run("help", "formts"), "there is no such page. Did you mean 'formats'?")


def test_a_misspelt_option_is_answered_with_the_nearest() -> None:
    refused(run("score", "a", "b", "--labeled", "x"), "--labelled")


def in_terminal(command: list[str], typed: str, wanted: str, folder: Path) -> str:
    """What a program shows in a terminal of its own after something was typed, until the wanted words are there."""
    leader, follower = pty.openpty()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PS1": "> ", "TERM": "dumb", "PATH": path}
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, cwd=folder, env=environment, start_new_session=True
    )
    os.close(follower)
    shown, end = "", time.monotonic() + 60
    os.write(leader, typed.encode())
    while wanted not in shown and time.monotonic() < end:
        if select.select([leader], [], [], 0.5)[0]:
            shown += os.read(leader, 4096).decode("utf-8", "replace")
    process.kill()
    process.wait()
    os.close(leader)
    return shown


@pytest.mark.slow
@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
@pytest.mark.parametrize("typed", ["clueval-xlsx score gold-st", "clueval-xlsx reimport a.xlsx --gold gold-st"])
def test_files_complete_in_bash(tmp_path: Path, typed: str) -> None:
    (tmp_path / "gold-standard-of-1998.vrt").write_text("Ann\tO\n", "utf-8")
    setup = 'eval "$(_CLUEVAL_XLSX_COMPLETE=bash_source clueval-xlsx)"\n'
    shown = in_terminal(["/bin/bash", "--norc", "-i"], f"{setup}{typed}\t\t\n", "gold-standard-of-1998.vrt", tmp_path)
    assert "gold-standard-of-1998.vrt" in shown, shown


def test_every_argument_and_every_option_with_a_file_completes_as_one() -> None:
    for name in GROUPED:
        command = cli.commands[name]
        context = click.Context(command, info_name=name)
        for param in command.params:
            if (isinstance(param, click.Argument) and name != "help") or param.metavar in {"FILE", "DIR", "PATH"}:
                items = param.type.shell_complete(context, param, "x")
                assert [item.type for item in items] in (["file"], ["dir"]), (name, param.name)
