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
from clueval_xlsx.review.judgements import JUDGEMENTS, Answer, Judgement
from clueval_xlsx.review.sample import Sample
from clueval_xlsx.review.vocabulary import Role
from clueval_xlsx.words import Words


@dataclass(frozen=True)
class ReviewOptions:
    """How a review workbook looks and whom it is for."""

    lang: str = "en"
    judge: str = ""
    part: str = ""
    contact: str = ""
    lock_cells: bool = False
    max_rows: int = MOST_ROWS - FIRST_ROW - 1
    judgements: tuple[Judgement, ...] = JUDGEMENTS
    answers: Mapping[str, Answer] = field(default_factory=dict)  # case ID -> what is filled in already
    earlier: Mapping[str, str] = field(default_factory=dict)  # case ID -> what was decided before, as words
    why: Mapping[str, str] = field(default_factory=dict)  # case ID -> why it is in a conflict workbook
    labels: Mapping[str, str] = field(default_factory=dict)  # what labels mean, in words for the judge
    role: Role = Role.REVIEW
    blind: bool = False  # it does not say who judged
    sources: tuple[str, ...] = ()  # the workbooks whose open cases these are
    team: tuple[str, ...] = ()  # everybody the cases are handed out to
    sample: Sample = field(default_factory=Sample)  # how the cases were drawn
    in_memory: bool = False  # never a temporary file, whatever the size

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
