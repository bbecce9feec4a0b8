"""Two versions of one text: other quotation marks, dashes and Unicode forms, and normalised words."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read
from tests.support.commands import run


def tokens(text: str, spans: dict[str, str] | None = None) -> bytes:
    return "".join(f"{word}\t{(spans or {}).get(word, 'O')}\n" for word in text.split()).encode()


def pair(gold: bytes, pred: bytes, **how: object) -> Pair:
    sides = (read(io.BytesIO(content), name=name) for content, name in ((gold, "g.vrt"), (pred, "p.vrt")))
    return make_pair(*sides, **how)  # type: ignore[arg-type]


def words(found: Pair) -> list[str]:
    rows = zip(found.pred.spans["start"], found.pred.spans["end"], strict=True)
    return [found.corpus.text(start, end) for start, end in rows]


@pytest.mark.parametrize(
    ("gold", "pred", "note"),
    [
        ("Der „ Bund “ klagt", "Der `` Bund '' klagt", "2 of quotation marks"),
        ("Der » Bund « klagt", 'Der " Bund " klagt', "2 of quotation marks"),
        ("Der Bund – Süd klagt", "Der Bund - Süd klagt", "1 of dashes"),
        ("René vom Bund", unicodedata.normalize("NFD", "René vom Bund"), "1 of Unicode normalisation"),
        ("Der Bund … klagt", "Der Bund ... klagt", "1 of Unicode normalisation"),
    ],
)
def test_differences_are_passed_over_counted_and_reported(gold: str, pred: str, note: str) -> None:
    sides = tokens(gold, {"Bund": "B-ORG"}), tokens(pred, {"Bund": "B-ORG"})
    found = pair(*sides, align=True)
    assert words(found) == ["Bund"]
    assert found.gold.spans["start"].tolist() == found.pred.spans["start"].tolist()
    assert any(note in each for each in found.notes)
    with pytest.raises(InputError, match="the tokens differ"):
        pair(*sides)


def test_a_span_that_begins_with_other_quotation_marks_keeps_them() -> None:
    found = pair(tokens("Der „Bund“ klagt"), tokens('Der "Bund" klagt', {'"Bund"': "B-ORG"}), align=True)
    assert words(found) == ["„Bund“"]


def test_other_differences_are_still_refused() -> None:
    with pytest.raises(InputError, match="the texts differ"):
        pair(tokens("Der „ Bund “ klagt"), tokens('Der " Band " klagt'), align=True)


ALPHABET = "aé„“\"'–-…ﬁ"


@given(st.lists(st.text(ALPHABET, min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_spans_carry_over_to_any_form_of_the_text_without_loss(parts: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.integers(0, len(parts) - 1))
    form = data.draw(st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
    swapped = [unicodedata.normalize(form, part).replace("„", '"').replace("–", "-") for part in parts]
    gold = "".join(f"{part}\t{'B-X' if number == chosen else 'O'}\n" for number, part in enumerate(parts))
    pred = "".join(f"{part}\t{'B-X' if number == chosen else 'O'}\n" for number, part in enumerate(swapped))
    found = pair(gold.encode(), pred.encode(), align=True)
    assert found.gold.spans["start"].tolist() == found.pred.spans["start"].tolist()
    assert found.gold.spans["end"].tolist() == found.pred.spans["end"].tolist()


def test_a_folded_text_goes_through_review_and_back(tmp_path) -> None:
    gold, pred = tmp_path / "g.vrt", tmp_path / "p.vrt"
    gold.write_bytes(tokens("Der „Bund“ klagt René", {"René": "B-PER"}))
    pred.write_bytes(tokens(unicodedata.normalize("NFD", 'Der " Bund " klagt René'), {"Bund": "B-ORG"}))
    done = run("evaluate", gold, pred, "--align", "text", "-o", tmp_path / "r.xlsx")
    assert done.code == 0, done.err
    done = run("reimport", tmp_path / "r.xlsx", "--gold", gold, "-o", tmp_path / "c.vrt")
    assert done.code in {0, 3}, done.err
    assert (tmp_path / "c.vrt").read_bytes() == gold.read_bytes()
