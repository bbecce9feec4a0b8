"""Outputs that are no regular files are written into and never replaced: pipes, devices, open files, links to them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.outputs import Outputs
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.folders import ROOT
from tests.support.writing import SIDES, WRITING, make_home

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX's")
_MORE = {
    "score --json": ("score", *SIDES, "--json", "{target}"),
    "agree --json": ("agree", *SIDES, "--json", "{target}"),
    "status --json": ("status", "{home}/judged.xlsx", "--json", "{target}"),
}
COMMANDS = {name: writing.words for name, writing in WRITING.items()} | _MORE
WORKBOOKS = {"evaluate", "reimport --report", "compare"}
NO_WORKBOOKS = sorted(set(COMMANDS) - WORKBOOKS)
VOLATILE = {"reimport --judgements"}  # it says when it was written


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("home"))


def arguments(name: str, home: Path, target: Path) -> list[str]:
    ending = WRITING[name].ending.lstrip(".") if name in WRITING else ""
    to = ["--to", "table"] if name == "predict" else []
    assert not ending or target.suffix in {f".{ending}", ""}
    words = [word.format(home=home, target=target, detector=(home / "detector").read_text()) for word in COMMANDS[name]]
    return [*words, *to]


def ending(name: str) -> str:
    return WRITING[name].ending if name in WRITING else ".json"


def _all_of(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


@pytest.mark.parametrize("name", NO_WORKBOOKS)
def test_a_named_pipe_gets_what_a_file_would_and_stays_a_pipe(name: str, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pipes"
    folder.mkdir()
    path, read = folder / f"pipe{ending(name)}", []
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)  # so that the reader comes to an end, whatever the command does
    reader = threading.Thread(target=lambda: read.append(_all_of(os.open(path, os.O_RDONLY))))
    reader.start()
    done = run(*arguments(name, home, path))
    os.close(held)
    reader.join(30)
    assert done.code in {0, 3}, done.err
    assert stat.S_ISFIFO(path.lstat().st_mode)
    assert [each.name for each in folder.iterdir()] == [path.name]
    plain = tmp_path / f"plain{ending(name)}"
    assert run(*arguments(name, home, plain)).code in {0, 3}
    if name in VOLATILE:
        assert read[0].count(b"\n") == plain.read_bytes().count(b"\n") > 0
    elif ending(name) == ".xlsx":
        assert read[0][:4] == b"PK\x03\x04"
    else:
        assert read[0] == plain.read_bytes()


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A null device of our own: what is tried here never touches the machine's."""
    folder = tmp_path / "devices"
    folder.mkdir()
    path = folder / "null"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        path.write_bytes(b"")
    except OSError:
        pytest.skip("nobody may make or open a device here")
    return path


@pytest.mark.parametrize(
    ("name", "linked"), [*((name, False) for name in sorted(COMMANDS)), ("score --json", True), ("reimport", True)]
)
def test_a_device_stays_a_device(name: str, linked: bool, home: Path, device: Path, tmp_path: Path) -> None:
    named = device.with_name(f"null{ending(name)}")
    device.rename(named)
    target = tmp_path / f"link{ending(name)}" if linked else named
    if linked:
        target.symlink_to(named)
    done = run(*arguments(name, home, target))
    if name in WORKBOOKS:
        refused(done, "is no regular file, and a workbook needs a seekable one")
    else:
        assert done.code in {0, 3}, done.err
    status = named.lstat()
    assert (stat.S_ISCHR(status.st_mode), status.st_rdev) == (True, os.makedev(1, 3))
    assert [each.name for each in named.parent.iterdir()] == [named.name]
    assert not linked or target.is_symlink()


def command(words: str, home: Path) -> subprocess.CompletedProcess[bytes]:
    """A command as somebody types it into a shell; `$run` is the program."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "run": f"{sys.executable} -m clueval_xlsx"}
    return subprocess.run(["bash", "-c", words], capture_output=True, cwd=home, env=environment, check=False)


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
def test_process_substitution_and_numbers_of_open_files_work(home: Path) -> None:
    score = f"$run score gold.vrt pred.vrt {' '.join(EXAMPLE_OPTIONS)} --quiet"
    done = command(f"{score} --json plain.json >table.txt && cat plain.json", home)
    assert done.returncode == 0, done.stderr
    wanted, table = done.stdout, (home / "table.txt").read_bytes()
    assert command(f"{score} --json >(cat >copy.json) >/dev/stderr; sleep 0.5; cat copy.json", home).stdout == wanted
    assert command(f"{score} --json /dev/fd/7 7>seven.json >/dev/stderr; cat seven.json", home).stdout == wanted
    # Where it goes to a file, /dev/stdout is this very file, with what else is printed.
    assert command(f"{score} --json /dev/stdout >both.txt; cat both.txt", home).stdout in {
        table + wanted,
        wanted + table,
    }
    assert command(f"{score} --json /dev/stdout | cat", home).stdout in {table + wanted, wanted + table}
    done = command(f"{score} --json /dev/fd/77", home)
    assert (done.returncode, b"/dev/fd/77: cannot be written" in done.stderr) == (2, True)


def test_nothing_is_put_in_place_where_a_stream_cannot_be_written(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    reader, writer = os.pipe()
    os.close(reader)
    outputs = Outputs()
    outputs.write_text(target, "new")
    outputs.write_text(Path(f"/dev/fd/{writer}"), "x" * 100_000)
    with pytest.raises(OutputError, match=r"/dev/fd/[0-9]+: cannot be written"):
        outputs.__exit__(None, None, None)
    os.close(writer)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
