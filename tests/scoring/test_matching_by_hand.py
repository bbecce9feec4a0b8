"""Matching worked by hand: each case is a picture, and beside it why it must come out so."""

from __future__ import annotations

import pandas as pd
import pytest

from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.scoring.matching import match_spans
from clueval_xlsx.scoring.names import MatchClass
from tests.support.tables import spans_of


def drawn(picture: str) -> list[tuple[int, int]]:
    """Spans from a picture: `[==]` is a span with both ends, `|` one of a single token, `.` no span."""
    spans, start = [], 0
    for position, character in enumerate(picture):
        if character == "[":
            start = position
        elif character == "]":
            spans.append((start, position))
        elif character == "|":
            spans.append((position, position))
    return spans


# name, gold, prediction, classes of gold against prediction, classes of prediction against gold, why
CASES = [
    # The picture of the design, section 4.1, with the span at 3..9.
    ("exact", "...[=====]...", "...[=====]...", "exact", "exact", "the same tokens"),
    ("superset", "...[=====]...", ".[=======]...", "superset", "none", "one span contains it; the reverse sticks out"),
    ("tiling", "...[=====]...", "...[=][==]...", "tiling", "superset superset", "two adjacent ones are exactly it"),
    ("overlap", "...[=====]...", "..[==][====].", "overlap", "none none", "joined they contain it, each sticks out"),
    ("gap", "...[=====]...", "...[=].[=]...", "none", "superset superset", "token 6 is missing between them"),
    # Tiling and overlap need every touching span to be adjacent to the next.
    ("three tiles", "[=======]", "[=][=][=]", "tiling", "superset superset superset", "joined, three are exactly it"),
    ("single tokens", "[=]", "|||", "tiling", "superset superset superset", "spans of one token join as others do"),
    ("gap inside three", "[=======]", "[=][].[=]", "none", "superset superset superset", "one gap is enough"),
    ("gap outside", "...[==]......", "..[=][=].[=].", "overlap", "none none none", "a gap behind it does not matter"),
    # Partial overlap never counts, on either side.
    ("too short", "...[=====]...", "...[====]....", "none", "superset", "the last token leaks"),
    ("left end only", "...[=====]...", ".[====]......", "none", "none", "both stick out"),
    ("tiles stop short", "...[=====]...", "...[=][=]....", "none", "superset superset", "adjacent, but token 9 leaks"),
    ("one of two sticks out", "...[=====]...", ".[===][==]...", "overlap", "none superset", "left 1..5 sticks out"),
    # One prediction over several gold spans: superset for each of them; the prediction is a tiling.
    ("one over two", "[==][===]", "[=======]", "superset superset", "tiling", "gold spans join for the prediction"),
    ("one over two, apart", "[==].[==]", "[=======]", "superset superset", "none", "gold spans do not join over a gap"),
    # A boundary moved between two neighbours: joined, each side contains each span of the other.
    ("moved boundary", "[===][==]", "[==][===]", "overlap superset", "superset overlap", "the long ones need both"),
    ("nothing there", "...[=]...", ".........", "none", "", "nothing predicted"),
    ("nothing asked", ".........", "...[=]...", "", "none", "nothing in gold"),
    ("neighbour only", "...[=]...", "[=]...[=]", "none", "none none", "adjacent is not touching"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("gold", "pred", "recall", "precision"), [case[1:5] for case in CASES], ids=[c[0] for c in CASES]
)
def test_classes_of_pictures_in_both_directions(gold: str, pred: str, recall: str, precision: str) -> None:
    a, b = spans_of(*drawn(gold)), spans_of(*drawn(pred))
    assert [MatchClass(number).word for number in match_spans(a, b)["class"]] == recall.split()
    assert [MatchClass(number).word for number in match_spans(b, a)["class"]] == precision.split()


# the span, the others with their labels, the partner's label, why
VOTES = [
    ((0, 3), [(0, 3, "A")], "A", "exact: that span's label"),
    ((1, 2), [(0, 3, "A")], "A", "superset: that span's label"),
    ((0, 4), [(0, 1, "A"), (2, 4, "B")], "B", "B has three tokens, A two"),
    ((0, 5), [(0, 1, "A"), (2, 3, "B"), (4, 5, "A")], "A", "A has two spans of two tokens, summed four"),
    ((0, 3), [(0, 1, "B"), (2, 3, "A")], "B", "two each: the leftmost, not the first of the alphabet"),
    ((2, 5), [(0, 2, "A"), (3, 9, "B")], "B", "only tokens inside count: A one, B three"),
    ((3, 6), [(0, 4, "A"), (5, 20, "B")], "A", "inside, two each: the leftmost, however long B is outside"),
    ((0, 4), [(0, 2, None), (3, 4, "A")], None, "no label votes like any other, and wins here"),
    ((0, 4), [(0, 1, None), (2, 4, "A")], "A", "no label votes like any other, and loses here"),
    ((0, 3), [(0, 1, None), (2, 3, "A")], None, "a tie goes to the leftmost, label or not"),
    ((0, 3), [(0, 1, "A")], None, "class none has no partner"),
]  # fmt: skip


@pytest.mark.parametrize(("span", "others", "label"), [case[:3] for case in VOTES], ids=[case[3] for case in VOTES])
def test_partner_labels(span: tuple[int, int], others: list[tuple[int, int, str | None]], label: str | None) -> None:
    (found,) = match_spans(spans_of(span), spans_of(*others))["partner_span"].astype(object)
    assert found == label if label is not None else pd.isna(found)


def test_labels_that_are_no_strings_are_compared_as_text() -> None:
    frame = pd.DataFrame({"start": [0, 4], "end": [1, 5], "risk": [1, 2]})
    assert match_spans(frame, frame)["partner_risk"].tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ([0, 2], [3, 5], "must not overlap, but these do: 0..3 and 2..5"),
        ([0, 0], [9, 1], "must not overlap, but these do: 0..9 and 0..1"),
        ([5, 0], [6, 1], "not sorted by position"),
        ([5], [3], "a span ends before it starts: 5..3"),
    ],
)
def test_sequences_that_are_none_are_refused(start: list[int], end: list[int], words: str) -> None:
    frame = pd.DataFrame({"start": start, "end": end})
    for pair in ((frame, spans_of((0, 1))), (spans_of((0, 1)), frame)):
        with pytest.raises(InputError, match=words):
            match_spans(*pair)


def test_making_spans_sorts_them_and_keeps_missing_labels() -> None:
    spans = make_spans([4, 0], [5, 1], {"risk": ["LOW", None], "category": ["B", "A"]})
    assert spans["start"].tolist() == [0, 4]
    assert spans["risk"].isna().tolist() == [True, False]
