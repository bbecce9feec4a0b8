"""Lines that are no tokens: XML tags, comments, blank lines, and the document marks of CoNLL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.corpus import ATTRIBUTE, Regions, tag_attributes
from clueval_xlsx.corpus.tags import parse_tag
from clueval_xlsx.formats.columns.complaints import Complaint
from clueval_xlsx.formats.columns.fields import Lines
from clueval_xlsx.text.strings import BoolArray, IntArray, Strings

_TAG = re.compile(rb"""<(/?)([A-Za-z_][\w:.-]*)(?:[^<>"'/]++|/(?!>)|"[^"]*+"|'[^']*+')*+(/?)>""")
_TAG_LINES = re.compile(rb"^" + _TAG.pattern + rb"$", re.MULTILINE)
_WELL_FORMED = re.compile(rf"<[\w:.-]+(?:\s++{ATTRIBUTE.pattern})*+\s*+/?>")
_OPEN, _CLOSE, _EMPTY, _OTHER = 0, 1, 2, 3
_BLANK_NAME = ""  # the name under which blank lines are kept
DOCSTART = b"-DOCSTART-"
CONLL_DOCUMENT = "text"
_COMMENT = re.compile(rb"#\s*(?:newdoc\b|newpar\b|[\w:.-]+\s*=|(?:[\w.-]+:)?doc(?:ument)?[_-]?id\b|https?://)")
_DOCUMENT_COMMENT = re.compile(
    r"#\s*(?:newdoc\b(?:\s+id\s*=\s*(\S.*))?|(?:[\w.-]+:)?doc(?:ument)?[_-]?id\s*[=:]?\s*(\S.*))"
)
_DOCUMENT_TAG = re.compile(rb"<(/?)(?:doc|document|text|article)(?:\s[^<>]*)?>", re.IGNORECASE)
_SHORT = 16  # tags without attributes recur; classifying each once is enough


class DocumentPlace(NamedTuple):
    """One document: its first position, the one behind its last, its attributes, and where it begins in the file."""

    start: int
    stop: int
    attributes: dict[str, str]
    offset: int


@dataclass(frozen=True, eq=False)
class Structure:
    """Events in the order of the file: what stands where, and how many tokens came before it."""

    name: IntArray  # index into names
    kind: npt.NDArray[np.int8]
    place: IntArray  # number of tokens before the line
    start: IntArray  # offsets of the line in the buffer
    length: IntArray
    names: tuple[str, ...]

    @classmethod
    def join(cls, parts: Sequence[Structure], tokens: Sequence[int]) -> Structure:
        """One structure of several stretches, given how many tokens each stretch has."""
        names = tuple(dict.fromkeys(name for part in parts for name in part.names))
        number = {name: index for index, name in enumerate(names)}
        before: Any = np.concatenate([[0], np.cumsum(tokens)[:-1]]) if parts else []
        renamed = [np.array([number[name] for name in part.names] or [0])[part.name] for part in parts]

        def joined(arrays: Sequence[npt.NDArray[np.generic]], dtype: type) -> npt.NDArray[np.int64]:
            return np.concatenate(arrays).astype(dtype) if arrays else np.empty(0, dtype)

        return cls(
            joined(renamed, np.int64),
            joined([part.kind for part in parts], np.int8).astype(np.int8),
            joined([part.place + offset for part, offset in zip(parts, before, strict=True)], np.int64),
            joined([part.start for part in parts], np.int64),
            joined([part.length for part in parts], np.int64),
            names,
        )

    def _named(self, name: str) -> IntArray:
        return np.flatnonzero(self.name == self.names.index(name)) if name in self.names else np.empty(0, np.int64)

    def places(self, name: str) -> IntArray:
        """How many tokens come before each tag of this name."""
        return self.place[self._named(name)]

    def has_sentences(self, sentence_tag: str) -> bool:
        """Whether the file says where sentences end."""
        return bool(self.places(sentence_tag).size or self.places(_BLANK_NAME).size)

    def sentence_borders(self, sentence_tag: str) -> IntArray:
        """Places of sentence tags and blank lines."""
        return np.concatenate([self.places(sentence_tag), self.places(_BLANK_NAME)])

    def regions(self, data: bytes, tokens: int, skip: str) -> dict[str, Regions]:
        """The elements of each name as regions; nested ones of the same name end at the next start."""
        found = {}
        order = np.argsort(self.name, kind="stable")  # the events of each name together, however many names there are
        borders = np.searchsorted(self.name[order], np.arange(len(self.names) + 1)).tolist()
        for index, name in enumerate(self.names):
            if name in {skip, _BLANK_NAME}:
                continue
            rows = order[borders[index] : borders[index + 1]]
            opening = rows[self.kind[rows] == _OPEN]
            if not opening.size:
                continue
            border = np.append(self.place[rows], tokens)
            following = np.searchsorted(rows, opening, side="right")
            tags = Strings(data, self.start[opening], self.length[opening].astype(np.int32))
            found[name] = Regions(self.place[opening], border[following], tags=tags)
        return found

    def documents(
        self, tokens: Strings, tag: str, *, conll: bool = False
    ) -> tuple[list[DocumentPlace], list[Complaint]]:
        """Documents by their tags, and stretches of tokens outside any; with what is wrong with the tags."""

        def nameless(start: int, stop: int) -> DocumentPlace:
            return DocumentPlace(start, stop, {}, int(tokens.start[start]))

        data = tokens.data
        rows = self._named(tag)
        found: list[DocumentPlace] = []
        problems: list[Complaint] = []
        opened: DocumentPlace | None = None
        done = 0  # tokens up to here are in a document already
        ends = (self.start + self.length)[rows].tolist()
        events = zip(self.place[rows].tolist(), self.kind[rows].tolist(), self.start[rows].tolist(), ends, strict=True)
        for place, kind, begin, end in events:
            text = data[begin:end].decode("utf-8").strip()
            if kind == _CLOSE:
                if opened is None:
                    problems.append(Complaint(begin, f"</{tag}> closes nothing", remedy="Remove it or add its start"))
                else:
                    found.append(opened._replace(stop=place))
                opened, done = None, place
                continue
            attributes = _document_attributes(text)
            if _said_again(text, attributes, opened):
                continue
            if text.startswith("<") and not _WELL_FORMED.fullmatch(text):
                problems.append(
                    Complaint(begin, f"{text!r} is not a well-formed tag", '<name key="value" …>', "Mend the tag")
                )
            if text.startswith("<") and opened is not None and not conll:
                problems.append(
                    Complaint(begin, f"<{tag}> opens inside another <{tag}>", remedy=f"Add the missing </{tag}>")
                )
            if opened is not None:
                found.append(opened._replace(stop=place))
                done = place
            if place > done:
                found.append(nameless(done, place))
            opened, done = DocumentPlace(place, place, attributes, begin), place
            if kind == _EMPTY:
                found.append(opened)
                opened = None
        if opened is not None:
            found.append(opened._replace(stop=len(tokens)))
        elif rows.size and done < len(tokens):
            found.append(nameless(done, len(tokens)))
        return found, problems


def _said_again(text: str, attributes: Mapping[str, str], opened: DocumentPlace | None) -> bool:
    """Whether a comment names the document that is open; some files do so before each sentence."""
    return opened is not None and text.startswith("#") and "id" in attributes and attributes == opened.attributes


def _document_attributes(text: str) -> dict[str, str]:
    """Attributes of `<text …>`, of `-DOCSTART- (id)`, of `# newdoc id = …` and of `# document_id = …`."""
    if text.startswith("<"):
        return tag_attributes(text)
    match = _DOCUMENT_COMMENT.match(text) if text.startswith("#") else re.search(r"\(([^()]+)\)", text)
    found = next((part for part in match.groups() if part), None) if match else None
    return {"id": found.strip()} if found else {}


@dataclass(frozen=True)
class LineRules:
    """Which lines are no tokens: CoNLL's marks or XML tags, a header, and where tokens are counted what has no number.

    `columns` is how many columns a token needs at least, `shared` how many every token has (0: they differ).
    """

    conll: bool = False
    indexed: bool = False
    header: bytes = b""
    columns: int = 1
    shared: int = 0


Mark = tuple[str, int]  # name and kind of a line that is no token


@dataclass(frozen=True, eq=False)
class _Marked:
    """Lines that may be no tokens, and the mark of each: an index into the few there are, None for a token."""

    rows: IntArray
    number: IntArray
    marks: tuple[Mark | None, ...]

    @classmethod
    def all(cls, rows: IntArray, mark: Mark) -> _Marked:
        """Lines of one kind."""
        return cls(rows, np.zeros(len(rows), np.int64), (mark,))

    @classmethod
    def each(cls, rows: IntArray, marks: Iterable[Mark | None]) -> _Marked:
        """Lines of which each has its mark."""
        number: dict[Mark | None, int] = {}
        numbers = [number.setdefault(mark, len(number)) for mark in marks]
        return cls(rows, np.array(numbers, dtype=np.int64), tuple(number))

    @classmethod
    def join(cls, parts: Sequence[_Marked]) -> _Marked:
        """All of them in the order of the file, without the tokens."""
        marks = tuple(mark for part in parts for mark in part.marks)
        before = np.cumsum([0, *(len(part.marks) for part in parts)])[:-1].tolist()
        rows = np.concatenate([part.rows for part in parts])
        number = np.concatenate([part.number + first for part, first in zip(parts, before, strict=True)])
        order = np.argsort(rows, kind="stable")
        if None in marks:
            order = order[np.array([mark is not None for mark in marks])[number[order]]]
        return cls(rows[order], number[order], marks)


def find_structure(
    data: bytes, buffer: npt.NDArray[np.uint8], lines: Lines, rules: LineRules
) -> tuple[Structure, BoolArray]:
    """Tell structure from tokens: the structure's events, and a mask of the lines that are tokens."""
    length = lines.end - lines.start
    blank = _blank_lines(buffer, lines, length)
    parts = [_Marked.all(np.flatnonzero(blank), (_BLANK_NAME, _OTHER))]
    if rules.conll:
        parts.append(_conll_marks(data, buffer, lines, blank, rules))
    else:
        parts += _tag_lines(data, buffer, lines, length)
    if rules.header:
        parts.append(_Marked.all(_equal_lines(data, lines, length, rules.header), ("!", _OTHER)))
    found = _Marked.join(parts)
    names: dict[str, int] = {}
    name = np.array([names.setdefault(mark[0], len(names)) if mark else -1 for mark in found.marks], dtype=np.int64)
    kind = np.array([mark[1] if mark else -1 for mark in found.marks], dtype=np.int8)
    is_token = np.ones(len(length), dtype=bool)
    is_token[found.rows] = False
    structure = Structure(
        name[found.number],
        kind[found.number],
        found.rows - np.arange(len(found.rows)),  # tokens before: every line that is none is among the rows
        lines.start[found.rows],
        length[found.rows],
        tuple(names),
    )
    return structure, is_token


def _blank_lines(buffer: npt.NDArray[np.uint8], lines: Lines, length: IntArray) -> BoolArray:
    """Lines without any visible character in their only field."""
    blank: BoolArray = (length == 0) | (lines.fields == 0)
    single = np.flatnonzero((lines.fields == 1) & ~blank)
    for row in single[buffer[lines.start[single]] == ord(" ")].tolist():
        blank[row] = not buffer[lines.start[row] : lines.end[row]].tobytes().strip()
    return blank


def _tag_lines(data: bytes, buffer: npt.NDArray[np.uint8], lines: Lines, length: IntArray) -> list[_Marked]:
    """Lines that are one XML tag, comment or declaration and have no further column: short ones, and long ones."""
    rows = np.flatnonzero((lines.fields == 1) & (length > 2))
    rows = rows[(buffer[lines.start[rows]] == ord("<")) & (buffer[lines.end[rows] - 1] == ord(">"))]
    short = length[rows] <= _SHORT
    recurring, others = rows[short], rows[~short]
    brief = Strings(data, lines.start[recurring], length[recurring].astype(np.int32))
    number, first = brief.numbered()
    marks = tuple(_classify(brief.raw(row)) for row in first.tolist())
    starts, ends = lines.start[others].tolist(), lines.end[others].tolist()
    texts = [data[begin:end] for begin, end in zip(starts, ends, strict=True)]
    parts = _TAG_LINES.findall(b"\n".join(texts))
    if len(parts) == len(texts):  # a match takes whole lines, so each of them is one tag
        mark_of = {part: _tag_mark(*part) for part in set(parts)}
        long = _Marked.each(others, map(mark_of.__getitem__, parts))
    else:
        long = _Marked.each(others, map(_classify, texts))
    return [_Marked(recurring, number, marks), long]


def _tag_mark(close: bytes, name: bytes, empty: bytes) -> Mark:
    return name.decode("utf-8"), _CLOSE if close else _EMPTY if empty else _OPEN


def _classify(line: bytes) -> Mark | None:
    """Name and kind of a structure line; None if it is a token after all."""
    if line.startswith((b"<!", b"<?")):
        return "!", _OTHER
    match = _TAG.fullmatch(line)
    return None if match is None else _tag_mark(match[1], match[2], match[3])


def _equal_lines(data: bytes, lines: Lines, length: IntArray, wanted: bytes) -> IntArray:
    """The lines that read so."""
    rows = np.flatnonzero(length == len(wanted)).tolist()
    return np.array([row for row in rows if data[lines.start[row] : lines.end[row]] == wanted], dtype=np.int64)


def has_comments(head: bytes) -> bool:
    """Whether the beginning of a file has comments as CoNLL writes them."""
    return any(_COMMENT.match(line) for line in head.splitlines()[:200])


def has_document_marks(content: bytes, *, conll: bool, tag: str) -> bool:
    """Whether a file says where documents begin."""
    if not conll:
        return re.search(rf"^<{re.escape(tag)}[\s>]".encode(), content, re.MULTILINE) is not None
    lines = re.findall(rb"^(?:-DOCSTART-|#|<).*$", content, re.MULTILINE)
    rules = LineRules(conll=True)
    return any(mark and mark[0] == CONLL_DOCUMENT for mark in (conll_mark(line, 2, rules) for line in lines))


def conll_mark(line: bytes, fields: int, rules: LineRules) -> Mark | None:
    """Name and kind of a line of a CoNLL file that is no token; None for a token."""
    if line.startswith(DOCSTART):
        return CONLL_DOCUMENT, _OPEN
    if line.lstrip(b" ").startswith(b"#"):
        # Only where a token could look like that, a comment must look like one.
        other = rules.shared and fields != rules.shared and parse_tag(line.split()[-1].decode("utf-8")) is None
        if not (_COMMENT.match(line) or rules.indexed or fields < rules.columns or other):
            return None
        document = _DOCUMENT_COMMENT.match(line.decode("utf-8"))
        return (CONLL_DOCUMENT, _OPEN) if document else ("!", _OTHER)
    if line.startswith(b"<"):
        mark = _DOCUMENT_TAG.fullmatch(line.strip())
        if mark and (fields == 1 or b"=" in line):
            return CONLL_DOCUMENT, _CLOSE if mark[1] else _OPEN
        return _classify(line.strip()) if fields < rules.columns else None
    return ("!", _OTHER) if rules.indexed and not line.split(None, 1)[0].isdigit() else None


def _conll_marks(
    data: bytes, buffer: npt.NDArray[np.uint8], lines: Lines, blank: BoolArray, rules: LineRules
) -> _Marked:
    """What opens documents (`-DOCSTART-`, `# newdoc`, `<doc …>`), comments, and counted lines that are no tokens."""
    first = buffer[np.minimum(lines.start, len(buffer) - 1)]
    second = buffer[np.minimum(lines.start + 1, len(buffer) - 1)]
    looked_at: BoolArray = (first == ord("-")) | (first == ord("#")) | (first == ord("<"))
    looked_at |= (first == ord(" ")) & (second == ord("#"))  # as WebAnno TSV 2 writes its first line
    if rules.indexed:
        looked_at = np.ones(len(first), dtype=bool)
    rows = np.flatnonzero(~blank & looked_at)
    places = zip(lines.start[rows].tolist(), lines.end[rows].tolist(), lines.fields[rows].tolist(), strict=True)
    return _Marked.each(rows, (conll_mark(data[begin:end], fields, rules) for begin, end, fields in places))
