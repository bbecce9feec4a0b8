"""The confusion matrix, worked by hand, and kept to a size that people and programs can show."""

from __future__ import annotations

import numpy as np

from clueval_xlsx.scoring.matching import MOST_LABELS, NOTHING, OTHERS, UNLABELLED, confusion
from tests.support.tables import both_ways, spans_of


def test_each_gold_span_stands_under_the_prediction_that_shares_most_tokens() -> None:
    gold = spans_of((0, 4, "A"), (6, 6, "B"), (8, 9, "A"), (12, 12, None))
    pred = spans_of((0, 1, "B"), (2, 4, "A"), (8, 9, "B"), (12, 12, "A"), (20, 21, "B"))
    table = confusion(*both_ways(gold, pred), "span")
    assert list(table.columns) == ["A", "B", UNLABELLED, NOTHING]
    assert table.loc["A"].tolist() == [1, 1, 0, 0]  # 2..4 shares three tokens of 0..4; 8..9 became B
    assert table.loc["B"].tolist() == [0, 0, 0, 1]  # nothing touches 6
    assert table.loc[UNLABELLED].tolist() == [1, 0, 0, 0]
    assert table.loc[NOTHING].tolist() == [0, 1, 0, 0]  # 20..21 touches no gold


def test_of_very_many_labels_the_rare_ones_share_a_row_and_a_column() -> None:
    often = [(2 * number, 2 * number, "OFTEN") for number in range(5)]
    rare = [(100 + 2 * number, 100 + 2 * number, f"L{number:03}") for number in range(MOST_LABELS + 50)]
    gold, pred = spans_of(*often, *rare), spans_of(*often, *rare[:10])
    table = confusion(*both_ways(gold, pred), "span")
    assert len(table) == MOST_LABELS + 2
    assert table.to_numpy().sum() == len(gold)  # nothing is lost
    assert table.loc["OFTEN", "OFTEN"] == 5
    assert table.loc[OTHERS, NOTHING] == table.loc[OTHERS].sum() == 51
    assert np.diag(table.to_numpy()).sum() == 15
