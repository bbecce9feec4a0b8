"""What is made of an evaluation: error tables, the report, the workbook, the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmark.rows import Work, row
from tests.benchmark.scoring import seqeval_scores

# ---- the error tables; a scorer's time is there for comparison


@row("error tables", "ours: every case with its context, level exact")
def _cases(folder: Path) -> Work:
    from dataclasses import replace

    evaluation = evaluated(folder)

    def work() -> None:
        found = replace(evaluation)  # nothing cached
        assert sum(map(len, found.case_tables))

    return work


row("error tables", "seqeval precision_recall_fscore_support", most=10)(seqeval_scores)


# ---- twins, the order of suspicion and unmarked passages, as a part of the whole command


def _whole_run(folder: Path) -> Work:
    from tests.benchmark.commands import LAYERS, command

    sides = folder / "gold.vrt", folder / "pred.vrt"
    more = ("--level", "exact", "--order", "suspicion", "--unmarked", "-o", folder / "ordered.xlsx", "--force")
    return command("evaluate", *sides, *LAYERS, *more)


row("twins, order, unmarked", "ours: evaluate with all of them, every case")(_whole_run)


@row("twins, order, unmarked", "ours: they alone")
def _order(folder: Path) -> Work:
    from dataclasses import replace

    from clueval_xlsx.cases.twins import add_twins
    from clueval_xlsx.cases.unmarked import UnmarkedOptions

    evaluation = evaluated(folder)

    def work() -> None:
        found = replace(evaluation)  # nothing cached
        assert found.with_unmarked(UnmarkedOptions()).unmarked is not None
        assert found.with_order("suspicion").order is not None
        assert all(len(add_twins(table)) for table in evaluation.bare_cases)

    return work


# ---- the report to read, likewise


@row("HTML", "ours: the report with the whole text")
def _html(folder: Path) -> Work:
    from clueval_xlsx.outputs.html.report import report_html

    evaluation = evaluated(folder)
    return lambda: report_html(evaluation)


row("HTML", "seqeval precision_recall_fscore_support", most=10)(seqeval_scores)


# ---- the review workbook, against the library alone


def evaluated(folder: Path) -> Any:
    """Both layers at level exact: many cases."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.evaluation import evaluate
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.options import Options, ReadOptions

    options = ReadOptions(layers={"fine": 2, "coarse": 3}, token_id=4)
    sides = [read(folder / f"{side}.vrt", options) for side in ("gold", "pred")]
    evaluation = evaluate(make_pair(*sides), Options(level="exact"))
    assert len(evaluation.case_tables) == 2  # made here, like the scores, and not while the time is taken
    assert len(evaluation.scores)
    return evaluation


@row("workbook", "ours: all sheets, level exact")
def _workbook(folder: Path) -> Work:
    from clueval_xlsx.outputs.xlsx import write_workbook

    evaluation = evaluated(folder)
    return lambda: write_workbook(evaluation, folder / "review.xlsx")


@row("workbook", "XlsxWriter alone, the same calls replayed")
def _workbook_bare(folder: Path) -> Work:
    from tests.support.recording import record

    return record(evaluated(folder), folder / "recorded.xlsx").replay


# ---- the way back: every case of the workbook judged (2,645 rows, tenfold 26,450)


def judged_workbook(folder: Path) -> Path:
    """The review workbook with a judgement in every row; written once."""
    from clueval_xlsx.outputs.xlsx import Handout, write_workbook
    from clueval_xlsx.review.judgements import Judgement

    path = folder / "judged.xlsx"
    if not path.exists():
        evaluation = evaluated(folder)
        codes = (("model_error", "gold_wrong", "acceptable"), ("model_error", "gold_missing", "acceptable"))
        answers = {
            case_id: Judgement(own[number % 3], severity="quasi", comment="seen")
            for own, table in zip(codes, evaluation.bare_cases, strict=True)
            for number, case_id in enumerate(table["case_id"])
        }
        write_workbook(evaluation, path, Handout(answers=answers))
    return path


@row("re-import", "ours: read, checked, decided, matched anew, corrected file", most=10)
def _reimport(folder: Path) -> Work:
    from clueval_xlsx.review.reimport import reimport

    path = judged_workbook(folder)

    return lambda: reimport([path], folder / "gold.vrt").content


@row("re-import", "openpyxl: reading the rows alone", most=10)
def _reimport_openpyxl(folder: Path) -> Work:
    import openpyxl

    path = judged_workbook(folder)

    def work() -> int:
        book = openpyxl.load_workbook(path, read_only=True)
        return sum(1 for name in ("Missed (FN)", "Unsupported (FP)") for _ in book[name].iter_rows(values_only=True))

    return work
