"""The columns of a review sheet: by their headers, also misspelt ones, else by where they stood and what they hold.

A sheet may have been sorted with its header, cut in two, or pasted below another one: so headers are looked for in
every row, and each row is read by the nearest header above it (or, above the first, by the first).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property

from clueval_xlsx.files.sheets import SheetTable
from clueval_xlsx.review.case_rows import CaseRows
from clueval_xlsx.review.case_sheet import METADATA
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.sheet_words import ID_COLUMNS, SheetWords
from clueval_xlsx.review.vocabulary import ANNOTATION_COLUMNS, BLOCK_ID_COLUMN, SpanChoice

_LONGEST_HEADER = 100  # characters
_LEAST_ALIKE = 0.8  # of a misspelt header, as difflib measures it
_BRACKETS = re.compile(r"[(\[{][^)\]}]*[)\]}]")
_ADDITION = re.compile(r"[^\w].*|_.*|\d+$")
_MOSTLY = 0.6  # of the filled cells of a column, to tell by them what it is
Filled = Mapping[int, Mapping[int, str]]  # what stands in case rows: column → row → text


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
    def first(self) -> Mapping[str, int]:
        """Where each key stands, the first place of several."""
        return {key: places[0] for key, places in self.places.items()}

    @cached_property
    def doubled(self) -> list[str]:
        """The keys of columns for judging that stand there more than once."""
        several = (key for key, places in self.places.items() if len(places) > 1)
        return [key for key in several if key.partition(":")[0] in ANNOTATION_COLUMNS]

    @cached_property
    def correct_labels(self) -> Mapping[str, str]:
        """The keys of columns for correct labels, each with its layer."""
        return {key: key.partition(":")[2] for key in self.places if key.startswith("correct_label:")}

    @cached_property
    def fixed_annotations(self) -> set[int]:
        """Where people fill something in that is no free text: no case ID has any business there."""
        fixed = {place for key, places in self.places.items() if key != "comment" for place in places}
        return fixed.intersection(self.annotations)

    @cached_property
    def stripped(self) -> bool:
        """Whether the whole block for judging is gone, its IDs included."""
        return not self.annotations and BLOCK_ID_COLUMN not in self.places

    @cached_property
    def id_places(self) -> set[int]:
        """Where the IDs of rows stand."""
        return {place for key in ID_COLUMNS for place in self.places.get(key, ())}

    @cached_property
    def known(self) -> set[int]:
        """Every column that is understood."""
        return {place for places in self.places.values() for place in places}

    def unknown(self, width: int) -> list[int]:
        """The columns of a row of so many cells that are not understood."""
        if width not in self._unknown:
            self._unknown[width] = [place for place in range(width) if place not in self.known]
        return self._unknown[width]

    @cached_property
    def _unknown(self) -> dict[int, list[int]]:
        return {}


class ColumnFinder:
    """Finds the columns of the sheets of one workbook; `layout` is the order in which they were written."""

    def __init__(self, words: SheetWords, layout: Sequence[str] = ()) -> None:
        self._words = words
        self._layout = {key: index for index, key in enumerate(layout)}

    @property
    def wanted(self) -> list[str]:
        """The columns for judging that the sheets came with; where nobody knows the order, those that all have."""
        if self._layout:
            return [key for key in self._wanted() if key in self._layout]
        return [key for key in self._wanted() if key != "applies_to"]

    def sections(self, table: SheetTable, rows: CaseRows) -> Sections:
        """The headers of a sheet, each with its columns; one without a header if there is none.

        Rows whose IDs stand in other columns than those of their section were pasted from elsewhere: they are read by
        themselves, those of one shape together.
        """
        filled = _Filled(table, rows)
        found = [
            self._completed(self._read_header(table, number, filled), filled, rows)
            if not self._is_askew(table.rows[number], rows)
            else replace(self._completed(Columns(None, {}), filled, rows), header=number)
            for number in self._header_rows(table, rows)
        ]
        sections = Sections(found or [self._completed(Columns(None, {}), filled, rows)])
        shapes: dict[tuple[int, ...], dict[int, Mapping[int, str]]] = {}
        for number, ids in rows.ids.items():
            if number not in sections.headers and not sections.of_row(number).id_places & ids.keys():
                shapes.setdefault(tuple(ids), {})[number] = ids
        strays = [
            Stray(set(members), self._completed(Columns(None, {}), _Filled(table, own), own))
            for members in shapes.values()
            for own in [CaseRows(members)]
        ]
        return Sections(sections.columns, strays)

    def _header_rows(self, table: SheetTable, rows: CaseRows) -> list[int]:
        """Rows in which at least two different columns have their exact headers, one of them for judging or an ID.

        A row with a case in it was mixed up with a header by sorting: it is one only where there is no other.
        """
        others = [number for number in range(len(table.rows)) if number not in rows.ids]
        found = [number for number in others if self._is_header(table.rows[number])]
        return found or [number for number in rows.ids if self._is_header(table.rows[number])]

    def _is_header(self, row: Sequence[object]) -> bool:
        keys = {self._words.column(text) for text in _headers(row).values()}
        named = {key.partition(":")[0] for key in keys if key}
        return len(named) >= 2 and bool(named & {*ANNOTATION_COLUMNS, *ID_COLUMNS})

    def _is_askew(self, row: Sequence[object], rows: CaseRows) -> bool:
        """Whether headers stand beside their columns: one of IDs is next to a column of IDs that it is not above.

        A header cell was inserted or deleted, and those to its right moved. All columns are found without them.
        """
        counts = rows.by_place
        named = {place for place, text in _headers(row).items() if self._words.column(text) in ID_COLUMNS}
        full = {place for place, count in counts.items() if count >= _MOSTLY * len(rows.ids)}
        return any(place not in counts and {place - 1, place + 1} & (full - named) for place in named)

    def _read_header(self, table: SheetTable, number: int, filled: Filled) -> Columns:
        places: dict[str, list[int]] = {}
        headers = _headers(table.rows[number])
        guessed: dict[int, str] = {}
        for place, header in headers.items():
            key = self._words.column(header)
            if key is not None and (meant := self._misspelt_layer(key)) is not None:
                guessed[place] = meant
            elif key is not None:
                places.setdefault(key, []).append(place)
            elif f"{METADATA}{header}" in self._layout:  # shown with each case, such as a column of --by
                places.setdefault(f"{METADATA}{header}", []).append(place)
            elif (key := self._with_addition(header) or self._misspelt(header)) is not None:
                guessed[place] = key
        exact = set(places)
        for place, key in list(guessed.items()):  # beside the right header only what holds the right thing counts
            if key in exact and not self._fits(key, filled.get(place, {}), _Shown(places, filled)):
                del guessed[place]
            else:
                places.setdefault(key, []).append(place)
        return Columns(number, {key: tuple(where) for key, where in places.items()}, headers, guessed)

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

    def _misspelt_layer(self, key: str) -> str | None:
        """The key of a correct label whose layer is misspelt or has an addition; None where nothing is wrong."""
        name, _, rest = key.partition(":")
        if name != "correct_label" or rest in self._words.layers:
            return None
        text = _BRACKETS.sub("", normalise(rest)).strip()
        alike = [
            layer
            for layer in self._words.layers
            for word in [normalise(layer)]
            if (text.startswith(word) and _ADDITION.fullmatch(text[len(word) :] or " "))
            or SequenceMatcher(None, text, word).ratio() >= _LEAST_ALIKE
        ]
        return f"{name}:{alike[0]}" if len(alike) == 1 else None

    def _misspelt(self, header: str) -> str | None:
        text = normalise(header)
        scored = [
            (SequenceMatcher(None, text, word).ratio(), key)
            for word, key in self._words.annotation_headers.items()
            if abs(len(word) - len(text)) <= 4
        ]
        best = max(scored, default=(0.0, ""))
        return best[1] if best[0] >= _LEAST_ALIKE else None

    def _completed(self, columns: Columns, filled: Filled, rows: CaseRows) -> Columns:
        """With the columns that no header names: by where they stood, and by what they hold."""
        places = {key: where for key, where in columns.places.items() if key not in ID_COLUMNS}
        guessed = dict(columns.guessed)
        places.update(self._id_columns(columns, rows, set().union(*places.values()) if places else set()))
        if columns.header is None:
            places = self._written_places(places, filled) or places
            guessed.update(
                {where[0]: key for key, where in places.items() if key.partition(":")[0] in ANNOTATION_COLUMNS}
            )
        wanted = [key for key in self._wanted() if key not in places]
        for key in sorted(wanted, key=lambda key: key not in self._telling):
            taken = {place for where in places.values() for place in where}
            place = self._by_place(key, places, taken, filled) if columns.header is not None else None
            if place is None:
                place = self._by_content(key, taken, filled)
            if place is not None:
                places[key] = (place,)
                guessed[place] = key
        if columns.header is None and "judgement" in places:
            places = {**self._written_places(places, filled), **places}
        found = Columns(columns.header, places, columns.headers, guessed)
        return found if self._has_block(found, filled) else _without_block(found)

    @staticmethod
    def _has_block(columns: Columns, filled: Filled) -> bool:
        """Whether an ID, a header or an entry is left of the block for judging; else only its place is known."""
        if BLOCK_ID_COLUMN in columns.places:
            return True
        return any(filled.get(place) or columns.headers.get(place) for place in columns.annotations)

    def _written_places(self, places: Mapping[str, tuple[int, ...]], filled: Filled) -> dict[str, tuple[int, ...]]:
        """All columns of a sheet without a header, if two that are known stand as far apart as they were written."""
        shifts = [places[key][0] - index for key, index in self._layout.items() if key in places]
        if len(shifts) < 2 or len(set(shifts)) > 1:
            return {}
        moved = {key: index + shifts[0] for key, index in self._layout.items()}
        found: dict[str, tuple[int, ...]] = {key: (place,) for key, place in moved.items() if place >= 0}
        shown = _Shown(found, filled)
        fitting = all(self._fits(key, filled.get(found[key][0], {}), shown) for key in self._wanted() if key in found)
        return found if fitting else {}

    def _wanted(self) -> list[str]:
        labels = [f"correct_label:{layer}" for layer in self._words.layers]
        return ["judgement", "correct_span", *labels, "applies_to", "severity", "comment"]

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

    def _by_place(self, key: str, places: Mapping[str, tuple[int, ...]], taken: set[int], filled: Filled) -> int | None:
        """The place between its neighbours, if those on both sides agree on it and nothing there speaks against it."""
        if key not in self._layout:
            return None
        index = self._layout[key]
        anchors = sorted(
            (self._layout[name], where[0]) for name, where in places.items() if name in self._layout and len(where) == 1
        )
        after = bisect_left(anchors, (index, -1))
        beside = (*anchors[max(after - 1, 0) : after], *anchors[after : after + 1])
        found = {place + index - at for at, place in beside}
        if len(found) != 1 or (place := found.pop()) in taken or place < 0:
            return None
        return place if self._fits(key, filled.get(place, {}), _Shown(places, filled)) else None

    def _by_content(self, key: str, taken: set[int], filled: Filled) -> int | None:
        """The only column whose cells are mostly entries of its list; words can be told, bare digits cannot."""
        if key not in self._telling:
            return None
        telling = [
            place
            for place, texts in filled.items()
            if place not in taken
            if any(not text.isdigit() for text in texts.values()) and self._fits(key, texts, None)
        ]
        return telling[0] if len(telling) == 1 else None

    @cached_property
    def _telling(self) -> dict[str, Callable[[str], bool]]:
        """The columns whose values come from a list, and whether a text is one of them."""
        words = self._words
        return {
            "judgement": words.is_judgement_anywhere,
            "severity": lambda text: words.severity(text) is not None,
            "applies_to": lambda text: words.scope(text) is not None,
        }

    def _fits(self, key: str, texts: Mapping[int, str], shown: _Shown | None) -> bool:
        """Whether what stands in a column, by row, is mostly what its key stands for."""
        name = key.partition(":")[0]
        if name in self._telling:
            good = sum(map(self._telling[name], texts.values()))
        elif name == "correct_span" and shown is not None:
            good = sum(
                isinstance(self._words.span_choice(text), SpanChoice) or _letters(text) in shown.context(row)
                for row, text in texts.items()
            )
        elif name == "correct_label" and shown is not None:
            good = sum(normalise(text) in shown.labels for text in texts.values())
        else:
            return True
        return good >= _MOSTLY * len(texts)


class _Shown:
    """What the other columns of the rows show: contexts and labels, with which a correction must agree."""

    def __init__(self, places: Mapping[str, Sequence[int]], filled: Filled) -> None:
        self._places, self._filled = places, filled

    def _texts(self, *names: str) -> Iterator[Mapping[int, str]]:
        for key, where in self._places.items():
            if key.partition(":")[0] in names:
                yield from (self._filled.get(place, {}) for place in where)

    def context(self, row: int) -> str:
        """The letters of a row's context."""
        return _letters(" ".join(texts.get(row, "") for texts in self._texts("context", "span", "other_span")))

    @cached_property
    def labels(self) -> set[str]:
        """The labels of all rows, those of spans that were joined one by one."""
        texts = {text for each in self._texts("label", "other_label") for text in each.values()}
        return {normalise(label) for text in texts for label in (text, *text.split("|"))}


def _without_block(columns: Columns) -> Columns:
    """The columns but for those for judging."""
    gone = set(columns.annotations)
    places = {key: kept for key, where in columns.places.items() if (kept := tuple(p for p in where if p not in gone))}
    guessed = {place: key for place, key in columns.guessed.items() if place not in gone}
    return Columns(columns.header, places, columns.headers, guessed)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, normalise(text)))


@dataclass(frozen=True)
class Stray:
    """Rows that were pasted from elsewhere: their IDs stand in other columns than those of the rows around them."""

    rows: Collection[int]
    columns: Columns


class Sections:
    """The headers of a sheet with their columns, in order, and the columns of rows that fit none of them."""

    def __init__(self, columns: Sequence[Columns], strays: Sequence[Stray] = ()) -> None:
        self._under = list(columns)
        self._own = {number: stray.columns for stray in strays for number in stray.rows}
        self.columns = [*columns, *(stray.columns for stray in strays)]
        self.headers = {each.header for each in columns if each.header is not None}
        self._headed = [each for each in columns if each.header is not None]
        self._below = [each.header for each in columns if each.header is not None]

    def of_row(self, number: int) -> Columns:
        """The columns of a row: its own, else those of the nearest header above it, else of the first below."""
        if number in self._own:
            return self._own[number]
        above = bisect_left(self._below, number)
        return self._headed[above - 1] if above else self._under[0]


def _headers(row: Sequence[object]) -> dict[int, str]:
    """The texts of a row that are short enough for headers, by place."""
    return {
        place: cell.strip()
        for place, cell in enumerate(row)
        if cell and isinstance(cell, str) and len(cell) < _LONGEST_HEADER
    }


class _Filled(Filled):
    """What is filled in, by column and row, in the rows of cases; a column is looked at when somebody asks for it."""

    def __init__(self, table: SheetTable, rows: CaseRows) -> None:
        self._rows = {number: table.texts[number] for number in rows.ids}
        self._width = max(map(len, self._rows.values()), default=0)
        self._found: dict[int, dict[int, str]] = {}

    def __getitem__(self, place: int) -> Mapping[int, str]:
        if place not in self._found:
            cells = ((number, row[place]) for number, row in self._rows.items() if 0 <= place < len(row))
            self._found[place] = {number: text for number, text in cells if text}
        if not self._found[place]:
            raise KeyError(place)
        return self._found[place]

    def __iter__(self) -> Iterator[int]:
        return (place for place in range(self._width) if place in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def filled_beyond(
    table: SheetTable, rows: Iterable[int], columns: Columns, ids: Mapping[int, Mapping[int, str]]
) -> dict[int, int]:
    """Columns that nobody understands although case rows have something there: place → the first such row."""
    found: dict[int, int] = {}
    texts = table.texts
    for number in rows:
        row = texts[number]
        for place in columns.unknown(len(row)):
            if row[place] and place not in found and place not in ids[number]:
                found[place] = number
    return found
