"""What can be told of a sheet by its words: case IDs, headers, and what stands in the lists, in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.files.sheets import SheetTable
from clueval_xlsx.review.answers import judgement_choices, scopes, severities, span_choice
from clueval_xlsx.review.case_sheet import METADATA
from clueval_xlsx.review.judgements import JudgementKind, words_of
from clueval_xlsx.review.normalising import clean, normalise
from clueval_xlsx.review.vocabulary import (
    ANNOTATION_COLUMNS,
    BLOCK_ID_COLUMN,
    LAYER_COLUMNS,
    Scope,
    Severity,
    SpanChoice,
)
from clueval_xlsx.words import FALLBACK, Words, in_every_language, known_language

ID_COLUMNS = ("case", BLOCK_ID_COLUMN)

# ---- case IDs

_KINDS = "|".join(Sheet)
CASE_ID = re.compile(rf"(?:{_KINDS})-[A-Z2-7]{{8,32}}")
_MAYBE = re.compile(rf"[\W_]*(?:{_KINDS})", re.IGNORECASE)
_LONGEST = 60  # characters of a cell that may hold an ID
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


def stands_twice(ids: RowIds) -> bool:
    """Whether a row carries an ID twice, as only rows of review sheets do."""
    return len(set(ids.values())) < len(ids)


# ---- headers

_LONGEST_HEADER = 100  # characters
_LEAST_ALIKE = 0.8  # of a misspelt header, as difflib measures it
_BRACKETS = re.compile(r"[(\[{][^)\]}]*[)\]}]")
_ADDITION = re.compile(r"[^\w].*|_.*|\d+$")


def is_for_judging(name: str) -> bool:
    """Whether people fill in the column of a name, such as `correct_label:risk`."""
    return name.partition(":")[0] in ANNOTATION_COLUMNS


@dataclass(frozen=True)
class Header:
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


NO_HEADER = Header(None, {}, {})


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

    def headers(self, table: SheetTable, case_rows: Mapping[int, RowIds]) -> list[Header]:
        """The headers of a sheet: rows with the exact headers of two columns, one of them for judging or an ID.

        A row with a case in it was mixed up with a header by sorting: it is one only where there is no other.
        """
        found = []
        for number, row in enumerate(table.texts):
            titles = {place: text for place, text in enumerate(row) if text and len(text) < _LONGEST_HEADER}
            exact = {name for text in titles.values() if (name := self.column(text))}
            if len(exact) > 1 and any(name in ID_COLUMNS or is_for_judging(name) for name in exact):
                found.append(self._header(number, titles, exact))
        return [header for header in found if header.row not in case_rows] or found

    def _header(self, number: int, titles: Mapping[int, str], exact: set[str]) -> Header:
        """A header with the columns that its texts mean; a guess gives way to a header that is spelt exactly."""
        names: dict[int, str] = {}
        rivals: dict[int, str] = {}
        for place, text in titles.items():
            name, sure = self.meant(text)
            if name:
                (names if sure or name not in exact else rivals)[place] = name
        # Where one header is gone, both neighbours tell its column.
        triples = zip(self.columns, self.columns[1:], self.columns[2:], strict=False)
        between = {(left, right): name for left, name, right in triples}
        for place in range(1, max(names, default=0)):
            name = between.get((names.get(place - 1, ""), names.get(place + 1, "")), "")
            if name and place not in titles and name not in names.values():
                names[place] = name
        return Header(number, names, titles, rivals, self._swapped([names[place] for place in sorted(names)]))

    def _swapped(self, names: Sequence[str]) -> frozenset[str]:
        """Of columns in their order those for judging that changed places with one another."""
        written = [name for name in self.columns if name in names]
        found = [name for name in names if name in self.columns]
        if len(written) != len(found):
            return frozenset()
        apart = {(one, other) for one, other in zip(written, found, strict=True) if one != other}
        return frozenset(one for one, other in apart if (other, one) in apart and is_for_judging(one))

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
        return any(choices.find(text) is not None for choices in self._offered.values())

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

    def allowed_entries(self, name: str) -> str:
        """The entries of the list of severities or of twins, for a message."""
        words = Words(self._language).section(name)
        return ", ".join(f"{digit} {text}" for digit, text in enumerate(words.values(), 1))
