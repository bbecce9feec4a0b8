"""What judging a run came to, as far as figures depend on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.assignment import Sample
from clueval_xlsx.review.correction import Correction, Decision
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.vocabulary import Severity


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run before and after its judgements: what was decided, what that changed, and how its cases were drawn."""

    raw: Evaluation
    corrected: Evaluation
    correction: Correction
    book: CaseBook
    decisions: Mapping[str, Decision]
    settled: Mapping[str, str]  # case -> the linked case whose judgement settles it
    severities: Mapping[str, Severity]
    sample: Sample = field(default_factory=Sample)
    carried: Mapping[str, str] = field(default_factory=dict)  # case -> the twin that it was decided on
