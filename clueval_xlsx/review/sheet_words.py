"""The words of a review sheet's headers and values, in every language of the tool, as codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.files.workbooks import SheetTable
from clueval_xlsx.review.choices import judgement_choices, severity_choices
from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.vocabulary import ANNOTATION_COLUMNS, BLOCK_ID_COLUMN, Severity, SpanChoice
from clueval_xlsx.words import in_every_language

HEADER_ROWS = 200  # how far down a header is looked for
ID_COLUMNS = ("case", BLOCK_ID_COLUMN)
_KNOWN_COLUMNS = (*ID_COLUMNS, "judgement", "correct_span", "severity", "comment", "span", "document")
Code = TypeVar("Code", bound=StrEnum)


class SheetWords:
    """The words of headers and values in all languages, as codes."""

    def __init__(self, layers: Sequence[str], judgements: Sequence[Judgement]) -> None:
        self.layers = tuple(layers)
        self.judgements = {judgement.code: judgement for judgement in judgements}
        self.headers = {
            normalise(text): key for key in _KNOWN_COLUMNS for text in in_every_language(f"column.{key}").values()
        }
        self._correct_label = [normalise(text) for text in in_every_language("column.correct_label").values()]
        self._offered = {sheet: judgement_choices(judgements, sheet) for sheet in Sheet}
        self._anywhere = judgement_choices(judgements)
        self._spans = _values("span_choice", SpanChoice)
        self._severities = severity_choices()

    def column(self, header: str) -> str | None:
        """The key of a header; those of correct labels carry their layer: `correct_label:risk`."""
        text = normalise(header)
        if text in self.headers:
            return self.headers[text]
        for word in self._correct_label:
            if text == word:
                return f"correct_label:{self.layers[0]}" if len(self.layers) == 1 else "correct_label:"
            if text.startswith(f"{word}:"):
                rest = text.removeprefix(f"{word}:").strip()
                return f"correct_label:{next((layer for layer in self.layers if normalise(layer) == rest), rest)}"
        return None

    def judgement(self, text: str, sheet: str) -> str | None:
        """The code of a judgement that is offered on a kind of sheet: by its digit, its words or their beginning."""
        return self._offered[Sheet(sheet)].find(text)

    def is_judgement(self, text: str) -> bool:
        """Whether a text is a judgement on some kind of sheet."""
        return self._anywhere.find(text) is not None

    def span_choice(self, text: str) -> SpanChoice | str:
        """A choice, or the words as they were typed."""
        return self._spans.get(normalise(text), text.strip())

    def severity(self, text: str) -> Severity | None:
        """A severity."""
        found = self._severities.find(text)
        return None if found is None else Severity(found)

    def offered(self, sheet: str) -> list[Judgement]:
        """The judgements of a kind of sheet."""
        return [judgement for judgement in self.judgements.values() if sheet in judgement.sheets]

    def allowed(self, sheet: str) -> str:
        """The judgements of a kind of sheet, for a message."""
        return ", ".join(judgement.code for judgement in self.offered(sheet)) + ", or their words"


def _values(section: str, codes: type[Code]) -> dict[str, Code]:
    found = {normalise(code): code for code in codes}
    for code in codes:
        found.update({normalise(text): code for text in in_every_language(f"{section}.{code}").values()})
    return found


@dataclass(frozen=True)
class Header:
    """The header of a review sheet: its row, and the place of every column that is known."""

    row: int
    columns: Mapping[str, int]

    @property
    def ids(self) -> list[int]:
        """Where case IDs stand."""
        return [self.columns[key] for key in ID_COLUMNS if key in self.columns]

    @property
    def annotations(self) -> list[int]:
        """Where people fill something in."""
        return [place for key, place in self.columns.items() if key.partition(":")[0] in ANNOTATION_COLUMNS]


def find_header(table: SheetTable, words: SheetWords | None = None) -> Header | None:
    """The header of a sheet, if some row has the words for a case and for a judgement."""
    words = words or SheetWords((), JUDGEMENTS)
    for number, row in enumerate(table.rows[:HEADER_ROWS]):
        columns: dict[str, int] = {}
        for place, cell in enumerate(row):
            key = words.column(cell) if cell and isinstance(cell, str) else None
            if key is not None:
                columns.setdefault(key, place)
        if "judgement" in columns and any(key in columns for key in ID_COLUMNS):
            return Header(number, columns)
    return None
