"""Entries in the wrong column of their row: a judgement among the shown texts, an answer under another header.

Headers that were swapped or cells that slipped by one column leave entries that could be read as something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clueval_xlsx.files.sheets import SheetTable
from clueval_xlsx.review.case_rows import CaseRows
from clueval_xlsx.review.judgements import TAKES_LABEL, TAKES_SPAN
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.sheet_rows import SheetRow
from clueval_xlsx.review.sheet_words import ID_COLUMNS, SheetWords
from clueval_xlsx.review.vocabulary import ANNOTATION_COLUMNS, Effect, SpanChoice

_FREE = ("state", "comment", "related", "context")  # a judgement here is always a mistake, a digit as well
_WORDS_OF_TEXT = ("span", "other_span")  # digits may be words of the text
_NAMES = ("document", "label", "other_label")  # digits are fine where most of the column are
_MOSTLY = 0.5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Misplaced:
    """An entry in the column `key` that belongs in `meant`; `decisive` if it would change what happens to gold."""

    key: str
    meant: str
    text: str
    decisive: bool = False


class MisplacedAnswers:
    """Looks for such entries on one sheet."""

    def __init__(self, table: SheetTable, rows: CaseRows, words: SheetWords) -> None:
        self._table, self._rows, self._words = table, rows, words
        self._digits: dict[int, bool] = {}

    def judgement(self, row: SheetRow) -> int | None:
        """The place in which a judgement seems to stand although it is not for judgements; only in open rows."""
        if row.text("judgement"):
            return None
        places = ((key, place) for key, where in row.columns.places.items() for place in where)
        return next((place for key, place in places if self._looks_judged(row, key, place)), None)

    def _looks_judged(self, row: SheetRow, key: str, place: int) -> bool:
        text, name = row.at(place), key.partition(":")[0]
        if not text or name in {"judgement", *ID_COLUMNS} or not self._words.is_whole_judgement(text):
            return False
        if name in _FREE:
            return True
        if name in ANNOTATION_COLUMNS:  # corrections without a judgement are reported anyway, digits are severities
            return False
        if text.isdigit():
            return (name in _WORDS_OF_TEXT and text not in _WORD.findall(row.text("context"))) or (
                name in _NAMES and not self._holds_digits(place)
            )
        return " " in text and text.casefold() not in row.text("context").casefold()

    def _holds_digits(self, place: int) -> bool:
        """Whether most cells of a column are bare digits."""
        if place not in self._digits:
            rows = (self._table.texts[number] for number in self._rows.ids)
            texts = [text for row in rows if place < len(row) and (text := row[place])]
            self._digits[place] = sum(map(str.isdigit, texts)) > _MOSTLY * len(texts)
        return self._digits[place]

    def answers(self, row: SheetRow, effect: Effect | None, labels: Mapping[str, str]) -> Iterator[Misplaced]:
        """Entries of the columns for judging that read like those of another one, which is empty."""
        comment, span = row.text("comment"), row.text("correct_span")
        for key, text in (("comment", comment), ("correct_span", span)):
            if not text or text.isdigit():
                continue
            if not row.text("severity") and self._words.is_whole_severity(text):
                yield Misplaced(key, "severity", text)
            elif not row.text("applies_to") and self._words.is_whole_scope(text):
                yield Misplaced(key, "applies_to", text)
        if span and effect is not None and effect not in TAKES_SPAN and not self._is_span(row, span):
            yield Misplaced("correct_span", "comment", span)
        if comment and not span and effect in TAKES_SPAN and self._reads_like_span(row, comment):
            yield Misplaced("comment", "correct_span", comment, decisive=True)
        if comment and not labels and effect in TAKES_LABEL and normalise(comment) in self._shown_labels(row):
            yield Misplaced("comment", "correct_label", comment, decisive=True)

    def _is_span(self, row: SheetRow, text: str) -> bool:
        """Whether a text can be a correct span: a choice, or words of the context; unknown without a context."""
        shown = row.text("context")
        chosen = isinstance(self._words.span_choice(text), SpanChoice)
        return chosen or not shown or _letters(text) in _letters(shown)

    def _reads_like_span(self, row: SheetRow, text: str) -> bool:
        """Whether a text is a choice of spans, or consists of words of the span itself."""
        words = _WORD.findall(normalise(text))
        own = _WORD.findall(normalise(row.text("span")))
        return isinstance(self._words.span_choice(text), SpanChoice) or (bool(words) and set(words) <= set(own))

    @staticmethod
    def _shown_labels(row: SheetRow) -> set[str]:
        """The labels that the row shows."""
        places = [place for key in ("label", "other_label") for place in row.columns.places.get(key, ())]
        return {normalise(label) for place in places for label in row.at(place).split("|")} - {""}


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, normalise(text)))
