"""Any locale, any terminal or none: the same results, and words instead of a crash."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.ci import PROGRAMS_REQUIRED, some_of
from tests.support.commands import EXAMPLE_OPTIONS, Result, run
from tests.support.folders import ROOT

pytestmark = pytest.mark.slow

# Python of its own accord takes UTF-8 where it finds the C locale; here it must not.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
HIDDEN = {"PYTHONIOENCODING", "PYTHONUTF8", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM", "LANG", "LANGUAGE"}


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what it says about language and terminal."""
    own = {key: value for key, value in os.environ.items() if key not in HIDDEN and not key.startswith("LC_")}
    return {**own, "PYTHONPATH": str(ROOT), **more}


def process(
    *arguments: object, env: Mapping[str, str] | None = None, cwd: Path | None = None, shell: str = ""
) -> Result:
    """Run the command as a process; with `shell`, through a shell that puts these words behind it."""
    words = [sys.executable, "-m", "clueval_xlsx", *map(str, arguments)]
    if shell:
        words = ["bash", "-c", f'"$@" {shell}', "bash", *words]
    done = subprocess.run(words, capture_output=True, env=environment(env or {}), cwd=cwd, check=False)
    return Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def locales() -> list[str]:
    """The Turkish and the German locale that this machine has."""
    found = (
        subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False)
        if shutil.which("locale")
        else None
    )
    return [name for name in (found.stdout.split() if found else ()) if re.match(r"(tr_TR|de_DE)\.utf-?8$", name, re.I)]


# ---- locales --------------------------------------------------------------------------------------------------------


def test_a_terminal_that_knows_only_ascii_gets_every_table(home: Path) -> None:
    done = process("score", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS, "--scheme", "all", env=ASCII, cwd=home)
    assert done.code == 0, done.err
    assert done.out.isascii()
    assert re.search(r"overlap +\|? *72\.0 +\|? *50-88 ", done.out), done.out  # an en dash became a hyphen


def test_the_whole_round_in_the_c_locale_with_names_it_cannot_read(home: Path) -> None:
    folder = home / "Übung 📁"
    folder.mkdir()
    gold, pred, book = folder / "Göld 🟥.vrt", folder / "prëd.vrt", folder / "Prüfung.xlsx"
    shutil.copy(home / "gold.vrt", gold)
    shutil.copy(home / "pred.vrt", pred)
    outputs = ("--json", folder / "zählen.json", "--html", folder / "Bericht ü.html", "--files", folder / "äöü")
    done = process("evaluate", gold, pred, *EXAMPLE_OPTIONS, "-o", book, *outputs, env=ASCII)
    assert done.code == 0, done.err
    metrics = json.loads((folder / "zählen.json").read_text("utf-8"))
    assert metrics["inputs"]["gold"]["path"] == str(gold)  # the letters, not their bytes
    back = ("-o", folder / "körrigiert.vrt", "--report", folder / "rückweg.xlsx", "--html", folder / "rückweg.html")
    done = process("reimport", book, "--gold", gold, *back, env=ASCII)
    assert done.code == 0, done.err
    assert (folder / "körrigiert.vrt").read_bytes() == gold.read_bytes()
    done = process("status", book, "--json", "-", env=ASCII)
    assert json.loads(done.out)["workbooks"][0]["account"]["cases"] == 34
    done = process("demo", folder / "dëmo", env=ASCII)
    assert done.code == 0, done.err
    assert done.out.isascii()
    done = process("validate", folder / "fëhlt.vrt", env=ASCII)
    assert done.code == 2
    assert "fëhlt.vrt: cannot be read" in done.out  # a name is shown as it was given


def test_data_for_other_programs_are_utf_8_in_every_locale(home: Path) -> None:
    table = "Köln\tB-Straße\n".encode()
    for name in ("g.vrt", "p.vrt"):
        (home / name).write_bytes(table)
    plain, other = (
        process("score", "g.vrt", "p.vrt", "--json", "-", env=env, cwd=home) for env in ({"LC_ALL": "C.UTF-8"}, ASCII)
    )
    assert plain.code == other.code == 0
    assert plain.out == other.out
    assert "Straße" in plain.out


def test_turkish_and_german_ways_of_writing_change_nothing(home: Path) -> None:
    found = locales()
    if len(found) < 2:
        missing = "no Turkish and German locale here: localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 (and de_DE)"
        if PROGRAMS_REQUIRED:
            pytest.fail(missing)
        pytest.skip(missing)
    # A program that embeds the library may have set the locale: numbers then have a comma, İ is another letter.
    foreign = "locale.setlocale(locale.LC_ALL, ''); assert locale.localeconv()['decimal_point'] == ','"
    code = (
        "import json, locale, sys\n{}\nfrom clueval_xlsx.__main__ import main\n"
        "for words in json.loads(sys.argv[1]):\n    sys.argv = ['clueval-xlsx', *words]\n    main()\n"
    )
    (home / "gold.tr.vrt").write_text("İstanbul\tB-Iğdır\nısı\tB-İL\nTITLE\tO\n", "utf-8")
    results = []
    for name in ("C.UTF-8", *found):
        out = home / name
        out.mkdir()
        runs = []
        for sides in (("gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS), ("gold.tr.vrt", "gold.tr.vrt", "--ignore", "il")):
            stem = sides[0].replace(".", "-")
            targets = ("-o", out / f"{stem}.xlsx", "--files", out / stem, "--html", out / f"{stem}.html")
            runs.append(["evaluate", *sides, *map(str, targets)])
        done = subprocess.run(
            [sys.executable, "-c", code.format(foreign if name in found else ""), json.dumps(runs)],
            env=environment({"LC_ALL": name, "LANGUAGE": name, "SOURCE_DATE_EPOCH": "1700000000"}),
            cwd=home,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        results.append({path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()})
        assert len(results[-1]) > 4
    for other in results[1:]:
        assert other.keys() == results[0].keys()
        assert [path for path in other if other[path] != results[0][path]] == []


# ---- terminals ------------------------------------------------------------------------------------------------------


def on_a_terminal(arguments: Sequence[object], *, columns: int, env: Mapping[str, str], cwd: Path) -> tuple[int, str]:
    """Run a command on a terminal of so many columns; returns its exit code and what stood on the screen."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    running = subprocess.Popen(
        [sys.executable, "-m", "clueval_xlsx", *map(str, arguments)],
        stdin=follower, stdout=follower, stderr=follower, env=environment(env), cwd=cwd, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    return running.wait(), shown.decode("utf-8").replace("\r\n", "\n")


NARROW = {
    "score": ("score", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS, "--by", "domain", "--scheme", "all"),
    "compare": ("compare", "gold.vrt", "pred.vrt", "gold.vrt", *EXAMPLE_OPTIONS),
    "reimport": ("reimport", "demo/review-judged.xlsx", "--gold", "demo/gold.vrt"),
    "status": ("status", "demo/review.xlsx", "demo/review-judged.xlsx"),
}


@pytest.fixture(scope="module")
def round_done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demonstration in it, and beside that the example."""
    folder = tmp_path_factory.mktemp("round")
    assert run("demo", folder / "demo").code == 0
    for name in ("gold.vrt", "pred.vrt"):
        shutil.copy(folder / "demo" / name, folder / name)
    return folder


@pytest.mark.sweep
@pytest.mark.parametrize("name", some_of(NARROW))
def test_a_terminal_of_40_columns_shows_every_figure_whole(name: str, round_done: Path) -> None:
    code, shown = on_a_terminal(NARROW[name], columns=40, env={"TERM": "dumb", "LC_ALL": "C.UTF-8"}, cwd=round_done)
    assert code == 0, shown
    assert not re.search(r"\S…", shown), shown  # nothing is cut off; an interval stands as 1 … 2
    assert "Traceback" not in shown
    rules = [line for line in shown.splitlines() if set(line.strip()) == {"─"}]
    assert bool(rules) is (name in {"score", "compare"})  # the others are told row by row
    assert max(map(len, rules), default=0) <= 40
    if name == "status":
        assert re.search(r"decided: 12 +\s+of: 34 +\s+per cent: 35 ", shown), shown
        assert "AnnaBeispiel" in "".join(shown.split())
    else:
        assert len(re.findall(r"(?<![\d.])\d{1,3}\.\d(?!\d)", shown)) > 5


LEFT_OUT = {
    (80, "score"): "Left out for want of width: F1. To see it: a wider window or --as csv or --as json.",
    (40, "score"): "Left out for want of width: 95 % interval, found, supported, F1.",
    (40, "compare"): "95 % interval, found, supported, F1. To see it: a wider window or --json FILE.",
}


@pytest.mark.sweep
@pytest.mark.parametrize(("columns", "name"), some_of(LEFT_OUT))
def test_a_terminal_says_which_columns_it_has_no_room_for(columns: int, name: str, round_done: Path) -> None:
    terminal = {"TERM": "dumb", "LC_ALL": "C.UTF-8"}
    shown = on_a_terminal(NARROW[name], columns=columns, env=terminal, cwd=round_done)[1]
    assert LEFT_OUT[columns, name] in " ".join(shown.split())
    assert "Left out" not in on_a_terminal(NARROW[name], columns=200, env=terminal, cwd=round_done)[1]


@pytest.mark.parametrize("name", NARROW)
def test_a_pipe_gets_every_column_however_narrow_the_terminal_is(
    name: str, round_done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(round_done)
    figures = []
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        done = run(*NARROW[name])
        assert done.code == 0, done.err
        assert "Left out" not in done.out
        figures.append(re.findall(r"\d+\.\d|\d+/\d+|\d+–\d+|F1", done.out))
    assert figures[0] == figures[1]


@pytest.mark.parametrize(
    ("env", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colours_only_where_they_are_wanted(env: dict[str, str], coloured: bool, home: Path) -> None:
    command = "score", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS
    code, shown = on_a_terminal(command, columns=100, env={**env, "LC_ALL": "C.UTF-8"}, cwd=home)
    assert code == 0
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", shown))
    assert bool(codes) is coloured or codes <= {"0", "1", "2"}  # bold and dim are no colours
    if env["TERM"] == "dumb":
        assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("shell", "code"),
    [("2>&-", 0), ("<&- >&- 2>&-", 0), ("2> /dev/full", 1)],
)
def test_no_terminal_at_all(shell: str, code: int, home: Path) -> None:
    done = process("evaluate", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS, "-o", "r.xlsx", cwd=home, shell=shell)
    assert done.code == code
    assert not done.err
    assert sorted(path.name for path in home.iterdir()) == ["gold.vrt", "pred.vrt", "r.xlsx"]


@pytest.mark.parametrize(("shell", "code"), [(">&-", 0), ("> /dev/full", 1)])
def test_no_standard_output(shell: str, code: int, home: Path) -> None:
    done = process("score", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS, cwd=home, shell=shell)
    assert done.code == code
    assert "Traceback" not in done.err
    assert ("Error: standard output: No space left on device." in done.err) is (code == 1)


def test_a_closed_standard_input_is_an_empty_one(home: Path) -> None:
    done = process("score", "-", "pred.vrt", *EXAMPLE_OPTIONS, cwd=home, shell="<&-")
    assert done.code == 2
    assert "<standard input>: no token was read" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS),
        ("convert", "gold.vrt", "-", "--merge", *EXAMPLE_OPTIONS),
        ("validate", "no.vrt", "no.vrt"),
    ],
)
def test_a_reader_that_has_seen_enough(arguments: tuple[str, ...], home: Path) -> None:
    done = process(*arguments, cwd=home, shell="2>&1 | true; exit ${PIPESTATUS[0]}")
    assert done.code in {0, 2 if arguments[0] == "validate" else 0}, done.code
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
