"""Judgements in words: what they are called, and what everybody said about a case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement, words_of
from clueval_xlsx.review.vocabulary import SCOPES, SEVERITIES, SPAN_CHOICES, Scope, Severity
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.log import JudgementRecord
    from clueval_xlsx.review.resolution import Vote


def judgement_name(judgement: Judgement, words: Words) -> str:
    """What a judgement is called in a language."""
    return words_of(judgement, words.language, words.section("judgement"))


def judgement_entry(judgement: Judgement, words: Words) -> str:
    """A judgement as an entry of a list: its digit, by which it can be chosen, and its name.

    >>> judgement_entry(JUDGEMENTS[0], Words("en"))
    '1 Model is wrong'
    """
    return f"{judgement.digit} {judgement_name(judgement, words)}".strip()


def judgement_names(judgements: Iterable[Judgement], words: Words) -> dict[str, str]:
    """What judgements are called, by their codes."""
    return {judgement.code: judgement_name(judgement, words) for judgement in judgements}


def judgements_of(run: Adjudication) -> tuple[Judgement, ...]:
    """All judgements that a run knows: those of the tool, and the project's own."""
    return (*JUDGEMENTS, *(run.manifest.judgements if run.manifest else ()))


def span_choice_name(choice: str, words: Words) -> str:
    """How a correct span was chosen; the words themselves where they were typed."""
    return words[f"span_choice.{choice}"] if choice in SPAN_CHOICES else choice


def severity_name(severity: str, words: Words) -> str:
    """What a severity is called; something else that was typed stays as it is."""
    return words[f"severity.{severity}"] if severity in SEVERITIES else severity


def severity_entry(severity: str, words: Words) -> str:
    """A severity as an entry of a list.

    >>> severity_entry("quasi", Words("en")), severity_entry("", Words("en"))
    ('2 quasi-identifier', '')
    """
    name = severity_name(severity, words)
    return f"{SEVERITIES.index(Severity(severity)) + 1} {name}" if severity in SEVERITIES else name


def scope_entry(scope: Scope | None, words: Words) -> str:
    """Which twins a judgement holds for, as an entry of a list.

    >>> scope_entry(Scope.ALL, Words("en"))
    '1 all alike'
    """
    return "" if scope is None else f"{SCOPES.index(scope) + 1} {words[f'applies_to.{scope}']}"


def what_was_said(votes: Iterable[Vote], names: Mapping[str, str], words: Words) -> str:
    """What everybody said about a case, one line a person."""
    return "\n".join(dict.fromkeys(what_one_said(vote.record, names, words) for vote in votes))


def what_one_said(record: JudgementRecord, names: Mapping[str, str], words: Words) -> str:
    """One judgement in words: who, what, the corrections, the comment."""
    extra = correction_words(record, words)
    comment = f" – {record.comment}" if record.comment else ""
    return f"{record.judge}: {names.get(record.code, record.code)}{f' ({extra})' if extra else ''}{comment}"


def correction_words(record: JudgementRecord, words: Words) -> str:
    """The correct span and the correct labels that somebody chose or typed."""
    chosen = record.correct_span
    span = span_choice_name(chosen, words) if chosen in SPAN_CHOICES else words("quoted", text=chosen) if chosen else ""
    labels = [f"{layer}: {label}" for layer, label in record.correct_labels.items()]
    return ", ".join(part for part in (span, *labels) if part)
