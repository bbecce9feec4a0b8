"""Sheets before their rows are read: their words, which rows carry a case ID, and which columns stand where."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property

import msgspec

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.files.sheets import SheetTable, cell_name
from clueval_xlsx.review.answers import judgement_choices, scopes, severities, span_choice
from clueval_xlsx.review.case_sheet import METADATA
from clueval_xlsx.review.judgements import (
    ANNOTATION_COLUMNS,
    BLOCK_ID_COLUMN,
    LAYER_COLUMNS,
    JudgementKind,
    Scope,
    Severity,
    SpanChoice,
    words_of,
)
from clueval_xlsx.text.cells import normalise
from clueval_xlsx.words import FALLBACK, Words, in_every_language, known_language

ID_COLUMNS = ("case", BLOCK_ID_COLUMN)

_LONGEST_ENTRY = 200  # characters; nobody types a longer one
_LEAST_ALIKE = 0.8  # of a misspelt header, as difflib measures it
_BRACKETS = re.compile(r"[(\[{][^)\]}]*[)\]}]")
_ADDITION = re.compile(r"[^\w].*|_.*|\d+$")


def is_for_judging(name: str) -> bool:
    """Whether people fill in the column of a name, such as `correct_label:risk`."""
    return name.partition(":")[0] in ANNOTATION_COLUMNS


class SheetWords:
    """The words of headers and values in all languages, as codes; messages name the choices in `language`.

    `columns` are the names of the columns in the order in which the workbook was written, if that is known.
    """

    def __init__(
        self,
        layers: Sequence[str],
        judgements: Sequence[JudgementKind],
        language: str = FALLBACK,
        columns: Sequence[str] = (),
    ) -> None:
        self.layers, self.columns = tuple(layers), tuple(columns)
        self._language = known_language(language)
        self.said = Words(self._language)
        self.judgements = {judgement.code: judgement for judgement in judgements}
        self._headers: dict[str, str] = {}
        for key in Words(FALLBACK).section("column"):
            for text in in_every_language(f"column.{key}").values():
                self._headers |= (
                    self._of_layers(key, normalise(text)) if key in LAYER_COLUMNS else {normalise(text): key}
                )
        self._headers |= {normalise(name.removeprefix(METADATA)): name for name in columns if name.startswith(METADATA)}
        wanted = (*ANNOTATION_COLUMNS, *ID_COLUMNS)
        self._misspelt = {text: name for text, name in self._headers.items() if name.partition(":")[0] in wanted}
        self._offered = {sheet: judgement_choices(judgements, sheet) for sheet in Sheet}
        self._severities, self._scopes = severities(), scopes()
        self._names: dict[str, tuple[str, bool]] = {}

    def _of_layers(self, key: str, text: str) -> dict[str, str]:
        """The headers of a column that stands once for each layer."""
        found = {f"{text}: {normalise(layer)}": f"{key}:{layer}" for layer in self.layers}
        if len(self.layers) == 1:
            found[text] = f"{key}:{self.layers[0]}"
        return found

    def column(self, header: str) -> str:
        """The name of the column with exactly this header; else nothing."""
        return self._headers.get(normalise(header), "")

    def meant(self, header: str) -> tuple[str, bool]:
        """The name of the column that a header means, and whether it is spelt as it was written.

        `Judgement (Anna)`, `Judgement 2`, `Judgement - Anna` and `Judgment` are judgements, too.
        """
        if header not in self._names:
            exact = self.column(header)
            self._names[header] = (exact, True) if exact else (self._guessed(header), False)
        return self._names[header]

    def _guessed(self, header: str) -> str:
        text = _BRACKETS.sub("", normalise(header)).strip()
        if text in self._headers:
            return self._headers[text]
        for word in sorted(self._headers, key=len, reverse=True):
            if text.startswith(word) and _ADDITION.fullmatch(text[len(word) :]):
                return self._headers[word]
        near = [word for word in self._misspelt if abs(len(word) - len(text)) <= 4]
        scored = [(SequenceMatcher(None, text, word).ratio(), self._misspelt[word]) for word in near]
        best = max(scored, default=(0.0, ""))
        return best[1] if best[0] >= _LEAST_ALIKE else ""

    @cached_property
    def wanted(self) -> list[str]:
        """The columns for judging that the sheets came with; where nobody knows, those that all have."""
        labels = [f"correct_label:{layer}" for layer in self.layers]
        every = ["judgement", "correct_span", *labels, "severity", "comment"]
        return [name for name in self.columns if is_for_judging(name)] or every

    def shown(self, name: str) -> str:
        """The header of a column for a message."""
        key, _, layer = name.partition(":")
        header = Words(FALLBACK)[f"column.{key}"]
        return f"{header}: {layer}" if layer and len(self.layers) > 1 else header

    # ---- lists

    def judgement(self, text: str, sheet: str) -> str | None:
        """The code of a judgement that is offered on a kind of sheet."""
        return self._offered[Sheet(sheet)].find(text)

    def entry(self, name: str, text: str, sheet: str) -> str | None:
        """What an entry in a column for judging says, as it is compared; None for what says nothing to gold."""
        match name.partition(":")[0]:
            case "judgement":
                return self.judgement(text, sheet)
            case "severity":
                return self.severity(text)
            case "applies_to":
                return self.scope(text)
            case "comment":
                return None
        return normalise(text)

    def is_judgement(self, text: str) -> bool:
        """Whether a text, be it a digit or words, is a judgement on some kind of sheet."""
        short = len(text) <= _LONGEST_ENTRY
        return short and any(choices.find(text) is not None for choices in self._offered.values())

    def says_judgement(self, text: str) -> bool:
        """Whether a text is a judgement in words."""
        return any(map(str.isalpha, text)) and self.is_judgement(text)

    @staticmethod
    def span_choice(text: str) -> SpanChoice | str:
        """A choice, or the words as they were typed."""
        return span_choice(text) or text.strip()

    def severity(self, text: str) -> Severity | None:
        """A severity."""
        found = self._severities.find(text)
        return None if found is None else Severity(found)

    def scope(self, text: str) -> Scope | None:
        """Which twins a judgement holds for."""
        found = self._scopes.find(text)
        return None if found is None else Scope(found)

    def allowed(self, sheet: str) -> str:
        """The judgements of a kind of sheet, for a message."""
        words = Words(self._language).section("judgement")
        offered = [each for each in self.judgements.values() if sheet in each.sheets]
        shown = [f"{each.digit} {words_of(each, self._language, words)}".strip() for each in offered]
        return ", ".join(shown) + "; the digit is enough"


# ---- case IDs

_KINDS = "|".join(Sheet)
CASE_ID = re.compile(rf"(?:{_KINDS})-[A-Z2-7]{{8,32}}")
_MAYBE = re.compile(rf"[\W_]*(?:{_KINDS})", re.IGNORECASE)
_LONGEST = 60  # characters of a cell that may hold an ID
_BLANK = re.compile(r"[\s\u2060\ufeff\u200b]+")
_DASH = re.compile(r"[-_\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+")  # programs and people type them for each other
_DAMAGED = re.compile(rf"({_KINDS})(-?)([A-Z2-7]{{12}})")
RowIds = Mapping[int, str]  # the case IDs of a row by their places


def clean_id(text: str) -> str:
    """A case ID as it was written, whatever was typed around it or became of its letters and its dash; else nothing.

    Without its dash or its capitals, and without a digit, it may well be a word: `AG-Braunschweig`.

    >>> clean_id(" fn\u20137fa7vc3mgkaa\u00a0"), clean_id("FN7FA7VC3MGKAA"), clean_id("AG-Braunschweig")
    ('FN-7FA7VC3MGKAA', 'FN-7FA7VC3MGKAA', '')
    """
    if CASE_ID.fullmatch(text):
        return text
    visible = _DASH.sub("-", _BLANK.sub("", text)).strip("-.,;:'\"()[]")
    found = _DAMAGED.fullmatch(visible.upper())
    whole = found is not None and ((found[2] and visible == visible.upper()) or not found[3].isalpha())
    return f"{found[1]}-{found[3]}" if found is not None and whole else ""


def iterate_case_rows(table: SheetTable) -> Iterator[tuple[int, dict[int, str]]]:
    """Every row in which a case ID stands, with its IDs by their places."""
    for number, row in enumerate(table.rows):
        found = {}
        for place, cell in enumerate(row):
            if cell and isinstance(cell, str) and len(cell) < _LONGEST and _MAYBE.match(cell):
                text = clean_id(cell)
                if text:
                    found[place] = text
        if found:
            yield number, found


def stands_twice(ids: RowIds) -> bool:
    """Whether a row carries an ID twice, as only rows of review sheets do."""
    return len(set(ids.values())) < len(ids)


# ---- headers

_LONGEST_HEADER = 100  # characters


@dataclass(frozen=True)
class ColumnHeader:
    """The columns of the rows below a header: their names by their places, and the texts that stand above them."""

    row: int | None  # None: there is none, the columns stand as they were written
    names: Mapping[int, str]
    titles: Mapping[int, str]
    rivals: Mapping[int, str] = field(default_factory=dict)  # what a header may mean that another one spells exactly
    swapped: frozenset[str] = frozenset()  # columns for judging of which each stands where the other was written

    @cached_property
    def places(self) -> Mapping[str, list[int]]:
        """Where each column stands; several places if it stands there more than once."""
        found: dict[str, list[int]] = {}
        for place, name in sorted(self.names.items()):
            found.setdefault(name, []).append(place)
        return found

    @cached_property
    def first(self) -> Mapping[str, int]:
        """The first place of each column."""
        return {name: places[0] for name, places in self.places.items()}

    @cached_property
    def judging(self) -> Mapping[str, list[int]]:
        """The columns that people fill in."""
        return {name: places for name, places in self.places.items() if is_for_judging(name)}

    @cached_property
    def judging_places(self) -> frozenset[int]:
        """Where people fill in something."""
        return frozenset(place for places in self.judging.values() for place in places)

    @cached_property
    def id_places(self) -> frozenset[int]:
        """Where case IDs belong."""
        return frozenset(place for place, name in self.names.items() if name in ID_COLUMNS)


NO_HEADER = ColumnHeader(None, {}, {})


def find_headers(words: SheetWords, table: SheetTable, case_rows: Mapping[int, RowIds]) -> list[ColumnHeader]:
    """The headers of a sheet: rows with the exact headers of two columns, one of them for judging or an ID.

    A row with a case in it was mixed up with a header by sorting: it is one only where there is no other.
    """
    others = [number for number in range(len(table.rows)) if number not in case_rows]
    return _headers_among(words, table, others) or _headers_among(words, table, case_rows)


def _headers_among(words: SheetWords, table: SheetTable, rows: Iterable[int]) -> list[ColumnHeader]:
    found = []
    for number in rows:
        titles = {place: text for place, text in enumerate(table.texts[number]) if text and len(text) < _LONGEST_HEADER}
        exact = {name for text in titles.values() if (name := words.column(text))}
        if len(exact) > 1 and any(name in ID_COLUMNS or is_for_judging(name) for name in exact):
            found.append(_header(words, number, titles, exact))
    return found


def _header(words: SheetWords, number: int, titles: Mapping[int, str], exact: set[str]) -> ColumnHeader:
    """A header with the columns that its texts mean; a guess gives way to a header that is spelt exactly."""
    names: dict[int, str] = {}
    rivals: dict[int, str] = {}
    for place, text in titles.items():
        name, sure = words.meant(text)
        if name:
            (names if sure or name not in exact else rivals)[place] = name
    # Where one header is gone, both neighbours tell its column.
    triples = zip(words.columns, words.columns[1:], words.columns[2:], strict=False)
    between = {(left, right): name for left, name, right in triples}
    for place in range(1, max(names, default=0)):
        name = between.get((names.get(place - 1, ""), names.get(place + 1, "")), "")
        if name and place not in titles and name not in names.values():
            names[place] = name
    return ColumnHeader(number, names, titles, rivals, _swapped(words, [names[place] for place in sorted(names)]))


def _swapped(words: SheetWords, names: Sequence[str]) -> frozenset[str]:
    """Of columns in their order those that changed places with one another, if people fill in one of the two."""
    written = [name for name in words.columns if name in names]
    found = list(dict.fromkeys(name for name in names if name in words.columns))
    apart = {(one, other) for one, other in zip(written, found, strict=True) if one != other}
    swapped = [pair for pair in apart if pair[::-1] in apart and any(map(is_for_judging, pair))]
    return frozenset(name for pair in swapped for name in pair)


# ---- sheets


class Row:
    """One row with the header that holds for it."""

    def __init__(self, number: int, cells: Sequence[str], header: ColumnHeader) -> None:
        self.number, self.cells, self.header = number, cells, header

    def at(self, place: int) -> str:
        return self.cells[place] if 0 <= place < len(self.cells) else ""

    def text(self, name: str) -> str:
        return self.at(self.header.first.get(name, -1))

    def of(self, name: str, ids: RowIds) -> list[str]:
        """The case IDs in the columns of a name."""
        return [ids[place] for place in self.header.places.get(name, ()) if place in ids]


@dataclass(frozen=True)
class CaseSheet:
    """One sheet before its rows are read: those of cases, and its headers. `kind` is that of the cases it came with.

    A `foreign` sheet names cases only where somebody put their rows there.
    """

    table: SheetTable
    kind: str
    case_rows: Mapping[int, RowIds]
    headers: Sequence[ColumnHeader]
    foreign: bool

    @classmethod
    def of(cls, table: SheetTable, kind: str, words: SheetWords, *, foreign: bool = False) -> CaseSheet:
        """Find the rows of cases and the headers."""
        case_rows = dict(iterate_case_rows(table))
        if foreign:
            case_rows = {number: ids for number, ids in case_rows.items() if _was_put_there(table, number, ids, words)}
        table = _unmerged(table, case_rows)
        return cls(table, kind, case_rows, find_headers(words, table, case_rows), foreign)

    def header_of(self, number: int) -> ColumnHeader:
        """The header that holds for a row: the nearest above it, else the first below."""
        above = bisect_right(self.headers, number, key=lambda header: header.row or 0)
        return self.headers[max(above - 1, 0)] if self.headers else NO_HEADER

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The two IDs of each row: its own, and the one in the block for judging; one that is gone is empty."""
        found = []
        for number, ids in self.case_rows.items():
            row = Row(number, (), self.header_of(number))
            own, block = (next(iter(row.of(name, ids)), "") for name in ID_COLUMNS)
            found.append((own, block))
        return found

    @cached_property
    def blocks(self) -> set[str]:
        """The IDs in the blocks of all rows."""
        return {block for _, block in self.pairs}

    @cached_property
    def is_sorted(self) -> bool:
        """Whether blocks stand beside other cases; one that still stands beside its own, too, was only copied."""
        rows, blocks = (Counter(pair[side] for pair in self.pairs) for side in (0, 1))
        home = {block for own, block in self.pairs if own == block}
        apart = [block for own, block in self.pairs if own and block and own != block]
        return any(block not in home or blocks[block] <= rows[block] for block in apart)

    def columns_too_many(self, words: SheetWords) -> Iterator[tuple[str, str]]:
        """Columns for judging that stand here twice, or without any case, each with its filled cells."""
        for header in self.headers:
            for name, places in header.judging.items():
                if len(places) > 1 and self.case_rows:
                    yield name, self._cells(self.case_rows, places[-1])
        seen: set[int] = set()
        for number, texts in enumerate(self.table.texts if not self.case_rows else ()):
            for place, text in enumerate(texts):
                name = words.column(text) if text and place not in seen else ""
                if is_for_judging(name):
                    seen.add(place)
                    lines = [
                        Row(row, self.table.texts[row], NO_HEADER) for row in range(number + 1, len(self.table.texts))
                    ]
                    filled = [line.number for line in lines if line.at(place)]
                    if filled:
                        yield name, self._cells(filled, place)

    def columns_gone(self, words: SheetWords) -> Iterator[tuple[str, str]]:
        """Columns for judging without a header and without an entry, while others are there; with the rows of cases."""
        for header in self.headers if self.case_rows else ():
            for name in words.wanted if header.judging else ():
                places = header.places.get(name, [])
                entries = any(Row(number, self.table.texts[number], header).text(name) for number in self.case_rows)
                if not entries and not any(place in header.titles for place in places):
                    yield name, self._cells(self.case_rows, 0)

    def _cells(self, rows: Iterable[int], place: int) -> str:
        return f"{self.table.name}!{cell_name(min(rows), place)}:{cell_name(max(rows), place)}"


def _was_put_there(table: SheetTable, number: int, ids: RowIds, words: SheetWords) -> bool:
    """Whether a row carries its ID twice, or has a judgement; a digit is one only left of the ID."""
    texts = enumerate(table.texts[number])
    return stands_twice(ids) or any(
        words.says_judgement(text) or (place + 1 in ids and words.is_judgement(text)) for place, text in texts
    )


def _unmerged(table: SheetTable, case_rows: Mapping[int, RowIds]) -> SheetTable:
    """The sheet with the value of cells that are merged downwards in every row of a case that they cover."""
    downwards = [merged for merged in table.merged if merged.last_row > merged.first_row]
    if not downwards:
        return table
    cells = [list(row) for row in table.rows]
    for merged in downwards:
        first = cells[merged.first_row] if merged.first_row < len(cells) else []
        value = first[merged.first_column] if merged.first_column < len(first) else ""
        for number in range(merged.first_row + 1, min(merged.last_row + 1, len(cells))):
            row = cells[number]
            if value != "" and number in case_rows and merged.first_column not in case_rows[number]:
                row += [""] * (merged.first_column + 1 - len(row))
                row[merged.first_column] = value
    return msgspec.structs.replace(table, rows=cells)
