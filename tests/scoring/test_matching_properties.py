"""Matching, merging and tags against plain readings of the rules, on random data."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from clueval_xlsx.corpus.spans import from_decoded, make_spans, merge_layers
from clueval_xlsx.corpus.tags import SCHEMES, TagColumn, decode, encode
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.options import Options
from clueval_xlsx.scoring.matching import match_spans
from tests.support.strategies import Span, span_lists
from tests.support.tables import Sides, listed, pair_of


def frame(spans: list[Span], layer: str = "risk") -> pd.DataFrame:
    return make_spans([s[0] for s in spans], [s[1] for s in spans], {layer: [s[2] for s in spans]})


# ---- matching --------------------------------------------------------------------------------------------


def plain_match(a: Span, others: list[Span]) -> tuple[int, str | None]:
    """Class and partner label of one span, read straight from the rules, token by token."""
    start, end, _ = a
    tokens = set(range(start, end + 1))
    touching = [b for b in others if tokens & set(range(b[0], b[1] + 1))]
    for b in touching:
        if (b[0], b[1]) == (start, end):
            return 1, b[2]
    for b in touching:
        if tokens <= set(range(b[0], b[1] + 1)):
            return 2, b[2]
    adjacent = all(left[1] + 1 == right[0] for left, right in pairwise(touching))
    joined = {token for b in touching for token in range(b[0], b[1] + 1)}
    if not touching or not adjacent or not tokens <= joined:
        return 5, None
    votes: dict[str | None, int] = {}  # in the order of appearance, so that max() takes the leftmost of a tie
    for b in touching:
        votes[b[2]] = votes.get(b[2], 0) + len(tokens & set(range(b[0], b[1] + 1)))
    return 3 if joined == tokens else 4, max(votes, key=lambda label: votes[label])


@given(span_lists(), span_lists())
def test_classes_and_partner_labels_follow_the_rules_in_both_directions(gold: list[Span], pred: list[Span]) -> None:
    for a, b in ((gold, pred), (pred, gold)):
        match = match_spans(frame(a), frame(b))
        found = list(zip(match["class"].tolist(), match["partner_risk"].astype(object), strict=True))
        assert [(number, None if pd.isna(label) else label) for number, label in found] == [
            plain_match(span, b) for span in a
        ]
        for (start, end, _), row in zip(a, match.itertuples(), strict=True):
            touching = [other for other in b if other[0] <= end and other[1] >= start]
            assert b[row.first : row.stop] == touching
            extent = (touching[0][0], touching[-1][1]) if touching else (-1, -1)
            assert (row.partner_start, row.partner_end) == extent


@given(span_lists(), span_lists())
def test_counts_at_every_level_follow_the_plain_reading(gold: list[Span], pred: list[Span]) -> None:
    size = 1 + max([span[1] for span in gold + pred], default=0)
    sides = [tags_of(spans, size) for spans in (gold, pred)]
    result = evaluate(pair_of(Sides(*map(vertical, sides))), Options(replicates=0))
    for number, level in enumerate(("exact", "superset", "tiling", "overlap"), 1):
        for labelled in (None, "span"):
            row = result.overall("clueval", level=level, labelled=labelled)
            for side, a, b in (("gold", gold, pred), ("pred", pred, gold)):
                found = [plain_match(span, b) for span in a]
                right = sum(
                    kind <= number and (labelled is None or label == span[2])
                    for span, (kind, label) in zip(a, found, strict=True)
                )
                assert (row[side], row[f"tp_{side}"]) == (len(a), right)
            assert (row["fn"], row["fp"]) == (row["gold"] - row["tp_gold"], row["pred"] - row["tp_pred"])


def tags_of(spans: list[Span], size: int) -> list[str]:
    return encode(np.array([s[0] for s in spans]), np.array([s[1] for s in spans]), [s[2] for s in spans], size)


def vertical(tags: list[str]) -> bytes:
    return "".join(f"w{index}\t{tag}\n" for index, tag in enumerate(tags)).encode()


# ---- level 1 labelled is what seqeval counts ---------------------------------------------------------------

BIO_TAGS = st.sampled_from(["O", "O", "B-A", "I-A", "I-A", "B-B", "I-B", "B-C-D", "I-C-D"])
BIOES_TAGS = st.sampled_from(["O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"])


@st.composite
def tagged_sentences(draw: st.DrawFn, tags: st.SearchStrategy[str] = BIO_TAGS) -> list[list[tuple[str, str]]]:
    return draw(st.lists(st.lists(st.tuples(tags, tags), min_size=1, max_size=10), min_size=1, max_size=5))


@given(st.one_of(tagged_sentences(), tagged_sentences(BIOES_TAGS)))
def test_exact_labelled_counts_equal_seqeval(sentences: list[list[tuple[str, str]]]) -> None:
    sides = [[[tags[side] for tags in sentence] for sentence in sentences] for side in (0, 1)]
    files = ["\n\n".join("\n".join(f"w\t{tag}" for tag in sentence) for sentence in side) for side in sides]
    row = evaluate(pair_of(Sides(*(text.encode() for text in files))), Options(replicates=0)).overall(
        "clueval", level="exact", labelled="span"
    )
    gold, pred = (set(get_entities(side)) for side in sides)
    assert (row["gold"], row["pred"]) == (len(gold), len(pred))
    assert row["tp_gold"] == row["tp_pred"] == len(gold & pred)


# ---- tags ----------------------------------------------------------------------------------------------------


@given(span_lists(), st.sampled_from(sorted(SCHEMES)), st.integers(0, 3))
def test_decoding_what_was_encoded_gives_the_same_spans(spans: list[Span], scheme: str, more: int) -> None:
    """IOB1 must not have neighbours of one label here (B parts them in a file), IO cannot have them at all."""
    if scheme in {"IOB1", "IO"}:
        spans = [(start + gap, end + gap, label or "D") for gap, (start, end, label) in enumerate(spans)]
    size = max([span[1] for span in spans], default=-1) + 1 + more
    tags = encode(
        *(np.array([s[i] for s in spans], dtype=int) for i in (0, 1)), [s[2] for s in spans], size, scheme=scheme
    )
    decoded = decode(replace(TagColumn.of(tags), plain=scheme == "IO"), np.array([0][:size], dtype=int))
    assert listed(from_decoded(decoded, "risk")) == spans
    if scheme not in {"IOB1", "IO"}:
        assert decoded.orphans.size == 0


@given(tagged_sentences(st.sampled_from(["O", "B-A", "I-A", "L-A", "U-A", "B", "I", "S-B", "E-B"])))
def test_breaks_close_spans_and_orphans_are_counted(sentences: list[list[tuple[str, str]]]) -> None:
    tags = [[tag for tag, _ in sentence] for sentence in sentences]
    breaks = np.cumsum([0, *map(len, tags)])[:-1]
    decoded = decode(TagColumn.of([tag for sentence in tags for tag in sentence]), breaks)
    expected, orphans = [], 0
    for begin, sentence in zip(breaks.tolist(), tags, strict=True):
        open_label, going = None, False
        for position, tag in enumerate(sentence, begin):
            prefix, _, label = tag.partition("-")
            continues = prefix in {"I", "E", "L"} and going and label == open_label
            if prefix == "O":
                going = False
                continue
            if continues:
                expected[-1][1] = position
            else:
                expected.append([position, position, label or None])
                orphans += prefix in {"I", "E", "L"}
            open_label, going = label, prefix in {"B", "I"}
    assert listed(from_decoded(decoded, "x")) == [tuple(span) for span in expected]
    assert decoded.orphans.size == orphans


# ---- merging -------------------------------------------------------------------------------------------------


def plain_merge(layers: dict[str, list[Span]], documents: list[int]) -> list[tuple]:
    """Components of the graph of all overlapping pairs, labels by counted tokens."""
    nodes = [(name, *span) for name, spans in layers.items() for span in spans]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(nodes)))

    def document(position: int) -> int:
        return sum(start <= position for start in documents)

    for i, j in combinations(range(len(nodes)), 2):
        (_, a, b, _), (_, c, d, _) = nodes[i], nodes[j]
        if a <= d and c <= b and document(a) == document(c):
            graph.add_edge(i, j)
    merged = []
    for members in nx.connected_components(graph):
        spans = sorted((nodes[i] for i in members), key=lambda node: node[1:3])
        labels: list[str | None] = []
        for name in layers:
            votes: dict[str | None, int] = {}
            for layer, start, end, label in spans:
                if layer == name:
                    votes[label] = votes.get(label, 0) + end - start + 1
            labels.append(max(votes, key=lambda label: votes[label]) if votes else None)
        merged.append((min(s[1] for s in spans), max(s[2] for s in spans), *labels))
    return sorted(merged, key=lambda span: span[:2])


@given(st.lists(span_lists(), min_size=1, max_size=4), st.integers(1, 12))
def test_merging_equals_the_graph_of_all_overlapping_pairs(layers: list[list[Span]], border: int) -> None:
    # No span of a layer crosses a document border, as the decoder guarantees.
    kept = [[span for span in spans if not span[0] < border <= span[1]] for spans in layers]
    named = {f"layer{number}": spans for number, spans in enumerate(kept)}
    frames = {name: frame(spans, name) for name, spans in named.items()}
    merged = merge_layers(frames, np.array([0, border]))
    assert listed(merged) == plain_merge(named, [0, border])
    # The order of the layers changes nothing but the order of the columns.
    backwards = merge_layers(dict(reversed(frames.items())), np.array([0, border]))
    assert listed(backwards[merged.columns]) == listed(merged)


def test_merged_spans_do_not_join_over_a_document_border() -> None:
    a, b = frame([(0, 4, "A")], "a"), frame([(5, 9, "B")], "b")
    assert listed(merge_layers({"a": a, "b": b}, np.array([0, 5]))) == [(0, 4, "A", None), (5, 9, None, "B")]
    # Adjacent spans are not overlapping spans, in the same document either.
    assert listed(merge_layers({"a": a, "b": b}, np.array([0]))) == [(0, 4, "A", None), (5, 9, None, "B")]
