"""Random data for tests of properties: how many examples, and spans as plain tuples."""

from __future__ import annotations

import math

from hypothesis import settings
from hypothesis import strategies as st

from tests.support.ci import THOROUGH

LABELS = st.sampled_from(["A", "B", "C", None])
Span = tuple[int, int, str | None]


@st.composite
def span_lists(draw: st.DrawFn, labels: st.SearchStrategy[str | None] = LABELS, most: int = 8) -> list[Span]:
    """Sorted spans without overlap, often adjacent."""
    position = 0
    spans = []
    for _ in range(draw(st.integers(0, most))):
        position += draw(st.sampled_from([0, 0, 0, 1, 2]))
        length = draw(st.integers(1, 4))
        spans.append((position, position + length - 1, draw(labels)))
        position += length
    return spans


@st.composite
def listed_spans(draw: st.DrawFn, labels: st.SearchStrategy[str], most: int = 7) -> list[Span]:
    """Spans in any order, which often overlap, nest or repeat each other."""
    found = draw(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4), labels), max_size=most))
    return [(first, first + more, label) for first, more, label in found]


def at_most(examples: int) -> settings:
    """So many examples in a thorough run, for tests that take long; a quarter of them in the usual one."""
    wanted = examples if THOROUGH else math.ceil(examples * 0.25)
    return settings(max_examples=min(wanted, settings.default.max_examples))
