"""The hidden sheets: the values of the dropdowns, figures for charts and sums, and the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.outputs.xlsx.book import Book, Cell, Formula, Worksheet
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.review.case_words import (
    judgement_entry,
    judgement_name,
    scope_entry,
    severity_entry,
    span_choice_name,
)
from clueval_xlsx.review.choices import Choices, judgement_choices, scope_choices, severity_choices
from clueval_xlsx.review.manifest import Manifest, chunks, encode
from clueval_xlsx.review.vocabulary import (
    FIGURES_SHEET,
    LISTS_SHEET,
    MANIFEST_SHEET,
    SCOPES,
    SEVERITIES,
    SPAN_CHOICES,
)


class Lookup(NamedTuple):
    """Two columns of the same length: whatever can be typed for a choice, each text once, and the choice's number."""

    texts: str
    numbers: str


@dataclass
class Lists:
    """Where the values of the dropdowns are, and what formulas need to understand what was typed."""

    ranges: dict[str, str] = field(default_factory=dict)  # what a dropdown offers
    lookups: dict[str, Lookup] = field(default_factory=dict)
    names: str = ""  # of all judgements, by their numbers


SEVERITY = "severity"
SCOPE = "applies_to"


def judgement_list(sheet: str) -> str:
    """The name of the list of judgements of a kind of sheet."""
    return f"judgement_{sheet}"


def write_lists(book: Book, content: ReviewContent) -> Lists:
    """The hidden sheet of lists: one column for each dropdown, two for each lookup."""
    writer = _ListWriter(book.sheet(LISTS_SHEET))
    words, judgements, pair = content.words, content.options.judgements, content.evaluation.pair
    kinds = [name for name in Sheet if name in content.cases]
    for name in kinds:
        offered = [each for each in judgements if name in each.sheets]
        writer.dropdown(judgement_list(name), [judgement_entry(each, words) for each in offered])
    writer.dropdown("span_choice", [span_choice_name(code, words) for code in SPAN_CHOICES])
    writer.dropdown(SEVERITY, [severity_entry(code, words) for code in SEVERITIES])
    writer.dropdown(SCOPE, [scope_entry(code, words) for code in SCOPES])
    for layer in pair.layers:
        writer.dropdown(f"label_{layer}", label_vocabulary((pair.gold.spans, pair.pred.spans), layer))
    numbers = {each.code: number for number, each in enumerate(judgements, 1)}
    writer.lists.names = writer.column("judgements", [judgement_name(each, words) for each in judgements])
    for name in kinds:
        writer.lookup(judgement_list(name), judgement_choices(judgements, name), numbers)
    writer.lookup(SEVERITY, severity_choices(), {code: number for number, code in enumerate(SEVERITIES, 1)})
    writer.lookup(SCOPE, scope_choices(), {code: number for number, code in enumerate(SCOPES, 1)})
    return writer.lists


class _ListWriter:
    """Writes the hidden sheet column by column."""

    def __init__(self, sheet: Worksheet) -> None:
        sheet.hide()
        self._sheet, self._next = sheet, 0
        self.lists = Lists()

    def dropdown(self, name: str, entries: Sequence[str]) -> None:
        """What a dropdown offers."""
        self.lists.ranges[name] = f"={self.column(name, entries)}"

    def lookup(self, name: str, choices: Choices, numbers: Mapping[str, int]) -> None:
        """What can be typed for each choice."""
        typed: dict[str, int] = {}
        for text, least, code in choices.entries:
            # Each beginning stands there by itself: not every program takes the first letters of a range of cells.
            for length in range(least, len(text) + 1):
                typed.setdefault(text[:length], numbers[code])
        self.lists.lookups[name] = Lookup(
            self.column(f"{name}_text", list(typed)), self.column(f"{name}_number", list(typed.values()))
        )

    def column(self, title: str, values: Sequence[str | int]) -> str:
        """A column below its title; returns the range of its values."""
        sheet, column = self._sheet, self._next
        self._next += 1
        sheet.text((0, column), title, "muted")
        for row, value in enumerate(values, 1):
            sheet.text((row, column), value) if isinstance(value, str) else sheet.number((row, column), value)
        return sheet.range((1, column), (max(len(values), 1), column))


class HiddenFigures:
    """The hidden sheet of figures that charts draw and that other cells add up, one table below the other.

    Some programs draw no chart from hidden columns; a hidden sheet does them no harm.
    """

    def __init__(self, book: Book, name: str = FIGURES_SHEET) -> None:
        self.sheet = book.sheet(name)
        self.sheet.hide()
        self._next = 0

    @property
    def next_row(self) -> int:
        """The row of the header of the next table."""
        return self._next

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str | float | Formula]]) -> Cell:
        """Write a table below those that are there; returns the first cell below its header."""
        sheet, first = self.sheet, self._next + 1
        for column, title in enumerate(header):
            sheet.text((self._next, column), title, "muted")
        for line, values in enumerate(rows, first):
            for column, value in enumerate(values):
                if isinstance(value, Formula):
                    sheet.formula((line, column), *value, "plain")
                elif isinstance(value, str):
                    sheet.text((line, column), value, "muted")
                else:
                    sheet.number((line, column), value, "plain")
        self._next = first + len(rows) + 1
        return first, 0


def write_manifest(book: Book, manifest: Manifest) -> None:
    """The manifest's text, one piece a cell."""
    sheet = book.sheet(MANIFEST_SHEET)
    sheet.hide()
    for row, chunk in enumerate(chunks(encode(manifest))):
        sheet.text((row, 0), chunk)
