"""Files that are no input are answered with what they are; what is packed by gzip is read."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import Path

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read
from tests.support.folders import FIXTURES

NAMES = ("x", "x.vrt", "x.conll", "x.json")


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return buffer.getvalue()


FOREIGN = {
    "a PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj",
    "a Word document (.docx)": zipped("[Content_Types].xml", "word/document.xml"),
    "an OpenDocument file (.odt, .ods)": zipped("mimetype", "content.xml"),
    "a ZIP archive of 2 files (a.txt, b.txt)": zipped("a.txt", "b.txt"),
    "a damaged ZIP archive": zipped("a.txt")[:30],
    "a Parquet file": b"PAR1\x15\x04\x15",
    "a spaCy DocBin": zlib.compress(b"\x87\xa7version\xa30.1\xa5attrs\x91\x41"),
    "an old Office file (.doc, .xls)": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64),
    "a serialized CAS (Java)": b"\xac\xed\x00\x05sr\x00",
    "an SQLite database": b"SQLite format 3\0" + bytes(64),
    "a picture (PNG)": b"\x89PNG\r\n\x1a\n",
}


READ = {"a Parquet file", "a spaCy DocBin"}  # which content alone tells, where the name does not say otherwise


@pytest.mark.parametrize(
    ("what", "name"),
    [(what, name) for what in FOREIGN for name in NAMES if what not in READ or name in NAMES[1:3]],
)
def test_what_is_no_text_is_called_by_its_name(what: str, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read(io.BytesIO(FOREIGN[what]), name=name)
    message = str(caught.value)
    assert message.startswith(f"{name}: this is {what}. ")
    assert "Latin-1" not in message
    assert "column" not in message


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b'<?xml version="1.0"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n\t<p>Ann</p>\n</TEI>', "a TEI document"),
        (b"<!DOCTYPE html>\n<html><body>Ann</body></html>", "a web page"),
        (b"<note><to>Ann</to></note>", "an XML file with the root element <note>"),
        (b"<GateDocument>\n<TextWithNodes>Ann</TextWithNodes></GateDocument>", "a GATE document"),
    ],
)
def test_markup_is_called_by_its_root_element(data: bytes, what: str) -> None:
    with pytest.raises(InputError, match=f"x: this is {what}"):
        read(io.BytesIO(data), name="x")


@pytest.mark.parametrize("file", ["gold.vrt", "gold.conll", "tab.json"])
def test_what_is_packed_by_gzip_is_read_as_what_it_holds(file: str, tmp_path: Path) -> None:
    path = tmp_path / f"{file}.gz"
    path.write_bytes(gzip.compress((FIXTURES / file).read_bytes()))
    plain, packed = read(FIXTURES / file), read(path)
    assert packed.source.sha256 == plain.source.sha256
    assert packed.source.format == plain.source.format
    assert packed.corpus.doc_ids == plain.corpus.doc_ids


def test_gzip_that_is_cut_damaged_or_a_bomb_is_refused() -> None:
    sound = gzip.compress(b"Ann\tB-PER\n" * 1000)
    with pytest.raises(InputError, match="the gzip file is cut off"):
        read(io.BytesIO(sound[:-20]), name="x.vrt.gz")
    broken = sound[:15] + b"\xff\xff\xff\xff" + sound[19:]
    with pytest.raises(InputError, match=r"the gzip file is (damaged|cut off)"):
        read(io.BytesIO(broken), name="x.vrt.gz")
    with pytest.raises(InputError, match="unpacks to more than"):
        read(io.BytesIO(gzip.compress(bytes(100_000_000))), name="x.vrt.gz")
