"""A judged workbook to have accidents with, and what became of its judgements."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

from openpyxl.worksheet.worksheet import Worksheet

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.progress import CaseState, workbook_progress
from clueval_xlsx.review.reimport import reimport
from tests.support.editing import Edit, case_sheets, edited, header
from tests.support.judging import case
from tests.support.tables import cut

TABLE = """
    token       gold   pred
    <s>
    Herr        B-PER  O
    Dietmar     I-PER  B-PER
    Kolbe       I-PER  I-PER
    </s>
    <s>
    Marlene     B-PER  O
    und         O      O
    Kammer      B-ORG  O
    und         O      O
    Ruth        B-PER  O
    </s>
    <s>
    Bert        O      B-PER
    und         O      O
    Kiel        O      B-LOC
    </s>
"""
CASES = 6


def example_answers(evaluation: Evaluation) -> dict[str, Judgement]:
    """Judgements of four of its cases."""
    return {
        case(evaluation, "FN", "Herr Dietmar Kolbe"): Judgement("boundary", correct_span="Dietmar Kolbe"),
        case(evaluation, "FN", "Marlene"): Judgement("model_error", comment="sure"),
        case(evaluation, "FN", "Kammer"): Judgement("gold_wrong"),
        case(evaluation, "FP", "Bert"): Judgement("gold_missing"),
    }


def each_id(change: Callable[[str], str | None], names: tuple[str, ...] = ("Case ID", "Case ID (again)")) -> Edit:
    """Change the IDs in some columns of the case sheets."""

    def edit(book: Any) -> None:
        for sheet in case_sheets(book):
            for name in names:
                cell = header(sheet, name)
                for row in range(cell.row + 1, sheet.max_row + 1):
                    sheet.cell(row, cell.column).value = change(str(sheet.cell(row, cell.column).value))

    return edit


def case_lines(sheet: Worksheet) -> list[list[Any]]:
    """The values of the rows below the header."""
    return [list(row) for row in sheet.iter_rows(min_row=header(sheet).row + 1, values_only=True)]


def named(data: bytes, name: str = "review.xlsx") -> io.BytesIO:
    """A file under a name."""
    stream = io.BytesIO(data)
    stream.name = name
    return stream


def gold() -> io.BytesIO:
    return named(cut(TABLE).gold, "gold.vrt")


def outcome(sent: bytes, answers: Mapping[str, Judgement], edit: Edit) -> tuple[set[str], set[str], bool]:
    """The cases whose judgement came back as it was, those that are reported, and whether a person must look.

    Checks that nothing was lost or moved, and that `status` gives the same account.
    """
    stream = edited(named(sent), edit)
    progress = workbook_progress(stream.getvalue(), "review.xlsx")
    result = reimport([stream], gold())
    (run,) = result.runs
    came = {}
    for record in run.records:
        if record.code:
            assert record.case_id not in came, "judged twice"
            came[record.case_id] = _said(record.code, str(record.correct_span or ""), record.correct_labels)
    meant = {key: _said(each.code, each.correct_span, each.correct_labels) for key, each in answers.items()}
    texts = [f"{problem} {getattr(problem, 'case', '')}" for problem in result.problems]
    reported = {key for key in answers if any(key in text for text in texts)}
    assert all(meant.get(key) == said or key in reported for key, said in came.items()), "moved"
    assert set(answers) <= set(came) | reported, "lost"
    assert not reported or result.needs_a_person
    for account in (run.account, progress.account):
        assert sum(account.counts.values()) == account.cases == CASES
    assert progress.account.counts[CaseState.MISSING] == run.account.counts[CaseState.MISSING]
    return set(came), reported, result.needs_a_person


def _said(code: str, span: str, labels: Mapping[str, str]) -> tuple[object, ...]:
    """What changes gold; corrections beside a judgement that takes none change nothing."""
    return (code, span, dict(labels)) if code in {"boundary", "label", "gold_missing"} else (code,)
