"""Every command that writes: no right to, no room, a file that is open, stopped, killed at each file operation."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.outputs import Outputs
from tests.support.ci import THOROUGH
from tests.support.commands import EXAMPLE_OPTIONS, Result, run
from tests.support.folders import ROOT
from tests.support.writing import BACK, SIDES, WRITING, make_home

pytestmark = pytest.mark.slow

OLD = "the old file"


# An old log is continued, so it must be one.
SEED = {"reimport --judgements": ""}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("home"))


@pytest.fixture(params=WRITING)
def writing(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> tuple[list[str], Path]:
    """A command's arguments and its target, at which an old file stands."""
    how = WRITING[request.param]
    target = tmp_path / f"target{how.ending}"
    target.write_text(SEED.get(request.param, OLD), "utf-8")
    return how.arguments(home, target), target


def unharmed(done: Result, target: Path, before: str, *words: str) -> None:
    """Refused with all these words; what was there is there, and nothing else."""
    assert done.code == 2, (done.code, done.err)
    for word in words:
        assert word in done.err, done.err
    assert "Traceback" not in done.err
    assert target.read_text("utf-8") == before
    left = {path.name for path in target.parent.iterdir() if not path.name.startswith((".~lock", "~$"))}
    # A detector's finds are not thrown away because they could not be written.
    assert left - {f"{target.name}.progress.jsonl"} == {target.name}


LIBRE = (".~lock.{name}#", b"Anna Beispiel,anna,desk,16.11.2026 10:00,file:///home;", "LibreOffice (Anna Beispiel)")


def refuse_while_open(arguments: list[str], target: Path, lock: tuple[str, bytes, str]) -> None:
    before = target.read_text("utf-8")
    lock_file = target.with_name(lock[0].format(name=target.name))
    lock_file.write_bytes(lock[1])
    try:
        unharmed(run(*arguments), target, before, f"is open in {lock[2]}", "Close it there", f"delete {lock_file}")
    finally:
        lock_file.unlink()


def test_a_target_that_somebody_has_open_is_left_alone(writing: tuple[list[str], Path]) -> None:
    refuse_while_open(*writing, LIBRE)


@pytest.mark.parametrize("name", ["evaluate", "reimport", "convert", "predict"])
def test_a_folder_that_may_not_be_written_to(name: str, home: Path, tmp_path: Path) -> None:
    target = tmp_path / f"target{WRITING[name].ending}"
    target.write_text(OLD, "utf-8")
    tmp_path.chmod(0o500)
    try:
        done = _without_privileges(WRITING[name].arguments(home, target))
    finally:
        tmp_path.chmod(0o700)
    unharmed(done, target, OLD, "cannot be written: Permission denied")
    assert not target.with_name(f"{target.name}.progress.jsonl").exists()


def _without_privileges(arguments: list[str]) -> Result:
    """The command as a process that rights hold for, even if root runs the tests."""

    def drop() -> None:
        if os.geteuid() == 0:
            for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
                if ctypes.CDLL(None).prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                    os._exit(77)

    return _process(arguments, drop)


def _process(arguments: list[str], before: Callable[[], None]) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "clueval_xlsx", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        preexec_fn=before,
        check=False,
        text=True,
        encoding="utf-8",
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("name", "room"),
    [("evaluate", 4096), ("evaluate", 20_000), ("reimport --report", 0), ("convert", 0), ("predict", 0)],
)
def test_no_room_on_the_disk(name: str, room: int, home: Path, tmp_path: Path) -> None:
    target = tmp_path / f"target{WRITING[name].ending}"
    target.write_text(OLD, "utf-8")

    def fill() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails with an error, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    unharmed(_process(WRITING[name].arguments(home, target), fill), target, OLD, "cannot be written", "too large")


# ---- killed at each file operation ----------------------------------------------------------------------------------


def killed_everywhere(folder: Path, old: dict[str, str], *runs: list[str]) -> list[dict]:
    """What is left when the first run is killed at its file operations in turn; the last entry is of the whole run.

    It is killed at each that makes, moves or removes a file; in a thorough run at each that opens one, too.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killing"],
        input=json.dumps({"folder": str(folder), "old": old, "runs": runs, "opening": THOROUGH}),
        env={**os.environ, "PYTHONPATH": str(ROOT), "SOURCE_DATE_EPOCH": "1700000000"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=ROOT,
    )
    points = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert len(points) > 3, points  # temporary file opened, written, moved: there is something to kill
    assert [point["killed"] for point in points] == [True] * (len(points) - 1) + [False]
    assert points[-1]["codes"][0] in {0, 3}
    return points


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("command_", "outputs"),
    [
        (("evaluate", *SIDES), {"-o": "review.xlsx"}),
        (BACK, {"-o": "corrected.vrt", "--changes": "changes.tsv", "--judgements": "log.jsonl"}),
    ],
    ids=["evaluate", "reimport"],
)
def test_killed_at_any_file_operation_each_file_is_old_or_new_and_the_same_command_again_makes_all_of_them_new(
    command_: tuple[str, ...], outputs: dict[str, str], home: Path, tmp_path: Path
) -> None:
    arguments = [word.format(home=home) for word in command_]
    for option, name in outputs.items():
        arguments += [option, str(tmp_path / name)]
    old = {name: "" if name.endswith(".jsonl") else OLD for name in outputs.values()}
    points = killed_everywhere(tmp_path, old, arguments, arguments)
    new = points[-1]["left"]
    assert sorted(new) == sorted(outputs.values())
    states = set()
    for point in points[:-1]:
        kept = {name: point["left"][name] == points[0]["left"][name] for name in outputs.values()}
        for name, is_old in kept.items():
            assert is_old or _is(point["left"], new, name), (point, name)
        states.add(tuple(kept.values()))
        assert all(name in new or name.endswith((".tmp", ".lock")) for name in point["left"])
        (after,) = point["afters"]
        assert all(_is(after, new, name) for name in new), point
        assert sorted(after) == sorted(new)  # what the killed run had left beside them is gone
    # In their order, the log last: whatever is in it was carried out.
    assert states == {(False,) * number + (True,) * (len(new) - number) for number in range(len(new) + 1)}


def _is(left: dict, new: dict, name: str) -> bool:
    """Whether a file is as the whole run leaves it; a log says when it was written, so its lines are counted."""
    return left[name][1] == new[name][1] if name.endswith(".jsonl") else left[name] == new[name]


# ---- several files --------------------------------------------------------------------------------------------------


def write_all(targets: list[Path]) -> None:
    with Outputs() as outputs:
        for target in targets:
            outputs.write_text(target, "new")


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_where_one_of_several_files_cannot_be_put_in_place_the_message_names_those_that_are_new_already(
    fails: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = [tmp_path / name for name in ("there.txt", "new.txt", "last.txt")]
    targets[0].write_text(OLD, "utf-8")
    targets[2].write_text(OLD, "utf-8")
    original = Path.replace

    def replace(self: Path, other: Path) -> Path:
        if Path(other) == targets[fails]:
            raise PermissionError(errno.EACCES, "Access is denied")
        return original(self, other)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(OutputError, match=rf"{targets[fails].name}: cannot be put in place") as refusal:
        write_all(targets)
    names = [target.name for target in targets]
    assert ("These are new already: " + ", ".join(names[:fails]) in str(refusal.value)) == bool(fails)
    assert [target.read_text("utf-8") for target in targets[:fails]] == ["new"] * fails
    assert all(target.read_text("utf-8") == OLD for target in targets[fails:] if target.exists())
    assert not [path for path in tmp_path.iterdir() if path not in targets]


def test_two_outputs_of_the_same_name_are_refused(home: Path, tmp_path: Path) -> None:
    same = tmp_path / "same.json"
    done = run("evaluate", *(word.format(home=home) for word in SIDES), "--json", same, "--html", same)
    assert done.code == 2
    assert "two outputs of this run have this name" in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [("status",), ("reimport", "--gold", "{home}/gold.vrt")])
def test_a_workbook_that_is_still_open_is_read_with_a_word_about_it(arguments: tuple[str, ...], home: Path) -> None:
    lock = home / ".~lock.judged.xlsx#"
    lock.write_bytes(b",anna,desk,16.11.2026 10:00,file:///home/anna;")
    try:
        done = run(arguments[0], home / "judged.xlsx", *(word.format(home=home) for word in arguments[1:]))
    finally:
        lock.unlink()
    assert done.code == 0, done.err
    assert (
        f"Note: {home / 'judged.xlsx'} is open in LibreOffice (anna): what is not saved there was not read." in done.err
    )


# ---- killed, stopped, full ------------------------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def sides(examples: Path) -> tuple[Path, Path]:
    return examples / "gold.vrt", examples / "pred.vrt"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_cleans_up(number: signal.Signals, sides: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "review.xlsx"
    target.write_text(OLD, "utf-8")
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from clueval_xlsx.__main__ import main\n"
        "from clueval_xlsx.outputs.xlsx import review\n"
        f"review.write_guide = lambda *_, **__: os.kill(os.getpid(), {int(number)})\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", *map(str, sides), *EXAMPLE_OPTIONS, "-o", str(target)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 128 + number, done.stderr
    assert b"Traceback" not in done.stderr
    assert target.read_bytes() == OLD.encode()
    assert names(tmp_path) == ["review.xlsx"]
