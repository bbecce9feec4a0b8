"""Files that are no workbooks, or mean harm: refused by name before a parser sees them, the process alive."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
import zlib

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.workbooks import read_workbook
from tests.support.commands import refused, run
from tests.support.handmade_books import BOOK, FAR, ROW, SHEET, cell, filled, ods, xlsx
from tests.support.hostile_books import KINDS
from tests.support.judging import judged, workbook

TABLE = """
    token  gold   pred
    Ann    B-PER  O
    Lee    O      B-PER
"""


def test_the_handmade_workbooks_are_read_when_they_mean_no_harm():
    (table,) = read_workbook(xlsx(SHEET.format(rows=ROW.format(cells=cell("A1") + cell("C1")))), "good.xlsx").sheets
    assert table.rows == [["x", "", "x"]]
    (table,) = read_workbook(ods(filled(3, 2)), "good.ods").sheets
    assert table.rows == [["x"] * 3] * 2


@pytest.mark.parametrize("cells", FAR, ids=range(len(FAR)))
def test_a_cell_far_away_is_refused_however_it_is_written(cells):
    with pytest.raises(InputError, match=r"far\.xlsx.*(rectangle|name of a cell)"):
        read_workbook(xlsx(SHEET.format(rows=ROW.format(cells=cells))), "far.xlsx")


def test_a_stray_cell_far_to_the_right_costs_no_time_for_the_empty_ones_before_it(monkeypatch):
    from clueval_xlsx.review import existing_judgements as existing
    from clueval_xlsx.review import reading, sheet_columns, sheet_words

    asked = []
    for module in (reading, sheet_columns, sheet_words):
        monkeypatch.setattr(module, "normalise", lambda text: asked.append(text) or str(text).casefold())
    rows = "".join(f'<row r="{row}">{cell(f"A{row}")}{cell(f"XFD{row}")}</row>' for row in range(1, 101))
    tables = read_workbook(xlsx(SHEET.format(rows=rows)), "wide.xlsx").sheets
    assert len(tables[0].rows[0]) == 16384
    assert not reading.has_review_sheet(tables)
    assert existing.what_is_judged(tables) == ""
    assert asked.count("") == 0  # a million and a half of them are in the sheet


def test_repeated_cells_of_an_ods_are_refused():
    with pytest.raises(InputError, match=r"far\.ods"):
        read_workbook(ods(filled(16384, 1048576)), "far.ods")
    with pytest.raises(InputError, match=r"far\.ods"):
        read_workbook(ods(filled(1, 99999999999)), "far.ods")
    spaces = '<table:table table:name="a"><table:table-row><table:table-cell office:value-type="string"><text:p>'
    spaces += '<text:s text:c="4000000000"/></text:p></table:table-cell></table:table-row></table:table>'
    with pytest.raises(InputError, match="spaces"):
        read_workbook(ods(spaces), "far.ods")


def test_empty_repetitions_behind_the_data_of_an_ods_do_no_harm():
    content = (
        '<table:table table:name="FN"><table:table-column table:number-columns-repeated="16384"/>'
        '<table:table-row><table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'
        '<table:table-cell table:number-columns-repeated="16383"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048575"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table>'
    )
    (table,) = read_workbook(ods(content), "long.ods").sheets
    assert table.rows == [["x"]]


def test_entities_are_refused_in_every_part():
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    for data in (
        xlsx(bomb + SHEET.format(rows="")),
        xlsx(SHEET.format(rows=""), book=bomb + BOOK),
        xlsx(SHEET.format(rows=""), strings=bomb + "<sst/>"),
        ods("<!DOCTYPE a>"),
    ):
        with pytest.raises(InputError, match="DOCTYPE"):
            read_workbook(data, "bomb.xlsx")
    with pytest.raises(InputError, match="UTF-16"):
        read_workbook(xlsx((bomb + SHEET.format(rows="")).encode("utf-16")), "bomb.xlsx")


def test_a_gigabyte_of_zeros_is_refused_unread():
    (data,) = KINDS["one part of a gigabyte"]()
    tracemalloc.start()
    with pytest.raises(InputError, match="refused before it is read"):
        read_workbook(data, "zeros.xlsx")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20


def test_an_archive_that_lies_about_its_sizes_is_refused():
    data = bytearray(xlsx(SHEET.format(rows=" " * 2_000_000)))
    name = b"xl/worksheets/sheet1.xml"
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.find(signature)
        while place >= 0:
            header = 30 if signature == b"PK\x03\x04" else 46
            if bytes(data[place + header : place + header + len(name)]) == name:
                struct.pack_into("<I", data, place + offset, 1000)
            place = data.find(signature, place + 4)
    with pytest.raises(InputError, match="not what the archive says"):
        read_workbook(bytes(data), "liar.xlsx")


def test_a_string_repeated_beyond_measure_is_refused():
    strings = f"<sst><si><t>{'x' * 1_000_000}</t></si></sst>"
    cells = "".join(f'<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>' for row in range(1, 2001))
    with pytest.raises(InputError, match="text that is repeated"):
        read_workbook(xlsx(SHEET.format(rows=cells), strings), "echo.xlsx")


def test_thousands_of_parts_are_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", BOOK)
        for number in range(6000):
            archive.writestr(f"xl/worksheets/{number}.xml", "")
    with pytest.raises(InputError, match="parts"):
        read_workbook(buffer.getvalue(), "many.xlsx")


def test_a_damaged_archive_is_refused_wherever_it_is_cut():
    data = workbook(judged(TABLE)).getvalue()
    for size in (5, 100, len(data) // 2, len(data) - 30):
        with pytest.raises(InputError, match=r"cut\.xlsx"):
            read_workbook(data[:size], "cut.xlsx")
    broken = bytearray(data)
    broken[len(data) // 3] ^= 0xFF
    broken[200] ^= 0xFF
    with pytest.raises(InputError):
        read_workbook(bytes(broken), "broken.xlsx")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "an empty file"),
        (b"<html><table><tr><td>Case</td></tr></table></html>", "HTML"),
        (b"Case;Judgement\nFN-1;x\n", "CSV"),
        (b"%PDF-1.7 ", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), ".xls"),
        (bytes(100), "no workbook"),
    ],
)
def test_what_is_no_workbook_is_named_for_what_it_is(content, what):
    with pytest.raises(InputError, match=what):
        read_workbook(content, "renamed.xlsx")


def test_an_archive_of_something_else_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    with pytest.raises(InputError, match="Word"):
        read_workbook(buffer.getvalue(), "letter.xlsx")


def test_an_encrypted_workbook_needs_its_password(write, write_pair):
    from clueval_xlsx.files.encryption import encrypt

    evaluation = judged(TABLE)
    path = write("secret.xlsx", encrypt(workbook(evaluation).getvalue(), "apfel"))
    gold, _ = write_pair(TABLE)
    refused(run("reimport", path, "--gold", gold, "-o", path.parent / "out.vrt"), "secret.xlsx", "--password-file")
    wrong, right = write("wrong.txt", "birne\n"), write("right.txt", "apfel\n")
    refused(run("reimport", path, "--gold", gold, "--password-file", wrong), "secret.xlsx", "does not fit")
    assert run("reimport", path, "--gold", gold, "--password-file", right).code == 0
    assert not (path.parent / "out.vrt").exists()


def test_the_command_refuses_every_bad_file_and_writes_nothing(write, write_pair):
    gold, _ = write_pair(TABLE)
    out = gold.parent / "corrected.vrt"
    for number, content in enumerate(
        [b"", b"<html>", xlsx(SHEET.format(rows=ROW.format(cells=FAR[0]))), b"PK\x03\x04"]
    ):
        path = write(f"bad{number}.xlsx", content)
        refused(run("reimport", path, "--gold", gold, "-o", out), path.name)
        assert not out.exists()


def test_a_manifest_that_unpacks_to_gigabytes_is_refused(monkeypatch):
    import base64

    from clueval_xlsx.review import manifest

    monkeypatch.setattr(manifest, "MOST_BYTES", 1 << 16)
    packed = base64.b64encode(zlib.compress(bytes(1 << 20))).decode()
    with pytest.raises(InputError, match="too large"):
        manifest.decode(f"{manifest.MARK}{manifest.FORM}:1.0:{packed}")
