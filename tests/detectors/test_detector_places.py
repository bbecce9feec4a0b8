"""Finds by character on tokens: widened, split, dropped and freed of overlap, and every change counted."""

from __future__ import annotations

import io

import pytest

from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import join_tokens
from clueval_xlsx.detectors.base import Description, Detection
from clueval_xlsx.detectors.prediction import make_dataset, make_prediction, place
from clueval_xlsx.detectors.runner import Run
from clueval_xlsx.formats.loading import read
from tests.support.tables import listed

SENTENCES = """<text id="a">
<s>
Frau\tO
Ott\tB-PER
<g/>
,\tO
Köln\tB-LOC
<g/>
.\tO
</s>
<s>
Herr\tO
M&amp;M\tB-ORG
</s>
</text>
<text id="empty">
</text>
<text id="b">
<s>
Ende\tO
</s>
</text>
"""
DETECTOR = Description("test", "1", "de", "0123456789ab", ("PER",))


def vertical(text: str = SENTENCES) -> Reading:
    return read(io.BytesIO(text.encode()), name="gold.vrt")


def run_of(*found: list[Detection]) -> Run:
    return Run(DETECTOR, tuple(tuple(one) for one in found))


@pytest.mark.parametrize(
    ("start", "end", "tokens", "changed"),
    [
        (5, 8, [(1, 1)], {}),
        (0, 8, [(0, 1)], {}),
        (4, 8, [(1, 1)], {}),  # the space before it is nobody's
        (6, 7, [(1, 1)], {"widened": 1}),
        (6, 12, [(1, 3)], {"widened": 1}),
        (8, 9, [(2, 2)], {}),
        (4, 5, [], {"dropped": 1}),
        (15, 16, [], {"dropped": 1}),
        (10, 24, [(3, 4), (5, 6)], {"split": 1}),
        (12, 22, [(3, 4), (5, 6)], {"widened": 1, "split": 1}),
    ],
)
def test_a_find_on_tokens(start: int, end: int, tokens: list[tuple[int, int]], changed: dict[str, int]) -> None:
    corpus = vertical().corpus
    placed = place([[Detection(start, end, "X")], [], []], join_tokens(corpus))
    assert list(zip(placed.start.tolist(), placed.end.tolist(), strict=True)) == tokens
    counts = {"widened": placed.widened, "dropped": placed.dropped, "split": placed.split}
    assert counts == {"widened": 0, "dropped": 0, "split": 0, **changed}


def test_widening_can_make_finds_overlap_and_that_is_told() -> None:
    prediction = make_prediction(
        make_dataset(vertical()), run_of([Detection(5, 6, "A", 0.9), Detection(6, 8, "B", 0.1)], [], [])
    )
    assert listed(prediction.layers["span"]) == [(1, 1, "A")]  # the same token now: the surer
    assert any("2 predictions cut a token" in note for note in prediction.notes)
    assert any("'Ott' (B, a) under 'Ott' (A, a)" in note for note in prediction.notes)


def test_a_prediction_for_running_text_keeps_every_boundary() -> None:
    gold = read(
        io.BytesIO(
            b'[{"full_text": "Ann Lee.", "spans": [{"entity_type": "PER", "start_position": 0, "end_position": 7}]}]'
        ),
        name="gold.json",
    )
    assert not gold.tokenised
    dataset = make_dataset(gold)
    prediction = make_prediction(
        dataset, run_of([Detection(1, 5, "PER"), Detection(2, 4, "PER"), Detection(7, 8, "X")])
    )
    pair = make_pair(dataset.gold, prediction.side)
    words = [pair.corpus.text(start, end) for start, end, _ in listed(pair.pred.spans)]
    assert words == ["nn L", "."]
    assert [pair.corpus.text(start, end) for start, end, _ in listed(pair.gold.spans)] == ["Ann Lee"]
    assert any("gave way" in note for note in prediction.notes)
