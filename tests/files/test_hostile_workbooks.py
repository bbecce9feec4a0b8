"""Files that are no workbooks, or mean harm: refused by name or read without harm, the process alive."""

from __future__ import annotations

import functools
import json
import re
import sys

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files import workbooks
from clueval_xlsx.files.workbooks import read_workbook
from tests.support.ci import THOROUGH, some_of
from tests.support.commands import run, run_process
from tests.support.handmade_books import FAR, ROW, SHEET, archive, cell, repacked, xlsx
from tests.support.hostile_books import KINDS, PASSWORD
from tests.support.judging import judged, workbook

TABLE = """
    token  gold   pred
    Ann    B-PER  O
    Lee    O      B-PER
"""
GOOD = xlsx(SHEET.format(rows=ROW.format(cells=cell("A1") + cell("C1"))))
# What the refusal says, for the kinds that people may bring about or that need their own remedy.
WORDS = {
    "a cell far away in a large sheet": "reaches to cell XFD1048576",
    "two sheets of one name": "two sheets named.*Rename",
    "many sheets, one part": "found 3,000 sheets",
    "an attribute given twice": "not well-formed",
    "repetitions given twice": "not well-formed",
    "tags that are never closed": "not well-formed",
    "XML that is not well-formed": "not well-formed",
    "the name of a sheet without end": "names have 1,000,000 characters",
    "one part of a gigabyte": "unpacks to",
    "a list of parts that unpacks to a gigabyte": "unpacks to",
    "a password that is hashed without end": "rounds of hashing",
    "settings of encryption that bring entities": "DOCTYPE",
    "an old .xls": "old .xls format.*save it as .xlsx",
    "an .xlsb": "binary workbook .*Excel Workbook",
    "an .ods under a password": "under a password.*LibreOffice",
    # Nothing but the limits of the process stops these, which no machine reads in so much time or memory.
    "a long string in every cell of a large sheet": "needs too much memory.*delete what stands far right",
    "sheets of an .ods that are too many together": "needs too much memory",
}


@functools.cache
def books(kind: str) -> tuple[bytes, ...]:
    """The workbooks of one kind, which take longer to make than to refuse."""
    return tuple(KINDS[kind]())


def refusal(data: bytes) -> str:
    """Why a workbook is refused; empty if it is read."""
    try:
        read_workbook(data, "hostile", PASSWORD)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.sweep
@pytest.mark.parametrize("kind", some_of(WORDS))
def test_a_hostile_workbook_is_refused_with_a_message(kind: str) -> None:
    for data in books(kind):
        assert re.match(f"hostile.*({WORDS[kind]})", refusal(data), re.DOTALL)


@pytest.mark.slow
@pytest.mark.sweep
def test_no_hostile_workbook_takes_half_a_gigabyte_or_two_seconds_or_this_process() -> None:
    """One of each kind, in the usual run of every third, measured in a process that holds nothing else.

    `python -m tests.support.hostile_books` shows the seconds, the megabytes and the message of every one.
    """
    step = 1 if THOROUGH else 3
    done = run_process(["-m", "tests.support.hostile_books", str(step)], python=[sys.executable])
    assert done.code == 0, done.err
    honest, *measured = map(json.loads, done.out.splitlines())
    assert [each["kind"] for each in measured] == list(KINDS)[::step]
    for each in measured:
        assert each["message"] != "ABORTED", each
        assert each["seconds"] < max(2, 25 * honest["seconds"]), each  # of the processor; the machine may be slow
        assert each["megabytes"] < 500, each


def test_a_process_that_says_nothing_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(workbooks, "_PARSER", "import time; time.sleep(3600)")
        patched.setattr(workbooks, "_PATIENCE", 0.2)
        assert "takes too long to read" in refusal(GOOD)
    assert refusal(GOOD) == ""


def test_a_cell_far_away_is_refused_however_it_is_written() -> None:
    for cells in FAR:
        found = refusal(xlsx(SHEET.format(rows=ROW.format(cells=cells))))
        assert re.search("Delete the stray|delete what stands far right|cannot be read", found), cells
    read = read_workbook(xlsx(SHEET.format(rows=ROW.format(cells=cell("A1") + cell("XFD1")))), "wide.xlsx")
    assert len(read.sheets[0].rows[0]) == 16384


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "an empty file"),
        (b"<html><table><tr><td>Case</td></tr></table></html>", "HTML"),
        (b"Case;Judgement\nFN-1;x\n", "CSV"),
        (b"%PDF-1.7 ", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), ".xls"),
        (bytes(100), "no workbook"),
        (archive({"word/document.xml": "<w/>"}), "Word"),
    ],
)
def test_what_is_no_workbook_is_named_for_what_it_is(content: bytes, what: str) -> None:
    assert what in refusal(content)


def test_a_damaged_archive_is_refused_wherever_it_is_cut_or_changed() -> None:
    data = workbook(judged(TABLE)).getvalue()
    for size in (5, 100, len(data) // 2, len(data) - 30):
        assert refusal(data[:size])
    broken = bytearray(data)
    broken[len(data) // 3] ^= 0xFF
    broken[200] ^= 0xFF
    assert refusal(bytes(broken))


# ---- what a command does with them


@pytest.mark.parametrize(
    ("begin", "end"),
    [(b"<!--", b"-->"), (b"<other>", b"</other>"), (b"<extLst><![CDATA[", b"]]></extLst>")],
)
def test_rows_that_a_parser_passes_over_are_missed(begin, end, write, write_pair) -> None:
    gold, _ = write_pair(TABLE)

    def hidden(name: str, part: bytes) -> bytes:
        rows = part.rfind(b"<row "), part.rfind(b"</row>") + len(b"</row>")
        if not name.endswith("worksheets/sheet2.xml"):
            return part
        inner = b"" if begin == b"<other>" else part[rows[0] : rows[1]].replace(b"--", b"- -")
        return part[: rows[0]] + begin + inner + end + part[rows[1] :]

    path = write("hidden.xlsx", repacked(workbook(judged(TABLE)).getvalue(), hidden))
    done = run("reimport", path, "--gold", gold, "--json", gold.parent / "r.json")
    account = json.loads((gold.parent / "r.json").read_text())["runs"][0]["account"]
    assert (done.code, account["missing"]) == (3, 1)
    assert account["cases"] == sum(account.values()) - account["cases"]
