"""Strings in one buffer against plain Python."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.text.strings import Strings, decode_entities

# Few letters and lengths around the window of eight bytes make near misses likely.
WORDS = st.lists(
    st.one_of(st.text("aä\0", max_size=20), st.text("ab", min_size=30, max_size=70), st.text(max_size=12)), max_size=30
).map(lambda words: [word.encode("utf-8", "ignore").decode("utf-8") for word in words])


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
