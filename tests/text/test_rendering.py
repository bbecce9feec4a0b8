"""Tokens written out the way people write them: many stretches at once are what a plain loop makes of each."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.text.rendering import NO_SPACE_AFTER, NO_SPACE_BEFORE, render_tokens
from clueval_xlsx.text.strings import Strings, decode_entities

WORDS = st.sampled_from(
    ["Ann", "Lee", ".", ",", "(", ")", "„", "“", "n't", "Müller", "😀", "&amp;", "R&D", "&#8220;", "&"]
)
TOKENS = st.lists(WORDS, min_size=1, max_size=12)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, int]], list[bool] | None, list[bool] | None]:
    """Tokens, stretches of them, and perhaps what is glued and where lines start."""
    tokens = draw(TOKENS)
    places = st.integers(0, len(tokens))
    stretches = [(min(pair), max(pair)) for pair in draw(st.lists(st.tuples(places, places), max_size=5))]
    flags = st.none() | st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens))
    return tokens, stretches, draw(flags), draw(flags)


def plainly(words: list[str], glue: list[bool] | None, lines: list[bool] | None, first: int, stop: int) -> list[str]:
    """What stands before each word, and the word, by turns."""
    found = []
    for place in range(first, stop):
        gap = ""
        if place > first:
            if lines and lines[place]:
                gap = "\n"
            elif glue is not None:
                gap = "" if glue[place] else " "
            else:
                gap = "" if words[place] in NO_SPACE_BEFORE or words[place - 1] in NO_SPACE_AFTER else " "
        found += [gap, words[place]]
    return found


@given(cases())
def test_stretches_are_written_as_a_plain_loop_writes_them(case: tuple) -> None:
    tokens, stretches, glue, lines = case
    packed = Strings.of(tokens)
    strings = Strings(packed.data, packed.start, packed.length, entities=True)
    first, stop = (np.array([pair[side] for pair in stretches], dtype=np.int64) for side in (0, 1))
    written = render_tokens(
        strings,
        first,
        stop,
        glue=None if glue is None else np.array(glue),
        line_starts=None if lines is None else np.array(lines),
    )
    words = [decode_entities(token) for token in tokens]
    expected = [plainly(words, glue, lines, *pair) for pair in stretches]
    assert written.texts() == ["".join(pieces) for pieces in expected]
    for origin, pieces in zip(written.first.tolist(), expected, strict=True):
        for number in range(len(pieces) // 2):
            assert written.text(origin + number, origin + number) == pieces[2 * number + 1]
            if number:
                assert written.gap(origin + number) == pieces[2 * number]


def test_running_text_keeps_its_own_spaces() -> None:
    text = "Ann\n\n Lee kam ."
    data = text.encode() + bytes(8)
    start = np.array([text.index(word) for word in ("Ann", "Lee", "kam", ".")], dtype=np.int64)
    tokens = Strings(data, start, np.array([3, 3, 3, 1], dtype=np.int32))
    written = render_tokens(tokens, np.array([0, 2]), np.array([4, 4]), running=True)
    assert written.texts() == [text, "kam ."]
    assert written.gap(1) == "\n\n "
