"""Lines that are no tokens: XML tags, comments, blank lines, and the document marks of CoNLL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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

        def complain(row: int, found: str, allowed: str = "", remedy: str = "") -> None:
            problems.append(Complaint(int(self.start[row]), found, allowed, remedy))

        def nameless(start: int, stop: int) -> DocumentPlace:
            return DocumentPlace(start, stop, {}, int(tokens.start[start]))

        data = tokens.data
        rows = self._named(tag)
        found: list[DocumentPlace] = []
        problems: list[Complaint] = []
        opened: DocumentPlace | None = None
        done = 0  # tokens up to here are in a document already
        for row in rows.tolist():
            place, begin = int(self.place[row]), int(self.start[row])
            text = data[begin : begin + int(self.length[row])].decode("utf-8").strip()
            if self.kind[row] == _CLOSE:
                if opened is None:
                    complain(row, f"</{tag}> closes nothing", remedy="Remove it or add its start")
                else:
                    found.append(opened._replace(stop=place))
                opened, done = None, place
                continue
            attributes = _document_attributes(text)
            if _said_again(text, attributes, opened):
                continue
            if text.startswith("<") and not _WELL_FORMED.fullmatch(text):
                complain(row, f"{text!r} is not a well-formed tag", '<name key="value" …>', "Mend the tag")
            if text.startswith("<") and opened is not None and not conll:
                complain(row, f"<{tag}> opens inside another <{tag}>", remedy=f"Add the missing </{tag}>")
            if opened is not None:
                found.append(opened._replace(stop=place))
                done = place
            if place > done:
                found.append(nameless(done, place))
            opened, done = DocumentPlace(place, place, attributes, begin), place
            if self.kind[row] == _EMPTY:
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


def find_structure(
    data: bytes, buffer: npt.NDArray[np.uint8], lines: Lines, rules: LineRules
) -> tuple[Structure, BoolArray]:
    """Tell structure from tokens: the structure's events, and a mask of the lines that are tokens."""
    length = lines.end - lines.start
    blank = _blank_lines(buffer, lines, length)
    if rules.conll:
        other, names, kinds = _conll_marks(data, buffer, lines, blank, rules)
    else:
        other, names, kinds = _tag_lines(data, buffer, lines, length)
    if rules.header:
        headers = _equal_lines(data, lines, length, rules.header)
        other, names = np.concatenate([other, headers]), [*names, *["!"] * len(headers)]
        kinds = [*kinds, *[_OTHER] * len(headers)]
    is_token = ~blank
    is_token[other] = False
    tokens_before: IntArray = np.cumsum(is_token) - is_token

    all_names = tuple(dict.fromkeys([_BLANK_NAME, *names]))
    number = {name: index for index, name in enumerate(all_names)}
    rows = np.concatenate([np.flatnonzero(blank), other])
    name = np.concatenate([np.zeros(int(blank.sum()), np.int64), np.array([number[n] for n in names], np.int64)])
    kind = np.concatenate([np.full(int(blank.sum()), _OTHER), np.array(kinds, np.int64)]).astype(np.int8)
    order = np.argsort(rows, kind="stable")
    rows, name, kind = rows[order], name[order], kind[order]
    structure = Structure(name, kind, tokens_before[rows], lines.start[rows], length[rows], all_names)
    return structure, is_token


def _blank_lines(buffer: npt.NDArray[np.uint8], lines: Lines, length: IntArray) -> BoolArray:
    """Lines without any visible character in their only field."""
    blank: BoolArray = (length == 0) | (lines.fields == 0)
    for row in np.flatnonzero((lines.fields == 1) & ~blank & (buffer[lines.start] == 32)).tolist():
        blank[row] = not buffer[lines.start[row] : lines.end[row]].tobytes().strip()
    return blank


def _tag_lines(
    data: bytes, buffer: npt.NDArray[np.uint8], lines: Lines, length: IntArray
) -> tuple[IntArray, list[str], list[int]]:
    """Lines that are one XML tag, comment or declaration and have no further column."""
    candidate = np.flatnonzero(
        (lines.fields == 1) & (length > 2) & (buffer[lines.start] == ord("<")) & (buffer[lines.end - 1] == ord(">"))
    )
    starts, ends = lines.start[candidate].tolist(), lines.end[candidate].tolist()
    texts = [data[begin:end] for begin, end in zip(starts, ends, strict=True)]
    parts = _TAG_LINES.findall(b"\n".join(texts))
    if len(parts) == len(texts):  # a match takes whole lines, so each of them is one tag
        spelt = {name: name.decode("utf-8") for name in {name for _, name, _ in parts}}
        names = [spelt[name] for _, name, _ in parts]
        return candidate, names, [_CLOSE if close else _EMPTY if empty else _OPEN for close, _, empty in parts]
    rows, names, kinds = [], [], []
    known: dict[bytes, tuple[str, int]] = {}
    for row, line in zip(candidate.tolist(), texts, strict=True):
        found = known.get(line)
        if found is None:
            found = _classify(line)
            if found is None:
                continue
            if len(line) <= _SHORT:
                known[line] = found
        rows.append(row)
        names.append(found[0])
        kinds.append(found[1])
    return np.array(rows, dtype=np.int64), names, kinds


def _classify(line: bytes) -> tuple[str, int] | None:
    """Name and kind of a structure line; None if it is a token after all."""
    if line.startswith((b"<!", b"<?")):
        return "!", _OTHER
    match = _TAG.fullmatch(line)
    if match is None:
        return None
    kind = _CLOSE if match[1] else _EMPTY if match[3] else _OPEN
    return match[2].decode("utf-8"), kind


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


def conll_mark(line: bytes, fields: int, rules: LineRules) -> tuple[str, int] | None:
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
) -> tuple[IntArray, list[str], list[int]]:
    """What opens documents (`-DOCSTART-`, `# newdoc`, `<doc …>`), comments, and counted lines that are no tokens."""
    first = buffer[np.minimum(lines.start, len(buffer) - 1)]
    second = buffer[np.minimum(lines.start + 1, len(buffer) - 1)]
    looked_at: BoolArray = (first == ord("-")) | (first == ord("#")) | (first == ord("<"))
    looked_at |= (first == ord(" ")) & (second == ord("#"))  # as WebAnno TSV 2 writes its first line
    if rules.indexed:
        looked_at = np.ones(len(first), dtype=bool)
    rows, names, kinds = [], [], []
    for row in np.flatnonzero(~blank & looked_at).tolist():
        mark = conll_mark(data[lines.start[row] : lines.end[row]], int(lines.fields[row]), rules)
        if mark is not None:
            rows.append(row)
            names.append(mark[0])
            kinds.append(mark[1])
    return np.array(rows, dtype=np.int64), names, kinds
