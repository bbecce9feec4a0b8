"""The words of a review sheet's headers and values, in every language of the tool, as codes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.review.answers import span_choice
from clueval_xlsx.review.choices import judgement_choices, scope_choices, severity_choices
from clueval_xlsx.review.judgements import JudgementKind, words_of
from clueval_xlsx.review.normalising import normalise
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


class SheetWords:
    """The words of headers and values in all languages, as codes; messages name the choices in `language`."""

    def __init__(self, layers: Sequence[str], judgements: Sequence[JudgementKind], language: str = FALLBACK) -> None:
        self.layers = tuple(layers)
        self._language = known_language(language)
        self.judgements = {judgement.code: judgement for judgement in judgements}
        self.headers = {
            normalise(text): key
            for key in Words(FALLBACK).section("column")
            if key not in LAYER_COLUMNS
            for text in in_every_language(f"column.{key}").values()
        }
        self._shown_labels = {
            normalise(text): key
            for key in sorted(LAYER_COLUMNS - {"correct_label"})
            for text in in_every_language(f"column.{key}").values()
        }
        self._correct_label = [normalise(text) for text in in_every_language("column.correct_label").values()]
        self._offered = {sheet: judgement_choices(judgements, sheet) for sheet in Sheet}
        self._severities = severity_choices()
        self._scopes = scope_choices()

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
        return self._shown_labels.get(text.partition(":")[0].strip())

    @cached_property
    def annotation_headers(self) -> dict[str, str]:
        """The headers of columns that people fill in, and of IDs: what a misspelt header may have meant."""
        wanted = {*ANNOTATION_COLUMNS, *ID_COLUMNS}
        found = {word: key for word, key in self.headers.items() if key in wanted}
        for word in self._correct_label:
            found[word] = f"correct_label:{self.layers[0]}" if len(self.layers) == 1 else "correct_label:"
            found.update({f"{word}: {normalise(layer)}": f"correct_label:{layer}" for layer in self.layers})
        return found

    def shown(self, key: str) -> str:
        """The header of a column for a message."""
        name, _, layer = key.partition(":")
        header = Words(FALLBACK)[f"column.{name}"]
        return f"{header}: {layer}" if layer and len(self.layers) > 1 else header

    def judgement(self, text: str, sheet: str) -> str | None:
        """The code of a judgement that is offered on a kind of sheet: by its digit, its words or their beginning."""
        return self._offered[Sheet(sheet)].find(text)

    def is_judgement_anywhere(self, text: str) -> bool:
        """Whether a text, be it a digit or words, is a judgement on some kind of sheet."""
        return any(choices.find(text) is not None for choices in self._offered.values())

    def is_whole_judgement(self, text: str) -> bool:
        """Whether a text is the digit or all the words of a judgement on some kind of sheet, not their beginning."""
        return any(choices.has(text) for choices in self._offered.values())

    def begins_judgement(self, text: str) -> bool:
        """Whether the words of a judgement on some kind of sheet begin with a text and go on with another word."""
        return any(choices.goes_on(text) for choices in self._offered.values())

    def span_choice(self, text: str) -> SpanChoice | str:
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

    def is_whole_severity(self, text: str) -> bool:
        """Whether a text is a severity as the list has it."""
        return self._severities.has(text)

    def is_whole_scope(self, text: str) -> bool:
        """Whether a text says which twins, as the list has it."""
        return self._scopes.has(text)

    def offered(self, sheet: str) -> list[JudgementKind]:
        """The judgements of a kind of sheet."""
        return [judgement for judgement in self.judgements.values() if sheet in judgement.sheets]

    def allowed(self, sheet: str) -> str:
        """The judgements of a kind of sheet, for a message."""
        words = Words(self._language).section("judgement")
        offered = [f"{each.digit} {words_of(each, self._language, words)}".strip() for each in self.offered(sheet)]
        return ", ".join(offered) + "; the digit is enough"
