"""Contexts against a plain reading of the rules, token by token; the same for any number of threads."""

from __future__ import annotations

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
    ELLIPSIS,
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
from clueval_xlsx.text.strings import Strings

Span = tuple[int, int]


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small limits, so that small examples reach them."""
    monkeypatch.setattr(module, "LONGEST_SIDE", 3)
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
    return Touched(extents(others), *touching(*extents(own), *extents(others)))


def plain_context(corpus: Corpus, own: Span, others: list[Span], window: int | None) -> list[Segment]:
    """The rules, read plainly."""
    touching = [other for other in others if other[0] <= own[1] and own[0] <= other[1]]
    low, high = min([own, *touching])[0], max(span[1] for span in [own, *touching])
    size = len(corpus)
    if window is None:
        first = max(place for place in corpus.breaks.tolist() if place <= low)
        stop = min([place for place in corpus.breaks.tolist() if place > high] or [size])
        left, right = max(first, low - 3), min(stop, high + 1 + 3)
    else:
        start = max(place for place in corpus.documents.start.tolist() if place <= low)
        end = min(stop for stop in corpus.documents.stop.tolist() if stop > low)
        left, right = max(start, low - window), min(end, high + 1 + window)
        first, stop = left, right
    edges = {left, right}
    for span in [own, *touching]:
        edges |= {span[0], span[1] + 1}

    def word(place: int, begin: int) -> str:
        return ("" if place == begin or corpus.glue[place] else " ") + f"w{place}ä"

    found = [(f"{ELLIPSIS} ", PLAIN)] if left > first else []
    borders = sorted(edges)
    for begin, end in pairwise(borders):
        if begin > left and not corpus.glue[begin]:
            found.append((" ", PLAIN))
        in_own = own[0] <= begin <= own[1]
        in_other = any(other[0] <= begin <= other[1] for other in touching)
        mark = BOTH if in_own and in_other else GOLD if in_own else PRED if in_other else PLAIN
        if end - begin > 4:
            ahead = "".join(word(place, begin) for place in range(begin, begin + 2))
            behind = "".join(word(place, end - 2) for place in range(end - 2, end))
            found.append((f"{ahead} {ELLIPSIS} {behind}", mark))
        else:
            found.append(("".join(word(place, begin) for place in range(begin, end)), mark))
    if right < stop:
        found.append((f" {ELLIPSIS}", PLAIN))
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
    expected = [plain_context(corpus, span, others, window) for span in own]
    for count in (1, 3):
        threads.set_threads(count)
        assert contexts(corpus, extents(own), touched(own, others), Marks(GOLD, PRED), window=window) == expected


def test_one_long_span_that_many_touch_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the many shows a few words of it; writing it whole for each would grow with the square."""
    size = 4000
    corpus = Corpus(
        tokens=Strings.of(["w"] * size),
        doc_ids=("d",),
        documents=Regions(np.array([0]), np.array([size])),
        breaks=np.array([0]),
        hard_breaks=False,
    )
    asked: list[int] = []
    write = Corpus.rendered

    def counting(self: Corpus, first: np.ndarray, stop: np.ndarray) -> written.RenderedTokens:
        asked.append(int((stop - first).sum()))
        return write(self, first, stop)

    monkeypatch.setattr(Corpus, "rendered", counting)
    many = [(place, place) for place in range(0, size, 2)]
    found = contexts(corpus, extents(many), touched(many, [(0, size - 1)]), Marks(PRED, GOLD))
    assert sum(asked) == size
    assert len(found) == len(many)
    assert max(len(segment.text) for segments in found for segment in segments) < 40
