"""What can be told of a sheet by its words: case IDs, headers, and what stands in the lists, in every language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property

from clueval_xlsx.cases.kinds import Sheet
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
