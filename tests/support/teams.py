"""What the tests of teams share: workbooks filled in without a spreadsheet, unpacked, and searched for words."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import openpyxl

from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.manifest import Manifest
from clueval_xlsx.review.reading import read_manifest
from tests.support.workbooks import HEADER_ROW, TABS, headers

EXAMPLE = ("gold.vrt", "pred.vrt")
_INPUTS = {"code": "Judgement", "correct_span": "Correct span", "severity": "Severity", "comment": "Comment"}


def fill(path: Path, answers: Mapping[str, Judgement | str], target: Path | None = None) -> Path:
    """Fill answers (codes) into a workbook; cases that are not in it are left out."""
    book = openpyxl.load_workbook(path)
    for sheet in book.worksheets:
        names = headers(sheet)
        if "Judgement" not in names or "Case ID" not in names:
            continue
        for row in range(HEADER_ROW + 1, sheet.max_row + 1):
            answer = answers.get(str(sheet.cell(row, names.index("Case ID") + 1).value))
            if answer is None:
                continue
            given = Judgement(answer) if isinstance(answer, str) else answer
            for field, header in _INPUTS.items():
                if getattr(given, field):
                    sheet.cell(row, names.index(header) + 1, getattr(given, field))
    book.save(target or path)
    return target or path


def cases_of(source: Path | bytes, password: str | None = None) -> dict[str, list[str]]:
    """The case IDs of each review sheet, by the letters that they begin with."""
    data = source.read_bytes() if isinstance(source, Path) else source
    found = {}
    for table in read_workbook(data, "book", password).sheets:
        for number, row in enumerate(table.rows[:10]):
            if "Case ID" in row and "Judgement" in row:
                column = list(row).index("Case ID")
                kind = next((kind for kind, name in TABS.items() if name == table.name), table.name)
                found[kind] = [line[column] for line in table.rows[number + 1 :] if str(line[column])[2:3] == "-"]
    return found


def all_cases(source: Path | bytes, password: str | None = None) -> set[str]:
    """All case IDs of a workbook."""
    return {case for cases in cases_of(source, password).values() for case in cases}


def manifest(source: Path | bytes, password: str | None = None) -> Manifest:
    """The manifest of a workbook."""
    data = source.read_bytes() if isinstance(source, Path) else source
    found = read_manifest(read_workbook(data, "book", password).sheets, "book")
    assert found is not None
    return found


def everything_in(data: bytes) -> str:
    """All bytes of a file as text: as they are, unzipped if it is a package, what is packed in a manifest unpacked."""
    pieces = [data]
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            pieces += [name.encode() for name in package.namelist()] + [
                package.read(name) for name in package.namelist()
            ]
    found = "\n".join(piece.decode("utf-8", "replace") + piece.decode("utf-16-le", "replace") for piece in pieces)
    unescaped = found.replace("&amp;", "&").replace("&quot;", '"').replace("\\u0020", " ")
    packed = [
        base64.b64decode(text + "=" * (-len(text) % 4))
        for text in re.findall(r"\b(e[JN][A-Za-z0-9+/]{20,})", unescaped)
    ]
    inside = "\n".join(map(_unpacked, packed))
    return "\n".join((unescaped, _plain_escapes(unescaped), inside))


def _unpacked(data: bytes) -> str:
    """What is packed; nothing, if random bytes of an encrypted file only look like it."""
    try:
        return zlib.decompressobj().decompress(data).decode("utf-8", "replace")
    except zlib.error:
        return ""


def _plain_escapes(text: str) -> str:
    return re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code.group(1), 16)), text)


def log_lines(path: Path) -> list[dict]:
    """The lines of a judgement log."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
