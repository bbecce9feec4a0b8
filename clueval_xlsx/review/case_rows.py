"""The rows of a sheet that carry a case ID, wherever they stand and whatever was typed around the ID."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.files.sheets import SheetTable
from clueval_xlsx.review.normalising import clean

_KINDS = "|".join(Sheet)
CASE_ID = re.compile(rf"(?:{_KINDS})-[A-Z2-7]{{8,32}}")
_MAYBE = re.compile(rf"[\W_]*(?:{_KINDS})", re.IGNORECASE)
_LONGEST = 60  # characters of a cell that may hold an ID
_DASH = re.compile(r"[-_\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+")  # programs and people type them for each other
_DAMAGED = re.compile(rf"({_KINDS})(-?)([A-Z2-7]{{12}})")


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

    @property
    def twice(self) -> CaseRows:
        """The rows that carry their ID twice, as only rows of review sheets do."""
        return CaseRows({number: ids for number, ids in self.ids.items() if len(set(ids.values())) < len(ids)})

    def twins(self, places: Sequence[int]) -> list[int]:
        """The two of these columns that most often hold the same ID in one row; nothing if none ever do."""
        alike = {
            (left, right): sum(row.get(left) == row.get(right) is not None for row in self.ids.values())
            for left, right in combinations(places, 2)
        }
        best = max(alike, key=lambda pair: alike[pair])
        return list(best) if alike[best] else []


def clean_id(text: str) -> str:
    """A case ID as it was written, whatever was typed around it or became of its letters and its dash; else nothing.

    Without its dash or its capitals, and without a digit, it may well be a word: `AG-Braunschweig`.

    >>> clean_id(" fn\u20137fa7vc3mgkaa\u00a0"), clean_id("FN7FA7VC3MGKAA"), clean_id("AG-Braunschweig")
    ('FN-7FA7VC3MGKAA', 'FN-7FA7VC3MGKAA', '')
    """
    if CASE_ID.fullmatch(text):
        return text
    visible = _DASH.sub("-", clean(text).replace(" ", "")).strip("-.,;:'\"()[]")
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


def find_case_rows(table: SheetTable) -> CaseRows:
    """All rows in which a case ID stands."""
    return CaseRows(dict(iterate_case_rows(table)))
