"""Indented OpenDocument spreadsheets, as Gnumeric and SheetJS write them, hold the same cells as others."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clueval_xlsx.files.workbooks import read_workbook
from tests.support.handmade_books import ods
from tests.support.judging import judged, workbook
from tests.support.workbooks import TABS

_CELL = '<table:table-cell office:value-type="string">{}</table:table-cell>'
PLAIN = (
    '<table:table table:name="FN"><table:table-row>'
    + _CELL.format("<text:p>Ann  Lee</text:p>")
    + '<table:table-cell office:value-type="float" office:value="7"><text:p>7</text:p></table:table-cell>'
    + "<table:table-cell/>"
    + _CELL.format("<text:p>a</text:p><text:p>b</text:p>")
    + _CELL.format("<text:p>x <text:span>y</text:span> <text:span>z</text:span></text:p>")
    + "</table:table-row></table:table>"
)
TABLE = """
    token  gold   pred
    Ann    B-PER  O
    Lee    O      B-PER
"""


@pytest.mark.parametrize("indent", ["\n", "\n    ", "\r\n\t"])
def test_white_space_between_cells_is_no_text(indent: str) -> None:
    indented = PLAIN
    for mark in ("<table:", "</table:", "<text:p>"):
        indented = indented.replace(mark, indent + mark)
    assert read_workbook(ods(indented), "indented.ods").sheets == read_workbook(ods(PLAIN), "plain.ods").sheets
    assert read_workbook(ods(indented), "indented.ods").sheets[0].rows[0][4] == "x y z"


@pytest.mark.skipif(shutil.which("ssconvert") is None, reason="needs Gnumeric's ssconvert")
def test_a_workbook_that_gnumeric_saved_is_read(tmp_path: Path) -> None:
    book = tmp_path / "review.xlsx"
    book.write_bytes(workbook(judged(TABLE)).getvalue())
    subprocess.run(["ssconvert", str(book), str(tmp_path / "review.ods")], check=True, capture_output=True)
    before = {sheet.name: sheet for sheet in read_workbook(book.read_bytes(), "review.xlsx").sheets}
    after = {sheet.name: sheet for sheet in read_workbook((tmp_path / "review.ods").read_bytes(), "review.ods").sheets}
    texts = {
        cell for row in before[TABS["FN"]].rows for cell in row if isinstance(cell, str) and cell.startswith("FN-")
    }
    assert texts
    assert texts <= {cell for row in after[TABS["FN"]].rows for cell in row}
