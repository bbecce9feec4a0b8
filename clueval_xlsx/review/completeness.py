"""When an answer counts as judged, and what it lacks: one rule for progress, decisions and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from clueval_xlsx.review.normalising import clean
from clueval_xlsx.review.vocabulary import Effect

# A complete judgement of these effects settles every linked case that has none of its own; nothing else does.
SETTLING = frozenset({Effect.BOUNDARY, Effect.LABEL})
# Judgements of these effects use a correct span, or a correct label; beside others such an entry does nothing.
TAKES_SPAN = frozenset({Effect.ADD, Effect.BOUNDARY})
TAKES_LABEL = frozenset({Effect.ADD, Effect.BOUNDARY, Effect.LABEL})


class AnswerPart(StrEnum):
    """What an answer can lack, by the key of its column."""

    JUDGEMENT = "judgement"
    CORRECT_SPAN = "correct_span"
    CORRECT_LABEL = "correct_label"


@dataclass(frozen=True)
class Completeness:
    """Whether an answer counts as judged; if somebody began it and it does not, what is missing."""

    judged: bool
    missing: AnswerPart | None = None


def completeness(
    effect: Effect | None, correct_span: str, correct_labels: Mapping[str, str], *, applies: bool = False
) -> Completeness:
    """The state of an answer: the effect of its judgement (None: nobody judged) and its corrections.

    A boundary needs a correct span, a label needs a correct label; a correction, and the twins that the answer
    `applies` to, need a judgement. Severity and comment alone judge nothing, and lack nothing either.

    >>> completeness(Effect.BOUNDARY, "", {"risk": "HIGH"}).missing
    <AnswerPart.CORRECT_SPAN: 'correct_span'>
    >>> completeness(Effect.ADD, "", {}).judged
    True
    """
    has_span, has_label = bool(clean(correct_span)), any(clean(label) for label in correct_labels.values())
    if effect is None:
        begun = has_span or has_label or applies
        return Completeness(judged=False, missing=AnswerPart.JUDGEMENT if begun else None)
    if effect is Effect.BOUNDARY and not has_span:
        return Completeness(judged=False, missing=AnswerPart.CORRECT_SPAN)
    if effect is Effect.LABEL and not has_label:
        return Completeness(judged=False, missing=AnswerPart.CORRECT_LABEL)
    return Completeness(judged=True)
