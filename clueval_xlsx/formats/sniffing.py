"""The one sniffer: which format a file or the files of a folder have, and what a file is that no reader takes."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.archives import BROKEN, is_archive
from clueval_xlsx.formats.json_records import key_list, shown
from clueval_xlsx.formats.opened import ANNOTATIONS, TEXT, OpenedSource
from clueval_xlsx.formats.registry import (
    FIELDS_OF_ONE_SIDE,
    FOLDER_FORMAT,
    FORMATS,
    JSON_FORMATS,
    PROJECT_FORMAT,
    TARGET_ENDINGS,
    Format,
    format_named,
    formats_ending,
)
from clueval_xlsx.formats.stored import ZIP, without_gz
from clueval_xlsx.options import ReadOptions

_NAMED = 3  # members of an archive that a message names

_SAVE_TEXT = "Save its text in one of the formats that are read"
PARQUET = b"PAR1"
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
# Records that are known, but not read: their keys, what they are, and what to do.
_FOREIGN = (
    (
        ("paragraphs",),
        "JSON as spaCy 2 trained on it",
        "`python -m spacy convert FILE .` makes a .spacy file of it, which is read",
    ),
    (
        ("content", "annotation"),
        "JSON as Dataturks wrote it, whose offsets include the last character",
        "Convert it to text and spans with exclusive ends, or to brat",
    ),
    (
        ("tokenized_text", "ner"),
        "JSON as GLiNER trains on it, whose offsets count tokens",
        "Convert it to tokens and ner_tags",
    ),
    (("sentences", "ner"), "JSON as SciERC and DyGIE have it, whose offsets count tokens", "Convert it to CoNLL"),
    (("sents", "vertexSet"), "JSON as DocRED has it", "Convert it to CoNLL"),
)
_TOKEN_LINE = re.compile(rb"^[^\s<][^\t\n]*\t|^<\t", re.MULTILINE)
_TYPE_SYSTEM = "TypeSystem.xml"  # stands beside CAS files
_PROJECT = re.compile(r"exportedproject\d*\.json")  # older versions put a number behind the name


def find_format(opened: OpenedSource, options: ReadOptions) -> Format:
    """The format of a source: the one asked for, the one of its ending, or the one that its content looks like.

    The files of a folder must be of one format; those that are of it become its `members`.
    """
    if opened.files is None:
        return _format_of_file(opened, options)
    if options.format is None and is_project(list(opened.files)):
        return format_named(PROJECT_FORMAT)
    format_, opened.members = candidates(opened.name, list(opened.files), options)
    if format_ is not None:
        return format_
    told: dict[str, list[str]] = {}
    for name in opened.members:
        own = _format_of_file(opened.part(name), options)
        told.setdefault(own.name, []).append(name)
    if len(told) > 1:
        listed = "; ".join(f"{len(files)} × {format_name} ({files[0]}, …)" for format_name, files in told.items())
        raise InputError(
            f"{opened.name}: files of several formats: {listed}. Allowed: one format. Name it (--format), or give a "
            "glob such as 'FOLDER/*.conll'."
        )
    return format_named(next(iter(told)))


def is_project(names: Sequence[str]) -> bool:
    """Whether these files are those of a whole project of INCEpTION."""
    return any(_PROJECT.fullmatch(PurePosixPath(name).name) for name in names)


def candidates(folder: str, files: Sequence[str], options: ReadOptions) -> tuple[Format | None, list[str]]:
    """The files of a folder that may be of its format, by their names; the format, where that tells it."""
    names = [name for name in files if not PurePosixPath(name).name.startswith((".", _TYPE_SYSTEM))]
    if options.format is not None and not names:
        raise InputError(f"{folder}: there is no file in the folder. Check the path.")
    if options.format is not None:
        format_ = format_named(options.format)
        own = [name for name in names if format_ in formats_ending(without_gz(name))]
        return format_, own or names
    known = [name for name in names if _has_known_ending(without_gz(name))]
    endings = Counter(PurePosixPath(name).suffix.lower() for name in names)
    if endings[ANNOTATIONS] or (endings[TEXT] and not known) or not names:
        return format_named(FOLDER_FORMAT), names
    if not known:
        raise InputError(
            f"{folder}: no file of a known format; the endings are {', '.join(sorted(endings))}. "
            "Name the format (--format)."
        )
    return None, known


def _has_known_ending(name: str) -> bool:
    ending = PurePosixPath(name).suffix.lower()
    return ending not in {TEXT, ANNOTATIONS} and (bool(formats_ending(name)) or ending in TARGET_ENDINGS)


def _format_of_file(opened: OpenedSource, options: ReadOptions) -> Format:
    if options.format is None and opened.looks_like_json:
        asked = _asked(options.fields)
        if asked is not None:
            return asked
    kind = binary_kind(opened.data)
    if options.format is not None:
        format_ = format_named(options.format)
        if kind is not None and not format_.binary:
            raise refusal(opened.name, kind)
        return format_
    told = _told(opened, binary=kind is not None)
    fits = told is not None and told.binary and (is_archive(opened.head) or told.load().tell(opened))
    if kind is not None and not fits:
        raise refusal(opened.name, kind)
    return told or FORMATS[0]


def _asked(fields: Mapping[str, str]) -> Format | None:
    """The format of records whose keys somebody gave: whoever says where spans or tokens stand wants any keys read."""
    if not {"spans", "tokens", "tags"} & set(fields):
        return None
    return format_named("json" if "spans" in fields else "huggingface")


def told_records(opened: OpenedSource, fields: Mapping[str, str]) -> Format | None:
    """The format that records of JSON look like, whatever the name of their file says; None where nothing tells."""
    records = [format_named(name) for name in reversed(JSON_FORMATS)]
    return _asked(fields) or next((each for each in records if each.load().tell(opened)), None)


def _told(opened: OpenedSource, *, binary: bool) -> Format | None:
    """The format of a file's ending, or the one that its content looks like; None where nothing tells."""
    known = formats_ending(opened.name)
    if len(known) == 1:
        return known[0]
    if binary:
        return next((each for each in FORMATS if each.binary and each.load().tell(opened)), None)
    # The last formats of the table are the most particular.
    told = next((each for each in reversed(known or FORMATS) if each.load().tell(opened)), None)
    if told is None and opened.looks_like_json:
        raise InputError(_unknown_json(opened))
    if told is not None and told.columns:  # XML and code only look like columns because nothing else knows them
        kind, root = text_kind(opened.head), root_element(opened.head)
        if kind is None and root is not None and not _TOKEN_LINE.search(opened.head):
            kind = xml_kind(root)
        if kind is not None:
            raise refusal(opened.name, kind)
    return told


def _unknown_json(opened: OpenedSource) -> str:
    """What a JSON file holds that no format knows, and what would read it."""
    expected = "; ".join(f"{format_named(name).sign} ({name})" for name in JSON_FORMATS)
    record = opened.first_record
    if record is None:
        return f"{opened.name}: the list of documents is empty. Check that this is the right file."
    if not isinstance(record, dict):
        place = opened.json_records.place(opened.json_records.content.index(record))
        return f"{opened.name}: {place} is {shown(record)}. Allowed: an object for each document."
    foreign = next((words for keys, *words in _FOREIGN if set(keys) <= set(record)), None)
    if foreign is not None:
        return f"{opened.name}: this is {foreign[0]}. {foreign[1]}."
    return (
        f"{opened.name}: the first document has the keys {key_list(record)}, which no known format has. "
        f"Allowed: {expected}. Say where things stand (--field text=KEY --field spans=KEY{FIELDS_OF_ONE_SIDE}), or "
        "name the format (--format)."
    )


# -- what no reader takes


def text_kind(head: bytes) -> tuple[str, str] | None:
    """What a text is that has no columns of tokens, and what to do about it; None where it may have.

    >>> text_kind(b"TRAIN_DATA = [('Mira kam.', {'entities': []})]")
    ('Python code', 'Save its list as JSON (json.dump)')
    """
    return next(((what, remedy) for start, what, remedy in _TEXTS if start.match(head)), None)


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
