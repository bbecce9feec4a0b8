"""How a review workbook looks and whom it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from clueval_xlsx.arguments import check_kinds, keep, texts
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.outputs.xlsx.book import MOST_ROWS
from clueval_xlsx.outputs.xlsx.case_columns import FIRST_ROW
from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement, JudgementKind
from clueval_xlsx.review.sample import Sample
from clueval_xlsx.review.vocabulary import Role
from clueval_xlsx.words import Words


@dataclass(frozen=True)
class ReviewOptions:
    """How a review workbook looks and whom it is for.

    `lang`  the language: `en`, `de`, or one of your own
    `judge`, `part`  who judges it, and which part of the cases it is
    `contact`  whom to ask, as the guide says
    `lock_cells`  whether cells that are not for judging are locked
    `max_rows`  cases on a sheet before the next one begins
    `judgements`  the judgements that can be chosen
    `answers`  what is filled in already, by case ID
    `earlier`  what was decided before, as words, by case ID
    `why`  why a case is in a conflict workbook, by case ID
    `labels`  what labels mean, in words for the judge
    `role`  whether it is a review or holds conflicts
    `blind`  it does not say who judged
    `sources`  the workbooks whose open cases these are
    `team`  everybody the cases are handed out to
    `sample`  how the cases were drawn
    `in_memory`  never a temporary file, whatever the size

    >>> ReviewOptions(lang="de", judge="Anna").judge
    'Anna'
    """

    lang: str = "en"
    judge: str = ""
    part: str = ""
    contact: str = ""
    lock_cells: bool = False
    max_rows: int = MOST_ROWS - FIRST_ROW - 1
    judgements: tuple[JudgementKind, ...] = JUDGEMENTS
    answers: Mapping[str, Judgement] = field(default_factory=dict)
    earlier: Mapping[str, str] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    role: Role = Role.REVIEW
    blind: bool = False
    sources: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    sample: Sample = field(default_factory=Sample)
    in_memory: bool = False

    def __post_init__(self) -> None:
        keep(
            self,
            sources=texts("sources", self.sources, "names of workbooks"),
            team=texts("team", self.team, "names of judges"),
        )
        check_kinds(self)
        if self.max_rows < 1:
            raise OptionError(f"--max-rows {self.max_rows}: out of range. Allowed: 1 or more.")


@dataclass(frozen=True, eq=False)
class ReviewContent:
    """What every sheet of one review workbook is made from; `cases` are those that it shows, by sheet."""

    evaluation: Evaluation
    options: ReviewOptions
    words: Words
    cases: Mapping[str, pd.DataFrame]
    run_id: str
