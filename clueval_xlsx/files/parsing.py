"""The process that parses one workbook: a line of JSON and the file on standard input, the workbook on standard output.

It runs under limits of memory and processor time that grow with the file: real workbooks shrink to a tenth or a
thirtieth, and one that unfolds to a thousand times its size gets no more for that. No formula is ever evaluated.
"""

from __future__ import annotations

import contextlib
import io
import json
import posixpath
import re
import signal
import sys
from collections.abc import Iterator
from html import unescape
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import msgspec

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.archives import Archive, repacked
from clueval_xlsx.files.sheets import MergedRange, Place, SheetTable, Workbook, cell_name, cell_text
from clueval_xlsx.files.workbooks import REFUSED

_SECONDS, _SECONDS_PER_BYTE, _SECONDS_TO_DECRYPT = 0.7, 4e-6, 3.0  # of the processor
_MEMORY, _MEMORY_PER_BYTE, _MOST_MEMORY = 256 << 20, 100, 4 << 30  # bytes beyond what the process has at its start
_ANSWER, _ANSWER_PER_BYTE = 16 << 20, 200
_UNPACKED, _UNPACKED_PER_BYTE = 8 << 20, 100
_MOST_SHEETS, _LONGEST_NAMES = 1_000, 100_000
_EMPTY, _EMPTY_PER_CELL = 2_000_000, 40  # empty cells that may lie around all cells, and around each beyond that

_PLAIN = frozenset({str, float, bool, int})
_SHOWN, _LONGEST_NOTE = 200, 32_767
_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_FAR = re.compile(rb' r="([A-Z]{3}[0-9]{1,7}|[A-Z]{1,3}[0-9]{6,7})"')
_FIRST_CELL = re.compile(rb"<([\w.-]{1,40}:)?c\s")
_CELL_NAME = re.compile(rb'\sr="([^"]{1,12})"')
_LONGEST_CELL = 1 << 15  # bytes of markup of a cell with a formula
_SAVED = re.compile(rb"<(?:dcterms:modified|dc:date)(?:\s[^<>]{0,200})?>\s{0,9}([0-9][0-9T:.+Z-]{9,40})\s{0,9}<")
# White space before a table's parts or a paragraph means nothing, and Gnumeric and SheetJS write it; a parser takes it
# for text, which it is inside a paragraph.
_INDENT = re.compile(rb">[ \t\r\n]+(?=</?(?:table|office):|<text:p[ />])")
_TAB = re.compile(rb"<text:(?:tab|line-break)\s*/>")  # a parser passes over it
_OFFICE, _TABLE, _TEXT, _CALC = (
    "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}",
    "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}",
    "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}",
    "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}",
)
_CELLS = {f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"}


def main() -> None:
    """Answer with the workbook, or with the reason for a refusal; whatever else ends this process is a limit."""
    request = json.loads(sys.stdin.buffer.readline())
    data, name = sys.stdin.buffer.read(), request["name"]
    try:
        if request["password"] is not None:
            _limit(_SECONDS_TO_DECRYPT, len(data))
            data = decrypt(data, name, request["password"])
        _limit(_SECONDS + _SECONDS_PER_BYTE * len(data), len(data))
        answer, code = msgspec.msgpack.encode(parse(data, name)), 0
    except InputError as error:
        answer, code = str(error).encode("utf-8", "replace"), REFUSED
    if len(answer) > _ANSWER + _ANSWER_PER_BYTE * len(data):
        raise MemoryError
    _limit(0, None)
    sys.stdout.buffer.write(answer)
    sys.exit(code)


def _limit(seconds: float, size: int | None) -> None:
    """Limit processor time from now on (0 lifts it), and memory for a file of a size, where the system knows limits."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)  # ends the process by SIGPROF
    if size is None:
        return
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        with open("/proc/self/statm", "rb") as stream:  # noqa: PTH123 - no path is worth a module here
            in_use = int(stream.read().split()[0]) * resource.getpagesize()
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = in_use + min(_MEMORY + _MEMORY_PER_BYTE * size, _MOST_MEMORY)
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))


def parse(data: bytes, name: str) -> Workbook:
    """A workbook; `name` is for messages."""
    archive = Archive(data, name, _UNPACKED + _UNPACKED_PER_BYTE * len(data))
    parts = {}
    for member in archive.names:
        if member.casefold().endswith((".xml", ".rels")):
            parts[member.casefold()] = archive.read(member)
            check_markup(parts[member.casefold()], f"{name}, {member}")
            if member.casefold() == "content.xml":
                plain = _TAB.sub(b"<text:s/>", _INDENT.sub(b">", parts["content.xml"]))
                data = data if plain == parts["content.xml"] else repacked(data, {member: plain})
    try:
        return Workbook(tuple(_sheets(data, parts, name)), _saved(parts))
    except BaseException as error:  # a panic of the parser is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError | InputError):
            raise
        raise InputError(
            f"{name}: the workbook cannot be read ({str(error)[:200] or type(error).__name__}). "
            "Open it in Excel or LibreOffice, save it, and try again."
        ) from None


def check_markup(content: bytes, where: str) -> None:
    """Refuse XML that is not well-formed, of which a kinder parser would read a part, or that brings entities along."""

    def declared(*_: object) -> None:
        raise InputError(
            f"{where}: found a DOCTYPE, which no spreadsheet writes and which can harm. The file is refused; ask for "
            "it again, as Excel, LibreOffice or Google Sheets saves it."
        )

    parser = expat.ParserCreate("utf-8")  # whatever the part says of itself: a parser of cells reads nothing else
    parser.StartDoctypeDeclHandler = declared
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(
            f"{where}: found XML that is not well-formed ({error}). Open the file in Excel or LibreOffice, save it, "
            "and send that."
        ) from None


def _sheets(data: bytes, parts: dict[str, bytes], name: str) -> Iterator[SheetTable]:
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    sheets = [sheet for sheet in book.sheets_metadata if _ends_with(sheet.typ, "worksheet")]
    _check_names(book.sheet_names, name)
    markup = _ods_markup(parts["content.xml"]) if "content.xml" in parts else _xlsx_markup(parts, name)
    for sheet in sheets:
        valueless, notes, merged = markup.get(sheet.name, ({}, {}, []))
        table = book.get_sheet_by_name(sheet.name)
        merged += [MergedRange(*first, *last) for first, last in table.merged_cell_ranges or ()]
        rows: list[list[Any]] = [*table.to_python(skip_empty_area=False)]
        for number, row in enumerate(rows):
            if not _PLAIN.issuperset(map(type, row)):
                rows[number] = [cell if type(cell) in _PLAIN else cell_text(cell) for cell in row]
        yield SheetTable(sheet.name, rows, tuple(merged), valueless, notes, _ends_with(sheet.visible, "hidden"))


def _ends_with(member: Any, words: str) -> bool:
    """Whether a member of one of the parser's enums is of a kind; `VeryHidden` is hidden, too."""
    return getattr(member, "name", str(member)).casefold().endswith(words)


def _check_names(names: list[str], name: str) -> None:
    """Sheets are found by their names: of two that share one, the first would be read twice and the other never."""
    if len(names) > _MOST_SHEETS or sum(map(len, names)) > _LONGEST_NAMES:
        raise InputError(
            f"{name}: found {len(names):,} sheets, whose names have {sum(map(len, names)):,} characters. Allowed: "
            f"{_MOST_SHEETS:,} sheets and {_LONGEST_NAMES:,} characters. Ask for the file again."
        )
    twice = next((sheet for number, sheet in enumerate(names) if sheet in names[:number]), None)
    if twice is not None:
        raise InputError(f"{name}: found two sheets named {twice[:40]!r}. Allowed: a name for each. Rename one.")


def _saved(parts: dict[str, bytes]) -> str:
    """When the workbook was saved, as its own properties have it."""
    match = _SAVED.search(parts.get("docprops/core.xml", parts.get("meta.xml", b"")))
    return match[1].decode("ascii") if match else ""


# ---- what the parser does not show: errors, formulas without a value, notes, and merged cells of an .ods

_Markup = tuple[dict[Place, str], dict[Place, str], list[MergedRange]]


def _xlsx_markup(parts: dict[str, bytes], name: str) -> dict[str, _Markup]:
    """Valueless cells and notes of each worksheet, by its name."""
    targets = {link.get("Id"): link.get("Target", "") for link in _links(parts, "xl/workbook.xml")}
    found: dict[str, _Markup] = {}
    for sheet in ElementTree.fromstring(parts["xl/workbook.xml"]).iterfind(".//{*}sheet"):
        key = next((value for attribute, value in sheet.items() if attribute.endswith("}id")), None)
        part = _target("xl/workbook.xml", targets.get(key, ""))
        title = sheet.get("name", "")
        if part in parts:
            _check_reach(parts[part], f"{name}, sheet {title!r}")
            found[title] = (dict(_valueless(parts[part])), _notes(parts, part), [])
    return found


def _links(parts: dict[str, bytes], part: str) -> ElementTree.Element:
    """The relations of a part to others."""
    folder, file = posixpath.split(part)
    return ElementTree.fromstring(parts.get(f"{folder}/_rels/{file}.rels", b"<none/>"))


def _target(part: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), target)).lstrip("/").casefold()


def _check_reach(content: bytes, where: str) -> None:
    """Refuse a sheet with stray cells far away: to read it would take memory for every empty cell before them."""
    places = [place for reference in set(_FAR.findall(content)) if (place := _place(reference.decode()))]
    if not places:
        return
    last = _place(content[content.rfind(b' r="') + 4 :][:12].partition(b'"')[0].decode("ascii", "replace")) or (0, 0)
    row, column = (max(each) for each in zip(*places, last, strict=True))
    cells = content.count(b"<c ")
    if (row + 1) * (column + 1) > _EMPTY + _EMPTY_PER_CELL * cells:
        raise InputError(
            f"{where}: the sheet reaches to cell {cell_name(row, column)}, but has {cells:,} cells. Delete the stray "
            "cells far right or far below, and save again."
        )


def _place(reference: str) -> Place | None:
    """Row and column of a cell, by its name."""
    match = _REFERENCE.fullmatch(reference.strip())
    if match is None:
        return None
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - 64
    return int(match[2]) - 1, column - 1


def _valueless(content: bytes) -> Iterator[tuple[Place, str]]:
    """The cells of an `.xlsx` sheet that hold an error, or a formula and no value: what the error or formula is."""
    first = _FIRST_CELL.search(content)
    if first is None:
        return
    prefix = first[1] or b""
    begin, close = b"<%sc " % prefix, b"</%sc>" % prefix
    cells: list[tuple[int, int]] = []
    for formula in (rb"</%sf>", rb"<%sf\b[^<>]*/>"):  # a shared formula is an empty element that names another one
        no_value = (formula + rb"\s*(?:<%sv\s*/>|<%sv></%sv>)?\s*</%sc>") % ((prefix,) * 5)
        for match in re.finditer(no_value, content):
            cells.append((content.rfind(begin, max(match.start() - _LONGEST_CELL, 0), match.start()), match.end()))
    if b't="e"' in content:
        for match in re.finditer(begin + rb'[^<>]*\bt="e"[^<>]*>', content):
            end = match.end() if match[0].endswith(b"/>") else content.find(close, match.end())
            cells.append((match.start(), end))
    for start, end in cells:
        tag, _, rest = content[start:end].partition(b">")
        reference, is_error = _CELL_NAME.search(tag), b't="e"' in tag
        empty_text = b't="str"' in tag and b"<%sv" % prefix in rest  # the empty text is a value, too
        if start < 0 or empty_text or reference is None:
            continue
        text = re.search(rb"<(?:[\w.-]{1,40}:)?%s\b[^>]*>([^<]*)<" % (b"v" if is_error else b"f"), rest)
        shown = unescape(text[1].decode("utf-8", "replace"))[:_SHOWN] if text else ""
        if place := _place(reference[1].decode("ascii", "replace")):
            yield place, shown or "an error" if is_error else f"={shown}"


def _notes(parts: dict[str, bytes], part: str) -> dict[Place, str]:
    """The notes of one sheet; of a threaded comment, the note beside it only says so to programs that know no threads.

    The name of the author, with which Excel begins notes, is left out; answers in a thread follow what they answer.
    """
    found: dict[Place, str] = {}
    for kind, note, words in (("/comments", "comment", "t"), ("/threadedcomment", "threadedComment", "text")):
        texts: dict[Place, list[str]] = {}
        for link in _links(parts, part):
            content = parts.get(_target(part, link.get("Target", "")))
            if content is None or not link.get("Type", "").casefold().endswith(kind):
                continue
            root = ElementTree.fromstring(content)
            authors = [(author.text or "").strip() for author in root.iterfind(".//{*}author")]
            for element in root.iterfind(f".//{{*}}{note}"):
                text = "".join(piece.text or "" for piece in element.iterfind(f".//{{*}}{words}"))
                number = element.get("authorId", "")
                if number.isdecimal() and int(number) < len(authors) and authors[int(number)]:
                    text = text.removeprefix(f"{authors[int(number)]}:")
                place = _place(element.get("ref", ""))
                if place is not None and text.strip():
                    texts.setdefault(place, []).append(" ".join(text.split()))
        found |= {place: " / ".join(several)[:_LONGEST_NOTE] for place, several in texts.items()}
    return found


def _ods_markup(content: bytes) -> dict[str, _Markup]:
    """Valueless cells, notes and merged cells of each sheet of an `.ods`, by its name."""
    found: dict[str, _Markup] = {}
    row = column = depth = 0
    for event, element in ElementTree.iterparse(io.BytesIO(content), ("start", "end")):
        if event == "start":
            if element.tag == f"{_TABLE}table":
                depth, row = depth + 1, 0
                markup = found.setdefault(element.get(f"{_TABLE}name", ""), ({}, {}, []))
            elif element.tag == f"{_TABLE}table-row":
                column = 0
        elif element.tag == f"{_TABLE}table":
            depth -= 1
        elif depth == 1 and element.tag == f"{_TABLE}table-row":
            row += _number(element, "number-rows-repeated")
            element.clear()
        elif depth == 1 and element.tag in _CELLS:
            _look_at(element, (row, column), markup)
            column += _number(element, "number-columns-repeated")
    return found


def _look_at(element: ElementTree.Element, place: Place, markup: _Markup) -> None:
    """Write down what is unusual about one cell of an `.ods`."""
    valueless, notes, merged = markup
    rows, columns = _number(element, "number-rows-spanned"), _number(element, "number-columns-spanned")
    if rows > 1 or columns > 1:
        merged.append(MergedRange(*place, place[0] + rows - 1, place[1] + columns - 1))
    for note in element.findall(f"{_OFFICE}annotation"):
        text = " ".join(" ".join(part.itertext()) for part in note.findall(f"{_TEXT}p"))
        if text.strip():
            notes[place] = " ".join(text.split())
    formula = element.get(f"{_TABLE}formula", "")
    if element.get(f"{_CALC}value-type") == "error":
        shown = "".join("".join(part.itertext()) for part in element.findall(f"{_TEXT}p"))
        valueless[place] = shown[:_SHOWN] or "an error"
    elif formula and not element.get(f"{_OFFICE}value-type"):
        valueless[place] = formula[:_SHOWN]


def _number(element: ElementTree.Element, name: str) -> int:
    return int(element.get(f"{_TABLE}{name}", "1"))


# ---- encrypted workbooks

_MOST_ROUNDS = 400_000  # of hashing that a file may ask for; Excel writes 100,000
_AGILE = b"\x04\x00\x04\x00"  # older ways of encrypting hash a fixed number of times
_ROUNDS = re.compile(rb"""spinCount\s*=\s*["']([^"']*)""")
_MOST_SETTINGS = 1 << 16


def decrypt(data: bytes, name: str, password: str) -> bytes:
    """The bytes of the workbook inside an encrypted container, once its settings were looked at."""
    import msoffcrypto
    import olefile
    from msoffcrypto.exceptions import InvalidKeyError

    opened = io.BytesIO()
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            settings = container.openstream("EncryptionInfo").read(_MOST_SETTINGS)
        if settings.startswith(_AGILE):
            check_markup(settings[8:], f"{name}, EncryptionInfo")
            for rounds in _ROUNDS.findall(settings):
                if not rounds.isdigit() or int(rounds) > _MOST_ROUNDS:
                    raise InputError(
                        f"{name}: the encryption asks for {rounds[:40]!r} rounds of hashing. Allowed: up to "
                        f"{_MOST_ROUNDS:,} rounds; Excel asks for 100,000. The file is refused; save it anew."
                    )
        office = msoffcrypto.OfficeFile(io.BytesIO(data))
        office.load_key(password=password, verify_password=True)
        office.decrypt(opened)
    except (InputError, MemoryError):
        raise
    except InvalidKeyError:
        raise InputError(f"{name}: the password does not fit. Ask for the one the workbook was saved with.") from None
    except Exception as error:  # the container is parsed by code that trusts it
        raise InputError(
            f"{name}: the workbook cannot be decrypted ({str(error)[:200] or type(error).__name__}). Ask for it again, "
            "or for one without a password."
        ) from None
    return opened.getvalue()
