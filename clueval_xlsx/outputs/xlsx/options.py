"""How a review workbook looks and whom it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import pandas as pd

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.options import ReviewOptions
from clueval_xlsx.review.assignment import CaseSample
from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement, JudgementKind, Role
from clueval_xlsx.words import Words


@dataclass(frozen=True, kw_only=True)
class Handout(ReviewOptions):
    """One workbook: how it looks, for whom it is, and what it comes with.

    `part`  which part of the cases it is
    `judgements`  the judgements that can be chosen
    `answers`  what is filled in already, by case ID
    `earlier`  what was decided before, as words, by case ID
    `hide_previous`  whether rows that an earlier judgement fills in are folded away
    `why`  why a case is in a conflict workbook, by case ID
    `role`  whether it is a review or holds conflicts
    `blind`  it does not say who judged
    `sources`  the workbooks whose open cases these are
    `team`  everybody the cases are handed out to
    `sample`  how the cases were drawn
    """

    part: str = ""
    judgements: tuple[JudgementKind, ...] = JUDGEMENTS
    answers: Mapping[str, Judgement] = field(default_factory=dict)
    earlier: Mapping[str, str] = field(default_factory=dict)
    hide_previous: bool = False
    why: Mapping[str, str] = field(default_factory=dict)
    role: Role = Role.REVIEW
    blind: bool = False
    sources: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    sample: CaseSample = field(default_factory=CaseSample)

    @classmethod
    def of(cls, options: ReviewOptions) -> Handout:
        """A workbook that comes with nothing but how it looks."""
        if isinstance(options, cls):
            return options
        return cls(**{each.name: getattr(options, each.name) for each in fields(options)})


@dataclass(frozen=True, eq=False)
class ReviewContent:
    """What every sheet of one review workbook is made from; `cases` are those that it shows, by sheet."""

    evaluation: Evaluation
    options: Handout
    words: Words
    cases: Mapping[str, pd.DataFrame]
    run_id: str
