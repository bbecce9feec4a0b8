"""The table of cases: classes by hand, links, rows, and what the public function refuses."""

from __future__ import annotations

import numpy as np
import pytest

from clueval_xlsx import error_table
from clueval_xlsx.cases.kinds import FP, CaseClass
from clueval_xlsx.cases.table import case_table, link_cases
from clueval_xlsx.scoring.names import LEVELS
from tests.support.tables import both_ways, pair_of, spans_of

# Gold and predictions: exact, superset, tiling, overlap, partial, nothing.
TABLE = """
    token  gold  pred
    a      B-X   B-Y
    b      O     B-X
    c      B-X   I-X
    d      B-X   B-X
    e      I-X   B-X
    f      O     B-X
    g      B-X   I-X
    h      I-X   B-X
    i      O     O
    j      B-X   B-X
    k      I-X   O
    l      O     O
    m      B-X   O
"""
BY_PLACE = ["exact", "superset", "tiling", "overlap", "partial", "FN"]


@pytest.mark.parametrize("level", LEVELS)
def test_the_class_of_a_case_says_how_near_the_other_side_came(level: str) -> None:
    pair = pair_of(TABLE)
    gold, pred = pair.gold.spans, pair.pred.spans
    table = error_table(gold, gold, pred, pair.corpus, level=level)
    passed = list(LEVELS).index(level) + 1  # at this level their boundaries are right: only the label can be wrong
    assert table["class"].tolist() == [CaseClass.LABEL] * passed + BY_PLACE[passed:]
    assert table["row"].tolist() == list(range(6))
    assert table["other_surface"].tolist() == ["a", "b c", "d | e", "f g | h", "j", ""]
    assert table["context"].str.contains("🟩").tolist() == [True] * 5 + [False]


def test_cases_are_linked_where_they_share_a_token() -> None:
    """Gold 0..2 and 6..6 are cases, 4..4 is none; of the predictions 2..4 and 6..6 are, 0..1 is none."""
    corpus = pair_of("token gold pred\n" + "w O O\n" * 8).corpus
    sides = both_ways(spans_of((0, 2, "A"), (4, 4, "A"), (6, 6, "A")), spans_of((0, 1, "B"), (2, 4, "B"), (6, 6, "B")))
    missed, unsupported = link_cases(
        (
            case_table(np.array([0, 2]), sides[0], corpus),
            case_table(np.array([1, 2]), sides[1], corpus, sheet=FP),
        ),
        sides,
    )
    assert missed["related"].tolist() == [[name] for name in unsupported["case_id"]]
    assert unsupported["related"].tolist() == [[name] for name in missed["case_id"]]
