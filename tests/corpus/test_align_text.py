"""`--align text`: two tokenisations of one text meet without loss; different texts are refused with both contexts."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.annotation import Annotation
from clueval_xlsx.corpus.pair import Pair, on_pair
from clueval_xlsx.corpus.tags import encode
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.options import ReadOptions
from tests.support.folders import FIXTURES

FOLDER = FIXTURES
LETTERS = "abÄ&<é😀e\u0301."


def vrt(lines: list[tuple[str, str]]) -> io.BytesIO:
    rows = [f"{word.replace('&', '&amp;').replace('<', '&lt;')}\t{tag}\n" for word, tag in lines]
    return io.BytesIO("".join(rows).encode())


def align(gold: list[tuple[str, str]], pred: list[tuple[str, str]]) -> Pair:
    return read_pair(vrt(gold), vrt(pred), align="text")


def tokens(pair: Pair) -> list[str]:
    return list(pair.corpus.tokens)


def spans(side: Annotation) -> list[tuple[int, int, str]]:
    frame = side.spans
    return list(zip(frame["start"].tolist(), frame["end"].tolist(), frame["span"].tolist(), strict=True))


@st.composite
def two_tokenisations(draw: st.DrawFn) -> tuple[str, list[list[tuple[int, int]]], list[list[tuple[int, int, str]]]]:
    """A text without spaces, two ways to cut it, and spans (by token) on each."""
    text = draw(st.text(LETTERS, min_size=1, max_size=25))
    cuts, marked = [], []
    for _ in range(2):
        places = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=8))})
        words = list(pairwise(places))
        cuts.append(words)
        edges = sorted(draw(st.sets(st.integers(0, len(words)), max_size=6)))
        pairs = zip(edges[::2], edges[1::2], strict=False)
        marked.append([(low, high - 1, draw(st.sampled_from("XY"))) for low, high in pairs])
    return text, cuts, marked


@given(two_tokenisations())
def test_tokens_are_cut_at_the_boundaries_of_both_and_spans_keep_their_characters(case: tuple) -> None:  # type: ignore[type-arg]
    text, cuts, marked = case
    files = []
    for words, rows in zip(cuts, marked, strict=True):
        columns = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
        tags = encode(columns[:, 0], columns[:, 1], [row[2] for row in rows], len(words))
        files.append([(text[start:end], tag) for (start, end), tag in zip(words, tags, strict=True)])
    pair = align(*files)
    borders = sorted({place for words in cuts for edge in words for place in edge})
    assert tokens(pair) == [text[low:high] for low, high in pairwise(borders)]
    for side, words, rows in zip((pair.gold, pair.pred), cuts, marked, strict=True):
        expected = [(words[low][0], words[high][1], label) for low, high, label in rows]
        found = [(borders[start], borders[end + 1], label) for start, end, label in spans(side)]
        assert found == expected


def test_the_same_tokens_stay_as_they_are() -> None:
    rows = [("Ann", "B-PER"), ("Lee", "I-PER")]
    pair = align(rows, rows)
    assert tokens(pair) == ["Ann", "Lee"]
    assert pair.gold_token is None
    assert spans(pair.gold) == spans(pair.pred) == [(0, 1, "PER")]


def test_a_token_with_an_entity_is_cut_between_its_characters() -> None:
    pair = align([("R&D", "B-ORG")], [("R", "B-ORG"), ("&", "I-ORG"), ("D", "O")])
    assert tokens(pair) == ["R", "&", "D"]
    assert pair.corpus.text(0, 2) == "R&D"
    assert spans(pair.gold) == [(0, 2, "ORG")]
    assert spans(pair.pred) == [(0, 1, "ORG")]
    assert pair.gold_token is not None
    assert pair.gold_token.tolist() == [0, 0, 0]


@pytest.mark.parametrize("written", ["&#0000000065;", "&#3;", "&#x0000000041;"])
def test_what_looks_like_a_reference_but_is_none_is_cut_between_its_letters(written: str) -> None:
    gold = io.BytesIO(f"{written}b\tB-X\n".encode())
    pred = io.BytesIO(f"{written}\tO\nb\tB-X\n".encode())
    options = ReadOptions(format="vrt")
    pair = read_pair(gold, pred, options, options, align="text")
    assert tokens(pair) == [written, "b"]
    assert spans(pair.gold) == [(0, 1, "X")]
    assert spans(pair.pred) == [(1, 1, "X")]


def test_sentences_of_gold_govern_and_structure_moves_with_the_cuts() -> None:
    gold = io.BytesIO(
        b'<text id="a">\n<s>\nAnn-Lee\tB-PER\n</s>\n<s>\nkam.\tO\n</s>\n</text>\n<text id="b">\nx\tO\n</text>\n'
    )
    pred = io.BytesIO(
        b'<text id="a">\nAnn\tB-PER\n-\tI-PER\nLee\tI-PER\nkam\tI-PER\n.\tO\n</text>\n'
        b'<text id="b">\nx\tB-PER\n</text>\n'
    )
    pair = read_pair(gold, pred, align="text")
    assert tokens(pair) == ["Ann", "-", "Lee", "kam", ".", "x"]
    assert pair.corpus.breaks.tolist() == [0, 3, 5]
    assert pair.corpus.documents.start.tolist() == [0, 5]
    assert spans(pair.pred) == [(0, 2, "PER"), (3, 3, "PER"), (5, 5, "PER")]
    assert pair.corpus.text(0, 4) == "Ann-Lee kam."


def test_without_it_the_message_names_it() -> None:
    with pytest.raises(InputError, match="--align text"):
        read_pair(vrt([("AnnLee", "O")]), vrt([("Ann", "O"), ("Lee", "O")]))


def test_the_first_difference_is_shown_with_both_contexts() -> None:
    with pytest.raises(InputError) as caught:
        align([("Ann", "O"), ("Lee", "O"), ("kam", "O")], [("AnnLe", "O"), ("okam", "O")])
    message = str(caught.value)
    assert "'AnnLe⟦ekam'" in message
    assert "'AnnLe⟦okam'" in message


def test_a_text_that_ends_early_is_shown() -> None:
    with pytest.raises(InputError, match="end of the document"):
        align([("Ann", "O"), ("Lee", "O")], [("Ann", "O")])


def test_documents_must_be_the_same() -> None:
    gold = io.BytesIO(b'<text id="a">\nAnn\tO\n</text>\n<text id="b">\nLee\tO\n</text>\n')
    pred = io.BytesIO(b'<text id="a">\nAnnL\tO\n</text>\n<text id="b">\nee\tO\n</text>\n')
    with pytest.raises(InputError, match="document 'a'"):
        read_pair(gold, pred, align="text")


def test_a_prediction_without_documents_takes_those_of_gold() -> None:
    gold = io.BytesIO(b'<text id="a">\nAnn\tB-X\n</text>\n<text id="b">\nLee\tO\n</text>\n')
    pair = read_pair(gold, vrt([("An", "B-X"), ("n", "O"), ("L", "O"), ("ee", "B-X")]), align="text")
    assert pair.corpus.doc_ids == ("a", "b")
    assert tokens(pair) == ["An", "n", "L", "ee"]


def test_texts_that_differ_in_white_space_are_carried_over_with_a_note(tmp_path: Path) -> None:
    gold, pred = tmp_path / "gold.json", tmp_path / "pred.json"
    gold.write_text(
        '[{"full_text": "Ann\\r\\nLee kam", "spans": [{"entity_type": "X", "start_position": 0, "end_position": 8}]}]'
    )
    pred.write_text(
        '[{"full_text": "Ann Lee  kam\\n", "spans": [{"entity_type": "X", "start_position": 4, "end_position": 9}]}]'
    )
    pair = read_pair(gold, pred)
    assert pair.corpus.text(0, 1) == "Ann\r\nLee"
    assert spans(pair.pred) == [(1, 1, "X")]
    assert "white space" in " ".join(pair.notes)


@pytest.mark.parametrize(
    ("gold", "pred"),
    [("brat-gold", "brat-pred"), ("tab.json", "pred.vrt"), ("gold.vrt", "tab.json"), ("tab.json", "tab.json")],
)
def test_the_corpus_of_a_pair_can_be_made_again_from_gold_and_what_was_added(gold: str, pred: str) -> None:
    pair = read_pair(
        FOLDER / gold, FOLDER / pred, None, ReadOptions(text=FOLDER / "brat-gold" if pred == "brat-pred" else None)
    )
    assert pair.added is not None
    again = on_pair(read(FOLDER / gold), pair.added, pair.corpus.doc_ids)
    assert list(again.corpus.tokens) == tokens(pair)
    assert again.corpus.documents.start.tolist() == pair.corpus.documents.start.tolist()
    own = again.annotation
    assert spans(own) == spans(pair.gold)


def test_gold_is_cut_again_as_it_was_for_the_pair() -> None:
    gold = [("Ann-Lee", "B-PER"), ("kam", "O")]
    pair = align(gold, [("Ann", "B-PER"), ("-Leek", "O"), ("am", "O")])
    assert pair.added is not None
    again = on_pair(read(vrt(gold)), pair.added, pair.corpus.doc_ids)
    assert list(again.corpus.tokens) == tokens(pair) == ["Ann", "-Lee", "k", "am"]
