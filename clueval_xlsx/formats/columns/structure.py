"""Lines that are no tokens: XML tags, comments, blank lines, and the document marks of CoNLL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.corpus import ATTRIBUTE, Regions, tag_attributes
from clueval_xlsx.formats.columns.complaints import Complaint
from clueval_xlsx.formats.columns.fields import Lines
from clueval_xlsx.text.strings import BoolArray, IntArray, Strings

_TAG = re.compile(rb"""<(/?)([A-Za-z_][\w:.-]*)(?:[^<>"'/]++|/(?!>)|"[^"]*+"|'[^']*+')*+(/?)>""")
_WELL_FORMED = re.compile(rf"<[\w:.-]+(?:\s++{ATTRIBUTE.pattern})*+\s*+/?>")
_OPEN, _CLOSE, _EMPTY, _OTHER = 0, 1, 2, 3
_BLANK_NAME = ""  # the name under which blank lines are kept
DOCSTART = b"-DOCSTART-"
CONLL_DOCUMENT = "text"
_CONLLU_COMMENT = re.compile(rb"#\s*(newdoc\b|[\w:.-]+\s*=)")
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

    def documents(self, tokens: Strings, tag: str) -> tuple[list[DocumentPlace], list[Complaint]]:
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
            if not text.startswith(DOCSTART.decode()) and not text.startswith("#"):
                if not _WELL_FORMED.fullmatch(text):
                    complain(row, f"{text!r} is not a well-formed tag", '<name key="value" …>', "Mend the tag")
                if opened is not None:
                    complain(row, f"<{tag}> opens inside another <{tag}>", remedy=f"Add the missing </{tag}>")
            if opened is not None:
                found.append(opened._replace(stop=place))
                done = place
            if place > done:
                found.append(nameless(done, place))
            opened, done = DocumentPlace(place, place, _document_attributes(text), begin), place
            if self.kind[row] == _EMPTY:
                found.append(opened)
                opened = None
        if opened is not None:
            found.append(opened._replace(stop=len(tokens)))
        elif rows.size and done < len(tokens):
            found.append(nameless(done, len(tokens)))
        return found, problems


def _document_attributes(text: str) -> dict[str, str]:
    """Attributes of `<text …>`, of `-DOCSTART- (id)` and of `# newdoc id = …`."""
    if text.startswith("<"):
        return tag_attributes(text)
    match = re.search(r"\(([^()]+)\)|newdoc\s+id\s*=\s*(\S+)", text)
    return {"id": match[1] or match[2]} if match else {}


def find_structure(
    data: bytes, buffer: npt.NDArray[np.uint8], lines: Lines, *, conll: bool
) -> tuple[Structure, BoolArray]:
    """Tell structure from tokens: the structure's events, and a mask of the lines that are tokens."""
    length = lines.end - lines.start
    blank = _blank_lines(buffer, lines, length)
    if conll:
        other, names, kinds = _conll_marks(data, buffer, lines, blank)
    else:
        other, names, kinds = _tag_lines(data, buffer, lines, length)
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
    rows, names, kinds = [], [], []
    known: dict[bytes, tuple[str, int]] = {}
    starts, ends = lines.start[candidate].tolist(), lines.end[candidate].tolist()
    for row, begin, end in zip(candidate.tolist(), starts, ends, strict=True):
        line = data[begin:end]
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


def is_comment(line: bytes) -> bool:
    """Whether a line of a CoNLL file is a comment (`# key = value`) or opens a document (`# newdoc`)."""
    return _CONLLU_COMMENT.match(line) is not None


def _conll_marks(
    data: bytes, buffer: npt.NDArray[np.uint8], lines: Lines, blank: BoolArray
) -> tuple[IntArray, list[str], list[int]]:
    """`-DOCSTART-` and `# newdoc` open a document; `# key = value` is a comment."""
    first = buffer[np.minimum(lines.start, len(buffer) - 1)]
    rows, names, kinds = [], [], []
    for row in np.flatnonzero(~blank & ((first == ord("-")) | (first == ord("#")))).tolist():
        line = data[lines.start[row] : lines.end[row]]
        comment = _CONLLU_COMMENT.match(line)
        if line.startswith(DOCSTART) or (comment and comment[1] == b"newdoc"):
            rows.append(row)
            names.append(CONLL_DOCUMENT)
            kinds.append(_OPEN)
        elif comment:
            rows.append(row)
            names.append("!")
            kinds.append(_OTHER)
    return np.array(rows, dtype=np.int64), names, kinds
