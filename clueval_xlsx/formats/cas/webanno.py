"""WebAnno TSV 3: the text and the span layers of a file, and corrections that write only the rows anew they touch.

Offsets count UTF-16 units; a file whose words say that it counts code points is read by these. Slots, relations and
chains are no spans; when an annotation goes or begins elsewhere, what refers to it follows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.formats.cas.content import NO_WIDTH, CasAnnotation, CasEdit, NewAnnotation
from clueval_xlsx.formats.cas.webanno_cells import (
    NOTHING,
    Column,
    StackedValue,
    columns_of,
    entries_of,
    escaped_text,
    unescaped_text,
    unescaped_text_of_java,
    written_cells,
)
from clueval_xlsx.formats.cas.webanno_references import References
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.options.values import Unit
from clueval_xlsx.text.characters import CODE_POINTS, UTF16, unit_starts

FORMAT = re.compile(r"#FORMAT=WebAnno TSV (\d+)\.(\d+)\s*")
_TEXT = "#Text="
_ROW = re.compile(r"(\d+)-(\d+)(?:\.(\d+))?")
_PLACE = re.compile(r"(\d{1,18})-(\d{1,18})")
FIXED = 3  # cells before the annotations: number, offsets, words


@dataclass
class Row:
    """A token or a part of one: its line, its number, its offsets and the cells of its annotations."""

    line: int
    number: str
    begin: int
    end: int
    cells: list[str]

    @property
    def token(self) -> str:
        """The number of the token that this is, or is a part of."""
        return self.number.partition(".")[0]


@dataclass(frozen=True, eq=False)
class WebannoContent:
    """A WebAnno TSV file that was read."""

    name: str
    raw: bytes
    text: str
    annotations: Sequence[CasAnnotation]
    lines: Sequence[str] = field(repr=False, default=())
    rows: Sequence[Row] = field(repr=False, default=())
    columns: Sequence[Column] = ()
    unit: Unit = UTF16
    skipped: Mapping[str, int] = field(default_factory=dict)
    document_id: str | None = None

    @property
    def declared(self) -> Mapping[str, tuple[str, ...]]:
        """The span layers of the header."""
        found: dict[str, tuple[str, ...]] = {}
        for column in self.columns:
            if column.is_span:
                found.setdefault(column.type, ())
                if column.feature:
                    found[column.type] += (column.feature,)
        return found

    def edited(self, edit: CasEdit) -> bytes:
        """The file with these changes."""
        return _Editor(self).edited(edit) if edit else self.raw


def looks_like_webanno(first_line: str) -> bool:
    """Whether a file begins as WebAnno TSV 3 does."""
    return FORMAT.match(first_line.removeprefix("\ufeff")) is not None


def read_webanno(raw: bytes, name: str) -> WebannoContent:
    """Read a file, or raise with all that is wrong with it."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", decode_text(raw, name))
    version = FORMAT.match(lines[0]) if lines else None
    if version is None:
        found = lines[0].strip()[:60] if lines else "nothing"
        raise InputError(f"{name}:1: found {found!r}. Allowed: #FORMAT=WebAnno TSV 3.3 (or 3.1, 3.2).")
    if version[1] != "3":
        raise InputError(
            f"{name}:1: WebAnno TSV {version[1]}.{version[2]} is not read. Allowed: 3.0 to 3.3. Export it again."
        )
    unescape = unescaped_text_of_java if int(version[2]) <= 1 else unescaped_text
    columns = columns_of(lines, name)
    rows, sentences, problems = _rows(lines, len(columns), name)
    text, unit = _text(sentences, rows, lines, unescape, name=name, problems=problems)
    if problems:
        raise InputError(problems=problems)
    annotations, empty = _annotations(rows, columns, name)
    skipped = Counter({NO_WIDTH: empty} if empty else {})
    for index, column in enumerate(columns):
        if column.target or column.feature == "referenceType":
            used = sum(row.cells[index] != NOTHING for row in rows)
            skipped.update({column.kind: used} if used else {})
    return WebannoContent(name, raw, text, annotations, tuple(lines), tuple(rows), columns, unit, skipped)


@dataclass
class _Sentence:
    """The words of a sentence as they stand in the file, and its first and last row."""

    line: int
    texts: list[str]
    first: int
    stop: int


def _rows(lines: Sequence[str], width: int, name: str) -> tuple[list[Row], list[_Sentence], list[Problem]]:
    rows: list[Row] = []
    sentences: list[_Sentence] = []
    problems: list[Problem] = []
    for index, whole in enumerate(lines):
        line = whole.rstrip("\r\n")
        if line.startswith(_TEXT):
            if not sentences or sentences[-1].stop > sentences[-1].first:
                sentences.append(_Sentence(index, [], len(rows), len(rows)))
            sentences[-1].texts.append(line[len(_TEXT) :])
            continue
        cells = line.split("\t")
        if not line.strip() or (line.startswith("#") and not _ROW.fullmatch(cells[0])):
            continue
        number, place = _ROW.fullmatch(cells[0]), _PLACE.fullmatch(cells[1]) if len(cells) > 1 else None
        where = f"{name}:{index + 1}"
        if number is None or place is None or len(cells) < FIXED:
            problems.append(
                Problem(where, f"{line[:60]!r} is no row of a token", "1-1<tab>0-4<tab>WORD<tab>…", "Export it again")
            )
            continue
        if not sentences:
            problems.append(Problem(where, "a token stands before any #Text= line", remedy="Export the file again"))
            continue
        own = cells[FIXED : FIXED + width]
        if own and own[-1] == "" and len(cells) == FIXED + width:  # a tab ends each row, so the last cell is missing
            own = own[:-1]
        if len(own) < width:
            problems.append(
                Problem(where, f"{len(own)} cells of annotations", f"{width}, as the header says", "Export it again")
            )
            own += ["_"] * (width - len(own))
        rows.append(Row(index, cells[0], int(place[1]), int(place[2]), own))
        sentences[-1].stop = len(rows)
    if not rows and not problems:
        problems.append(Problem(name, "there is no token in it", remedy="Check that this is the right file"))
    return rows, sentences, problems


def _text(
    sentences: Sequence[_Sentence],
    rows: Sequence[Row],
    lines: Sequence[str],
    unescape: Callable[[str], str],
    *,
    name: str,
    problems: list[Problem],
) -> tuple[str, Unit]:
    """The text of the document and the unit its offsets count in: the words of the tokens tell."""
    if problems:
        return "", UTF16
    words = [unescape(lines[row.line].rstrip("\r\n").split("\t")[2]) for row in rows]
    found: list[Problem] = []
    for unit in (UTF16, CODE_POINTS):
        text, wrong = _laid_out(sentences, rows, words, unescape, name=name, unit=unit)
        if not wrong:
            return text, unit
        found = found or wrong
    problems += found
    return "", UTF16


def _laid_out(
    sentences: Sequence[_Sentence],
    rows: Sequence[Row],
    words: Sequence[str],
    unescape: Callable[[str], str],
    *,
    name: str,
    unit: str,
) -> tuple[str, list[Problem]]:
    """The sentences at their places, and the tokens that are not what stands there."""

    def width(part: str) -> int:
        return len(part.encode("utf-16-le", "surrogatepass")) // 2 if unit == UTF16 else len(part)

    pieces: list[str] = []
    length = 0
    problems: list[Problem] = []
    for sentence in sentences:
        if sentence.stop == sentence.first:
            continue
        begin = rows[sentence.first].begin
        if begin < length or begin - length > 1_000_000:
            problems.append(
                Problem(
                    f"{name}:{rows[sentence.first].line + 1}",
                    f"the sentence begins at {begin}, but the one before ends at {length}",
                    "sentences behind each other",
                    "Export the file again",
                )
            )
            continue
        own = unescape("\n".join(sentence.texts))
        pieces += ["\n" * (begin - length), own]
        length = begin + width(own)
    text = "".join(pieces)
    if not problems:
        starts = unit_starts(text, unit)
        for row, word in zip(rows, words, strict=True):
            inside = 0 <= row.begin <= row.end <= length
            places = (row.begin, row.end) if starts is None or not inside else (starts[row.begin], starts[row.end])
            there = text[places[0] : places[1]] if inside and min(places) >= 0 else ""
            if there != word:
                problems.append(
                    Problem(
                        f"{name}:{row.line + 1}",
                        f"the row says {word[:40]!r}, but the text has {there[:40]!r} at {row.begin}-{row.end}",
                        "the words of the #Text= line; offsets count UTF-16 units",
                        "Export the file again",
                    )
                )
    return text, problems


def _annotations(rows: Sequence[Row], columns: Sequence[Column], name: str) -> tuple[tuple[CasAnnotation, ...], int]:
    """The annotations of the span layers: those with an ID are put together from all their rows."""
    found: dict[tuple[str, str], list[tuple[int, StackedValue]]] = {}
    for index, row in enumerate(rows):
        for type_, entries in entries_of(row.cells, columns).items():
            for place, entry in enumerate(entries):
                key = (type_, entry.id if entry.id else f"{row.number}/{place}")
                found.setdefault(key, []).append((index, entry))
    annotations, empty = [], 0
    for key, parts in found.items():
        begin = min(rows[index].begin for index, _ in parts)
        end = max(rows[index].end for index, _ in parts)
        if begin == end:
            empty += 1
            continue
        features = {feature: value for feature, value in parts[0][1].values.items() if value is not None}
        where = f"{name}:{rows[parts[0][0]].line + 1}"
        annotations.append(CasAnnotation(key, key[0], begin, end, features, where))
    return tuple(annotations), empty


class _Editor:
    """Takes annotations out of rows and puts them into others; rows that nothing happens to keep their bytes."""

    def __init__(self, content: WebannoContent) -> None:
        self.content = content
        self.rows = [Row(row.line, row.number, row.begin, row.end, list(row.cells)) for row in content.rows]
        self.entries = [entries_of(row.cells, content.columns) for row in self.rows]
        self.places: dict[tuple[str, str], list[int]] = {}
        for index, row in enumerate(self.rows):
            for type_, entries in self.entries[index].items():
                for place, entry in enumerate(entries):
                    key = (type_, entry.id if entry.id else f"{row.number}/{place}")
                    entry.key = key[1]
                    self.places.setdefault(key, []).append(index)
        self.touched: dict[int, set[str]] = {}
        self.references = References(content.columns)

    def edited(self, edit: CasEdit) -> bytes:
        """All deletions first, then what changes, then what is new."""
        extents = {each.key: (each.begin, each.end) for each in self.content.annotations}
        moved: list[tuple[tuple[str, str], str, dict[str, str | None], NewAnnotation]] = []
        for key in edit.removed:
            assert isinstance(key, tuple)
            self.references.forget(key[0], self.rows[self.places[key][0]].number, key[1])
            self._take_out(key)
        for key, new in edit.changed.items():
            assert isinstance(key, tuple)
            if extents[key] == (new.begin, new.end):
                self._relabel(key, new.features)
                continue
            first = self.places[key][0]
            values = next(entry.values for entry in self.entries[first][key[0]] if entry.key == key[1])
            moved.append((key, self.rows[first].number, {**values, **new.features}, new))
            self._take_out(key)
        for key, row, values, new in moved:
            number = "" if "/" in key[1] else key[1]
            self.references.move(key[0], (row, key[1]), self._put_in(new, values, number))
        for new in edit.added:
            self._put_in(new, new.features)
        return self._written()

    def _relabel(self, key: tuple[str, str], features: Mapping[str, str | None]) -> None:
        for index in self.places[key]:
            for entry in self.entries[index][key[0]]:
                if entry.key == key[1]:
                    entry.values.update(features)
            self.touched.setdefault(index, set()).add(key[0])

    def _take_out(self, key: tuple[str, str]) -> None:
        for index in self.places[key]:
            entries = self.entries[index][key[0]]
            entries[:] = [entry for entry in entries if entry.key != key[1]]
            self.touched.setdefault(index, set()).add(key[0])

    def _put_in(self, new: NewAnnotation, values: Mapping[str, str | None], number: str = "") -> tuple[str, str]:
        """Write an annotation into the rows it covers; returns the number of its first row, and its ID if any."""
        type_, covered = new.type, self._covering(new.begin, new.end)
        if not number and (len(covered) > 1 or any(self.entries[index].get(type_) for index in covered)):
            number = self._next_id()
        features = [column.feature for column in self.content.columns if column.is_span and column.type == type_]
        for index in covered:
            entries = self.entries[index].setdefault(type_, [])
            for other in entries:
                if not other.id:  # two annotations in one row need an ID each
                    other.id = self._next_id()
                    self.references.name(type_, self.rows[index].number, other.id)
            entries.append(
                StackedValue(
                    {feature: values.get(feature) for feature in features}, number, f"new/{new.begin}/{new.end}"
                )
            )
            self.touched.setdefault(index, set()).add(type_)
        return self.rows[covered[0]].number, number

    def _next_id(self) -> str:
        known = [int(entry.id) for row in self.entries for entries in row.values() for entry in entries if entry.id]
        known += self.references.ids(self.rows)
        return str(max(known, default=0) + 1)

    def _covering(self, begin: int, end: int) -> list[int]:
        """The rows of an extent: whole tokens, and parts of tokens where it begins or ends inside one."""
        found = []
        for index in [i for i, row in enumerate(self.rows) if "." not in row.number]:
            row = self.rows[index]
            first, last = max(row.begin, begin), min(row.end, end)
            if first < last:
                found.append(index if (first, last) == (row.begin, row.end) else self._part(row, first, last))
        if not found:
            raise InputError(
                f"{self.content.name}: the corrected span {begin}-{end} covers no token, which WebAnno TSV cannot say. "
                "Choose another extent."
            )
        return found

    def _part(self, token: Row, begin: int, end: int) -> int:
        """The row of a part of a token; a new one where there is none."""
        highest = 0
        for index, row in enumerate(self.rows):
            if row.token == token.number and "." in row.number:
                if (row.begin, row.end) == (begin, end):
                    return index
                highest = max(highest, int(row.number.rpartition(".")[2]))
        self.rows.append(
            Row(-1 - token.line, f"{token.number}.{highest + 1}", begin, end, ["_"] * len(self.content.columns))
        )
        self.entries.append({})
        self.touched[len(self.rows) - 1] = set()
        return len(self.rows) - 1

    def _written(self) -> bytes:
        content = self.content
        for index, types in self.touched.items():
            for type_ in types:
                written_cells(self.rows[index].cells, content.columns, type_, self.entries[index].get(type_, []))
        changed = {index for index, types in self.touched.items() if types}
        changed |= self.references.apply(self.rows)
        lines = list(content.lines)
        after: dict[int, list[str]] = {}
        starts = unit_starts(content.text, content.unit)
        for index in sorted(changed):
            row = self.rows[index]
            if row.line >= 0:
                line = lines[row.line]
                ending = line[len(line.rstrip("\r\n")) :]
                cells = line.rstrip("\r\n").split("\t")
                cells[FIXED : FIXED + len(row.cells)] = row.cells
                lines[row.line] = "\t".join(cells) + ending
                continue
            token_line = -1 - row.line
            ending = "\r\n" if lines[token_line].endswith("\r\n") else "\n"
            begin, end = (row.begin, row.end) if starts is None else (starts[row.begin], starts[row.end])
            words = escaped_text(content.text[begin:end])
            cells = [row.number, f"{row.begin}-{row.end}", words, *row.cells, ""]
            place = self._last_line_of(row.token, token_line)
            if not lines[place].endswith("\n"):
                lines[place] += ending
            after.setdefault(place, []).append("\t".join(cells) + ending)
        written = [line + "".join(after.get(index, ())) for index, line in enumerate(lines)]
        mark = "\ufeff" if content.raw.startswith(b"\xef\xbb\xbf") else ""
        return (mark + "".join(written)).encode("utf-8", "surrogatepass")

    def _last_line_of(self, token: str, line: int) -> int:
        """The last line of a token and its parts."""
        return max([line, *(row.line for row in self.rows if row.line >= 0 and row.token == token)])
