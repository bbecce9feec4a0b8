"""Scheme `presidio` against presidio-evaluator itself, number by number, and cases worked by hand."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.options import Options, SchemeOptions
from clueval_xlsx.outputs.json_results import presidio_figures
from clueval_xlsx.scoring.schemes.presidio import skip_words
from tests.support.listed import Listed, ListedDocument, listed_documents, listed_pair

# Asked without loading it, which takes seconds in every process that collects the tests.
pytestmark = pytest.mark.skipif(
    find_spec("presidio_evaluator") is None, reason="presidio-evaluator needs Python < 3.14"
)


@cache
def their_package() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("presidio_evaluator.evaluation")


class Token(NamedTuple):
    """As much of a spaCy token as that package looks at."""

    text: str
    idx: int


class Theirs(NamedTuple):
    """What that package counts for each type (None: any): annotated, predicted, right, wrong, missed, confused."""

    counts: dict[str | None, tuple[int, ...]]
    rates: dict[str | None, tuple[float, float, float]]
    confusion: dict[tuple[str, str], int]


def their_counts(rows: list[tuple[int, str, int, str, str]], threshold: float, *, skipping: bool) -> Theirs:
    """The evaluator on tokens: number of the document, word, place, type in gold and in the prediction."""
    frame = pd.DataFrame(rows, columns=["sentence_id", "token", "start_indices", "annotation", "prediction"])
    evaluation = their_package()
    evaluator = evaluation.SpanEvaluator(iou_threshold=threshold, skip_words=None if skipping else [])
    found = evaluator.calculate_score_on_df(frame)
    confused = Counter(
        error.prediction for error in found.model_errors if error.error_type == evaluation.ErrorType.WrongEntity
    )
    counts: dict[str | None, tuple[int, ...]] = {
        None: (found.pii_annotated, found.pii_predicted, found.pii_true_positives, found.pii_false_positives,
               found.pii_false_negatives, 0)
    }  # fmt: skip
    rates: dict[str | None, tuple[float, float, float]] = {None: (found.pii_precision, found.pii_recall, found.pii_f)}
    for name, each in found.per_type.items():
        counts[name] = (each.num_annotated, each.num_predicted, each.true_positives, each.false_positives,
                        each.false_negatives, confused[name])  # fmt: skip
        rates[name] = (each.precision, each.recall, each.f_beta)
    # predictions that touch nothing are counted again in the pass over any type, which calls them all PII
    types = {pair: count for pair, count in found.results.items() if count and "PII" not in pair}
    return Theirs(counts, rates, types)


def counted(row: dict[str, Any]) -> tuple[int, ...]:
    return (row["gold"], row["pred"], row["tp_pred"], row["fp"], row["counts"]["missed"], row["counts"]["confused"])


def check_same(evaluated: Evaluation, expected: Theirs) -> None:
    assert evaluated.presidio_confusion == expected.confusion
    table = evaluated.select(scheme="presidio", group_key=None, average="micro")
    any_type, by_type = table[table["labelled"].isna()], table[table["label"].notna()]
    rows = {None: any_type.iloc[0].to_dict(), **{row["label"]: row for row in by_type.to_dict("records")}}
    assert set(expected.counts) <= set(rows)
    for name, row in rows.items():
        assert counted(row) == expected.counts.get(name, (0,) * 6), name
        assert row["tp_gold"] == row["tp_pred"]
        if name in expected.rates:
            got = (row["precision"], row["recall"], 0.0 if row["gold"] * row["pred"] == 0 else row["f_beta"])
            wanted = [0.0 if math.isnan(value) and index == 2 else value
                      for index, value in enumerate(expected.rates[name])]  # fmt: skip
            assert got == pytest.approx(wanted, nan_ok=True, abs=1e-12), name


def their_tags(document: ListedDocument, tokens: list[Token]) -> tuple[list[str], list[str]]:
    """The types of tokens as that package makes them: gold has no scores, and one that is not known is 0.5."""
    from presidio_evaluator import span_to_tag

    found = []
    for spans, scored in ((document.gold, False), (document.pred, any(one.score is not None for one in document.pred))):
        start, end, label = ([one[column] for one in spans] for column in range(3))
        scores = [0.5 if one.score is None else one.score for one in spans] if scored else None
        found.append(span_to_tag("IO", document.text, start, end, label, scores=scores, tokens=tokens))
    return found[0], found[1]


def theirs(documents: list[ListedDocument], corpus: Corpus, threshold: float, *, skipping: bool) -> Theirs:
    """What that package makes of annotations, on the tokens that we have cut."""
    assert corpus.char_start is not None
    assert corpus.char_end is not None
    rows = []
    for number, document in enumerate(documents):
        own = slice(int(corpus.documents.start[number]), int(corpus.documents.stop[number]))
        borders = zip(corpus.char_start[own].tolist(), corpus.char_end[own].tolist(), strict=True)
        tokens = [Token(document.text[start:end], start) for start, end in borders]
        tags = their_tags(document, tokens)
        rows += [(number, *token, *types) for token, *types in zip(tokens, *tags, strict=True)]
    return their_counts(rows, threshold, skipping=skipping)


def ours(documents: list[ListedDocument], threshold: float, *, skipping: bool) -> Evaluation:
    schemes = SchemeOptions(
        scheme=("presidio",), iou_threshold=(threshold,), skip_words="presidio" if skipping else "none"
    )
    return evaluate(listed_pair(*documents), Options(replicates=0, schemes=schemes))


ANN_LEE = ListedDocument("Ann Lee Bonn", [Listed(0, 7, "PER")], [Listed(0, 7, "PER", 0.9), Listed(4, 7, "LOC", 0.3)])
NESTED = ListedDocument(
    "Ann Lee", [Listed(0, 7, "PER"), Listed(0, 3, "GOLD")], [Listed(0, 7, "PER"), Listed(0, 3, "PRED")]
)
GLUED = ListedDocument(
    "AnnLee Bonn", [Listed(0, 3, "PER"), Listed(3, 11, "LOC")], [Listed(0, 3, "PER", 0.9), Listed(3, 11, "LOC", 0.3)]
)


@settings(max_examples=40)  # more than usual: the one proof of this scheme
@given(st.lists(listed_documents(), min_size=1, max_size=3), st.sampled_from([0.2, 0.5, 0.9, 1.0]), st.booleans())
@example([ANN_LEE], 0.9, False)
@example([NESTED], 0.9, False)
@example([GLUED], 0.9, False)
def test_annotations_that_overlap_count_as_that_package_counts_them(
    documents: list[ListedDocument], threshold: float, skipping: bool
) -> None:
    evaluated = ours(documents, threshold, skipping=skipping)
    expected = theirs(documents, evaluated.pair.corpus, threshold, skipping=skipping)
    check_same(evaluated, expected)
    check_metrics(to_builtins(presidio_figures(evaluated)), expected)


def test_skip_words_are_those_of_the_package() -> None:
    their_package()
    from presidio_evaluator.evaluation.skipwords import get_skip_words

    assert skip_words() == {word for word in get_skip_words() if word.strip()}


@pytest.mark.parametrize("skipping", [True, False])
@pytest.mark.parametrize("white", [" ", "  ", "\n", "\u00a0"])
def test_white_space_at_the_edges_of_an_annotation_counts_for_nothing(white: str, skipping: bool) -> None:
    text = f"Ohio{white}48750{white}is"
    edge = len(white)
    wide, narrow = Listed(4, 9 + 2 * edge, "ZIP"), Listed(4 + edge, 9 + edge, "ZIP")
    for gold, pred in ((wide, narrow), (narrow, wide)):
        found = ours([ListedDocument(text, [gold], [pred])], 0.9, skipping=skipping)
        row = found.overall("presidio", variant="0.9", labelled=None)
        assert (row["tp_gold"], row["fn"], row["fp"]) == (1, 0, 0)


def check_metrics(part: dict[str, Any], expected: Theirs) -> None:
    """The figures and keys of `metrics.json`; a type that is nowhere any more has none."""
    for key, wanted in zip(("precision", "recall"), expected.rates[None], strict=False):
        assert part[key] == part["details"][f"pii_{key}"]
        assert part[key] == (None if math.isnan(wanted) else pytest.approx(wanted, abs=1e-12))
        of_types = part["details"][f"entity_{key}_dict"]
        assert set(of_types) == expected.rates.keys() - {None}
        for name, rates in expected.rates.items():
            if name is not None:
                value = rates[("precision", "recall").index(key)]
                assert of_types[name] == (None if math.isnan(value) else pytest.approx(value, abs=1e-12))
