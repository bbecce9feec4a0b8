"""What can be typed for a choice: its digit, its words in any language, their first letters, its code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.review.judgements import JudgementKind
from clueval_xlsx.review.normalising import clean, normalise
from clueval_xlsx.review.vocabulary import SCOPES, SEVERITIES
from clueval_xlsx.words import in_every_language


@dataclass(frozen=True)
class Choice:
    """One entry of a list: its code, its digit (empty: it goes by words only), its words in every language."""

    code: str
    digit: str
    words: tuple[str, ...]


class Entry(NamedTuple):
    """A text that means a choice, in lower case, and how many of its first letters are enough to tell."""

    text: str
    least: int
    code: str


class Choices:
    """The entries of one list, and the one rule by which what was typed is understood.

    >>> choices = Choices([Choice("direct", "1", ("direct identifier",)), Choice("quasi", "2", ("quasi-identifier",))])
    >>> choices.find("1"), choices.find("Quasi"), choices.find("1 direct identifier"), choices.find("1 quasi")
    ('direct', 'quasi', 'direct', None)
    """

    def __init__(self, choices: Sequence[Choice]) -> None:
        shared = Counter(choice.digit for choice in choices)
        texts: dict[str, str] = {}
        for choice in choices:
            digit = choice.digit if shared[choice.digit] == 1 else ""  # what could mean two things means nothing
            words = [clean(text).lower() for text in choice.words]
            for text in (digit, *words, *(f"{digit} {each}" for each in words if digit)):
                if text:
                    texts.setdefault(text, choice.code)
        self.entries = [Entry(text, _least(text, code, texts), code) for text, code in texts.items()]
        codes = ((choice.code.lower(), choice.code) for choice in choices)
        self.entries += [Entry(text, len(text), code) for text, code in codes if text not in texts]
        self._compared = [Entry(normalise(text), least, code) for text, least, code in self.entries]
        self._whole = {each.text for each in self._compared if each.text}
        split = [text.split(" ") for text in self._whole]
        self._beginnings = {" ".join(each[:count]) for each in split for count in range(1, len(each))}
        self._known: dict[str, str | None] = {}  # texts as they stand in cells, which recur

    def find(self, typed: str) -> str | None:
        """The code of the choice that a text means."""
        if typed not in self._known:
            text = normalise(typed)
            found = (each.code for each in self._compared if len(text) >= each.least and each.text.startswith(text))
            self._known[typed] = next(found, None)
        return self._known[typed]

    def goes_on(self, typed: str) -> bool:
        """Whether an entry begins with a text and has further words."""
        return normalise(typed) in self._beginnings

    def has(self, typed: str) -> bool:
        """Whether a text is an entry as a whole."""
        return normalise(typed) in self._whole


def _least(text: str, code: str, texts: dict[str, str]) -> int:
    """How many letters of a text no text of another choice begins with; the whole text always tells."""
    others = [other for other, meant in texts.items() if meant != code]
    for length in range(1, len(text)):
        if not any(other.startswith(text[:length]) for other in others):
            return length
    return len(text)


def judgement_choices(judgements: Iterable[JudgementKind], sheet: Sheet) -> Choices:
    """The judgements of a kind of sheet."""
    return Choices([Choice(each.code, each.digit, _words_of(each)) for each in judgements if sheet in each.sheets])


def severity_choices() -> Choices:
    """The severities."""
    return _numbered("severity", SEVERITIES)


def scope_choices() -> Choices:
    """The twins that a judgement can hold for."""
    return _numbered("applies_to", SCOPES)


def _numbered(section: str, codes: Sequence[str]) -> Choices:
    """A list whose entries have the digits from 1 on."""
    return Choices(
        [
            Choice(code, str(digit), tuple(in_every_language(f"{section}.{code}").values()))
            for digit, code in enumerate(codes, 1)
        ]
    )


def _words_of(judgement: JudgementKind) -> tuple[str, ...]:
    standard = judgement.words or in_every_language(f"judgement.{judgement.code}")
    return tuple(dict.fromkeys(standard.values()))
