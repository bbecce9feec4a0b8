"""Scores and cases as CSV; corpus text in the error tables can never be taken for a formula."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.figures import Figures, all_scores
from clueval_xlsx.files.names import without_formula
from clueval_xlsx.outputs.json_results import json_text, presidio_metrics, score_rows
from clueval_xlsx.scoring.scores import COUNTS

_HIDDEN = ("segments", "row")


def scores_csv(*parts: Figures) -> str:
    """The score table; labels and groups are text, which may look like a formula. Counts are integers."""
    return _scores(all_scores(parts)).to_csv(index=False, lineterminator="\n")


def score_lines(table: pd.DataFrame) -> list[bytes]:
    """Score rows as they follow others in that file."""
    rows = [row.to_csv(index=False, header=False, lineterminator="\n") for _, row in _scores(table).groupby(level=0)]
    return [row.encode("utf-8", "backslashreplace") for row in rows]


def _scores(table: pd.DataFrame) -> pd.DataFrame:
    rows = score_rows(table)
    table = table.drop(columns="counts")
    for name in COUNTS:
        table[name] = pd.Series([getattr(row, name) for row in rows], table.index, dtype=object)
    return _harmless(table)


def cases_csv(cases: pd.DataFrame) -> str:
    """An error table with its contexts."""
    shown = cases.drop(columns=list(_HIDDEN)).copy()
    shown["related"] = [" ".join(ids) for ids in shown["related"]]
    return _harmless(shown).to_csv(index=False, lineterminator="\n")


def result_files(result: Evaluation, language: str) -> Iterator[tuple[str, str]]:
    """The files of a folder that holds a whole result, by their names."""
    from clueval_xlsx.outputs.html.report import confusion_html

    missed, unsupported = result.case_tables
    yield "metrics.json", json_text(presidio_metrics(result))
    yield "scores.csv", scores_csv(result)
    yield "false_negatives.csv", cases_csv(missed)
    yield "false_positives.csv", cases_csv(unsupported)
    if result.unmarked_cases is not None:
        yield "unmarked.csv", cases_csv(result.with_contexts(result.unmarked_cases))
    yield "confusion_matrix.html", confusion_html(result, language)


def _harmless(table: pd.DataFrame) -> pd.DataFrame:
    """The table with every cell and header escaped that a spreadsheet would calculate."""
    shown = table.copy()
    for column in shown.columns:
        if not pd.api.types.is_numeric_dtype(shown[column]):
            cells = [without_formula(value) if isinstance(value, str) else value for value in shown[column]]
            shown[column] = pd.Series(cells, shown.index, dtype=object)  # pandas would make floats of integers
    return shown.rename(columns={name: without_formula(str(name)) for name in shown.columns})
