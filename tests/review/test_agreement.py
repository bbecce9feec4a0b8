"""Measures of agreement against hand-worked tables and outside implementations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from clueval_xlsx.review.judged_figures import (
    agreement_table,
    cohen_kappa,
    fleiss_kappa,
)

# Fleiss (1971) as worked in the literature: 10 subjects, 14 raters, 5 categories; kappa = 0.210.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_fleiss_kappa_of_the_textbook():
    codes = np.array([[code for code, count in enumerate(row) for _ in range(count)] for row in FLEISS])
    assert fleiss_kappa(codes) == pytest.approx(0.2099, abs=5e-5)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_cohens_kappa_equals_scikit_learns(pairs):
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    if len({*first.tolist(), *second.tolist()}) < 2:
        assert np.isnan(cohen_kappa(first, second))
        return
    assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))


def judged(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [(case, case[:2], who, code) for case, who, code in rows], columns=["case_id", "sheet", "judge", "code"]
    )


def test_the_table_has_everything_by_sheet_and_by_label():
    table = agreement_table(
        judged(
            ("FN-1", "a", "x"),
            ("FN-1", "b", "x"),
            ("FN-2", "a", "x"),
            ("FN-2", "b", "y"),
            ("FP-1", "a", "y"),
            ("FP-1", "b", "y"),
            ("FP-2", "a", "y"),  # judged by one person: tells nothing
        ),
        {"FN-1": {"risk": "HIGH"}, "FN-2": {"risk": "LOW"}, "FP-1": {"risk": "HIGH"}},
    )
    raw = table[table["measure"] == "raw"].set_index(["sheet", "label"])["value"]
    found = {
        (sheet if isinstance(sheet, str) else None, label if isinstance(label, str) else None): value
        for (sheet, label), value in raw.items()
    }
    assert found == {
        (None, None): pytest.approx(2 / 3),
        ("FN", None): 0.5,
        ("FP", None): 1.0,
        (None, "HIGH"): 1.0,
        (None, "LOW"): 0.0,
    }
    assert set(table["measure"]) == {"raw", "cohen", "fleiss", "krippendorff"}
    assert table["cases"].max() == 3
