"""Lines that are no tokens: XML tags, comments, blank lines, and the document marks of CoNLL."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.corpus import ATTRIBUTE, Regions, tag_attributes
from clueval_xlsx.corpus.tags import parse_tag
from clueval_xlsx.formats.columns.lines import Complaint, Lines
from clueval_xlsx.text.strings import BoolArray, IntArray, Strings

_TAG = re.compile(rb"""<(/?)([A-Za-z_][\w:.-]*)(?:[^<>"'/\n]++|/(?!>)|"[^"\n]*+"|'[^'\n]*+')*+(/?)>""")
_TAG_LINES = re.compile(rb"^" + _TAG.pattern + rb"$", re.MULTILINE)
_WELL_FORMED = re.compile(rf"<[\w:.-]+(?:\s++{ATTRIBUTE.pattern})*+\s*+/?>")
_OPEN, _CLOSE, _EMPTY, _OTHER = 0, 1, 2, 3
DOCSTART = b"-DOCSTART-"
CONLL_DOCUMENT = "text"
_COMMENT = re.compile(rb"#\s*(?:newdoc\b|newpar\b|[\w:.-]+\s*=|(?:[\w.-]+:)?doc(?:ument)?[_-]?id\b|https?://)")
_DOCUMENT_COMMENT = re.compile(
    r"#\s*(?:newdoc\b(?:\s+id\s*=\s*(\S.*))?|(?:[\w.-]+:)?doc(?:ument)?[_-]?id\s*[=:]?\s*(\S.*))"
)
_DOCUMENT_TAG = re.compile(rb"<(/?)(?:doc|document|text|article)(?:\s[^<>]*)?>", re.IGNORECASE)

_SHORT = 16  # tags without attributes recur; classifying each once is enough
Mark = tuple[str, int]  # name and kind of a line that is no token
_BLANK: Mark = ("", _OTHER)
_REMARK: Mark = ("!", _OTHER)


class DocumentPlace(NamedTuple):
    """One document: its first position, the one behind its last, its attributes, and where it begins in the file."""

    start: int
    stop: int
    attributes: dict[str, str]
    offset: int


@dataclass(frozen=True, eq=False)
class Structure:
    """Events in the order of the file: what each line is, and how many tokens came before it."""

    mark: IntArray  # index into marks
    place: IntArray
    start: IntArray  # of the line in the buffer
    length: IntArray
    marks: tuple[Mark, ...]

    @classmethod
    def join(cls, parts: Sequence[Structure], tokens: Sequence[int]) -> Structure:
        """One structure of several stretches, given how many tokens each stretch has."""
        number: dict[Mark, int] = {}
        marks, places = [], []
        before = 0
        for part, count in zip(parts, tokens, strict=True):
            renumbered = [number.setdefault(mark, len(number)) for mark in part.marks]
            marks.append(np.array(renumbered or [0])[part.mark])
            places.append(part.place + before)
            before += count

        def joined(arrays: Iterable[IntArray]) -> IntArray:
            return np.concatenate([np.empty(0, np.int64), *arrays]).astype(np.int64)

        starts, lengths = joined(part.start for part in parts), joined(part.length for part in parts)
        return cls(joined(marks), joined(places), starts, lengths, tuple(number))

    def _rows(self, name: str) -> IntArray:
        wanted = np.array([mark[0] == name for mark in self.marks] or [False])
        return np.flatnonzero(wanted[self.mark])

    def kinds(self, rows: IntArray) -> IntArray:
        """Whether lines open an element, close it, or both."""
        return np.array([mark[1] for mark in self.marks] or [0])[self.mark[rows]]

    def places(self, name: str) -> IntArray:
        """How many tokens come before each tag of this name."""
        return self.place[self._rows(name)]

    def sentence_borders(self, sentence_tag: str) -> IntArray:
        """Places of sentence tags and blank lines."""
        return np.concatenate([self.places(sentence_tag), self.places(_BLANK[0])])

    def regions(self, data: bytes, tokens: int, skip: str) -> dict[str, Regions]:
        """The elements of each name as regions; nested ones of the same name end at the next start."""
        found = {}
        names: dict[str, int] = {}
        name_of = np.array([names.setdefault(name, len(names)) for name, _ in self.marks] or [0])[self.mark]
        kind = self.kinds(np.arange(len(self.mark)))
        order = np.argsort(name_of, kind="stable")  # the events of each name together, however many names there are
        borders = np.searchsorted(name_of[order], np.arange(len(names) + 1)).tolist()
        for name, index in names.items():
            rows = order[borders[index] : borders[index + 1]]
            opening = rows[kind[rows] == _OPEN]
            if name in {skip, _BLANK[0]} or not opening.size:
                continue
            border = np.append(self.place[rows], tokens)
            following = np.searchsorted(rows, opening, side="right")
            tags = Strings(data, self.start[opening], self.length[opening].astype(np.int32))
            found[name] = Regions(self.place[opening], border[following], tags=tags)
        return found

    def documents(
        self, tokens: Strings, tag: str, bounds: tuple[int, int], *, conll: bool = False
    ) -> tuple[list[DocumentPlace], list[Complaint]]:
        """Documents by their tags between two bytes, and stretches of tokens outside any; with what is wrong."""
        data = tokens.data
        rows = self._rows(tag)
        low, high = np.searchsorted(self.start[rows], bounds).tolist()
        first, stop = np.searchsorted(tokens.start, bounds).tolist()
        rows = rows[low:high]
        found: list[DocumentPlace] = []
        problems: list[Complaint] = []
        opened: DocumentPlace | None = None
        done = first  # tokens up to here are in a document already
        ends = (self.start + self.length)[rows].tolist()
        columns = (self.place[rows], self.kinds(rows), self.start[rows])
        for place, kind, begin, end in zip(*(column.tolist() for column in columns), ends, strict=True):
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
                found.append(DocumentPlace(done, place, {}, int(tokens.start[done])))
            opened, done = DocumentPlace(place, place, attributes, begin), place
            if kind == _EMPTY:
                found.append(opened)
                opened = None
        if opened is not None:
            found.append(opened._replace(stop=stop))
        elif rows.size and done < stop:
            found.append(DocumentPlace(done, stop, {}, int(tokens.start[done])))
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


def find_structure(
    data: bytes, buffer: npt.NDArray[np.uint8], lines: Lines, rules: LineRules
) -> tuple[Structure, BoolArray]:
    """Tell structure from tokens: the structure's events, and a mask of the lines that are tokens."""
    length = lines.end - lines.start
    blank = _blank_lines(buffer, lines, length)
    rows = _candidates(buffer, lines, length, rules)
    rows = rows[~blank[rows]]
    marked = _conll_marks if rules.conll else _tag_marks
    number: dict[Mark | None, int] = {_BLANK: 0, None: 1}
    mark = np.ones(len(length), dtype=np.int64)
    mark[blank] = 0
    mark[rows] = marked(data, lines, rows, rules, number)
    if rules.header:
        equal = np.flatnonzero(length == len(rules.header)).tolist()
        same = [row for row in equal if data[lines.start[row] : lines.end[row]] == rules.header]
        mark[same] = number.setdefault(_REMARK, len(number))
    is_token = mark == 1
    rows = np.flatnonzero(~is_token)
    marks = tuple(each or _BLANK for each in number)
    before = rows - np.arange(len(rows))  # tokens before: every line that is none is among the rows
    return Structure(mark[rows], before, lines.start[rows], length[rows], marks), is_token


def _blank_lines(buffer: npt.NDArray[np.uint8], lines: Lines, length: IntArray) -> BoolArray:
    """Lines without any visible character in their only field, which may be a byte order mark."""
    blank: BoolArray = (length == 0) | (lines.fields == 0)
    single = np.flatnonzero((lines.fields == 1) & ~blank)
    first = buffer[lines.start[single]]
    for row in single[(first == ord(" ")) | (first == codecs.BOM_UTF8[0])].tolist():
        blank[row] = not buffer[lines.start[row] : lines.end[row]].tobytes().replace(codecs.BOM_UTF8, b"").strip()
    return blank


def _candidates(buffer: npt.NDArray[np.uint8], lines: Lines, length: IntArray, rules: LineRules) -> IntArray:
    """Lines that are not blank and may be no tokens, by how they begin."""
    solid = (length > 0) & (lines.fields > 0)
    if rules.indexed:
        return np.flatnonzero(solid)
    if not rules.conll:
        rows = np.flatnonzero((lines.fields == 1) & (length > 2))
        rows = rows[buffer[lines.start[rows]] == ord("<")]
        return rows[buffer[lines.end[rows] - 1] == ord(">")]
    first = buffer[np.minimum(lines.start, len(buffer) - 1)]
    second = buffer[np.minimum(lines.start + 1, len(buffer) - 1)]
    found: BoolArray = (first == ord("-")) | (first == ord("#")) | (first == ord("<"))
    found |= (first == ord(" ")) & (second == ord("#"))  # as WebAnno TSV 2 writes its first line
    return np.flatnonzero(found & solid)


Numbers = dict[Mark | None, int]


def _tag_marks(data: bytes, lines: Lines, rows: IntArray, rules: LineRules, number: Numbers) -> IntArray:  # noqa: ARG001
    """XML tags, comments and declarations, by the numbers of their marks."""
    short = lines.end[rows] - lines.start[rows] <= _SHORT
    found = np.empty(len(rows), dtype=np.int64)
    brief = Strings(data, lines.start[rows[short]], (lines.end - lines.start)[rows[short]].astype(np.int32))
    codes, first = brief.numbered()
    marks = [_classify(brief.raw(row)) for row in first.tolist()]
    found[short] = np.array([number.setdefault(mark, len(number)) for mark in marks] or [0])[codes]
    rest = rows[~short]
    texts = [data[begin:end] for begin, end in zip(lines.start[rest].tolist(), lines.end[rest].tolist(), strict=True)]
    parts = _TAG_LINES.findall(b"\n".join(texts))
    if len(parts) == len(texts):  # a match takes whole lines, so each of them is one tag
        number_of = {part: number.setdefault(_tag_mark(*part), len(number)) for part in set(parts)}
        found[~short] = [number_of[part] for part in parts]
    else:
        found[~short] = [number.setdefault(_classify(text), len(number)) for text in texts]
    return found


def _tag_mark(close: bytes, name: bytes, empty: bytes) -> Mark:
    return name.decode("utf-8"), _CLOSE if close else _EMPTY if empty else _OPEN


def _classify(line: bytes) -> Mark | None:
    """Name and kind of a structure line; None if it is a token after all."""
    if line.startswith((b"<!", b"<?")):
        return _REMARK
    match = _TAG.fullmatch(line)
    return None if match is None else _tag_mark(match[1], match[2], match[3])


def _conll_marks(data: bytes, lines: Lines, rows: IntArray, rules: LineRules, number: Numbers) -> list[int]:
    """What opens documents (`-DOCSTART-`, `# newdoc`, `<doc …>`), comments, and counted lines that are no tokens."""
    columns = (lines.start[rows], lines.end[rows], lines.fields[rows])
    found = []
    for begin, end, fields in zip(*(column.tolist() for column in columns), strict=True):
        mark = conll_mark(data[begin:end], fields, rules)
        found.append(number.setdefault(mark, len(number)))
    return found


def conll_mark(line: bytes, fields: int, rules: LineRules) -> Mark | None:
    """Name and kind of a line of a CoNLL file that is no token; None for a token."""
    if line.startswith(DOCSTART):
        return CONLL_DOCUMENT, _OPEN
    if line.lstrip(b" ").startswith(b"#"):
        # Only where a token could look like that, a comment must look like one.
        other = rules.shared and fields != rules.shared and parse_tag(line.split()[-1].decode("utf-8")) is None
        if not (_COMMENT.match(line) or rules.indexed or fields < rules.columns or other):
            return None
        return (CONLL_DOCUMENT, _OPEN) if _DOCUMENT_COMMENT.match(line.decode("utf-8")) else _REMARK
    if line.startswith(b"<"):
        mark = _DOCUMENT_TAG.fullmatch(line.strip())
        if mark and (fields == 1 or b"=" in line):
            return CONLL_DOCUMENT, _CLOSE if mark[1] else _OPEN
        return _classify(line.strip()) if fields < rules.columns else None
    return _REMARK if rules.indexed and not line.split(None, 1)[0].isdigit() else None


def has_comments(head: bytes) -> bool:
    """Whether the beginning of a file has comments as CoNLL writes them."""
    return any(_COMMENT.match(line) for line in head.splitlines()[:200])
