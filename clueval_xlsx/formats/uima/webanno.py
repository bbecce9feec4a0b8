"""WebAnno TSV 3 (`.tsv`), as INCEpTION and WebAnno export it: one document a file, read and not written back.

Offsets count UTF-16 units; a file whose words say that it counts code points is read by these. Slots, relations and
chains are no spans.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.formats.uima.reading import NO_WIDTH, RELATIONS, Cas, CasAnnotation, read_cas_file
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.options.values import Unit
from clueval_xlsx.text.characters import CODE_POINTS, UTF16, unit_starts

_FORMAT = re.compile(r"#FORMAT=WebAnno TSV (\d+)\.(\d+)\s*")
_TEXT = "#Text="
_ROW = re.compile(r"(\d+)-(\d+)(?:\.(\d+))?")
_PLACE = re.compile(r"(\d{1,18})-(\d{1,18})")
_FIXED = 3  # cells before the annotations: number, offsets, words
_SPANS, _SLOTS = "spans", "slots"
_LAYERS = {"#T_SP=": _SPANS, "#T_CH=": "chains", "#T_RL=": RELATIONS}
_NOTHING, _NULL = "_", "*"
_STACK = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_NUMBERED = re.compile(r"(.*?)(?<!\\)((?:\\\\)*)\[(\d+)\]", re.DOTALL)
_ESCAPE = re.compile(r"\\\\|\\->|\\[\[\]|_;*]|\\t|\\n")
_IN_TEXT = {"t": "\t", "n": "\n", "f": "\f", "r": "\r", "b": "\b", "\\": "\\"}


@dataclass(frozen=True)
class _Column:
    """A column of annotations: the type of its layer, the feature it holds (none: the layer has none), its kind."""

    type: str
    feature: str
    kind: str
    refers: bool = False  # whether a cell stands for a slot or relation


@dataclass(frozen=True)
class _Row:
    """A token or a part of one."""

    line: int
    number: str
    begin: int
    end: int
    word: str
    cells: Sequence[str]


@dataclass
class _Sentence:
    """The words of a sentence as they stand in the file, and its rows."""

    texts: list[str] = field(default_factory=list)
    rows: list[_Row] = field(default_factory=list)


def looks_like_webanno(first_line: str) -> bool:
    """Whether a file begins as WebAnno TSV 3 does."""
    return _FORMAT.match(first_line.removeprefix("\ufeff")) is not None


def tell(opened: OpenedSource) -> bool:
    """Whether the first line says so."""
    return looks_like_webanno(opened.first_line)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read one document."""
    return read_cas_file(opened, cas_in(opened.data, opened.name), "webanno", options)


def cas_in(raw: bytes, name: str) -> Cas:
    """The text and annotations of a file, or all that is wrong with it."""
    lines = [line.rstrip("\r") for line in decode_text(raw, name).split("\n")]
    version = _FORMAT.match(lines[0])
    if version is None:
        found = lines[0].strip()[:60] or "nothing"
        raise InputError(f"{name}:1: found {found!r}. Allowed: #FORMAT=WebAnno TSV 3.3 (or 3.1, 3.2).")
    if version[1] != "3":
        raise InputError(
            f"{name}:1: WebAnno TSV {version[1]}.{version[2]} is not read. Allowed: 3.0 to 3.3. Export it again."
        )
    unescape = _unescaped_of_java if int(version[2]) <= 1 else _unescaped
    columns = _columns(lines, name)
    sentences = _sentences(lines, len(columns), name)
    text, unit = _text(sentences, unescape, name)
    rows = [row for sentence in sentences for row in sentence.rows]
    annotations = _annotations(rows, columns, name)
    skipped = Counter({NO_WIDTH: sum(each.begin == each.end for each in annotations)})
    for index, column in enumerate(columns):
        if column.refers or column.feature == "referenceType":
            skipped[column.kind] += sum(row.cells[index] != _NOTHING for row in rows)
    declared: dict[str, tuple[str, ...]] = {}
    for column in columns:
        if column.kind == _SPANS:
            declared[column.type] = (*declared.get(column.type, ()), *([column.feature] if column.feature else []))
    spans = [each for each in annotations if each.begin < each.end]
    return Cas(name, text, None, spans, declared, +skipped, unit)


def _columns(lines: Sequence[str], name: str) -> list[_Column]:
    """The columns that the header declares."""
    columns: list[_Column] = []
    for number, line in enumerate(lines[1:], 2):
        kind = next((kind for start, kind in _LAYERS.items() if line.startswith(start)), None)
        if kind is None:
            if line.startswith("#T_"):
                raise InputError(f"{name}:{number}: found {line[:40]!r}. Allowed: #T_SP=, #T_CH= and #T_RL=.")
            if line.strip():
                break
            continue
        type_, *features = line.partition("=")[2].split("|")
        before = ""
        for feature in [feature for feature in features if feature] or [""]:
            if kind == _SPANS and (feature.startswith("ROLE_") or before.startswith("ROLE_")):
                columns.append(_Column(type_, feature, _SLOTS, not feature.startswith("ROLE_")))
            else:
                columns.append(_Column(type_, feature, kind, kind == RELATIONS and feature.startswith("BT_")))
            before = feature
    return columns


def _sentences(lines: Sequence[str], width: int, name: str) -> list[_Sentence]:
    """The sentences that have tokens."""
    sentences: list[_Sentence] = []
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        if line.startswith(_TEXT):
            if not sentences or sentences[-1].rows:
                sentences.append(_Sentence())
            sentences[-1].texts.append(line[len(_TEXT) :])
            continue
        cells = line.split("\t")
        if not line.strip() or (line.startswith("#") and not _ROW.fullmatch(cells[0])):
            continue
        place = _PLACE.fullmatch(cells[1]) if len(cells) > 1 else None
        where = f"{name}:{number}"
        if not _ROW.fullmatch(cells[0]) or place is None or len(cells) < _FIXED:
            found, allowed = f"{line[:60]!r} is no row of a token", "1-1<tab>0-4<tab>WORD<tab>…"
            problems.append(Problem(where, found, allowed, "Export it again"))
            continue
        if not sentences:
            problems.append(Problem(where, "a token stands before any #Text= line", remedy="Export the file again"))
            continue
        own = cells[_FIXED : _FIXED + width]
        if own and own[-1] == "" and len(cells) == _FIXED + width:  # a tab ends each row, so the last cell is missing
            own = own[:-1]
        if len(own) < width:
            found, allowed = f"{len(own)} cells of annotations", f"{width}, as the header says"
            problems.append(Problem(where, found, allowed, "Export it again"))
        sentences[-1].rows.append(_Row(number, cells[0], int(place[1]), int(place[2]), cells[2], own))
    if problems:
        raise InputError(problems=problems)
    with_tokens = [sentence for sentence in sentences if sentence.rows]
    if not with_tokens:
        raise InputError(f"{name}: there is no token in it. Check that this is the right file.")
    return with_tokens


def _text(sentences: Sequence[_Sentence], unescape: Callable[[str], str], name: str) -> tuple[str, Unit]:
    """The text of the document and the unit its offsets count in: the words of the tokens tell."""
    text, problems = _laid_out(sentences, unescape, name, UTF16)
    if problems:
        other, wrong = _laid_out(sentences, unescape, name, CODE_POINTS)
        if wrong:
            raise InputError(problems=problems)
        return other, CODE_POINTS
    return text, UTF16


def _laid_out(
    sentences: Sequence[_Sentence], unescape: Callable[[str], str], name: str, unit: Unit
) -> tuple[str, list[Problem]]:
    """The sentences at their places, and the tokens that are not what stands there."""
    text, length = "", 0
    problems: list[Problem] = []
    for sentence in sentences:
        begin = sentence.rows[0].begin
        if begin < length or begin - length > 1_000_000:
            found = f"the sentence begins at {begin}, but the one before ends at {length}"
            where = f"{name}:{sentence.rows[0].line}"
            problems.append(Problem(where, found, "sentences behind each other", "Export the file again"))
            continue
        own = unescape("\n".join(sentence.texts))
        text += "\n" * (begin - length) + own
        length = begin + (len(own.encode("utf-16-le", "surrogatepass")) // 2 if unit == UTF16 else len(own))
    if problems:
        return text, problems
    starts = unit_starts(text, unit)
    for row in [row for sentence in sentences for row in sentence.rows]:
        begin, end = row.begin, row.end
        inside = 0 <= begin <= end <= length
        if inside and starts is not None:
            begin, end = int(starts[begin]), int(starts[end])
        there = text[begin:end] if inside and min(begin, end) >= 0 else ""
        word = unescape(row.word)
        if there != word:
            found = f"the row says {word[:40]!r}, but the text has {there[:40]!r} at {row.begin}-{row.end}"
            allowed = "the words of the #Text= line; offsets count UTF-16 units"
            problems.append(Problem(f"{name}:{row.line}", found, allowed, "Export the file again"))
    return text, problems


def _annotations(rows: Sequence[_Row], columns: Sequence[_Column], name: str) -> list[CasAnnotation]:
    """The annotations of the span layers: those with an ID are put together from all their rows."""
    parts: dict[tuple[str, str], list[_Row]] = {}
    values: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        for type_, entries in _entries(row, columns).items():
            for place, (number, features) in enumerate(entries):
                key = (type_, number or f"{row.number}/{place}")
                parts.setdefault(key, []).append(row)
                values.setdefault(key, features)
    return [
        CasAnnotation(
            "/".join(key),
            key[0],
            min(row.begin for row in own),
            max(row.end for row in own),
            values[key],
            f"{name}:{own[0].line}",
        )
        for key, own in parts.items()
    ]


def _entries(row: _Row, columns: Sequence[_Column]) -> dict[str, list[tuple[str, dict[str, str]]]]:
    """The annotations of a row by the type of their layer: the ID of each, where it has one, and its features."""
    entries: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for cell, column in zip(row.cells, columns, strict=True):
        if column.kind != _SPANS or cell in {_NOTHING, ""}:
            continue
        own = entries.setdefault(column.type, [])
        for place, part in enumerate(_stacked(cell)):
            value, number = _numbered(part)
            if place == len(own):
                own.append(("", {}))
            own[place] = (own[place][0] or number, own[place][1])
            if column.feature and value != _NULL:
                own[place][1][column.feature] = _unescaped_value(value)
    return entries


def _stacked(cell: str) -> list[str]:
    r"""The values of a cell with several annotations.

    >>> _stacked(r"PER[1]|a\|b[2]")
    ['PER[1]', 'a\\|b[2]']
    """
    parts, begin = [], 0
    for bar in _STACK.finditer(cell):
        parts.append(cell[begin : bar.end(1)])
        begin = bar.end()
    return [*parts, cell[begin:]]


def _numbered(part: str) -> tuple[str, str]:
    r"""A value and its ID; an escaped bracket belongs to the value.

    >>> _numbered("PER[12]"), _numbered(r"a\[1\]")
    (('PER', '12'), ('a\\[1\\]', ''))
    """
    match = _NUMBERED.fullmatch(part)
    return (match[1] + match[2], match[3]) if match else (part, "")


def _unescaped_value(value: str) -> str:
    r"""A value as it is meant.

    >>> _unescaped_value(r"a\_b\|c\->d")
    'a_b|c->d'
    """
    named = {"\\t": "\t", "\\n": "\n"}
    return _ESCAPE.sub(lambda match: named.get(match[0], match[0][1:]), value)


def _unescaped(text: str) -> str:
    """Words of a row or of a `#Text=` line as they are meant."""
    return re.sub(r"\\([tnfrb\\\x00-\x1f])", lambda match: _IN_TEXT.get(match[1], match[1]), text)


def _unescaped_of_java(text: str) -> str:
    """The same in versions before 3.2, which escape as Java does."""

    def meant(match: re.Match[str]) -> str:
        return chr(int(match[2], 16)) if match[2] else _IN_TEXT.get(match[1], match[1])

    joined = re.sub(r"\\(u+([0-9A-Fa-f]{4})|.)", meant, text)
    return joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
