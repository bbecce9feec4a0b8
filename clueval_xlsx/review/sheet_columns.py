"""The columns of a review sheet: by their headers, also misspelt ones, else by where they stood and what they hold.

A sheet may have been sorted with its header, cut in two, or pasted below another one: so headers are looked for in
every row, and each row is read by the nearest header above it (or, above the first, by the first).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import combinations

from clueval_xlsx.files.workbooks import SheetTable, cell_text
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.sheet_words import ID_COLUMNS, SheetWords
from clueval_xlsx.review.vocabulary import ANNOTATION_COLUMNS

CASE_ID = re.compile(r"(?:FN|FP|AG)-[A-Z2-7]{8,32}")
_PREFIXES = ("FN-", "FP-", "AG-")
_LONGEST_HEADER = 100  # characters
_LEAST_ALIKE = 0.8  # of a misspelt header, as difflib measures it
_BRACKETS = re.compile(r"[(\[{][^)\]}]*[)\]}]")
_ADDITION = re.compile(r"[^\w].*|_.*|\d+$")
_MOSTLY = 0.6  # of the filled cells of a column, to tell by them what it is


@dataclass(frozen=True)
class Columns:
    """What the columns of a stretch of rows hold: key → places; several places where several could be meant.

    `guessed` are columns that were recognised without their exact header: key → how, in words.
    """

    header: int | None
    places: Mapping[str, tuple[int, ...]]
    headers: Mapping[int, str] = field(default_factory=dict)  # what stands above each column
    guessed: Mapping[int, str] = field(default_factory=dict)

    def __contains__(self, key: str) -> bool:
        return key in self.places

    @cached_property
    def annotations(self) -> list[int]:
        """Where people fill something in."""
        return [
            place
            for key, places in self.places.items()
            if key.partition(":")[0] in ANNOTATION_COLUMNS
            for place in places
        ]

    @cached_property
    def known(self) -> set[int]:
        """Every column that is understood."""
        return {place for places in self.places.values() for place in places}


@dataclass(frozen=True)
class CaseRows:
    """The rows of a sheet that carry a case ID: row → place → ID."""

    ids: Mapping[int, Mapping[int, str]]

    @property
    def by_place(self) -> dict[int, int]:
        """How many IDs stand in each column."""
        found: dict[int, int] = {}
        for row in self.ids.values():
            for place in row:
                found[place] = found.get(place, 0) + 1
        return found

    def twins(self, places: Sequence[int]) -> list[int]:
        """The two of these columns that most often hold the same ID in one row; nothing if none ever do."""
        alike = {
            (left, right): sum(row.get(left) == row.get(right) is not None for row in self.ids.values())
            for left, right in combinations(places, 2)
        }
        best = max(alike, key=lambda pair: alike[pair])
        return list(best) if alike[best] else []


def clean_id(text: str) -> str:
    """A case ID as it was written, whatever was typed around it."""
    return text if CASE_ID.fullmatch(text) else normalise(text).upper().replace(" ", "")


def find_case_rows(table: SheetTable) -> CaseRows:
    """Every row in which a case ID stands, wherever it is."""
    ids: dict[int, dict[int, str]] = {}
    for number, row in enumerate(table.rows):
        found = {}
        for place, cell in enumerate(row):
            if cell and isinstance(cell, str) and len(cell) < _LONGEST_HEADER and "-" in cell:
                text = clean_id(cell)
                if text.startswith(_PREFIXES) and CASE_ID.fullmatch(text):
                    found[place] = text
        if found:
            ids[number] = found
    return CaseRows(ids)


class ColumnFinder:
    """Finds the columns of the sheets of one workbook; `layout` is the order in which they were written."""

    def __init__(self, words: SheetWords, layout: Sequence[str] = ()) -> None:
        self._words = words
        self._layout = {key: index for index, key in enumerate(layout)}

    def sections(self, table: SheetTable, rows: CaseRows) -> Sections:
        """The headers of a sheet, each with its columns; one without a header if there is none."""
        found = [columns for number in self._header_rows(table) if (columns := self._read_header(table, number))]
        if not found:
            found = [Columns(None, {})]
        return Sections([self._completed(columns, table, rows) for columns in found])

    def _header_rows(self, table: SheetTable) -> Iterator[int]:
        """Rows in which at least two different columns have their exact headers, one of them for judging or an ID."""
        for number, row in enumerate(table.rows):
            keys = {self._words.column(text) for text in _headers(row).values()}
            named = {key.partition(":")[0] for key in keys if key}
            if len(named) >= 2 and named & {*ANNOTATION_COLUMNS, *ID_COLUMNS}:
                yield number

    def _read_header(self, table: SheetTable, number: int) -> Columns:
        places: dict[str, list[int]] = {}
        headers = _headers(table.rows[number])
        alike: dict[int, str] = {}
        guessed: dict[int, str] = {}
        for place, header in headers.items():
            key = self._words.column(header)
            if key is None and (key := self._with_addition(header)) is not None:
                guessed[place] = key
            if key is not None:
                places.setdefault(key, []).append(place)
            elif (key := self._misspelt(header)) is not None:
                alike[place] = key
        for place, key in alike.items():  # a misspelt header counts where the right one is missing
            if key not in places or any(other in alike for other in places[key]):
                places.setdefault(key, []).append(place)
                guessed[place] = key
        found = {key: tuple(where) for key, where in places.items()}
        return Columns(number, found, headers, guessed)

    def _with_addition(self, header: str) -> str | None:
        """`Judgement (Anna)`, `Judgement 2`, `Judgement - Anna` are judgements, too."""
        text = _BRACKETS.sub("", normalise(header)).strip()
        key = self._words.column(text) if text else None
        if key is not None:
            return key
        for word in sorted(self._words.headers, key=len, reverse=True):
            if text.startswith(word) and _ADDITION.fullmatch(text[len(word) :]):
                return self._words.headers[word]
        return None

    def _misspelt(self, header: str) -> str | None:
        text = normalise(header)
        scored = [
            (SequenceMatcher(None, text, word).ratio(), key)
            for word, key in self._words.annotation_headers.items()
            if abs(len(word) - len(text)) <= 4
        ]
        best = max(scored, default=(0.0, ""))
        return best[1] if best[0] >= _LEAST_ALIKE else None

    def _completed(self, columns: Columns, table: SheetTable, rows: CaseRows) -> Columns:
        """With the columns that no header names: by where they stood, and by what they hold."""
        places = {key: where for key, where in columns.places.items() if key not in ID_COLUMNS}
        guessed = dict(columns.guessed)
        places.update(self._id_columns(columns, rows, set().union(*places.values()) if places else set()))
        values = _values(table, rows)
        wanted = [key for key in self._wanted() if key not in places]
        for key in sorted(wanted, key=lambda key: key != "judgement"):
            taken = {place for where in places.values() for place in where}
            place = self._by_place(key, places, taken, values)
            if place is None:
                place = self._by_content(key, taken, values)
            if place is not None:
                places[key] = (place,)
                guessed[place] = key
        if columns.header is None:
            places = {**self._written_places(places), **places}
        return Columns(columns.header, places, columns.headers, guessed)

    def _written_places(self, places: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """All columns of a sheet without a header, if those that are known stand as far apart as they were written."""
        shifts = {places[key][0] - index for key, index in self._layout.items() if key in places}
        if len(shifts) != 1:
            return {}
        shift = shifts.pop()
        return {key: (index + shift,) for key, index in self._layout.items() if index + shift >= 0}

    def _wanted(self) -> list[str]:
        labels = [f"correct_label:{layer}" for layer in self._words.layers]
        return ["judgement", "correct_span", *labels, "severity", "comment"]

    def _id_columns(self, columns: Columns, rows: CaseRows, taken: set[int]) -> dict[str, tuple[int, ...]]:
        """Where the two IDs of a row stand: as the header says if IDs do stand there, else where most of them stand."""
        counts = rows.by_place
        named = {key: columns.places[key] for key in ID_COLUMNS if key in columns.places}
        found = {key: kept for key, where in named.items() if (kept := tuple(p for p in where if counts.get(p)))}
        if len(found) == len(ID_COLUMNS):
            return found
        used = {place for where in found.values() for place in where}
        others = [place for place in counts if place not in taken | used]
        most = max((counts[place] for place in others), default=0)
        free = sorted(place for place in others if counts[place] >= _MOSTLY * most)
        if not found and len(free) > len(ID_COLUMNS):
            free = rows.twins(free) or free
        order = sorted(ID_COLUMNS, key=lambda key: self._layout.get(key, 0 if key == "case" else 1))
        missing = [key for key in order if key not in found]
        if len(free) < len(missing):  # only one of the two is left: a row's own ID unless it stands beside a judgement
            missing = missing[: len(free)]
        for key, place in zip(missing, free, strict=False):
            if not found or counts[place] >= _MOSTLY * max(counts.values()):
                found[key] = (place,)
        return found

    def _by_place(
        self, key: str, places: Mapping[str, tuple[int, ...]], taken: set[int], values: Mapping[int, list[str]]
    ) -> int | None:
        """The place between its neighbours, if both sides agree on it, or one does and nothing speaks against it."""
        if key not in self._layout:
            return None
        index = self._layout[key]
        anchors = sorted(
            (self._layout[name], where[0]) for name, where in places.items() if name in self._layout and len(where) == 1
        )
        after = bisect_left(anchors, (index, -1))
        found = {
            place + index - at
            for at, place in (*anchors[max(after - 1, 0) : after], *anchors[after : after + 1])
            if place + index - at >= 0
        } - taken
        fitting = [place for place in found if self._fits(key, values.get(place, []))]
        return fitting[0] if len(fitting) == 1 else None

    def _by_content(self, key: str, taken: set[int], values: Mapping[int, list[str]]) -> int | None:
        """The only column whose cells are mostly judgements (or severities); words can be told, bare digits cannot."""
        if key not in {"judgement", "severity"}:
            return None
        telling = [
            place
            for place, texts in values.items()
            if place not in taken
            if any(not text.strip().isdigit() for text in texts) and self._fits(key, texts)
        ]
        return telling[0] if len(telling) == 1 else None

    def _fits(self, key: str, texts: Sequence[str]) -> bool:
        if key == "judgement":
            good = sum(self._words.is_judgement_anywhere(text) for text in texts)
        elif key == "severity":
            good = sum(self._words.severity(text) is not None for text in texts)
        else:
            return True
        return good >= _MOSTLY * len(texts)


class Sections:
    """The headers of a sheet with their columns, in order."""

    def __init__(self, columns: Sequence[Columns]) -> None:
        self.columns = list(columns)
        self.headers = {each.header for each in columns if each.header is not None}

    def of_row(self, number: int) -> Columns:
        """The columns of a row: those of the nearest header above it, else of the first below."""
        above = [each for each in self.columns if each.header is not None and each.header < number]
        return above[-1] if above else self.columns[0]


def _headers(row: Sequence[object]) -> dict[int, str]:
    """The texts of a row that are short enough for headers, by place."""
    return {
        place: cell.strip()
        for place, cell in enumerate(row)
        if cell and isinstance(cell, str) and len(cell) < _LONGEST_HEADER
    }


def _values(table: SheetTable, rows: CaseRows) -> dict[int, list[str]]:
    """What is filled in, by column, in the rows of cases."""
    found: dict[int, list[str]] = {}
    for number in rows.ids:
        for place, cell in enumerate(table.rows[number]):
            if cell != "" and (text := cell_text(cell).strip()):
                found.setdefault(place, []).append(text)
    return found


def filled_beyond(
    table: SheetTable, rows: Iterable[int], columns: Columns, ids: Mapping[int, Mapping[int, str]]
) -> dict[int, int]:
    """Columns that nobody understands although case rows have something there: place → the first such row."""
    found: dict[int, int] = {}
    known = columns.known
    for number in rows:
        for place, cell in enumerate(table.rows[number]):
            new = place not in known and place not in found and place not in ids[number]
            if new and cell != "" and cell_text(cell).strip():
                found[place] = number
    return found
