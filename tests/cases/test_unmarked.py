"""Passages that neither side marks although the same words are marked elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.cases.phrases import FoldedWords, Phrases
from clueval_xlsx.cases.unmarked import UnmarkedOptions
from clueval_xlsx.evaluation import Evaluation
from tests.support.workbooks import evaluated


def found(table: str | Evaluation, **options: object) -> list[tuple[str, str]]:
    """The words and labels of the passages that are listed, in their order."""
    result = evaluated(table) if isinstance(table, str) else table
    cases = result.with_unmarked(UnmarkedOptions(**options)).unmarked_cases
    assert cases is not None
    return list(zip(cases["surface"], cases["label_span"], strict=True))


def marked(*sentences: str, tags: dict[str, tuple[str, str]]) -> str:
    """Sentences of tokens `word/KEY`; the key gives the tags of gold and prediction, none means O O."""
    lines = ["token gold pred"]
    for sentence in sentences:
        lines.append("<s>")
        for token in sentence.split():
            word, _, key = token.partition("/")
            lines.append(" ".join((word, *tags.get(key, ("O", "O")))))
        lines.append("</s>")
    return "\n".join(lines)


TAGS = {
    "b": ("B-PER", "B-PER"),
    "i": ("I-PER", "I-PER"),
    "l": ("B-LOC", "B-LOC"),
    "p": ("O", "B-PER"),
    "g": ("B-PER", "O"),
}


def test_words_that_are_marked_only_once_are_left_out_unless_asked_for():
    table = marked("Ann/b came", "and Ann died", tags=TAGS)
    assert found(table) == []
    assert found(table, once=True) == [("Ann", "PER")]


def test_common_words_are_left_out_unless_asked_for():
    table = marked("the/b court came", "then the/b court left", "and the court died", tags=TAGS)
    assert found(table) == []
    assert found(table, common=True, least=0.3) == [("the", "PER")]


def test_words_that_are_rarely_marked_are_cut_at_the_chance():
    table = marked("Ann/b came", "then Ann/b left", "Ann Ann Ann Ann Ann Ann Ann", tags=TAGS)
    assert found(table) == []
    assert len(found(table, least=0.1)) == 7


def test_in_another_document_only_words_that_are_marked_nearly_always_are_listed():
    def documents(*tokens: str) -> str:
        lines = ["token gold pred", "<text>", "<s>"]
        for token in tokens:
            word, _, key = token.partition("/")
            lines.append(" ".join((word, *TAGS.get(key, ("O", "O")))))
        return "\n".join([*lines, "</s>", "</text>"])

    first = documents("Ann/b", "Ann/b", "Bob/b", "Bob/b")
    second = documents("Ann", "Bob", "Bob").partition("\n")[2]
    assert found(f"{first}\n{second}", least=0.1) == [("Ann", "PER")]


def test_predictions_that_were_judged_right_count_as_marked():
    result = evaluated(marked("Ann/p came", "then Ann/p left", "and Ann died", tags=TAGS))
    assert found(result) == []
    rows = result.bare_cases[1]["row"].to_numpy()
    confirmed = result.with_unmarked(UnmarkedOptions(), rows).unmarked_cases
    assert confirmed is not None
    assert confirmed["surface"].tolist() == ["Ann"]


def test_the_span_is_shown_as_marked_by_neither_side():
    result = evaluated(marked("Ann/b came", "then Ann/b left", "and Ann died", tags=TAGS))
    result = result.with_unmarked(UnmarkedOptions())
    assert result.unmarked_cases is not None
    (segments,) = result.with_contexts(result.unmarked_cases)["segments"]
    assert [(piece.text, piece.mark) for piece in segments] == [("and ", ""), ("Ann", "neither"), (" died", "")]


WORDS = st.lists(st.sampled_from(["A", "a", "B", "c"]), min_size=1, max_size=30)


@given(WORDS, st.lists(st.tuples(st.integers(0, 29), st.integers(1, 4)), max_size=6))
def test_phrases_are_found_wherever_a_slow_search_finds_them(tokens, ranges):
    spans = [(start, min(start + size, len(tokens)) - 1) for start, size in ranges if start < len(tokens)]
    folded = [word.casefold() for word in tokens]
    known = {word: number for number, word in enumerate(dict.fromkeys(folded))}
    numbers = np.array([known[word] for word in folded], dtype=np.int64)
    words = FoldedWords(numbers, len(known), np.zeros(len(numbers), bool), np.ones(len(numbers), np.int64))
    start, end = (np.array([span[side] for span in spans], dtype=np.int64) for side in (0, 1))
    phrases, phrase = Phrases.of(words, start, end)
    wanted = {tuple(folded[first : last + 1]) for first, last in spans}
    slow = {
        (first, first + len(one) - 1)
        for one in wanted
        for first in range(len(folded))
        if tuple(folded[first : first + len(one)]) == one
    }
    places = phrases.find()
    assert set(zip(places.start.tolist(), places.end.tolist(), strict=True)) == slow
    assert len(places.start) == len(slow)
    assert phrases.number(start, end).tolist() == phrase.tolist()
    texts = pd.Series([" ".join(folded[first : last + 1]) for first, last in spans], dtype=object)
    assert len(set(zip(texts, phrase.tolist(), strict=True))) == len(wanted) == phrases.count
