"""The schemes against outside scorers and against plain readings of their rules, on random data."""

from __future__ import annotations

import random
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support
from seqeval.metrics.v1 import precision_recall_fscore_support as strict_scores
from seqeval.scheme import IOB2

from clueval_xlsx.corpus.tags import encode
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.options import LabelRules, Options, SchemeOptions
from tests.support.listed import Listed, ListedDocument, listed_pair
from tests.support.strategies import Span, at_most, listed_spans, span_lists
from tests.support.tables import Sides, pair_of

NAMED = st.sampled_from(["A", "B", "C"])
SPANS = span_lists(labels=NAMED, most=7)
LISTED = st.tuples(*(listed_spans(st.sampled_from(["A", "B", "C", own])) for own in ("GOLD", "PRED")))
RULED = st.sampled_from([(), ("A",), ("ALL",), ("A", "ALL", "NONE"), ("NONE", "B")])
THRESHOLDS = st.sampled_from([0.1, 0.3, 0.5, 0.75, 0.9, 1.0])
ROUNDING = 1e-12


class Text(NamedTuple):
    """Random words, so that spans have characters."""

    words: list[str]

    def start(self, position: int) -> int:
        return sum(len(word) + 1 for word in self.words[:position])

    def characters(self, span: Span) -> set[int]:
        return set(range(self.start(span[0]), self.start(span[1]) + len(self.words[span[1]])))


def some_words(seed: int) -> list[str]:
    return random.Random(seed).choices(["a", "bb", "Straße", "№", "&amp;", "x<y", "𝔘n"], k=50)


WORDS = st.integers(0, 1_000_000).map(some_words)


def with_documents(file: bytes, cuts: list[int]) -> bytes:
    lines = file.splitlines(keepends=True)
    for number, place in enumerate(reversed([0, *cuts])):
        lines[place:place] = [b"</text>\n" if place else b"", b'<text id="d%d">\n' % number]
    return b"".join(lines) + b"</text>\n"


def pair_files(gold: list[Span], pred: list[Span], words: list[str] | None = None) -> Sides:
    size = max([span[1] + 1 for span in (*gold, *pred)], default=1)
    tokens = (words or ["w"] * size)[:size]
    files = []
    for spans in (gold, pred):
        tags = encode(np.array([s[0] for s in spans], int), np.array([s[1] for s in spans], int),
                      [s[2] for s in spans], size)  # fmt: skip
        files.append("".join(f"{token}\t{tag}\n" for token, tag in zip(tokens, tags, strict=True)).encode())
    return Sides(*files)


def run(gold: list[Span], pred: list[Span], words: list[str] | None = None, **schemes: object) -> Evaluation:
    rules = schemes.pop("rules", LabelRules())
    options = Options(replicates=0, schemes=SchemeOptions(**schemes), labels=rules)  # type: ignore[arg-type]
    return evaluate(pair_of(pair_files(gold, pred, words)), options)


def run_listed(gold: list[Span], pred: list[Span], words: list[str], **schemes: object) -> Evaluation:
    """The same where annotations of a side may overlap."""
    rules = schemes.pop("rules", LabelRules())
    options = Options(replicates=0, schemes=SchemeOptions(**schemes), labels=rules)  # type: ignore[arg-type]
    text = decoded(words)
    sides = [
        [
            Listed(text.start(first), text.start(last) + len(text.words[last]), str(label))
            for first, last, label in spans
        ]
        for spans in (gold, pred)
    ]
    return evaluate(listed_pair(ListedDocument(" ".join(text.words), *sides)), options)


def decoded(words: list[str]) -> Text:
    return Text([word.replace("&amp;", "&") for word in words])


# ---- seqeval ----------------------------------------------------------------------------------------------

TAGS = st.lists(
    st.tuples(
        st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B", "I-C", "B-GOLD"]),
        st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B", "I-C", "B-PRED"]),
    ),
    min_size=1,
    max_size=25,
)


def defined(rate: float) -> float:
    """Others report 0 where a rate is not defined."""
    return 0.0 if np.isnan(rate) else rate


def files_of(tags: list[tuple[str, str]]) -> Sides:
    return Sides(*("".join(f"w\t{row[side]}\n" for row in tags).encode() for side in (0, 1)))


def check_seqeval(tags: list[tuple[str, str]], variant: str, theirs: Callable[..., Any], **scheme: type) -> None:
    """Every row that seqeval reports, each rate of it; null only where seqeval warns of a division by zero."""
    result = evaluate(pair_of(files_of(tags)), Options(replicates=0, schemes=SchemeOptions(scheme=("seqeval",))))
    sides = [[[row[side] for row in tags]] for side in (0, 1)]
    rows = result.select(scheme="seqeval", variant=variant, group_key=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for beta, f in ((1.0, "f1"), (2.0, "f_beta")):
            for average in ("micro", "macro", "weighted"):
                one = rows[(rows["average"] == average) & rows["label"].isna()]
                expected = theirs(*sides, average=average, beta=beta, **scheme)
                check_rates(one.iloc[0].to_dict(), expected[:3], f)
            micro = rows[(rows["average"] == "micro") & rows["label"].notna()]
            occurring = micro[(micro["gold"] > 0) | (micro["pred"] > 0)]
            expected = theirs(*sides, average=None, beta=beta, **scheme)
            assert occurring["gold"].tolist() == list(expected[3])
            for row, *rates in zip(occurring.to_dict("records"), *expected[:3], strict=True):
                check_rates(row, rates, f)


def check_rates(row: dict[str, Any], expected: Sequence[float], f: str) -> None:
    for name, value in zip(("precision", "recall", f), expected, strict=True):
        assert defined(row[name]) == pytest.approx(defined(value), abs=ROUNDING), (name, row)
    nothing = row["gold"] == row["pred"] == 0
    if row["average"] == "micro":
        null = [row["pred"] == 0, row["gold"] == 0, nothing]
        assert [bool(np.isnan(row[name])) for name in ("precision", "recall", f)] == null


@at_most(40)
@given(TAGS)
def test_default_mode_is_seqeval(tags: list[tuple[str, str]]) -> None:
    check_seqeval(tags, "default", precision_recall_fscore_support)


def check_strict(tags: list[tuple[str, str]], scheme: type) -> None:
    check_seqeval(tags, "strict", strict_scores, scheme=scheme)


@at_most(40)
@given(TAGS)
def test_strict_mode_is_seqeval_with_iob2(tags: list[tuple[str, str]]) -> None:
    check_strict(tags, IOB2)


# ---- semeval ----------------------------------------------------------------------------------------------

THEIR_NAMES = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
THEIR_COUNTS = {"COR": "correct", "INC": "incorrect", "PAR": "partial", "MIS": "missed", "SPU": "spurious"}


def as_dicts(spans: list[Span]) -> list[dict[str, object]]:
    return [{"label": span[2], "start": span[0], "end": span[1]} for span in spans]


@given(SPANS, SPANS)
def test_semeval_is_nervaluate(gold: list[Span], pred: list[Span]) -> None:
    result = run(gold, pred, scheme=("semeval",))
    theirs = Evaluator([as_dicts(gold)], [as_dicts(pred)], tags=["A", "B", "C"], loader="dict").evaluate()
    for ours, name in THEIR_NAMES.items():
        rows = result.select(scheme="semeval", variant=ours, group_key=None, average="micro")
        expected = {None: theirs["overall"][name]}
        expected |= {label: strategies[name] for label, strategies in theirs["entities"].items()}
        for label, other in expected.items():
            row = rows[rows["label"].isna() if label is None else rows["label"] == label].iloc[0]
            assert row["counts"] == {key: getattr(other, theirs_) for key, theirs_ in THEIR_COUNTS.items()}
            for rate, support in (("precision", "pred"), ("recall", "gold")):
                assert getattr(other, rate) == (pytest.approx(row[rate], abs=ROUNDING) if row[support] else 0)


def test_semeval_passes_over_less_than_one_per_cent_of_a_gold_span() -> None:
    gold, pred = [(0, 149, "A")], [(149, 151, "A")]
    row = run(gold, pred, scheme=("semeval",)).overall("semeval", variant="partial")
    assert row["counts"] == {"COR": 0, "INC": 0, "PAR": 0, "MIS": 1, "SPU": 1}


# ---- scenario, iou, coverage, tokens: plain loops -----------------------------------------------------------


def plain_scenario(gold: list[Span], pred: list[Span], text: Text, t: float) -> Counter[str]:
    candidates = []
    for i, g in enumerate(gold):
        for j, p in enumerate(pred):
            a, b = text.characters(g), text.characters(p)
            ratio = len(a & b) / max(len(a), len(b))
            if not a & b:
                continue
            same = g[2] == p[2]
            name = (
                "incorrect" if ratio < t else "partial" if not same else "strict" if a == b else "exact"
            )  # fmt: skip
            candidates.append((["strict", "exact", "partial", "incorrect"].index(name), -ratio, i, j, name))
    found: Counter[str] = Counter()
    used_gold, used_pred = set(), set()
    for _, _, i, j, name in sorted(candidates):
        if i not in used_gold and j not in used_pred:
            used_gold.add(i)
            used_pred.add(j)
            found[name] += 1
    found["missed"], found["spurious"] = len(gold) - len(used_gold), len(pred) - len(used_pred)
    return found


@at_most(40)
@given(SPANS, SPANS, WORDS, THRESHOLDS)
def test_scenario_is_the_plain_loop(gold: list[Span], pred: list[Span], words: list[str], t: float) -> None:
    result = run(gold, pred, words, scheme=("scenario",), scenario_threshold=t)
    expected = plain_scenario(gold, pred, decoded(words), t)
    flexible = expected["strict"] + expected["exact"]
    right = {"strict": expected["strict"], "flexible": flexible, "partial": flexible + 0.5 * expected["partial"]}
    for variant, credit in right.items():
        row = result.overall("scenario", variant=variant, labelled="span")
        assert row["counts"] == {name: expected[name] for name in row["counts"]}
        assert row["tp_gold"] == row["tp_pred"] == credit


@at_most(40)
@given(SPANS, SPANS, WORDS, THRESHOLDS, st.booleans())
def test_iou_is_the_plain_loop(gold: list[Span], pred: list[Span], words: list[str], t: float, by_type: bool) -> None:
    text = decoded(words)

    def found(own: list[Span], others: list[Span]) -> int:
        return sum(
            any(
                len(text.characters(a) & text.characters(b)) / len(text.characters(a) | text.characters(b)) >= t
                and (a[2] == b[2] or not by_type)
                for b in others
            )
            for a in own
        )

    result = run(gold, pred, words, scheme=("iou",), iou_threshold=(t,))
    row = result.overall("iou", variant=f"{t:g}", labelled="span" if by_type else None)
    assert (row["tp_gold"], row["tp_pred"]) == (found(gold, pred), found(pred, gold))


class PlainCoverage(NamedTuple):
    """Counts by label, and how many of those found needed an equivalence."""

    tp: Counter[str | None]
    fn: Counter[str | None]
    fp: Counter[str | None]
    relaxed: int


def plain_coverage(
    gold: list[Span], pred: list[Span], text: Text, t: float, groups: dict[str, str], ignored: set[str]
) -> PlainCoverage:
    used: set[int] = set()
    tp, fn, relaxed = Counter[str | None](), Counter[str | None](), 0
    for g in sorted(gold, key=lambda span: span[:2]):
        inside = [
            j for j, p in enumerate(pred)
            if j not in used and text.characters(g) & text.characters(p)
            and groups.get(g[2], g[2]) == groups.get(p[2], p[2])
        ]  # fmt: skip

        def share(rows: list[int], g: Span = g) -> float:
            covered = set[int]().union(*(text.characters(pred[j]) for j in rows)) & text.characters(g)
            return len(covered) / len(text.characters(g))

        if inside and share(inside) >= t:
            tp[g[2]] += 1
            used.update(inside)
            relaxed += share([j for j in inside if pred[j][2] == g[2]]) < t
        elif g[2] not in ignored:
            fn[g[2]] += 1
    fp = Counter(p[2] for j, p in enumerate(pred) if j not in used and p[2] not in ignored)
    return PlainCoverage(tp, fn, fp, relaxed)


@at_most(40)
@given(LISTED, WORDS, THRESHOLDS, st.booleans())
@example(([(0, 8, "A")], [(0, 1, "A"), (0, 1, "A")]), ["w"] * 50, 0.3, False)
def test_coverage_is_the_plain_loop_of_annotations_that_overlap(
    listed: tuple[list[Span], list[Span]], words: list[str], t: float, ignoring: bool
) -> None:
    check_coverage(run_listed, *listed, words, t, ignoring=ignoring)


def check_coverage(
    score: Callable[..., Evaluation], gold: list[Span], pred: list[Span], words: list[str], t: float, *, ignoring: bool
) -> None:
    """The overall row, that of every label, and their mean."""
    ignored = {"C"} if ignoring else set()
    rules = LabelRules(equivalent=(("A", "B"),), ignore=tuple(ignored))
    result = score(gold, pred, words, scheme=("coverage",), coverage_threshold=(t,), rules=rules)
    for variant, groups in ((f"{t:g}", {}), (f"{t:g} relaxed", {"B": "A"})):
        row = result.overall("coverage", variant=variant, labelled="span")
        tp, fn, fp, relaxed = plain_coverage(gold, pred, decoded(words), t, groups, ignored)
        assert (row["tp_gold"], row["fn"], row["tp_pred"], row["fp"]) == (
            tp.total(), fn.total(), tp.total(), fp.total()
        )  # fmt: skip
        assert (row["counts"] or {"relaxed": 0})["relaxed"] == relaxed
        expected = {label: (tp[label], fn[label], tp[label], fp[label]) for _, _, label in (*gold, *pred)}
        check_labels(result, variant, expected)


def check_labels(result: Evaluation, variant: str | None, expected: dict[str | None, tuple[float, ...]]) -> None:
    """Every label of either side has its row (tp_gold, fn, tp_pred, fp), and the mean is over those that count."""
    rows = result.select(layer="span", average="micro", variant=variant)
    rows = rows[rows["scheme"] != "clueval"].set_index("label")
    counts = rows[["tp_gold", "fn", "tp_pred", "fp"]]
    assert {label: tuple(row) for label, row in zip(counts.index, counts.to_numpy(), strict=True)} == expected
    means = result.select(layer="span", average="macro", variant=variant)
    mean = means[means["scheme"] != "clueval"].iloc[0]
    for right, wrong, rate in (("tp_gold", "fn", "recall"), ("tp_pred", "fp", "precision")):
        counted = rows[counts.sum(axis=1) > 0]
        rates = (counted[right] / (counted[right] + counted[wrong])).fillna(0)
        assert mean[rate] == pytest.approx(rates.mean(), abs=ROUNDING, nan_ok=True)


@at_most(40)
@given(SPANS, SPANS, st.booleans())
def test_tokens_is_the_plain_loop(gold: list[Span], pred: list[Span], by_label: bool) -> None:
    def labels(spans: list[Span]) -> dict[int, str | None]:
        return {token: span[2] for span in spans for token in range(span[0], span[1] + 1)}

    ours, theirs = labels(gold), labels(pred)
    agree = sum(token in theirs and (not by_label or theirs[token] == label) for token, label in ours.items())
    row = run(gold, pred, scheme=("tokens",)).overall("tokens", labelled="span" if by_label else None)
    assert (row["gold"], row["pred"], row["tp_gold"], row["tp_pred"]) == (len(ours), len(theirs), agree, agree)


@at_most(40)
@given(LISTED, WORDS, RULED)
def test_chars_is_the_plain_loop_of_annotations_that_overlap(
    listed: tuple[list[Span], list[Span]], words: list[str], ruled: tuple[str, ...]
) -> None:
    check_chars(run_listed, *listed, words, ruled)


def check_chars(
    score: Callable[..., Evaluation], gold: list[Span], pred: list[Span], words: list[str], ruled: tuple[str, ...]
) -> None:
    rules = {category: {"A": "[ab]", "B": "ß", "ALL": r"\s|&", "NONE": "[a№]"}[category] for category in ruled}
    text = decoded(words)
    characters = " ".join(text.words)

    def labels(spans: list[Span]) -> dict[int, str | None]:
        return {place: span[2] for span in spans for place in text.characters(span)}

    in_gold, in_pred = labels(gold), labels(pred)
    tp, fn, right, fp = (Counter[str | None]() for _ in range(4))
    for place, character in enumerate(characters):
        if place in in_gold:
            tried = [rules[category] for category in (in_gold[place], "ALL") if category in rules]
            if not any(re.fullmatch(rule, character) for rule in tried):
                (tp if place in in_pred else fn)[in_gold[place]] += 1
                right.update([in_pred[place]] if place in in_pred else [])
        elif place in in_pred and not ("NONE" in rules and re.fullmatch(rules["NONE"], character)):
            fp[in_pred[place]] += 1
    result = score(gold, pred, words, scheme=("chars",), allow=tuple(rules.items()))
    row = result.overall("chars")
    assert (row["tp_gold"], row["tp_pred"], row["fn"], row["fp"]) == (
        tp.total(), right.total(), fn.total(), fp.total()
    )  # fmt: skip
    each = {label: (tp[label], fn[label], right[label], fp[label]) for _, _, label in (*gold, *pred)}
    check_labels(result, None, each)


# ---- what must hold for every scheme ------------------------------------------------------------------------


@at_most(20)
@given(SPANS, WORDS)
def test_a_perfect_prediction_is_perfect_in_every_scheme(gold: list[Span], words: list[str]) -> None:
    result = run(gold, gold, words, scheme=("all",))
    whole = result.scores[result.scores["layer"].isna() & result.scores["group_key"].isna()]
    assert (whole["fn"].fillna(0) == 0).all()
    assert (whole["fp"].fillna(0) == 0).all()


@at_most(20)
@given(SPANS, SPANS, WORDS)
def test_rows_of_documents_add_up_to_the_whole(gold: list[Span], pred: list[Span], words: list[str]) -> None:
    files = pair_files(gold, pred, words)
    cuts = [
        place for place in range(1, files[0].count(b"\n"))
        if not any(span[0] < place <= span[1] for span in (*gold, *pred)) and place % 3 == 0
    ]  # fmt: skip
    documents = len(cuts) + 1
    sides = Sides(*(with_documents(file, cuts) for file in files))
    options = Options(replicates=0, schemes=SchemeOptions(scheme=("all",)))
    scores = evaluate(pair_of(sides), options).scores
    keys = ["scheme", "variant", "level", "labelled"]
    counts = ["gold", "tp_gold", "fn", "pred", "tp_pred", "fp"]
    text = scores.assign(**{key: scores[key].fillna("-") for key in keys})
    whole = text[text["layer"].isna() & text["group_key"].isna()].set_index(keys)[counts].fillna(0)
    parts = text[text["group_key"] == "document"].groupby(keys)[counts].sum()
    assert len(scores[scores["group_key"] == "document"]["group"].unique()) == documents
    assert parts.to_dict("index") == whole.to_dict("index")


@at_most(20)
@given(SPANS, SPANS)
@example([(2, 5, "C")], [(2, 2, "A"), (3, 3, "B"), (4, 5, "C")])
def test_relaxed_is_never_stricter(gold: list[Span], pred: list[Span]) -> None:
    result = run(gold, pred, scheme=("all",), rules=LabelRules(equivalent=(("A", "B"),)))
    from tests.support.relaxed import strict_against_relaxed

    table = strict_against_relaxed(result.scores)
    table = table[table["layer"].isna() & ~table["scheme"].isin(["scenario", "coverage", "semeval"])]
    assert len(table) == 4 + 2 + 1 + 1
    assert (table["tp_gold_difference"].fillna(0) >= 0).all()
    assert (table["tp_gold_difference"] == table["relaxed_matches"]).all()
