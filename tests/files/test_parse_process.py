"""Workbooks are parsed in a process under limits: whatever a file does to it, this one lives and the next is read."""

from __future__ import annotations

import datetime
import functools
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files import parse_limits, parse_process
from clueval_xlsx.files.encryption import encrypt
from clueval_xlsx.files.python_processes import PASSWORD_VARIABLE
from clueval_xlsx.files.workbooks import read_workbook
from tests.support.ci import THOROUGH, some_of
from tests.support.commands import run_process
from tests.support.folders import ROOT
from tests.support.handmade_books import ROW, SHEET, cell, xlsx
from tests.support.hostile_books import KINDS, PASSWORD, encrypted, sheet
from tests.support.judging import judged, workbook

TABLE = """
    token  gold   pred
    Ann    B-PER  O
    Lee    O      B-PER
"""
GOOD = xlsx(SHEET.format(rows=ROW.format(cells=cell("A1") + cell("C1"))))
# What the refusal says, for the kinds that people may bring about or that need their own remedy.
WORDS = {
    "a cell far away": "(rectangle|name of a cell)",
    "a cell far away in a large sheet": "rectangle",
    "a name that is no cell's": "name of a cell",
    "a row number without cell references": "(row's number|rectangle)",
    "elements nested without end": "nested",
    "merged cells without end": "merged cells",
    "sheets that together span too much": "empty cells",
    "a row far below in a narrow sheet": "rectangle",
    "two sheets of one name": "two sheets named.*Rename",
    "the name of a sheet without end": "Rename the sheet",
    "links of a sheet without end": "nested",
    "more shared strings than there are": "ount=",
    "a long string in every cell": "text that is repeated",
    "a long string with comments in it": "text that is repeated",
    "many sheets, one part": "(same part|sheets)",
    "many sheets": "sheets",
    "many large parts": "MB in a file of",
    "one part of a gigabyte": "MB in a file of",
    "a list of parts that unpacks to a gigabyte": "MB in a file of",
    "repeated cells of an .ods": "(rectangle|repetitions)",
    "odd numbers of repetitions": "repetitions",
    "repetitions given twice": "duplicate attribute",
    "repetitions under another prefix": "prefixes",
    "a table inside a table": "table inside a table",
    "repeated text of an .ods": "text that is repeated",
    "spaces of an .ods": "(spaces|text that is repeated)",
    "a password that is hashed without end": "rounds of hashing",
    "settings of encryption that bring entities": "DOCTYPE",
    "an old .xls": "old .xls format.*save it as .xlsx",
    "an .xlsb": "binary workbook .*Excel Workbook",
    "an .ods under a password": "under a password.*LibreOffice",
}


# What is in no proportion, but only the limits of the process stop: a fast machine may be through before them.
LIMITED = {
    "a large .ods that repeats itself",
    "a long string in every cell of a large sheet",
    "an encrypted workbook that unfolds",
    "notes inside notes",
    "rows and cells without a name, and without end",
}


@functools.cache
def books(kind: str) -> tuple[bytes, ...]:
    """The workbooks of one kind, which take longer to make than to refuse."""
    return tuple(KINDS[kind]())


@pytest.mark.sweep
@pytest.mark.parametrize("kind", some_of(KINDS))
def test_a_hostile_workbook_is_refused_with_a_message_and_the_next_one_is_read(kind: str) -> None:
    for data in books(kind):
        refusal = ""
        try:
            read_workbook(data, "hostile", PASSWORD)
        except InputError as error:
            refusal = str(error)
        # A slow machine may come to the limits before it has seen what is wrong, a fast one be through before them.
        words = f"hostile.*({WORDS.get(kind, '')}|takes too long)"
        assert re.match(words, refusal, re.DOTALL) or (not refusal and kind in LIMITED), refusal
    (table,) = read_workbook(GOOD, "good.xlsx").sheets
    assert table.rows == [["x", "", "x"]]


def test_the_encrypted_workbook_that_hostile_ones_are_made_from_is_read() -> None:
    (table,) = read_workbook(encrypted(), "honest.xlsx", PASSWORD).sheets
    assert len(str(table.rows[0][0])) == 4000


def test_formulas_and_errors_without_a_value_are_found_among_prefixes_and_text_that_looks_like_them() -> None:
    cells = (
        '<c r="A1"><f>1+1</f></c><c r="B1" t="e"><v>#REF!</v></c><c r="C1" t="str"><v>t="e" f&gt; </v></c>'
        '<c r="D1" t="e"/><c r="E1"><f>SUM(A1)</f>  <v></v> </c><c r="F1"><f>2</f><v>2</v></c>'
    )
    (table,) = read_workbook(sheet(cells), "formulas.xlsx").sheets
    assert dict(table.valueless) == {(0, 0): "=1+1", (0, 1): "#REF!", (0, 3): "an error", (0, 4): "=SUM(A1)"}


def test_there_are_enough_of_them() -> None:
    assert len(KINDS) >= 40
    assert sum(len(books(kind)) for kind in KINDS) >= 120


@pytest.mark.slow
@pytest.mark.sweep
def test_no_hostile_workbook_takes_half_a_gigabyte_or_keeps_the_processor_busy() -> None:
    """One of each kind, in the usual run of every third, measured in a process that holds nothing else.

    What unfolds would take minutes or hours; `python -m tests.support.hostile_books` shows the seconds of each.
    """
    step = 1 if THOROUGH else 3
    done = run_process(["-m", "tests.support.hostile_books", str(step)], python=[sys.executable])
    assert done.code == 0, done.err
    _, *measured = map(json.loads, done.out.splitlines())
    assert [each["kind"] for each in measured] == list(KINDS)[::step]
    for each in measured:
        assert each["message"] != "ABORTED", each
        assert each["message"] or each["kind"] in LIMITED, each
        assert each["seconds"] < 20, each
        assert each["megabytes"] < 500, each


def test_numbers_arrive_as_what_they_are_and_dates_and_times_as_texts() -> None:
    book = openpyxl.Workbook()
    moments = [datetime.datetime(2024, 2, 29, 12, 30), datetime.date(2024, 1, 1), datetime.time(8, 15)]
    assert book.active is not None
    book.active.append([*moments, 7, 2.5, True, "ä", datetime.timedelta(hours=30)])
    saved = io.BytesIO()
    book.save(saved)
    (table,) = read_workbook(saved.getvalue(), "dates.xlsx").sheets
    assert table.rows == [["2024-02-29T12:30:00", "2024-01-01", "08:15:00", 7.0, 2.5, True, "ä", "1 day, 6:00:00"]]
    assert [type(each) for each in table.rows[0][3:7]] == [float, float, bool, str]


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks into /proc")
def test_a_password_stands_in_no_list_of_processes_and_in_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD_VARIABLE, "geheim-4711")
    parse_process.stop()
    data = workbook(judged(TABLE)).getvalue()
    tables = read_workbook(encrypt(data, "geheim-4711"), "secret.xlsx", "geheim-4711").sheets
    assert tables == read_workbook(data, "clear.xlsx").sheets
    process = Path("/proc") / str(parse_process._process()._running.pid)
    for name in ("cmdline", "environ"):
        assert b"geheim-4711" not in (process / name).read_bytes()
    parse_process.stop()


def test_a_process_that_was_killed_meanwhile_is_started_again() -> None:
    read_workbook(GOOD, "good.xlsx")
    running = parse_process._process()._running
    running.kill()
    running.wait()
    (table,) = read_workbook(GOOD, "good.xlsx").sheets
    assert table.rows == [["x", "", "x"]]


def test_one_process_reads_many_workbooks() -> None:
    read_workbook(GOOD, "good.xlsx")
    first = parse_process._process()._running.pid
    for _ in range(20):
        read_workbook(GOOD, "good.xlsx")
    assert parse_process._process()._running.pid == first


@pytest.mark.parametrize(
    ("limit", "value"), [("_SECONDS", 0.001), ("_MEMORY", 1 << 16)], ids=["processor time", "memory"]
)
def test_a_file_that_reaches_a_limit_is_refused(limit: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f'<row r="{n}">{cell(f"A{n}", "text " * 50)}</row>' for n in range(1, 30_000))
    data = xlsx(SHEET.format(rows=rows))
    with monkeypatch.context() as patched:
        patched.setattr(parse_limits, limit, value)
        patched.setattr(parse_limits, f"{limit}_PER_BYTE", 0)
        with pytest.raises(InputError, match=r"(takes too long|needs too much memory).*The file is refused"):
            read_workbook(data, "large.xlsx")
    assert len(read_workbook(data, "large.xlsx").sheets[0].rows) == 29_999


def test_a_process_that_says_nothing_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    parse_process.stop()
    with monkeypatch.context() as patched:
        patched.setattr(parse_process, "_CODE", "import time; time.sleep(60)")
        patched.setattr(parse_process, "_PATIENCE", 0.2)
        patched.setattr(parse_process, "_PATIENCE_PER_SECOND", 0)
        with pytest.raises(InputError, match="takes too long to read"):
            read_workbook(GOOD, "good.xlsx")
    assert read_workbook(GOOD, "good.xlsx").sheets


def test_a_process_does_not_outlive_the_one_that_started_it() -> None:
    reader, writer = os.pipe()
    code = (
        "import os, sys; from clueval_xlsx.files import parse_process as p; "
        f"os.write({writer}, str(p._process()._running.pid).encode()); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False, pass_fds=[writer])
    os.close(writer)
    pid = int(os.read(reader, 100))
    os.close(reader)
    for _ in range(100):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError("it is still there")
