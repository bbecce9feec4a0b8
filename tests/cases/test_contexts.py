"""Contexts against a plain reading of the rules, token by token; the same for any number of threads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx import threads
from clueval_xlsx.cases import contexts as module
from clueval_xlsx.cases.contexts import (
    BOTH,
    GOLD,
    PLAIN,
    PRED,
    Extents,
    Marks,
    Segment,
    Touched,
    contexts,
)
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.spans import touching
from clueval_xlsx.text import rendering as written
from clueval_xlsx.text.cells import ELLIPSIS
from clueval_xlsx.text.strings import Strings

Span = tuple[int, int]


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small limits, so that small examples reach them."""
    monkeypatch.setattr(module, "LONGEST_CONTEXT", 48)
    monkeypatch.setattr(module, "LEAST_AROUND", 14)
    monkeypatch.setattr(module, "LONGEST_INSIDE", 4)
    monkeypatch.setattr(written, "_TOKENS_AT_ONCE", 6)
    yield
    threads.set_threads(None)


@st.composite
def spans(draw: st.DrawFn, size: int, document_starts: list[int]) -> list[Span]:
    """Sorted spans without overlap, none across the end of a document."""
    cuts = sorted(draw(st.lists(st.integers(0, size), unique=True, max_size=8)))
    found = [(low, high - 1) for low, high in zip(cuts[::2], cuts[1::2], strict=False)]
    return [span for span in found if not any(span[0] < place <= span[1] for place in document_starts)]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Corpus, list[Span], list[Span], int | None]:
    size = draw(st.integers(1, 24))
    glue = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    document_starts = np.array(sorted({0, *draw(st.lists(st.integers(0, size - 1), max_size=2))}))
    sentence_starts = sorted({*document_starts.tolist(), *draw(st.lists(st.integers(0, size - 1), max_size=3))})
    corpus = Corpus(
        tokens=Strings.of([f"w{number}ä" for number in range(size)]),
        doc_ids=tuple(f"d{number}" for number in range(len(document_starts))),
        documents=Regions(document_starts, np.append(document_starts[1:], size)),
        breaks=np.array(sentence_starts),
        hard_breaks=False,
        glue=glue,
    )
    own, others = (draw(spans(size, document_starts.tolist())) for _ in range(2))
    return corpus, own, others, draw(st.none() | st.integers(0, 4))


def extents(found: list[Span]) -> Extents:
    table = np.array(found, dtype=np.int64).reshape(-1, 2)
    return Extents(table[:, 0], table[:, 1])


def touched(own: list[Span], others: list[Span]) -> Touched:
    return Touched(extents(others), *touching(*extents(own), *extents(others)), extents(own))


def near(corpus: Corpus, inside: tuple[int, int], around: tuple[int, int]) -> tuple[int, int]:
    """The part of a sentence that is shown: word by word, each side takes what it may."""
    (low, high), (first, stop) = inside, around

    def size(begin: int, end: int) -> int:
        return sum(len(corpus.tokens.raw(place)) + 1 for place in range(begin, end))

    room = max(48 - size(low, min(high + 1, low + 24)), 14)
    before, behind = size(max(first, low - 24), low), size(high + 1, min(stop, high + 25))
    left, right = low, high + 1
    while left > first and size(left - 1, low) <= max(room // 2, room - behind):
        left -= 1
    while right < stop and size(high + 1, right + 1) <= max(room // 2, room - before):
        right += 1
    return left, right


def plain_context(corpus: Corpus, own: Span, side: list[Span], others: list[Span], window: int | None) -> list[Segment]:
    """The rules, read plainly; `side` are all spans of the own side."""
    touching = [other for other in others if other[0] <= own[1] and own[0] <= other[1]]
    low, high = min([own, *touching])[0], max(span[1] for span in [own, *touching])
    size = len(corpus)
    if window is None:
        first = max(place for place in corpus.breaks.tolist() if place <= low)
        stop = min([place for place in corpus.breaks.tolist() if place > high] or [size])
    else:
        start = max(place for place in corpus.documents.start.tolist() if place <= low)
        end = min(stop for stop in corpus.documents.stop.tolist() if stop > low)
        first, stop = max(start, low - window), min(end, high + 1 + window)
    left, right = near(corpus, (low, high), (first, stop))
    # Another span that reaches far beyond this one is cut off.
    left = max(left, own[0] - 8) if low < own[0] - 8 else left
    right = min(right, own[1] + 9) if high > own[1] + 8 else right
    low, high = max(low, left), min(high, right - 1)
    edges = {left, right}
    for span in [own, *touching]:
        edges |= {edge for edge in (span[0], span[1] + 1) if low <= edge <= high + 1}
    for span in side:
        edges |= {edge for edge in (span[0], span[1] + 1) if low <= edge <= high + 1}

    def word(place: int, begin: int) -> str:
        return ("" if place == begin or corpus.glue[place] else " ") + f"w{place}ä"

    found = [(f"{ELLIPSIS} ", PLAIN)] if left > first else []
    borders = sorted(edges)
    for begin, end in pairwise(borders):
        if begin > left and not corpus.glue[begin]:
            found.append((" ", PLAIN))
        in_other = any(other[0] <= begin <= other[1] for other in touching)
        marked = [own, *(side if in_other else [])]
        in_own = any(span[0] <= begin <= span[1] for span in marked)
        mark = BOTH if in_own and in_other else GOLD if in_own else PRED if in_other else PLAIN
        if end - begin > 4:
            ahead = "".join(word(place, begin) for place in range(begin, begin + 2))
            behind = "".join(word(place, end - 2) for place in range(end - 2, end))
            found.append((f"{ahead} {ELLIPSIS} {behind}", mark))
        else:
            found.append(("".join(word(place, begin) for place in range(begin, end)), mark))
    if right < stop:
        found.append((f" {ELLIPSIS}", PLAIN))
    return plain_neighbours_joined(found)


def plain_neighbours_joined(found: list[tuple[str, str]]) -> list[Segment]:
    joined: list[Segment] = []
    for text, mark in found:
        if joined and mark == PLAIN == joined[-1].mark:
            joined[-1] = Segment(joined[-1].text + text, PLAIN)
        else:
            joined.append(Segment(text, mark))
    return joined


@given(cases())
@pytest.mark.usefixtures("_narrow")
def test_contexts_follow_the_rules_for_any_number_of_threads(case: tuple) -> None:
    corpus, own, others, window = case
    expected = [plain_context(corpus, span, own, others, window) for span in own]
    for count in (1, 3):
        threads.set_threads(count)
        assert contexts(corpus, extents(own), touched(own, others), Marks(GOLD, PRED), window=window) == expected


@given(cases())
def test_every_word_inside_the_spans_shown_has_its_true_colour(case: tuple) -> None:
    """Read back from the segments: a word's colour is who marks it, by whichever span."""
    corpus, own, others, window = case
    marked = {GOLD: own, PRED: others}
    found = contexts(corpus, extents(own), touched(own, others), Marks(GOLD, PRED), window=window)
    for span, segments in zip(own, found, strict=True):
        shown = [span, *(other for other in others if other[0] <= span[1] and span[0] <= other[1])]
        for text, mark in segments:
            for number in map(int, re.findall(r"w(\d+)ä", text)):
                sides = {side for side, spans in marked.items() if any(low <= number <= high for low, high in spans)}
                if any(low <= number <= high for low, high in shown):
                    assert mark == (BOTH if len(sides) == 2 else sides.pop())
                else:
                    assert mark == PLAIN


def test_a_long_sentence_is_cut_around_the_span_at_the_borders_of_words() -> None:
    words = [f"word{number}" for number in range(400)]
    corpus = Corpus(
        tokens=Strings.of(words),
        doc_ids=("d",),
        documents=Regions(np.array([0]), np.array([400])),
        breaks=np.array([0]),
        hard_breaks=False,
    )
    for place in (0, 200, 399):
        module_bounds = module.context_bounds(corpus, np.array([place]), np.array([place]))
        left, right = int(module_bounds.left[0]), int(module_bounds.right[0])
        text = " ".join(words[left:right])
        assert left <= place < right
        assert 30 <= len(text) <= 48  # the limit of these tests
    [segments] = contexts(corpus, extents([(200, 200)]), touched([(200, 200)], []), Marks(GOLD, PRED))
    text = "".join(segment.text for segment in segments)
    assert text.startswith(f"{ELLIPSIS} word")
    assert text.endswith(f" {ELLIPSIS}")
