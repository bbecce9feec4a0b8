"""Strings in one buffer against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.formats.columns.lines import line_numbers
from clueval_xlsx.text.strings import Strings, decode_entities, first_of_each

# Few letters and lengths around the window of eight bytes make near misses likely.
WORDS = st.lists(
    st.one_of(st.text("aä\0", max_size=20), st.text("ab", min_size=30, max_size=70), st.text(max_size=12)), max_size=30
).map(lambda words: [word.encode("utf-8", "ignore").decode("utf-8") for word in words])


@given(WORDS)
def test_packing_keeps_every_string(words: list[str]) -> None:
    packed = Strings.of(words)
    assert list(packed) == words
    assert packed.take(range(len(words))) == words


@given(WORDS)
def test_numbers_follow_the_order_of_appearance(words: list[str]) -> None:
    codes, values = Strings.of(words).factorise()
    distinct = list(dict.fromkeys(words))
    assert values == distinct
    assert codes.tolist() == [distinct.index(word) for word in words]


@given(WORDS)
def test_distinct_strings_are_told_from_repeated_ones(words: list[str]) -> None:
    assert Strings.of(words).distinct() == (len(set(words)) == len(words))
    assert Strings.of(dict.fromkeys(words)).distinct()
    assert not Strings.of([*words, "x" * 40, "x" * 40]).distinct()


@given(WORDS, WORDS, st.data())
def test_differences_are_those_of_plain_comparison(left: list[str], right: list[str], data: st.DataObject) -> None:
    size = min(len(left), len(right))
    left, right = left[:size], right[:size]
    for index in data.draw(st.sets(st.integers(0, size - 1))) if size else ():
        right[index] = left[index]
    found = Strings.of(left).differs(Strings.of(right)).tolist()
    assert found == [a != b for a, b in zip(left, right, strict=True)]


def test_entities_are_decoded_before_they_are_compared_or_numbered() -> None:
    words = Strings.of(["&amp;", "&#38;", "&", "a&b", "&amp;amp;"])
    read = Strings(words.data, words.start, words.length, entities=True)
    assert read.factorise()[1] == ["&", "a&b", "&amp;"]
    assert read.factorise()[0].tolist() == [0, 0, 0, 1, 2]
    assert read.differs(Strings.of(["&", "&", "x", "a&b", "&"])).tolist() == [False, False, True, False, True]


def test_one_very_long_string_does_not_slow_the_others_down() -> None:
    # Eight bytes at a time over all strings, this one would take minutes.
    words = ["a" * 2_000_000, "a" * 2_000_000 + "b", *["x", "y"] * 50_000]
    codes, values = Strings.of(words).factorise()
    assert [len(value) for value in values] == [2_000_000, 2_000_001, 1, 1]
    assert codes[:4].tolist() == [0, 1, 2, 3]


def test_character_references_beyond_unicode_do_not_break_reading() -> None:
    assert decode_entities("&#x110000;&#0;&#xD800;") == "\ufffd" * 3


@given(st.lists(st.integers(0, 5)))
def test_first_of_each_code(values: list[int]) -> None:
    distinct = list(dict.fromkeys(values))
    codes = np.array([distinct.index(value) for value in values], dtype=np.int64)
    assert first_of_each(codes).tolist() == [values.index(value) for value in distinct]


@given(st.binary(max_size=40), st.data())
def test_line_numbers_equal_plain_counting(data: bytes, draw: st.DataObject) -> None:
    text = data.replace(b"\x00", b"\n")
    offsets = draw.draw(st.lists(st.integers(0, len(text))))
    assert line_numbers(text, offsets) == [text[:offset].count(b"\n") + 1 for offset in offsets]


def test_a_reference_to_no_character_stays_as_it_is() -> None:
    endless = f"&#{'9' * 5000};"
    assert decode_entities(f"&#3; &#xFFFE; &#65; {endless}") == f"&#3; &#xFFFE; A {endless}"


def test_long_strings_are_compared_whole_and_not_window_by_window(monkeypatch):
    long = "x" * 50_000
    left, right = Strings.of([long, long, long, "a"]), Strings.of([long, long[:-1] + "y", long + "x", "a"])
    asked = []
    eight = Strings._eight
    monkeypatch.setattr(Strings, "_eight", lambda self, *where: asked.append(where) or eight(self, *where))
    assert left.differs(right).tolist() == [False, True, True, False]
    assert len(asked) < 20
