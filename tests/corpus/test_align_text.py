"""`--align text`: two tokenisations or versions of one text meet without loss; other texts are refused in context."""

from __future__ import annotations

import io
import unicodedata
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
from tests.support.commands import run
from tests.support.tables import listed

LETTERS = "abÄ&<é😀e\u0301."
VRT = ReadOptions(format="vrt")


def rows(text: str, **labels: str) -> str:
    """Tokens of a text, one a line; a word that is named has its label."""
    words = text.split()
    return "".join(f"{word}\t{f'B-{labels[word]}' if word in labels else 'O'}\n" for word in words)


def pair(gold: str, pred: str) -> Pair:
    return read_pair(io.BytesIO(gold.encode()), io.BytesIO(pred.encode()), VRT, VRT, align="text")


def words(side: Annotation, found: Pair) -> list[str]:
    return [found.corpus.text(start, end) for start, end, _ in listed(side.spans)]


@st.composite
def two_tokenisations(draw: st.DrawFn) -> tuple[str, list[list[tuple[int, int]]], list[list[tuple[int, int, str]]]]:
    """A text without spaces, two ways to cut it, and spans (by token) on each."""
    text = draw(st.text(LETTERS, min_size=1, max_size=25))
    cuts, marked = [], []
    for _ in range(2):
        places = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=8))})
        cuts.append(list(pairwise(places)))
        edges = sorted(draw(st.sets(st.integers(0, len(places) - 1), max_size=6)))
        pairs = zip(edges[::2], edges[1::2], strict=False)
        marked.append([(low, high - 1, draw(st.sampled_from("XY"))) for low, high in pairs])
    return text, cuts, marked


@given(two_tokenisations())
def test_tokens_are_cut_at_the_boundaries_of_both_and_spans_keep_their_characters(case: tuple) -> None:  # type: ignore[type-arg]
    text, cuts, marked = case
    files = []
    for tokens, spans in zip(cuts, marked, strict=True):
        columns = np.array([span[:2] for span in spans], dtype=np.int64).reshape(-1, 2)
        tags = encode(columns[:, 0], columns[:, 1], [span[2] for span in spans], len(tokens))
        written = [text[start:end].replace("&", "&amp;").replace("<", "&lt;") for start, end in tokens]
        files.append("".join(f"{word}\t{tag}\n" for word, tag in zip(written, tags, strict=True)))
    found = pair(*files)
    borders = sorted({place for tokens in cuts for edge in tokens for place in edge})
    assert list(found.corpus.tokens) == [text[low:high] for low, high in pairwise(borders)]
    for side, tokens, spans in zip((found.gold, found.pred), cuts, marked, strict=True):
        expected = [(tokens[low][0], tokens[high][1], label) for low, high, label in spans]
        assert [(borders[start], borders[end + 1], label) for start, end, label in listed(side.spans)] == expected
    # What the prediction added is enough to cut gold again.
    assert found.added is not None
    again = on_pair(read(io.BytesIO(files[0].encode()), VRT), found.added, found.corpus.doc_ids)
    assert list(again.corpus.tokens) == list(found.corpus.tokens)
    assert listed(again.annotation.spans) == listed(found.gold.spans)


@pytest.mark.parametrize(
    ("gold", "pred", "tokens", "gold_spans", "pred_spans"),
    [
        ("Ann\tB-P\nLee\tI-P\n", "Ann\tB-P\nLee\tI-P\n", ["Ann", "Lee"], [(0, 1, "P")], [(0, 1, "P")]),
        ("R&amp;D\tB-O\n", "R\tB-O\n&amp;\tI-O\nD\tO\n", ["R", "&", "D"], [(0, 2, "O")], [(0, 1, "O")]),
        *[
            (f"{written}b\tB-X\n", f"{written}\tO\nb\tB-X\n", [written, "b"], [(0, 1, "X")], [(1, 1, "X")])
            for written in ("&#0000000065;", "&#3;", "&#x0000000041;")
        ],
        (
            '<text id="a">\n<s>\nAnn-Lee\tB-P\n</s>\n<s>\nkam.\tO\n</s>\n</text>\n<text id="b">\nx\tO\n</text>\n',
            '<text id="a">\nAnn\tB-P\n-\tI-P\nLee\tI-P\nkam\tI-P\n.\tO\n</text>\n<text id="b">\nx\tB-P\n</text>\n',
            ["Ann", "-", "Lee", "kam", ".", "x"],
            [(0, 2, "P")],
            [(0, 2, "P"), (3, 3, "P"), (5, 5, "P")],  # the sentence ends of gold govern
        ),
        (
            '<text id="a">\nAnn\tB-X\n</text>\n<text id="b">\nLee\tO\n</text>\n',
            "An\tB-X\nn\tO\nL\tO\nee\tB-X\n",  # documents are those of gold
            ["An", "n", "L", "ee"],
            [(0, 1, "X")],
            [(0, 0, "X"), (3, 3, "X")],
        ),
    ],
)
def test_two_tokenisations_meet(gold: str, pred: str, tokens: list[str], gold_spans: list, pred_spans: list) -> None:
    found = pair(gold, pred)
    assert list(found.corpus.tokens) == tokens
    assert (listed(found.gold.spans), listed(found.pred.spans)) == (gold_spans, pred_spans)
    assert (found.gold_token is None) == (gold == pred)


@pytest.mark.parametrize(
    ("gold", "pred", "expected"),
    [
        ("Ann\tO\nLee\tO\nkam\tO\n", "AnnLe\tO\nokam\tO\n", "'AnnLe⟦ekam'"),
        ("Ann\tO\nLee\tO\nkam\tO\n", "AnnLe\tO\nokam\tO\n", "'AnnLe⟦okam'"),
        ("Ann\tO\nLee\tO\n", "Ann\tO\n", "end of the document"),
        ("Der\tO\n„Bund“\tO\n", 'Der\tO\n"Band"\tO\n', "the texts differ"),
        (
            '<text id="a">\nAnn\tO\n</text>\n<text id="b">\nLee\tO\n</text>\n',
            '<text id="a">\nAnnL\tO\n</text>\n<text id="b">\nee\tO\n</text>\n',
            "document 'a'",
        ),
    ],
)
def test_other_texts_are_refused_with_the_first_difference(gold: str, pred: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        pair(gold, pred)
    assert expected in str(caught.value)


# ---- two versions of one text: quotation marks, dashes, Unicode forms


@pytest.mark.parametrize(
    ("gold", "pred", "note"),
    [
        ("Der „ Bund “ klagt", "Der `` Bund '' klagt", "(--align text): 2"),
        ("Der » Bund « klagt", 'Der " Bund " klagt', "(--align text): 2"),
        ("Der Bund – Süd klagt", "Der Bund - Süd klagt", "(--align text): 1"),
        ("René vom Bund", unicodedata.normalize("NFD", "René vom Bund"), "(--align text): 1"),
        ("Der Bund … klagt", "Der Bund ... klagt", "(--align text): 1"),
    ],
)
def test_differences_are_passed_over_counted_and_reported(gold: str, pred: str, note: str) -> None:
    sides = rows(gold, Bund="ORG"), rows(pred, Bund="ORG")
    found = pair(*sides)
    assert words(found.gold, found) == words(found.pred, found) == ["Bund"]
    assert any(note in each for each in found.notes)
    with pytest.raises(InputError, match=r"the tokens differ.*--align text"):
        read_pair(*(io.BytesIO(side.encode()) for side in sides), VRT)


@given(st.lists(st.text("aé„“\"'–-…ﬁ", min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_spans_carry_over_to_any_form_of_the_text_without_loss(parts: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.integers(0, len(parts) - 1))
    form = data.draw(st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
    swapped = [unicodedata.normalize(form, part).replace("„", '"').replace("–", "-") for part in parts]
    gold, pred = (
        "".join(f"{part}\t{'B-X' if number == chosen else 'O'}\n" for number, part in enumerate(side))
        for side in (parts, swapped)
    )
    found = pair(gold, pred)
    assert listed(found.gold.spans) == listed(found.pred.spans)


def test_a_folded_text_goes_through_review_and_back(tmp_path: Path) -> None:
    gold, pred = tmp_path / "g.vrt", tmp_path / "p.vrt"
    gold.write_text(rows("Der „Bund“ klagt René", René="PER"), "utf-8")
    pred.write_text(rows(unicodedata.normalize("NFD", 'Der " Bund " klagt René'), Bund="ORG"), "utf-8")
    assert run("evaluate", gold, pred, "--align", "text", "-o", tmp_path / "r.xlsx").code == 0
    assert run("reimport", tmp_path / "r.xlsx", "--gold", gold, "-o", tmp_path / "c.vrt").code in {0, 3}
    assert (tmp_path / "c.vrt").read_bytes() == gold.read_bytes()
