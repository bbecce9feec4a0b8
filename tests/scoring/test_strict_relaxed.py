"""Strict against relaxed, worked by hand: equivalent labels may make right what was wrong, never the other way."""

from __future__ import annotations

import pytest

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.options import LabelRules
from tests.support.relaxed import strict_against_relaxed
from tests.support.workbooks import evaluated

# Of the gold span's four tokens the prediction calls one A, one B, two C. Alone C has most votes; where A and B are
# the same, they have two as well, and stand further to the left.
TIE = """
    token  gold  pred
    Ann    B-C   B-A
    Lee    I-C   B-B
    van    I-C   B-C
    Loon   I-C   I-C
"""
# Here A and B together have more votes than C, and neither of them is the gold label.
OUTVOTED = """
    token  gold  pred
    Ann    B-C   B-A
    Lee    I-C   I-A
    van    I-C   B-B
    de     I-C   I-B
    la     I-C   B-C
    Loon   I-C   I-C
    senior I-C   I-C
"""


def relaxed(table: str, **options: object) -> Evaluation:
    return evaluated(table, replicates=0, labels=LabelRules(equivalent=(("A", "B"),)), **options)


@pytest.mark.parametrize("table", [TIE, OUTVOTED])
@pytest.mark.parametrize("level", ["tiling", "overlap"])
def test_a_label_that_wins_the_vote_alone_is_right_relaxed_too(table: str, level: str) -> None:
    rows = strict_against_relaxed(relaxed(table).scores)
    rows = rows[(rows["scheme"] == "clueval") & rows["layer"].isna() & (rows["level"] == level)]
    (row,) = rows.to_dict("records")
    assert (row["tp_gold_strict"], row["tp_gold_relaxed"], row["relaxed_matches"]) == (1, 1, 0)
    assert (row["fn_strict"], row["fn_relaxed"]) == (0, 0)


def test_equivalent_labels_still_vote_together() -> None:
    """Gold A: strictly C has most tokens; A and B together have as many and stand further to the left."""
    (row,) = (
        strict_against_relaxed(relaxed(TIE.replace("-C   B-", "-A   B-").replace("I-C   I-C", "I-A   I-C")).scores)
        .query("scheme == 'clueval' and level == 'overlap' and layer.isna()")
        .to_dict("records")
    )
    assert (row["tp_gold_strict"], row["tp_gold_relaxed"], row["relaxed_matches"]) == (0, 1, 1)
