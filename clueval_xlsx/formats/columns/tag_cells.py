"""How tags stand in the cells of a column: alone, as a key among others (CoNLL-U's MISC), or several in one cell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from clueval_xlsx.corpus.tags import OUTSIDE, OUTSIDE_MARKS, TagColumn, parse_tag
from clueval_xlsx.text.strings import IntArray

SEPARATORS = ",|;"
_BETWEEN_TAGS = re.compile(rf"\s*[{SEPARATORS}]\s*")
_EMPTY_KEYS = "_"


@dataclass(frozen=True)
class TagPlace:
    """Where a layer's tags stand: the column (counted from 1), and a key of its cells if they hold several things."""

    column: int
    key: str = ""
    plain: bool = False  # labels without prefixes

    def __str__(self) -> str:
        return f"{self.column}:{self.key}" if self.key else str(self.column)


def key_value(cell: str, key: str) -> str | None:
    """The value of a key in `A=1|B=2`; None where it is not there.

    >>> key_value("SpaceAfter=No|NER=B-PER", "NER"), key_value("_", "NER")
    ('B-PER', None)
    """
    for part in cell.split("|"):
        name, equals, value = part.partition("=")
        if equals and name == key:
            return value
    return None


def with_key(cell: str, key: str, value: str, *, keep_outside: bool) -> str:
    """A cell with another value of a key; one that says nothing goes, unless the file writes such ones.

    >>> with_key("_", "NER", "B-PER", keep_outside=False), with_key("A=1|NER=B-X", "NER", "O", keep_outside=False)
    ('NER=B-PER', 'A=1')
    """
    parts = [part for part in cell.split("|") if part != _EMPTY_KEYS]
    places = [index for index, part in enumerate(parts) if part.partition("=")[0] == key]
    if value in OUTSIDE_MARKS and not keep_outside:
        parts = [part for index, part in enumerate(parts) if index not in places]
    elif places:
        parts[places[-1]] = f"{key}={value}"
    else:
        parts.append(f"{key}={value}")
    return "|".join(parts) or _EMPTY_KEYS


def parts_of(cell: str) -> list[str]:
    """The tags of a cell; one that is no list of tags is one by itself.

    >>> parts_of("B-person,B-group"), parts_of("B-A,B"), parts_of("B-A,and B")
    (['B-person', 'B-group'], ['B-A', 'B'], ['B-A,and B'])
    """
    for separator in SEPARATORS:
        parts = [part.strip() for part in cell.split(separator)]
        if len(parts) > 1 and all(part in OUTSIDE_MARKS or parse_tag(part) for part in parts):
            return parts
    return [cell]


def separator_of(cell: str) -> str:
    """What stands between the tags of a cell."""
    found = _BETWEEN_TAGS.search(cell)
    return found[0] if found else ","


@lru_cache(1 << 16)
def with_first(cell: str, tag: str) -> str:
    """A cell with another first tag.

    >>> with_first("B-person, B-group", "O"), with_first("B-person", "I-person")
    ('O, B-group', 'I-person')
    """
    return separator_of(cell).join([tag, *parts_of(cell)[1:]])


def first_tags(column: TagColumn) -> TagColumn:
    """The first tag of every cell."""
    return TagColumn(column.codes, tuple(parts_of(tag)[0] for tag in column.tags))


def layered_tags(column: TagColumn, breaks: IntArray) -> list[TagColumn]:
    """Cells of several tags as columns of one each; a tag that goes on stays in the column in which its span began."""
    parts = [[part for part in parts_of(tag) if part not in OUTSIDE_MARKS] for tag in column.tags]
    width = max((len(each) for each in parts), default=1) or 1
    columns = [[OUTSIDE] * len(column.codes) for _ in range(width)]
    cut = set(breaks.tolist())
    open_labels: list[str | None] = [None] * width
    tagged = np.array([bool(each) for each in parts], dtype=bool)
    before = -2
    for position in np.flatnonzero(tagged[column.codes] if parts else tagged).tolist():
        if position != before + 1 or position in cut:
            open_labels = [None] * width
        placed = _places(parts[column.codes[position]], open_labels)
        open_labels = [None] * width
        for place, tag in placed.items():
            columns[place][position] = tag
            parsed = parse_tag(tag)
            open_labels[place] = parsed[1] if parsed and parsed[0] in "BI" else None
        before = position
    return [TagColumn.of(each) for each in columns]


def _places(tags: Sequence[str], open_labels: Sequence[str | None]) -> Mapping[int, str]:
    """Which of several columns each tag of a cell goes to."""
    placed: dict[int, str] = {}
    waiting = []
    for tag in tags:
        parsed = parse_tag(tag)
        goes_on = parsed is not None and parsed[0] in "IEL" and parsed[1] is not None
        home = next(
            (
                place
                for place, label in enumerate(open_labels)
                if goes_on and parsed and label == parsed[1] and place not in placed
            ),
            None,
        )
        if home is None:
            waiting.append(tag)
        else:
            placed[home] = tag
    free = (place for place in range(len(open_labels)) if place not in placed)
    placed.update(zip(free, waiting, strict=False))
    return placed
