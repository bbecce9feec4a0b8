"""A person's decisions: what they say in codes, the many ways of typing them, and whether they can be carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

from tests.simulator.roles import (
    JUDGEMENTS,
    SCOPE_DIGITS,
    SEVERITY_DIGITS,
    SHEETS_OF_JUDGEMENT,
    VALUE_DIGITS,
    normalise,
    value_words,
)

Extent = tuple[int, int]
Decision = Mapping[str, str]  # role → code, or the words where there is no code; what is empty is left out
NOT_UNDERSTOOD = "?"  # stands before what was typed where no judgement can be made of it
COMMENTS = ("see file", "ask Ben", "sicher", "1/2", "007", "=nicht sicher", "TRUE", "clear case; no doubt", "ß → ss")
TYPOS = ("xx", "?", "wrong", "ja", "7", "Refer", "*")
_LISTS = {"judgement": "judgement", "severity": "severity", "correct_span": "span_choice", "applies_to": "applies_to"}


@dataclass(frozen=True)
class Facts:
    """What the fresh workbook shows about a case."""

    case: str
    sheet: str
    span: str
    other_span: str
    context: str
    document: str
    twin_group: str
    labels: Mapping[str, str]  # of the reference, by the role of their correction
    own: Extent | None
    other: Extent | None

    def changes(self, span: str) -> bool:
        """Whether a correct span is another one than the reference's."""
        reference, model = (self.own, self.other) if self.kind == "FN" else (self.other, self.own)
        words = self.span if self.kind == "FN" else self.other_span
        if reference is None:
            return True
        if model is None or span not in value_words("span_choice"):
            return span != "as_reference" and normalise(span) != normalise(words)
        low, high = (reference[0], model[0]), (reference[1], model[1])
        chosen = {"as_model": model, "both": (min(low), max(high)), "common": (max(low), min(high))}
        return span in chosen and chosen[span] != reference

    def is_twin(self, other: Facts, scope: str) -> bool:
        """Whether a decision of this scope on this case holds for another one."""
        alike = (self.kind, self.twin_group) == (other.kind, other.twin_group) and self.case != other.case
        return alike and (scope == "all" or (scope == "document" and self.document == other.document))

    @property
    def kind(self) -> str:
        """FN or FP, which the ID begins with."""
        return self.case.partition("-")[0]


@cache
def _codes(role: str) -> Mapping[str, str]:
    """Every way of typing a value of a role that all readers must understand, as its code."""
    found = {}
    for code, texts in value_words(_LISTS[role]).items():
        for text in (code, *texts.values()):
            found[normalise(text)] = code
    return found


def canonical(role: str, text: str, kind: str = "", *, digits: bool = False) -> str:
    """What a cell says: the code where there is one, else the words.

    >>> canonical("judgement", " Modell liegt\\u00a0falsch"), canonical("judgement", "xx"), canonical("comment", " a ")
    ('model_error', '?xx', 'a')
    """
    clean = " ".join(text.replace("\u2060", "").replace("\u200b", "").split())
    if not clean:
        return ""
    if role not in _LISTS:
        return clean.casefold() if role.startswith("correct_label") else clean
    found = _codes(role).get(normalise(clean)) or _by_beginning(role, normalise(clean), kind)
    if found is None and digits:
        found = _by_digit(role, clean, kind)
    return found or (clean if role == "correct_span" else NOT_UNDERSTOOD + clean)


def _by_beginning(role: str, text: str, kind: str) -> str | None:
    """The code whose words, and no others that the sheet offers, begin like this; spans are never shortened."""
    if role == "correct_span":
        return None
    known = {
        code
        for words, code in _codes(role).items()
        if words.startswith(text) and words != code and (role != "judgement" or _on_sheet(code, kind))
    }
    return known.pop() if len(known) == 1 else None


def _on_sheet(code: str, kind: str) -> bool:
    return code in JUDGEMENTS and _offered(code, kind)


def _by_digit(role: str, text: str, kind: str) -> str | None:
    """The code of a digit, or of a digit with the words behind it."""
    first, _, rest = text.partition(" ")
    codes = VALUE_DIGITS.get(role, {})
    known = [code for code, digit in codes.items() if str(digit) == first.rstrip(".") and _offered(code, kind)]
    if not known or (rest and _codes(role).get(normalise(rest)) not in known):
        return None
    return known[0]


def _offered(code: str, kind: str) -> bool:
    return not kind or kind in SHEETS_OF_JUDGEMENT.get(code, (kind,))


def surface(role: str, code: str, language: str, *, digits: bool = False) -> str:
    """The words that a list of the workbook offers for a code; words without a code as they are."""
    texts = value_words(_LISTS[role]).get(code) if role in _LISTS else None
    if texts is None:
        return code
    digit = VALUE_DIGITS.get(role, {}).get(code)
    return f"{digit} {texts[language]}" if digits and digit else texts[language]


def other_surface(role: str, code: str, rng: Random, *, digits: bool = False) -> str | float:
    """Another way of typing the same: another language, the code, other letters, odd spaces, digits."""
    texts = [code, *value_words(_LISTS[role])[code].values()]
    text = rng.choice(texts)
    ways: list[str | float] = [text, text.upper(), text.lower(), f" {text} ", text.replace(" ", "\u00a0") + "\u00a0"]
    ways += [f"\u2060{text}", text.replace(" ", "  ")]
    digit = VALUE_DIGITS.get(role, {}).get(code)
    if digits and digit:
        ways += [str(digit), float(digit), f" {digit} ", f"{digit} {text}"] * 2
    return rng.choice(ways)


def usable(facts: Facts, decision: Decision) -> bool:
    """Whether a decision is complete and can be carried out at its case by itself."""
    code = decision.get("judgement", "")
    if not code or code not in JUDGEMENTS or not _offered(code, facts.kind):
        return not code and not any(role.startswith("correct") or role == "applies_to" for role in decision)
    if any(decision.get(role, "").startswith(NOT_UNDERSTOOD) for role in ("severity", "applies_to")):
        return False
    labels = [role for role in decision if role.startswith("correct_label")]
    span = decision.get("correct_span", "")
    if code == "label":
        there = facts.kind == "FN" or bool(facts.other_span)
        return there and any(decision[role].casefold() != facts.labels.get(role) for role in labels)
    if code == "boundary" and (not span or (facts.kind == "FP" and not facts.other_span) or not facts.changes(span)):
        return False
    if span in value_words("span_choice"):  # the others may mean what the reference has already
        return span == "as_model" and (bool(facts.other_span) or facts.kind == "FP")
    reference = facts.span if facts.kind == "FN" else facts.other_span
    same = normalise(span) == normalise(reference)
    return not span or (len(span) > 1 and not same and normalise(span) in normalise(facts.context))


def first_decision(facts: Facts, labels: Mapping[str, str], leading: str, rng: Random) -> Decision:
    """What a person decides about a case: always something that can be carried out and contradicts nothing.

    Where gold and model overlap, a case of each sheet shows the same disagreement; only those of the leading kind
    decide about it, the others are beyond decision.
    """
    codes = [code for code in JUDGEMENTS if _offered(code, facts.kind)]
    if facts.other_span:
        codes = [code for code in codes if code != "gold_missing"] if facts.kind == leading else ["unclear"]
    for code in rng.sample(codes, len(codes)):
        decision = {"judgement": code, **_corrections(code, facts, labels, rng)}
        if rng.random() < 0.3:
            decision["severity"] = rng.choice(list(SEVERITY_DIGITS))
        if rng.random() < 0.2:
            decision["applies_to"] = rng.choice(list(SCOPE_DIGITS))
        if rng.random() < 0.3:
            decision["comment"] = rng.choice(COMMENTS)
        if usable(facts, decision):
            return decision
    return {"judgement": "unclear"}


def _corrections(code: str, facts: Facts, labels: Mapping[str, str], rng: Random) -> dict[str, str]:
    if code == "label":
        role = rng.choice(sorted(labels))
        return {role: labels[role].casefold()}
    if code == "boundary":
        words = facts.span.split()
        choices = ["as_model", words[0], words[-1], " ".join(words[:2])]
        return {"correct_span": rng.choice(choices)}
    if code == "gold_missing" and rng.random() < 0.3:
        return {"correct_span": facts.span.split()[-1]}
    return {}
