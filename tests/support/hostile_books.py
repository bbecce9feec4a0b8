"""Workbooks that mean harm, by kind; `python -m tests.support.hostile_books [STEP]` measures what each costs.

For every workbook it prints a JSON line: kind, number, bytes, processor seconds and megabytes that the parsing process
took beyond what an honest small workbook takes, and the message of the refusal. With a step, one of every so
many kinds.
"""

from __future__ import annotations

import io
import json
import os
import resource
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from random import Random

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.workbooks import encrypt, read_workbook
from tests.support.handmade_books import (
    BOOK,
    ENTRY,
    LINK,
    LINKS,
    ROW,
    SHEET,
    archive,
    cell,
    filled,
    ods,
    xlsx,
    xlsx_parts,
)  # fmt: skip

PASSWORD = "apfel"
MANY = 4_000_000_000
BOMB = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
_TABLE = '<table:table table:name="FN">{rows}</table:table>'
_ODS_ROW = "<table:table-row{repeat}>{cells}</table:table-row>"
_ODS_CELL = '<table:table-cell office:value-type="string"{more}><text:p>{text}</text:p></table:table-cell>'
KINDS: dict[str, Callable[[], Iterator[bytes]]] = {}


def kind(name: str) -> Callable[[Callable[[], Iterator[bytes]]], Callable[[], Iterator[bytes]]]:
    """Add a kind of workbook to the list."""

    def add(make: Callable[[], Iterator[bytes]]) -> Callable[[], Iterator[bytes]]:
        KINDS[name] = make
        return make

    return add


def sheet(cells: str, strings: str | None = None) -> bytes:
    return xlsx(SHEET.format(rows=ROW.format(cells=cells)), strings)


def several(content: str, count: int, **more: str | bytes) -> bytes:
    """A workbook of several sheets that are alike."""
    return archive(xlsx_parts([(f"S{number}", content) for number in range(1, count + 1)], **more))


# ---- cells and rows -------------------------------------------------------------------------------------------------


@kind("a cell far away in a large sheet")
def _far_in_a_large_sheet() -> Iterator[bytes]:
    rows = "".join(ROW.replace("1", str(n)).format(cells=cell(f"A{n}", "text " * 20)) for n in range(1, 8000))
    yield xlsx(SHEET.format(rows=rows + f'<row r="1048576">{cell("XFD1048576")}</row>'))
    yield xlsx(SHEET.format(rows=rows + '<row  r="1048576"><c  r="XFD1048576"/></row>'))


@kind("a name that is no cell's")
def _no_name() -> Iterator[bytes]:
    for name in ("A0", "A99999999999", "AAAA1", "", "-1", "1A", "XFE1", "A1048577", "Ä1", "A1:B2", "R1C1"):
        yield sheet(cell("A1") + cell(name))


@kind("an attribute given twice")
def _twice() -> Iterator[bytes]:
    yield sheet('<c r="A1" r="XFD1048576"><v>1</v></c>')
    yield sheet('<c r="XFD1048576" r="A1"><v>1</v></c>')


@kind("a row number without cell references")
def _rows_alone() -> Iterator[bytes]:
    for number in (str(MANY), "1048577", "+5", "0x10", "-1", "99999999999999999999", "1e9", ""):
        yield xlsx(SHEET.format(rows=f'<row r="{number}"><c><v>1</v></c></row>'))
    yield xlsx(SHEET.format(rows='<row r="1048576"><c><v>1</v></c><c><v>1</v></c><c><v>1</v></c></row>'))


@kind("two sheets of one name")
def _one_name() -> Iterator[bytes]:
    content = SHEET.format(rows=ROW.format(cells=cell("A1")))
    parts = xlsx_parts([("S", content), ("T", content)])
    yield archive({**parts, "xl/workbook.xml": str(parts["xl/workbook.xml"]).replace('"T"', '"&#83;"')})
    yield ods(filled(1, 1) * 2)


@kind("the name of a sheet without end")
def _long_name() -> Iterator[bytes]:
    yield xlsx(SHEET.format(rows=""), book=BOOK.replace('"FN"', f'"{"N" * 1_000_000}"'))
    yield ods(filled(1, 1).replace('"FN"', f'"{"N" * 1_000_000}"'))


@kind("elements nested without end")
def _deep() -> Iterator[bytes]:
    deep = "<x>" * 50_000 + "</x>" * 50_000
    yield xlsx(SHEET.format(rows=deep))
    yield sheet(cell("A1"), f"<sst>{deep}</sst>")
    yield xlsx(SHEET.format(rows=""), book=BOOK.replace("<sheets>", deep + "<sheets>"))
    yield ods(deep)


@kind("tags that are never closed")
def _unclosed() -> Iterator[bytes]:
    yield xlsx(SHEET.format(rows="<row>" * 40_000))
    yield xlsx(SHEET.format(rows="<c " * 100_000))
    yield xlsx(SHEET.format(rows="<!--" * 100_000))
    yield ods("<table:table>" * 40_000)
    yield ods("<table:table-row " * 40_000)


# ---- strings --------------------------------------------------------------------------------------------------------


@kind("more shared strings than there are")
def _unique_count() -> Iterator[bytes]:
    claims = (
        f'uniqueCount="{MANY}"', f"uniqueCount='{MANY}'", f'uniqueCount = "{MANY}"', 'uniqueCount="+4000000000"',
        'uniqueCount="&#52;000000000"', 'uniqueCount="18446744073709551615"', 'uniqueCount="-1"',
        f'a="uniqueCount=&quot;1&quot;" uniqueCount="{MANY}"',
    )  # fmt: skip
    for claim in claims:
        yield sheet('<c r="A1" t="s"><v>0</v></c>', f"<sst {claim}><si><t>x</t></si></sst>")


def echo(value: str, count: int = 2000, strings: str = "") -> bytes:
    text = strings or f"<sst><si><t>{'x' * 1_000_000}</t></si></sst>"
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="s">{value}</c></row>' for n in range(1, count + 1))
    return xlsx(SHEET.format(rows=rows), text)


@kind("a long string in every cell of a large sheet")
def _large_echo() -> Iterator[bytes]:
    yield echo("<v>0</v>", 40_000)


# ---- parts ----------------------------------------------------------------------------------------------------------


@kind("many sheets, one part")
def _one_part() -> Iterator[bytes]:
    content = SHEET.format(rows=ROW.format(cells=cell("A1", "x" * 5000)))
    parts = xlsx_parts([(f"S{n}", "") for n in range(1, 3001)], **{"xl/worksheets/a.xml": content})
    parts = {name: part for name, part in parts.items() if part}
    for targets in (
        ["worksheets/a.xml"],
        ["/xl/worksheets/a.xml", "worksheets/a.xml"],
        ["./worksheets/../worksheets/A.xml"],
    ):
        links = "".join(LINK.format(number=n, target=targets[n % len(targets)]) for n in range(1, 3001))
        yield archive({**parts, "xl/_rels/workbook.xml.rels": LINKS.format(links=links)})
    links = LINKS.format(links=LINK.format(number=1, target="worksheets/a.xml"))
    parts["xl/workbook.xml"] = BOOK.replace(ENTRY, ENTRY * 3000)
    yield archive({**parts, "xl/_rels/workbook.xml.rels": links})


def padded(before: bytes, after: bytes, filling: bytes, blocks: int) -> tuple[int, int, bytes]:
    """A part with blocks of 8 MB of one byte in it: size, checksum, packed bytes. The block is packed only once."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = filling * (1 << 23)
    packed = [packer.compress(before) + packer.flush(zlib.Z_FULL_FLUSH)]
    packed += [packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)] * blocks
    packed += [packer.compress(after) + packer.flush()]
    check = zlib.crc32(before)
    for _ in range(blocks):
        check = zlib.crc32(block, check)
    return len(before) + blocks * len(block) + len(after), zlib.crc32(after, check), b"".join(packed)


def with_packed(parts: dict[str, str | bytes], packed: dict[str, tuple[int, int, bytes]]) -> bytes:
    """An archive of parts and of others that are packed already."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content)
        for name, (size, check, content) in packed.items():
            entry = zipfile.ZipInfo(name)
            entry.header_offset, entry.compress_type = book.start_dir, zipfile.ZIP_DEFLATED
            entry.file_size, entry.compress_size, entry.CRC = size, len(content), check
            buffer.seek(book.start_dir)
            buffer.write(entry.FileHeader() + content)
            book.start_dir = buffer.tell()
            book.filelist.append(entry)
            book._didModify = True  # type: ignore[attr-defined]
    return buffer.getvalue()


@kind("one part of a gigabyte")
def _gigabyte() -> Iterator[bytes]:
    yield with_packed({"xl/workbook.xml": BOOK}, {"xl/worksheets/sheet1.xml": padded(b"", b"", b"\x00", 128)})


@kind("a list of parts that unpacks to a gigabyte")
def _manifest() -> Iterator[bytes]:
    yield with_packed({"content.xml": BOOK}, {"META-INF/manifest.xml": padded(b"", b"", b" ", 128)})


@kind("a part that is there twice")
def _two_parts() -> Iterator[bytes]:
    yield archive({"xl/workbook.xml": BOOK, "XL/WORKBOOK.XML": BOOK})
    yield archive({"content.xml": "<x/>", "Content.xml": "<x/>"})


@kind("entities")
def _entities() -> Iterator[bytes]:
    yield xlsx(BOMB + SHEET.format(rows=""))
    yield xlsx(SHEET.format(rows=""), book=BOMB + BOOK)
    yield xlsx(SHEET.format(rows=""), strings=BOMB + "<sst/>")
    yield ods("<!DOCTYPE a>")
    yield ods(filled(1, 1)).replace(b"mimetype", b"mimetypf")[:-1]
    laughs = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    yield xlsx(f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{laughs}]>' + SHEET.format(rows=ROW.format(cells="&j;")))


@kind("XML that is not well-formed")
def _broken_xml() -> Iterator[bytes]:
    yield xlsx(SHEET.format(rows=ROW.format(cells="<c r=A1/>")))
    yield xlsx(SHEET.format(rows=ROW.format(cells='<c r="A1"')))
    yield xlsx(SHEET.format(rows="</sheetData></worksheet></worksheet>"))
    yield xlsx(SHEET.format(rows=""), book=BOOK[:-3])
    yield xlsx(SHEET.format(rows="\x00"))
    yield xlsx("")
    yield ods("<table:table></table:tabel>")


# ---- OpenDocument ---------------------------------------------------------------------------------------------------


def ods_row(cells: str, repeat: str = "") -> str:
    return _ODS_ROW.format(cells=cells, repeat=repeat)


def ods_cell(more: str = "", text: str = "x") -> str:
    return _ODS_CELL.format(more=more, text=text)


@kind("repeated cells of an .ods")
def _repeated() -> Iterator[bytes]:
    yield ods(filled(16384, 1048576))
    yield ods(filled(1, 99999999999))
    yield ods(filled(3_000_000, 1))
    many = "".join(ods_row(ods_cell(' table:number-columns-repeated="16384"')) for _ in range(3000))
    yield ods(_TABLE.format(rows=many))


@kind("repetitions given twice")
def _repeated_twice() -> Iterator[bytes]:
    twice = ' table:number-columns-repeated="1" table:number-columns-repeated="1000000000"'
    yield ods(_TABLE.format(rows=ods_row(ods_cell(twice))))
    yield ods(_TABLE.format(rows=ods_row(ods_cell(), twice.replace("columns", "rows"))))


@kind("sheets of an .ods that are too many together")
def _many_tables() -> Iterator[bytes]:
    yield ods(filled(1400, 1400) * 40)


# ---- encryption -----------------------------------------------------------------------------------------------------


@cache
def encrypted() -> bytes:
    """An honest encrypted workbook. What is smaller than a sector of its container, the library cannot read back."""
    random = "".join(map(chr, Random(1).choices(range(0x4E00, 0x9F00), k=4000)))
    return encrypt(sheet(cell("A1", random)), PASSWORD)


def with_settings(change: Callable[[bytes], bytes]) -> bytes:
    """An encrypted workbook whose settings are others, in as many bytes."""
    data = encrypted()
    begin = data.index(b"<?xml")
    end = data.index(b"</encryption>") + len(b"</encryption>")
    old = data[begin:end]
    new = change(old)
    if len(new) > len(old):
        new = new[new.index(b"?>") + 2 :].lstrip()
    assert len(new) <= len(old), (len(new), len(old))
    return data[:begin] + new + b" " * (len(old) - len(new)) + data[end:]


@kind("a password that is hashed without end")
def _spins() -> Iterator[bytes]:
    for spins in (
        b'spinCount="999999999"', b"spinCount='999999999'", b'spinCount = "999999999"', b'spinCount\n="999999999"',
        b'spinCount="&#57;99999999"', b'spinCount="&#x39;99999999"', b'spinCount="+99999999"', b'spinCount=" 99999999"',
        b'spinCount="99999999999999999999999"', b'spinCount="1e9"', b'spinCount="-1"', b'spinCount="9_999_999"',
        b'p:spinCount="9999999"', b'spinCount="400001"',
    ):  # fmt: skip
        yield with_settings(lambda old, spins=spins: old.replace(b'spinCount="100000"', spins))


@kind("settings of encryption that bring entities")
def _settings_entities() -> Iterator[bytes]:
    declared = b'<!DOCTYPE a [<!ENTITY n "9">]>'
    yield with_settings(lambda old: declared + old[old.index(b"?>") + 2 :].lstrip())


# ---- other kinds of files -------------------------------------------------------------------------------------------


@kind("an old .xls")
def _xls() -> Iterator[bytes]:
    yield b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)


@kind("an .xlsb")
def _xlsb() -> Iterator[bytes]:
    yield archive({"xl/workbook.bin": b"\x00" * 100, "xl/worksheets/sheet1.bin": b"\x00"})


@kind("an .ods under a password")
def _protected() -> Iterator[bytes]:
    secret = '<m:manifest xmlns:m="u"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    yield archive({"mimetype": "x", "content.xml": os.urandom(100), "META-INF/manifest.xml": secret})
    yield archive({"mimetype": "x", "encrypted-package": os.urandom(100)})


@kind("no archive at all")
def _others() -> Iterator[bytes]:
    yield from (b"", b"<html>", b"a;b\n", b"%PDF-1.7", bytes(100), b"<?xml?>")


def workbooks() -> Iterator[tuple[str, int, bytes]]:
    """All of them: kind, number within it, content."""
    for name, make in KINDS.items():
        for number, data in enumerate(make()):
            yield name, number, data


# ---- what they cost -------------------------------------------------------------------------------------------------


def measure(data: bytes) -> tuple[float, float, str]:
    """Processor seconds of both processes, megabytes of the larger one, and the message of the refusal."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        message = ""
        before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        try:
            read_workbook(data, "hostile", PASSWORD)
        except InputError as error:
            message = str(error)
        own, parser = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        seconds = sum(own[:2]) - before + sum(parser[:2])
        room = max(own.ru_maxrss, parser.ru_maxrss) / 1024
        os.write(writer, json.dumps([seconds, room, message[:1000]]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read()
    os.waitpid(process, 0)
    seconds, megabytes, message = json.loads(answer) if answer else (0.0, 0.0, "ABORTED")
    return seconds, megabytes, message


def main() -> None:
    """Measure all, or the first of every so many kinds."""
    names = list(KINDS)[:: int(sys.argv[1])] if sys.argv[1:] else []
    chosen = ((name, 0, next(KINDS[name]())) for name in names) if names else workbooks()
    seconds, megabytes, _ = min(measure(sheet(cell("A1"))) for _ in range(3))
    print(json.dumps({"kind": "honest", "seconds": seconds, "megabytes": megabytes}), flush=True)
    for name, number, data in chosen:
        took, room, message = measure(data)
        outcome = {"kind": name, "number": number, "bytes": len(data), "seconds": round(took - seconds, 3)}
        print(json.dumps({**outcome, "megabytes": round(room), "message": message}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
