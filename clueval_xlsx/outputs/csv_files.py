"""Scores and cases as CSV; corpus text in the error tables can never be taken for a formula."""

from __future__ import annotations

import pandas as pd

from clueval_xlsx.evaluation import Evaluation

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
_HIDDEN = ("segments", "row")


def scores_csv(evaluation: Evaluation) -> str:
    """The score table, exact."""
    return evaluation.scores.drop(columns="counts").to_csv(index=False, lineterminator="\n")


def cases_csv(cases: pd.DataFrame) -> str:
    """An error table with its contexts; cells that a spreadsheet would calculate are escaped."""
    shown = cases.drop(columns=list(_HIDDEN)).copy()
    shown["related"] = [" ".join(ids) for ids in shown["related"]]
    for column in shown.columns:
        if not pd.api.types.is_numeric_dtype(shown[column]):
            shown[column] = [escape(value) if isinstance(value, str) else value for value in shown[column]]
    return shown.to_csv(index=False, lineterminator="\n")


def escape(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> escape("=1+1"), escape("Anna")
    ("'=1+1", 'Anna')
    """
    return f"'{text}" if text.startswith(_DANGEROUS) else text
