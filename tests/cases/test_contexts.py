"""Contexts: the true colour of every word, and where long ones are cut."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.cases import contexts as module
from clueval_xlsx.cases.contexts import (
    BOTH,
    GOLD,
    PLAIN,
    PRED,
    Extents,
    Marks,
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
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits, so that small examples reach them."""
    monkeypatch.setattr(module, "LONGEST_CONTEXT", 48)
    monkeypatch.setattr(module, "LEAST_AROUND", 14)
    monkeypatch.setattr(module, "LONGEST_INSIDE", 4)
    monkeypatch.setattr(written, "_TOKENS_AT_ONCE", 6)


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
