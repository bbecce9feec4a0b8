"""What the entries of a row mean, and the one rule that says whether they are complete.

State asks it by formulas, the re-import, `status` and the live figures ask it here. Both sides fold what was typed in
the same way, letter by letter, and both look at the same words of the context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.cases.table import NO_LABEL
from clueval_xlsx.review.judgements import (
    SCOPES,
    SEVERITIES,
    SPAN_CHOICES,
    Effect,
    Judgement,
    JudgementKind,
    SpanChoice,
)
from clueval_xlsx.text.cells import QUOTE, key, lower, needle, utf16_length
from clueval_xlsx.words import FALLBACK, in_every_language, languages

PART = "|"  # spans that are split stand between bars
MOST_PARTS, LONGEST_SPAN, LONGEST_LABEL = 8, 600, 250  # in UTF-16 units, as LEN counts
NEW_LABEL_SIGN = "!"
NONE = "-"  # typed as a label: the layer has none here

_AFTER_DIGIT = ("", ".", ")", ",0", ".0")  # as programs and people write a digit
_FULL_WIDTH = 0xFEE0  # from a digit to the one that East Asian keyboards type


def label_key(text: str) -> str:
    """A label, or several between bars, as it is compared; both dashes say that there is none.

    >>> label_key("Court  staff | ORG"), label_key("–")
    ('court staff|org', '-')
    """
    return key(text).replace(" |", PART).replace("| ", PART).replace(NO_LABEL, NONE)


# Lists


class ChoiceList:
    """What can be typed for the entries of one list, each with its code.

    >>> [str(scopes().find(text)) for text in ("1", "ALL  alike", "1 all alike", "1 alike")]
    ['all', 'all', 'all', 'None']
    """

    def __init__(self, entries: Iterable[tuple[str, str, Iterable[str]]]) -> None:
        """`entries` are codes, each with its digit (or none) and its words in every language."""
        entries = [(code, digit, [key(text) for text in words]) for code, digit, words in entries]
        shared = Counter(digit for _, digit, _ in entries)
        self.typed: dict[str, str] = {}
        for code, digit, words in entries:
            own = digit if shared[digit] == 1 else ""  # what could mean two things means nothing
            digits = (own, chr(ord(own) + _FULL_WIDTH)) if own else ()
            forms = [
                *(sign + end for sign in digits for end in _AFTER_DIGIT),
                *(f"{own} {text}" for text in words if own),
            ]
            for text in (*forms, *words):
                self.typed.setdefault(text, code)
        for code, _, _ in entries:
            self.typed.setdefault(key(code), code)

    def find(self, text: str) -> str | None:
        """The code of the entry that a text means."""
        return self.typed.get(key(text))


def judgement_choices(judgements: Iterable[JudgementKind], sheet: Sheet) -> ChoiceList:
    """The judgements of a kind of sheet."""
    entries = []
    for each in judgements:
        if sheet in each.sheets:
            words = each.words or in_every_language(f"judgement.{each.code}")
            entries.append((each.code, each.digit, words.values()))
    return ChoiceList(entries)


def severities() -> ChoiceList:
    """The severities."""
    return _numbered("severity", SEVERITIES, tuple(languages()))


def scopes() -> ChoiceList:
    """The twins that a judgement can hold for."""
    return _numbered("applies_to", SCOPES, tuple(languages()))


@cache  # languages may be added while a program runs
def _numbered(section: str, codes: Sequence[str], _: tuple[str, ...]) -> ChoiceList:
    """A list whose entries have the digits from 1 on."""
    return ChoiceList(
        (code, str(digit), in_every_language(f"{section}.{code}").values()) for digit, code in enumerate(codes, 1)
    )


def span_choices() -> Mapping[str, SpanChoice]:
    """What can be typed for a choice of a correct span, folded like words: its letter, its words, both."""
    return _span_choices(tuple(languages()))


@cache
def _span_choices(_: tuple[str, ...]) -> Mapping[str, SpanChoice]:
    found: dict[str, SpanChoice] = {}
    for choice in SPAN_CHOICES:
        letters, words = (in_every_language(f"{section}.{choice}") for section in ("span_letter", "span_choice"))
        for language, text in words.items():
            letter = letters.get(language, letters[FALLBACK])
            for form in (letter, text, f"{letter} {text}", choice):
                found.setdefault(needle(form), choice)
    return found


def span_choice(text: str) -> SpanChoice | None:
    """The choice that was typed as a correct span, if it is not words.

    >>> span_choice("m"), span_choice('"M"'), span_choice("wie das Modell")
    (<SpanChoice.AS_MODEL: 'as_model'>, None, <SpanChoice.AS_MODEL: 'as_model'>)
    """
    return span_choices().get(needle(text))


def label_parts(text: str) -> list[str]:
    """The labels of a cell, one for each part of a span that is split."""
    return [part.strip(" ") for part in label_key(text).split(PART)]


# The rule


class Wrong(IntEnum):
    """Why a row does not count; the name in small letters is the key of its words (`state.KEY`)."""

    MOVED = 1  # the two case IDs of the row have parted
    STRANGE = 2  # the judgement is not in the list
    JUDGEMENT = 3  # something is filled in, but no judgement
    OTHER_LIST = 4  # what it applies to, or the severity, is not in its list
    NO_REFERENCE = 5  # a correction of the reference, which has nothing here
    CORRECT_SPAN = 6  # is missing
    SAME_SPAN = 7  # it is what the reference has
    NOT_IN_TEXT = 8
    NOTHING_MARKED = 9  # "as the model", which marked nothing here
    CORRECT_LABEL = 10  # is missing
    SAME_LABEL = 11
    NEW_LABEL = 12  # nobody knows it, and it has no exclamation mark
    PARTS = 13  # as many labels as parts of the span, or one for all
    NOTHING_LEFT = 14  # no layer would keep a label

    @property
    def sign(self) -> str:
        """What State begins with: unfinished, a question, or not understood."""
        if self is Wrong.NEW_LABEL:
            return "?"
        return "…" if self in _UNFINISHED else "✗"


_UNFINISHED = {Wrong.JUDGEMENT, Wrong.CORRECT_SPAN, Wrong.SAME_SPAN, Wrong.CORRECT_LABEL, Wrong.SAME_LABEL}


class SpanEntry(IntEnum):
    """What a Correct span says at its case."""

    EMPTY = 0
    SAME = 1
    FINE = 2
    ABSENT = 3
    UNMARKED = 4


class LabelEntry(IntEnum):
    """What the Correct labels say at their case; of several layers the largest counts."""

    EMPTY = 0
    SAME = 1
    FINE = 2
    LIST = 3
    NEW = 4
    PARTS = 5
    NOTHING = 6


_OF_SPAN = {SpanEntry.ABSENT: Wrong.NOT_IN_TEXT, SpanEntry.UNMARKED: Wrong.NOTHING_MARKED}
_OF_LABEL = {
    LabelEntry.NEW: Wrong.NEW_LABEL,
    LabelEntry.PARTS: Wrong.PARTS,
    LabelEntry.NOTHING: Wrong.NOTHING_LEFT,
}
_OF_RELABELLING = {
    **_OF_LABEL,
    LabelEntry.EMPTY: Wrong.CORRECT_LABEL,
    LabelEntry.SAME: Wrong.SAME_LABEL,
    LabelEntry.LIST: Wrong.PARTS,
}


def rule(effect: Effect, span: SpanEntry, label: LabelEntry, *, reference: bool) -> Wrong | None:
    """What is wrong with a judgement and its corrections; nothing if it counts.

    >>> rule(Effect.BOUNDARY, SpanEntry.EMPTY, LabelEntry.FINE, reference=True)
    <Wrong.CORRECT_SPAN: 6>
    """
    if effect in {Effect.BOUNDARY, Effect.LABEL} and not reference:
        return Wrong.NO_REFERENCE
    if effect is Effect.LABEL:
        return _OF_RELABELLING.get(label)
    if effect not in {Effect.ADD, Effect.BOUNDARY}:
        return None
    if effect is Effect.BOUNDARY and span is SpanEntry.EMPTY:
        return Wrong.CORRECT_SPAN
    wrong = _OF_SPAN.get(span) or _OF_LABEL.get(label)
    if wrong is None and effect is Effect.BOUNDARY and span is SpanEntry.SAME and label < LabelEntry.FINE:
        return Wrong.SAME_SPAN
    return wrong


@dataclass(frozen=True)
class CaseFacts:
    """What an answer is held against: the words of the context, and what is marked there.

    `text` has the tokens of the context one behind the other, each as `searchable` makes it. `marked` are the choices
    of a Correct span that mean something here and would change something, `idle` those that would not, both as the
    digits of their places in `SPAN_CHOICES`. `same` are the words of the reference, folded, if it is one span;
    `labels` its labels, one for each layer.
    """

    text: str
    marked: str = ""
    idle: str = ""
    same: str = ""
    labels: tuple[str, ...] = ()

    @property
    def reference(self) -> bool:
        """Whether the reference has marked anything here."""
        return _REFERENCE in self.marked + self.idle


_REFERENCE = str(SPAN_CHOICES.index(SpanChoice.AS_REFERENCE) + 1)


def known_labels(labels: Iterable[str], *, several: bool) -> frozenset[str]:
    """The labels of a layer as they are compared; of `several` layers one may have none."""
    return frozenset({*([NONE] if several else []), *map(label_key, labels)})


def span_entry(typed: str, facts: CaseFacts) -> SpanEntry:
    """What a Correct span says at its case."""
    folded = needle(typed)
    if not folded:
        return SpanEntry.EMPTY
    choice = span_choice(typed)
    if choice is not None:
        digit = str(SPAN_CHOICES.index(choice) + 1)
        if digit in facts.marked:
            return SpanEntry.FINE
        return SpanEntry.SAME if digit in facts.idle else SpanEntry.UNMARKED
    if facts.same and folded.replace(QUOTE, "") == facts.same:
        return SpanEntry.SAME
    return SpanEntry.FINE if in_text(folded, facts.text) else SpanEntry.ABSENT


def in_text(folded: str, text: str) -> bool:
    """Whether all parts of folded words stand in a context; one of a single letter only in quotes."""
    parts = folded.split(PART)
    if utf16_length(folded) > LONGEST_SPAN or len(parts) > MOST_PARTS:
        return False
    small = lower(text)
    for part in parts:
        bare = part.replace(QUOTE, "")
        if not bare or len(part) == 1 or bare not in small:
            return False
    return True


def label_entry(typed: str, own: str, known: frozenset[str], span: str) -> LabelEntry:
    """What a Correct label says: one that is known or has an exclamation mark, as many as the span has parts, or one.

    >>> known = known_labels(["PER", "ORG"], several=False)
    >>> [label_entry(text, "PER", known, "").name for text in ("per", "org", "OGR", "!OGR", "! OGR")]
    ['SAME', 'FINE', 'NEW', 'FINE', 'NEW']
    """
    folded = label_key(typed)
    if not folded:
        return LabelEntry.EMPTY
    if folded == (label_key(own) or NONE):
        return LabelEntry.SAME
    parts = label_parts(typed)
    nothing_behind = f"{NEW_LABEL_SIGN}{PART}" in folded + PART
    if utf16_length(folded) > LONGEST_LABEL or nothing_behind or labels_good(typed, known) < len(parts):
        return LabelEntry.NEW
    if len(parts) == 1:
        return LabelEntry.FINE
    return LabelEntry.LIST if len(parts) == needle(span).count(PART) + 1 else LabelEntry.PARTS


def labels_good(typed: str, known: frozenset[str]) -> int:
    """How many of the first labels of a cell are known, or wanted on purpose: an exclamation mark and no space."""
    parts = label_parts(typed)[:MOST_PARTS]
    return sum(part in known or (part.startswith(NEW_LABEL_SIGN) and " " not in part) for part in parts)


@dataclass(frozen=True)
class AnswerRule:
    """The rule for the rows of one workbook: `known` are the labels of each layer (see `known_labels`)."""

    layers: Sequence[str]
    known: Sequence[frozenset[str]]

    def wrong(self, answer: Judgement, facts: CaseFacts) -> Wrong | None:
        """Why an answer that was read does not count; nothing if it is complete, or if nothing is filled in.

        Whether judgement, scope and severity are in their lists is told by whoever read them (`ChoiceList`).
        """
        span, label = span_entry(answer.correct_span, facts), self.labels(answer, facts)
        if answer.effect is None:
            return Wrong.JUDGEMENT if span or label or answer.applies_to is not None else None
        return rule(answer.effect, span, label, reference=facts.reference)

    def labels(self, answer: Judgement, facts: CaseFacts) -> LabelEntry:
        """What the Correct labels of all layers say together."""
        typed = [answer.correct_labels.get(layer, "") for layer in self.layers]
        entries = [
            label_entry(text, own, known, answer.correct_span)
            for text, own, known in zip(typed, facts.labels, self.known, strict=True)
        ]
        left = [label_key(text) or label_key(own) or NONE for text, own in zip(typed, facts.labels, strict=True)]
        if any(entries) and set(left) == {NONE}:
            return LabelEntry.NOTHING
        return max(entries)


# What a row's judgement means for the linked cases


def settles(effect: Effect, *, only: bool) -> bool:
    """Whether a complete judgement settles a linked case without one; `only`: each is the other's only link."""
    return effect in {Effect.BOUNDARY, Effect.LABEL} or (only and effect in {Effect.NONE, Effect.ACCEPT, Effect.OPEN})


def contradict(missed: Effect, unsupported: Effect) -> bool:
    """Whether judgements of a missed case and of a linked unsupported one cannot both hold, whatever they correct.

    >>> contradict(Effect.NONE, Effect.ADD), contradict(Effect.DELETE, Effect.NONE), contradict(Effect.OPEN, Effect.ADD)
    (True, False, False)
    """
    kept, corrected = {Effect.NONE, Effect.ACCEPT}, {Effect.BOUNDARY, Effect.LABEL}
    if missed is Effect.DELETE:
        return unsupported in {*corrected, Effect.ACCEPT}
    if missed in corrected:
        return unsupported in kept
    return missed in kept and unsupported in {Effect.ADD, *corrected}
