"""Colours in the contexts of a comparison: true for every word, whichever of the systems marks it."""

from __future__ import annotations

import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.cases.contexts import BOTH, GOLD, PRED, SOME
from clueval_xlsx.comparison import compare
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.evaluation import Evaluation
from tests.support.judging import judged
from tests.support.strategies import at_most
from tests.support.tables import Sides

TAGS = st.sampled_from(["O", "B-PER", "I-PER"])


def evaluation(gold: list[str], pred: list[str]) -> Evaluation:
    files = ["".join(f"w{place}\t{tag}\n" for place, tag in enumerate(tags)) for tags in (gold, pred)]
    return judged(Sides(*(f'<text id="a">\n<s>\n{lines}</s>\n</text>\n'.encode() for lines in files)), level="exact")


def marked(spans: pd.DataFrame) -> set[int]:
    return {place for low, high in zip(*positions(spans), strict=True) for place in range(low, high + 1)}


@st.composite
def compared(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    size = draw(st.integers(1, 14))
    row = st.lists(TAGS, min_size=size, max_size=size)
    return draw(row), draw(st.lists(row, min_size=2, max_size=3))


@at_most(25)
@given(compared())
def test_every_word_of_a_compared_case_has_its_true_colour(case: tuple[list[str], list[list[str]]]) -> None:
    gold, systems = case
    found = [(f"system {number}", evaluation(gold, pred)) for number, pred in enumerate(systems)]
    in_gold = marked(found[0][1].pair.gold.spans)
    by_system = [marked(each.pair.pred.spans) for _, each in found]
    for row in compare(found).errors.to_dict("records"):
        coloured = set()
        for text, mark in row["segments"]:
            for place in map(int, re.findall(r"w(\d+)", text)):
                count = sum(place in each for each in by_system)
                if mark:
                    coloured.add(place)
                    expected = {0: GOLD, len(systems): BOTH}.get(count, SOME) if place in in_gold else PRED
                    assert mark == expected, (row["sheet"], place)
        assert coloured >= set(range(row["start"], row["end"] + 1))


def test_a_prediction_inside_what_other_systems_mark_keeps_its_borders() -> None:
    gold, first, second = (
        ["O", "O", "B-PER", "I-PER"],
        ["O", "B-PER", "I-PER", "O"],
        ["B-PER", "I-PER", "I-PER", "I-PER"],
    )
    errors = compare([("crf", evaluation(gold, first)), ("bert", evaluation(gold, second))]).errors
    rows = errors.to_dict("records")
    shown = {row["surface"]: [segment for segment in row["segments"] if segment.mark] for row in rows}
    assert shown["w1 w2"] == [("w1", PRED), ("w2", BOTH), ("w3", SOME)]
