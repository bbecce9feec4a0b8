"""Any locale, any name, any line end, any terminal or none: the same results, and words instead of a crash."""

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
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath

import pytest

from clueval_xlsx.cli.reviews import review_targets
from clueval_xlsx.files.names import document_path, file_name_part
from tests.support.commands import EXAMPLE_OPTIONS, Result, run
from tests.support.folders import ROOT

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


@pytest.fixture
def home(tmp_path: Path, examples: Path) -> Path:
    """A folder with the example."""
    for name in ("gold.vrt", "pred.vrt"):
        shutil.copy(examples / name, tmp_path / name)
    return tmp_path


# ---- locales --------------------------------------------------------------------------------------------------------


def test_a_terminal_that_knows_only_ascii_gets_every_table(home: Path) -> None:
    done = process("score", "gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS, "--scheme", "all", env=ASCII, cwd=home)
    assert done.code == 0, done.err
    assert done.out.isascii()
    assert re.search(r"overlap +\|? *72\.0 +\|? *61-81 ", done.out), done.out  # an en dash became a hyphen


@pytest.mark.slow
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
    done = process("status", book, "--json", env=ASCII)
    assert json.loads(done.out)["workbooks"][0]["cases"] == 34
    done = process("demo", folder / "dëmo", env=ASCII)
    assert done.code == 0, done.err
    assert "gold_missing: (nothing) -> Bertram Kiesling" in done.err
    done = process("validate", folder / "fëhlt.vrt", env=ASCII)
    assert done.code == 2
    assert "fëhlt.vrt: cannot be read" in done.out  # a name is shown as it was given


def test_data_for_other_programs_are_utf_8_in_every_locale(home: Path) -> None:
    table = "Köln\tB-Straße\n".encode()
    for name in ("g.vrt", "p.vrt"):
        (home / name).write_bytes(table)
    plain, other = (
        process("score", "g.vrt", "p.vrt", "--json", env=env, cwd=home) for env in ({"LC_ALL": "C.UTF-8"}, ASCII)
    )
    assert plain.code == other.code == 0
    assert plain.out == other.out
    assert "Straße" in plain.out


@pytest.mark.slow
def test_turkish_and_german_ways_of_writing_change_nothing(home: Path) -> None:
    found = locales()
    if len(found) < 2:
        missing = "no Turkish and German locale here: localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 (and de_DE)"
        if os.environ.get("CLUEVAL_REQUIRE_PROGRAMS"):
            pytest.fail(missing)
        pytest.skip(missing)
    # A program that embeds the library may have set the locale: numbers then have a comma, İ is another letter.
    code = (
        "import locale, sys; locale.setlocale(locale.LC_ALL, ''); assert locale.localeconv()['decimal_point'] == ','\n"
        "from clueval_xlsx.__main__ import main; main()"
    )
    (home / "gold.tr.vrt").write_text("İstanbul\tB-Iğdır\nısı\tB-İL\nTITLE\tO\n", "utf-8")
    results = []
    for name in ("C.UTF-8", *found):
        out = home / name
        out.mkdir()
        for sides in (("gold.vrt", "pred.vrt", *EXAMPLE_OPTIONS), ("gold.tr.vrt", "gold.tr.vrt", "--ignore", "il")):
            stem = sides[0].replace(".", "-")
            targets = ("-o", out / f"{stem}.xlsx", "--files", out / stem, "--html", out / f"{stem}.html")
            done = subprocess.run(
                [sys.executable, *(("-c", code) if name in found else ("-m", "clueval_xlsx")), "evaluate", *sides]
                + [str(word) for word in targets],
                env=environment({"LC_ALL": name, "LANGUAGE": name, "SOURCE_DATE_EPOCH": "1700000000"}),
                cwd=home,
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
        results.append({path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()})
    for other in results[1:]:
        assert other.keys() == results[0].keys()
        assert [path for path in other if other[path] != results[0][path]] == []


# ---- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_with_spaces_umlauts_and_emoji(form: str, home: Path) -> None:
    folder = home / unicodedata.normalize(form, "Fälle  für Özlem 🟧")
    folder.mkdir()
    gold = folder / unicodedata.normalize(form, "göld é 1.vrt")
    shutil.copy(home / "gold.vrt", gold)
    book = folder / unicodedata.normalize(form, "Prüfung ✔.xlsx")
    assert run("evaluate", gold, home / "pred.vrt", *EXAMPLE_OPTIONS, "-o", book).code == 0
    done = run("reimport", book, "--gold", gold, "-o", folder / "back ü.vrt")
    assert done.code == 0, done.err
    assert (folder / "back ü.vrt").read_bytes() == gold.read_bytes()


def test_people_s_names_become_file_names_that_windows_takes(home: Path) -> None:
    people = "Dr. Özgür Łoś,a/b,c:d,CON,e.,f\\g,<h>|i?"
    done = run(
        "evaluate",
        home / "gold.vrt",
        home / "pred.vrt",
        *EXAMPLE_OPTIONS,
        "-o",
        home / "r.xlsx",
        "--judges",
        people,
    )
    assert done.code == 0, done.err
    books = sorted(home.glob("r-*.xlsx"))
    assert len(books) == 7
    assert all(fit_for_windows(path.name) for path in books)
    done = run("status", *books, "--json")
    judges = {each["annotator"] for each in json.loads(done.out)["workbooks"]}
    assert judges == set(people.split(","))  # only the files' names are changed


def test_two_people_whose_files_would_be_one_are_told_apart_or_refused() -> None:
    given = {"judges": ("a/b", "a_b"), "double": None, "without_text": False}
    with pytest.raises(Exception, match=r"would share the file r-a_b\.xlsx"):
        review_targets(Path("r.xlsx"), given)


def test_a_layer_s_name_becomes_a_file_name(home: Path) -> None:
    layers = ("--layer", "a/b=2", "--layer", "nul=3", "--no-merge")
    done = run("evaluate", home / "gold.vrt", home / "pred.vrt", *layers, "-o", home / "r.xlsx", "--files", home / "f")
    assert done.code == 0, done.err
    assert {path.name for path in home.glob("r*.xlsx")} == {"r-a_b.xlsx", "r-_nul.xlsx"}
    assert {path.name for path in (home / "f").iterdir()} == {"a_b", "_nul"}


def fit_for_windows(path: str) -> bool:
    """Whether Windows takes a path: no character or device of its own, no part that ends in a dot or a space."""
    found = PureWindowsPath(path)
    devices = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
    return (
        not found.is_absolute()
        and not found.drive
        and not re.search(r'[<>:"|?*\x00-\x1f\\]', path)
        and not any(part[-1] in ". " or devices.match(part) for part in found.parts)
    )


@pytest.mark.parametrize(
    "doc_id", ["CON", "nul.txt", "a/con/b", "LPT1.x", "a. /b", "a./b", "../../etc", "C:x", "a\\b", "x?", "é\n", "Com1 "]
)
def test_document_ids_become_paths_that_windows_takes_and_that_stay_in_their_folder(doc_id: str) -> None:
    path = f"{document_path(doc_id)}.txt"
    assert fit_for_windows(path), path
    assert ".." not in PureWindowsPath(path).parts
    assert fit_for_windows(f"{file_name_part(doc_id)}.xlsx")


def test_documents_whose_ids_differ_in_case_only_do_not_overwrite_each_other(home: Path) -> None:
    texts = "".join(f'<text id="{name}">\n{name}\tB-X\n</text>\n' for name in ("a", "A", "con", "Con"))
    (home / "cases.vrt").write_text(texts, "utf-8")
    assert run("convert", home / "cases.vrt", home / "brat").code == 0
    names = [path.name for path in (home / "brat").glob("*.txt")]
    assert len({name.casefold() for name in names}) == 4
    assert all(map(fit_for_windows, names))


# ---- line ends ------------------------------------------------------------------------------------------------------


def as_windows(path: Path) -> None:
    """Rewrite a text file the way a Windows editor would: CR LF and a byte order mark."""
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def headline(*arguments: object) -> dict:
    done = run("score", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)["headline"]


@pytest.mark.parametrize("name", ["g.vrt", "g.conll", "g.tsv", "g.csv", "brat", "g.presidio.json", "g.studio.json"])
def test_every_reader_takes_windows_line_ends_and_a_byte_order_mark(name: str, home: Path) -> None:
    to = {"g.presidio.json": ("--to", "presidio"), "g.studio.json": ("--to", "label-studio")}.get(name, ())
    for side in ("gold", "pred"):
        assert run("convert", home / f"{side}.vrt", home / side / name, "--layer", "category=2", *to).code == 0
    sides = home / "gold" / name, home / "pred" / name
    arguments = (*sides, "--text", home / "gold.vrt") if name in {"g.tsv", "g.csv"} else sides
    before = headline(*arguments)
    for side in sides:
        for path in sorted(side.glob("*.ann")) if side.is_dir() else [side]:
            as_windows(path)
    assert headline(*arguments) == before
    assert before["gold"] == 73


def test_every_small_file_takes_windows_line_ends_and_a_byte_order_mark(home: Path) -> None:
    (home / "options.toml").write_text(
        'token-id = 4\n[layer]\ncategory = 2\nrisk = 3\n[judgements.public]\neffect = "gold_wrong"\nen = "Public"\n',
        "utf-8",
    )
    (home / "allow.txt").write_text("NONE\n\\s\nALL\n\\s\n", "utf-8")
    (home / "password.txt").write_text("süß\n", "utf-8")
    assert run("demo", home / "demo").code == 0
    log = home / "demo" / "judgements.jsonl"
    for path in (home / "options.toml", home / "allow.txt", home / "password.txt", log):
        as_windows(path)
    options = ("--config", home / "options.toml", "--password-file", home / "password.txt", "--previous", log)
    done = run("evaluate", home / "gold.vrt", home / "pred.vrt", *options, "-o", home / "r.xlsx")
    assert done.code == 0, done.err
    (home / "plain.txt").write_text("süß", "utf-8")
    done = run("status", home / "r.xlsx", "--password-file", home / "plain.txt", "--json")
    assert json.loads(done.out)["workbooks"][0]["judged"] > 0
    lines = len(log.read_text("utf-8-sig").splitlines())
    back = ("--gold", home / "demo" / "gold.vrt", "--judgements", log)
    done = run("reimport", home / "demo" / "review-judged.xlsx", *back)
    assert done.code == 0, done.err
    assert len(log.read_text("utf-8-sig").splitlines()) == lines  # known already, read in spite of its line ends


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


@pytest.mark.parametrize("name", NARROW)
def test_a_terminal_of_40_columns_shows_every_figure_whole(name: str, round_done: Path) -> None:
    code, shown = on_a_terminal(NARROW[name], columns=40, env={"TERM": "dumb", "LC_ALL": "C.UTF-8"}, cwd=round_done)
    assert code == 0, shown
    assert "…" not in shown, shown  # nothing is cut off
    assert "Traceback" not in shown
    rules = [line for line in shown.splitlines() if set(line.strip()) == {"─"}]
    assert rules
    assert max(map(len, rules)) <= 40
    if name == "status":
        assert re.search(r" 12 +34 +35 ", shown), shown
        assert "AnnaBeispiel" in "".join(shown.split())
    else:
        assert len(re.findall(r"(?<![\d.])\d{1,3}\.\d(?!\d)", shown)) > 5


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
    assert "<standard input> has 0" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "gold.vrt", "pred.vrt"),
        ("merge", "gold.vrt"),
        ("validate", "no.vrt", "no.vrt"),
    ],
)
def test_a_reader_that_has_seen_enough(arguments: tuple[str, ...], home: Path) -> None:
    done = process(*arguments, cwd=home, shell="2>&1 | true; exit ${PIPESTATUS[0]}")
    assert done.code in {0, 2 if arguments[0] == "validate" else 0}, done.code
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
