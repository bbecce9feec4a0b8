"""What a file is that no reader of text takes: told by its first bytes or its root element, and what to do."""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.archives import BROKEN

GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
PARQUET = b"PAR1"
_ROOM = 64 * 1024 * 1024  # that any compressed file may unpack to
_MOST_RATIO = 200
_MOST_BYTES = 4 * 1024 * 1024 * 1024
_STEP = 1 << 20
_NAMED = 3  # members of an archive that a message names

_SAVE_TEXT = "Save its text in one of the formats that are read"
_STARTS = (
    (b"%PDF", "a PDF", "Give the annotations, not the printed page"),
    (PARQUET, "a Parquet file", "Name it .parquet, or give --format parquet"),
    (b"ARROW1", "an Arrow (Feather) file", "Save it as Parquet (.parquet)"),
    (b"\xff\xff\xff\xff", "an Arrow stream, as data sets are cached", "Save it as Parquet (.parquet) or JSON Lines"),
    (b"FEA1", "a Feather file", "Save it as Parquet (.parquet)"),
    (
        b"\xac\xed\x00\x05",
        "a serialized CAS (Java)",
        "Export it from INCEpTION as UIMA CAS XMI, CAS JSON or WebAnno TSV",
    ),
    (b"UIMA", "a binary CAS", "Export it from INCEpTION as UIMA CAS XMI, CAS JSON or WebAnno TSV"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (.doc, .xls)", _SAVE_TEXT),
    (b"{\\rtf", "an RTF document", _SAVE_TEXT),
    (b"SQLite format 3\0", "an SQLite database", "Export the annotations from the program that it belongs to"),
    (b"\x89HDF", "an HDF5 file", _SAVE_TEXT),
    (b"\x93NUMPY", "a NumPy array", _SAVE_TEXT),
    (b"\x80\x04\x95", "a Python pickle", "Nobody should load one from others; export JSON Lines instead"),
    (b"\x80\x05\x95", "a Python pickle", "Nobody should load one from others; export JSON Lines instead"),
    (b"\x89PNG", "a picture (PNG)", _SAVE_TEXT),
    (b"\xff\xd8\xff", "a picture (JPEG)", _SAVE_TEXT),
    (b"7z\xbc\xaf", "a 7z archive", "Unpack it first"),
    (b"Rar!", "a RAR archive", "Unpack it first"),
    (b"BZh", "a file packed by bzip2", "Unpack it first"),
    (b"\xfd7zXZ", "a file packed by xz", "Unpack it first"),
    (b"(\xb5/\xfd", "a file packed by zstd", "Unpack it first"),
)
_MEMBERS = (
    ("word/document.xml", "a Word document (.docx)", _SAVE_TEXT),
    ("ppt/presentation.xml", "a presentation (.pptx)", _SAVE_TEXT),
    ("xl/workbook.xml", "a workbook (.xlsx)", "Give --format table if it is a table of spans"),
    ("exportedproject.json", "a project export of INCEpTION", "Name it .zip, or give --format inception"),
    ("content.xml", "an OpenDocument file (.odt, .ods)", _SAVE_TEXT),
)
_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*(?::[\w.-]+)?)[\s/>]")
_ROOTS = {
    "xmi:XMI": ("a UIMA XMI file", "Name it .xmi, or give --format cas"),
    "typeSystemDescription": ("the type system of a UIMA CAS", "Give the .xmi beside it"),
    "TEI": ("a TEI document", "Convert it to .vrt first"),
    "GateDocument": ("a GATE document", "Export it from GATE as brat, or convert it to .vrt"),
    "collection": ("a BioC collection", "Convert it to brat first"),
    "html": ("a web page", _SAVE_TEXT),
}


# Texts that are no columns, by how they begin.
_TEXTS = (
    (re.compile(rb"T\d+\t\S+ \d+ \d+\t"), "what brat keeps in .ann files", "Give the folder of .ann and .txt files"),
    (re.compile(rb"\s*(?:\w+\s*=\s*)?\[\s*\("), "Python code", "Save its list as JSON (json.dump)"),
    (
        re.compile(rb"[^\n]*\bannotation_id,[^\n]*,label,"),
        "a CSV export of Label Studio",
        "Export JSON or JSON-MIN instead",
    ),
)


def text_kind(head: bytes) -> tuple[str, str] | None:
    """What a text is that has no columns of tokens, and what to do about it; None where it may have.

    >>> text_kind(b"TRAIN_DATA = [('Mira kam.', {'entities': []})]")
    ('Python code', 'Save its list as JSON (json.dump)')
    """
    return next(((what, remedy) for start, what, remedy in _TEXTS if start.match(head)), None)


def unpack_gzip(data: bytes, name: str) -> bytes:
    """The content of a gzip file, under limits: a few kilobytes have no business with gigabytes."""
    most = min(_MOST_BYTES, _ROOM + _MOST_RATIO * len(data))
    found, size, rest = [], 0, data
    try:
        while rest.startswith(GZIP):  # a file may be several, one behind the other
            unpacker = zlib.decompressobj(31)
            while not unpacker.eof:
                piece = unpacker.decompress(rest, _STEP)
                size += len(piece)
                if size > most:
                    raise InputError(
                        f"{name}: unpacks to more than {most / 1e6:,.0f} MB, which is too much for a packed file of "
                        f"{len(data) / 1e6:,.2f} MB. Unpack it yourself if you trust it."
                    )
                found.append(piece)
                rest = unpacker.unconsumed_tail
                if not piece and not rest:
                    break
            if not unpacker.eof:
                raise InputError(f"{name}: the gzip file is cut off. Copy it again.")
            rest = unpacker.unused_data
    except zlib.error as error:
        raise InputError(f"{name}: the gzip file is damaged ({error}). Copy it again.") from None
    content = b"".join(found)
    if content[257:262] == b"ustar":
        raise InputError(f"{name}: this is a tar archive. Unpack it, and give a file or folder of it.")
    return content


def binary_kind(data: bytes) -> tuple[str, str] | None:
    """What a file is that holds no text, and what to do about it; None for text.

    >>> binary_kind(b"%PDF-1.7")
    ('a PDF', 'Give the annotations, not the printed page')
    """
    if data.startswith(ZIP):
        return _archive_kind(data)
    for start, kind, remedy in _STARTS:
        if data.startswith(start):
            return kind, remedy
    if looks_like_docbin(data):
        return "a spaCy DocBin", "Name it .spacy, or give --format docbin"
    return None


def looks_like_docbin(data: bytes) -> bool:
    """Whether packed bytes begin as spaCy's do: a map of MessagePack with the key `version` or `attrs`."""
    if data[:1] != b"\x78":
        return False
    try:
        head = zlib.decompressobj().decompress(data[:4096], 200)
    except zlib.error:
        return False
    return head[:1] >= b"\x80" and any(key in head for key in (b"version", b"attrs", b"spaces", b"tokens"))


def _archive_kind(data: bytes) -> tuple[str, str]:
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except BROKEN:
        return "a damaged ZIP archive", "Copy it again"
    for member, kind, remedy in _MEMBERS:
        if any(name == member or name.endswith(f"/{member}") for name in names):
            return kind, remedy
    shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return f"a ZIP archive of {len(names)} files ({shown})", "Unpack it, and give a file or folder of it"


def root_element(head: bytes) -> str | None:
    """The name of the first element of an XML file; None where there is none.

    >>> root_element(b'<?xml version="1.0"?><!-- x --><TEI xmlns="u">')
    'TEI'
    """
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith(b"<"):
        return None
    text = re.sub(rb"<!--.*?-->|<\?.*?\?>|<![A-Za-z][^>]*>", b"", text, flags=re.DOTALL)
    found = _ROOT.match(text.lstrip())
    return found[1].decode("utf-8", "replace") if found else None


def xml_kind(root: str) -> tuple[str, str]:
    """What an XML file with this root element is, and what to do about it."""
    unknown = (f"an XML file with the root element <{root}>", "Convert it to one of the formats that are read")
    return _ROOTS.get(root, _ROOTS.get(root.rpartition(":")[2], unknown))


def refusal(name: str, kind: tuple[str, str]) -> InputError:
    """The refusal of a file, in one sentence that says what it is."""
    what, remedy = kind
    return InputError(f"{name}: this is {what}. {remedy}.")
