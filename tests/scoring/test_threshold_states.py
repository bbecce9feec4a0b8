"""A sweep at every threshold against a run on the file without the predictions that a threshold takes out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.loading import read_sides
from clueval_xlsx.formats.options import PRED
from clueval_xlsx.options import LabelRules, Options, ReadOptions
from clueval_xlsx.scoring import threshold_states
from clueval_xlsx.scoring.levels import LEVELS
from clueval_xlsx.scoring.thresholds import COUNTS, Thresholds, threshold_rates
from tests.support.strategies import at_most

A, B = "a", "b"  # layers


@dataclass(frozen=True)
class Find:
    """An annotation: characters of a document, its layer, its label and its score."""

    document: int
    start: int
    end: int
    layer: str
    label: str
    score: float | None = None


Finds = Sequence[Find]


@dataclass(frozen=True)
class Way:
    """How two sides are written and read; `write` returns a file with these annotations on these texts."""

    layers: tuple[str, ...]
    write_gold: Callable[[Path, Sequence[str], Finds], Path]
    write_pred: Callable[[Path, Sequence[str], Finds], Path]
    read: ReadOptions
    align: bool = False
    words_only: bool = False  # annotations begin and end at words
    visible_only: bool = False  # no annotation is nothing but white space


def presidio(folder: Path, texts: Sequence[str], finds: Finds) -> Path:
    def span(find: Find) -> dict[str, Any]:
        words = texts[find.document][find.start : find.end]
        found = {"entity_type": find.label, "start_position": find.start, "end_position": find.end}
        return {**found, "entity_value": words, **({} if find.score is None else {"score": find.score})}

    rows = [
        {"full_text": text, "spans": [span(find) for find in finds if find.document == number]}
        for number, text in enumerate(texts)
    ]
    return put(folder, "json", json.dumps(rows))


def wider(folder: Path, texts: Sequence[str], finds: Finds) -> Path:
    """The same on texts with two spaces for one: what overlaps is longer there than here."""

    def moved(find: Find) -> Find:
        text = texts[find.document]
        start, end = (place + text[:place].count(" ") for place in (find.start, find.end))
        return replace(find, start=start, end=end)

    return presidio(folder, [text.replace(" ", "  ") for text in texts], [moved(find) for find in finds])


def label_studio(folder: Path, texts: Sequence[str], finds: Finds) -> Path:
    def result(number: int, find: Find) -> dict[str, Any]:
        words = texts[find.document][find.start : find.end]
        value = {"start": find.start, "end": find.end, "text": words, "labels": [find.label]}
        own = {"id": f"r{number}", "from_name": find.layer, "to_name": "text", "type": "labels", "value": value}
        return {**own, **({} if find.score is None else {"score": find.score})}

    rows = []
    for number, text in enumerate(texts):
        results = [result(row, find) for row, find in enumerate(finds) if find.document == number]
        rows.append({"id": number, "data": {"text": text}, "annotations": [{"result": results}]})
    return put(folder, "json", json.dumps(rows))


def tokens_of(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Where the words of texts stand."""
    found = []
    for text in texts:
        places, start = [], 0
        for word in text.split(" "):
            places.append((start, start + len(word)))
            start += len(word) + 1
        found.append(places)
    return found


def vertical(folder: Path, texts: Sequence[str], finds: Finds) -> Path:
    """One layer of tags, each word a token."""
    lines = []
    for number, places in enumerate(tokens_of(texts)):
        lines.append(f'<text id="{number}">')
        own = [find for find in finds if find.document == number]
        for start, end in places:
            tag = next(
                (
                    f"{'B' if find.start == start else 'I'}-{find.label}"
                    for find in own
                    if find.start <= start < find.end
                ),
                "O",
            )
            lines.append(f"{texts[number][start:end]}\t{tag}")
        lines.append("</text>")
    return put(folder, "vrt", "\n".join(lines) + "\n")


def table(folder: Path, texts: Sequence[str], finds: Finds) -> Path:
    """A table of positions on the text of `vertical`, which lies beside it."""
    vertical(folder, texts, []).rename(folder / "text.vrt")
    starts, ends, position = {}, {}, 0
    for number, places in enumerate(tokens_of(texts)):
        for start, end in places:
            starts[number, start] = ends[number, end] = position
            position += 1
    rows = ["start\tend\ta\tb\tscore"]
    for find in finds:
        labels = "\t".join(find.label if layer == find.layer else "" for layer in (A, B))
        place = f"{starts[find.document, find.start]}\t{ends[find.document, find.end]}"
        rows.append(f"{place}\t{labels}\t{'' if find.score is None else find.score}")
    return put(folder, "tsv", "\n".join(rows) + "\n")


def put(folder: Path, ending: str, content: str) -> Path:
    path = folder / f"{len(list(folder.iterdir()))}.{ending}"
    path.write_text(content, "utf-8")
    return path


ONE, BOTH = ReadOptions(), ReadOptions(layers={A: None, B: None})
WAYS = {
    "text": Way((A,), presidio, presidio, ONE),
    "spaced differently": Way((A,), presidio, wider, ONE, align=True, visible_only=True),
    "layers on text": Way((A, B), label_studio, label_studio, BOTH),
    "one layer of two": Way((A, B), label_studio, label_studio, ReadOptions(layers={B: None})),
    "text on tokens": Way((A,), vertical, presidio, ONE, align=True, visible_only=True),
    "layers on tokens": Way((A, B), table, table, BOTH, words_only=True),
}


@st.composite
def corpora(draw: st.DrawFn, way: Way) -> tuple[list[str], list[Find], list[Find]]:
    """Texts, gold without overlaps, and predictions with many."""
    words = ["ab", "c", "def"] if way.words_only else ["ab", "c.", "de\u0301f", "!\u0301x"]
    texts = draw(
        st.lists(st.lists(st.sampled_from(words), min_size=1, max_size=5).map(" ".join), max_size=3, min_size=1)
    )
    gold: list[Find] = []
    pred: list[Find] = []
    for number, text in enumerate(texts):
        edges = [(start, end) for start, end in tokens_of([text])[0]]
        starts = [start for start, _ in edges] if way.words_only else list(range(len(text)))
        ends = [end for _, end in edges] if way.words_only else list(range(1, len(text) + 1))
        whole = way.write_gold in {vertical, table}
        for layer in way.layers:
            reach = 0
            for start in [start for start, _ in edges] if whole else starts:
                if start < reach or not draw(st.booleans()):
                    continue
                allowed = [end for end in ([end for _, end in edges] if whole else ends) if end > start]
                end = draw(st.sampled_from(allowed[:4]))
                if text[start:end].strip():
                    gold.append(Find(number, start, end, layer, draw(st.sampled_from("XY"))))
                    reach = end
        for _ in range(draw(st.integers(0, 5))):
            start = draw(st.sampled_from(starts))
            end = draw(st.sampled_from([end for end in ends if end > start]))
            if way.visible_only and not text[start:end].strip():
                continue
            layer, label = draw(st.sampled_from(way.layers)), draw(st.sampled_from("XY"))
            score = draw(st.sampled_from([-0.5, 0.25, 0.25, 0.5, 0.75, None]))
            pred.append(Find(number, start, end, layer, label, score))
    if way.write_gold is label_studio:  # a file has the layers that occur in it
        known = [Find(len(texts), 0, 2, layer, "X") for layer in way.layers]
        return [*texts, "ab"], [*gold, *known], [*pred, *known]
    return texts, gold, pred


def pair_of(folder: Path, way: Way, nested: str, texts: Sequence[str], gold: Finds, pred: Finds) -> Pair:
    paths = way.write_gold(folder, texts, gold), way.write_pred(folder, texts, pred)
    text = str(folder / "text.vrt") if way.words_only else None
    how = replace(way.read, nested=None if way.write_gold is vertical else nested, text=text)
    return make_pair(*read_sides(*paths, how, replace(way.read, nested=nested, side=PRED, text=text)), align=way.align)


def agree(found: Thresholds, place: int, one: Evaluation) -> None:
    """A row of a sweep is the headline of a run."""
    headline = one.headline
    assert [int(found.counts[name][place]) for name in COUNTS] == [int(headline[name]) for name in COUNTS]
    for rate in ("precision", "recall", "f1", "f_beta"):
        assert found.rates[rate][place] == pytest.approx(headline[rate], nan_ok=True)
        for side, bound in enumerate(("low", "high") if not math.isnan(headline[rate]) else ()):
            assert found.bounds[rate][side][place] == pytest.approx(headline[f"{rate}_{bound}"], nan_ok=True)


@pytest.mark.parametrize("nested", ["longest", "merge"])
@pytest.mark.parametrize("name", WAYS)
@at_most(8)  # each of them is some twenty runs
@given(data=st.data())
def test_every_threshold_has_the_figures_of_the_file_with_the_predictions_that_stay(
    tmp_path_factory: pytest.TempPathFactory, name: str, nested: str, data: st.DataObject
) -> None:
    way = WAYS[name]
    texts, gold, pred = data.draw(corpora(way))
    pred = [find for find in pred if find.layer in (way.read.layers or way.layers)]
    if all(find.score is None for find in pred):
        return
    rules = data.draw(
        st.sampled_from([LabelRules(), LabelRules(ignore=("Y",)), LabelRules(equivalent=(("X", "Y"),))]), "rules"
    )
    folder = tmp_path_factory.mktemp("t")
    pair = pair_of(folder, way, nested, texts, gold, pred)
    scores = sorted({find.score for find in pred if find.score is not None})
    filtered = [
        pair_of(folder, way, nested, texts, gold, [find for find in pred if find.score is None or find.score >= least])
        for least in scores
    ]
    labelled = data.draw(st.sampled_from([None, *pair.layers]), "labelled")
    for level in LEVELS:
        options = Options(level=level, labelled=labelled, labels=rules)
        found = threshold_rates(pair, rules, level=level, labelled=labelled, beta=options.beta)
        assert found.threshold.tolist() == scores
        assert found.unscored == len(pred) - found.scored == sum(find.score is None for find in pred)
        for place, one in enumerate(filtered):
            agree(found, place, evaluate(one, options))


def test_layers_by_themselves_have_their_own_thresholds(tmp_path: Path) -> None:
    gold = [Find(0, 0, 2, A, "X"), Find(0, 3, 5, B, "X")]
    pred = [replace(gold[0], score=0.5), replace(gold[1], score=0.75), replace(gold[1], end=6, score=0.25)]
    pair = pair_of(tmp_path, WAYS["layers on text"], "longest", ["ab cde"], gold, pred)
    rates = [threshold_rates(pair.layer(layer), LabelRules(), level="exact", labelled=None, beta=2) for layer in (A, B)]
    assert [each.threshold.tolist() for each in rates] == [[0.5], [0.25, 0.75]]
    assert [each.rates["recall"].tolist() for each in rates] == [[1.0], [0.0, 1.0]]


def test_states_that_are_matched_some_at_a_time_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["ab c. def"] * 4
    gold = [Find(number, 0, 5, A, "X") for number in range(4)]
    pred = [Find(number, 0, end, A, "X", score) for number in range(4) for end, score in ((2, 0.5), (5, 0.2 * number))]
    pair = pair_of(tmp_path, WAYS["text"], "longest", texts, gold, pred)

    def counts() -> list[list[int]]:
        found = threshold_rates(pair, LabelRules(), level="exact", labelled=None, beta=2)
        return [found.counts[name].tolist() for name in COUNTS]

    whole = counts()
    monkeypatch.setattr(threshold_states, "_SPANS_AT_ONCE", 3)
    assert counts() == whole


@pytest.mark.parametrize(
    ("rules", "refused"),
    [
        (LabelRules(unmapped="discard"), True),  # Z is predicted and nowhere in gold
        (LabelRules(unmapped="discard", ignore=("Z",)), False),
        (LabelRules(unmapped="discard", ignore=("Z",), map=(("Q", "R"),)), True),  # X may lose its predictions
        (LabelRules(unmapped="discard", ignore=("Z",), map=(("Q", "X"),)), False),
    ],
)
def test_documents_that_the_threshold_itself_would_leave_out_are_refused(
    tmp_path: Path, rules: LabelRules, refused: bool
) -> None:
    pred = [Find(0, 0, 2, A, "X", 0.5), Find(0, 3, 5, A, "Z", 0.1)]
    pair = pair_of(tmp_path, WAYS["text"], "longest", ["ab cde"], [Find(0, 0, 2, A, "X")], pred)
    if refused:
        with pytest.raises(OptionError, match=r"labels\.unmapped=discard"):
            threshold_rates(pair, rules, level="exact", labelled=None, beta=2)
    else:
        assert threshold_rates(pair, rules, level="exact", labelled=None, beta=2).threshold.tolist() == [0.1, 0.5]


@pytest.mark.parametrize("name", ["text", "text on tokens"])
def test_predictions_that_go_cut_no_tokens(tmp_path: Path, name: str) -> None:
    """Tokens vote for a label: the first word has three of five as long as predictions cut it, then one of three."""
    gold = [Find(0, 0, 6, A, "X"), Find(0, 7, 14, A, "Y")]
    pred = [Find(0, 0, 14, A, "Y", 0.9), Find(0, 0, 2, A, "X", 0.1), Find(0, 2, 4, A, "X", 0.1)]
    pair = pair_of(tmp_path, WAYS[name], "longest", ["abcdef ghi jkl"], gold, pred)
    found = threshold_rates(pair, LabelRules(), level="overlap", labelled="span", beta=2)
    assert [found.threshold.tolist(), found.counts["tp_pred"].tolist()] == [[0.1, 0.9], [0, 1]]


def test_white_space_of_predictions_that_go_parts_no_neighbours(tmp_path: Path) -> None:
    pred = [Find(0, 0, 3, A, "X", 0.1), Find(0, 0, 2, A, "X", 0.9), Find(0, 3, 5, A, "X", 0.9)]
    pair = pair_of(tmp_path, WAYS["text"], "longest", ["ab cd"], [Find(0, 0, 5, A, "X")], pred)
    found = threshold_rates(pair, LabelRules(), level="tiling", labelled=None, beta=2)
    assert found.counts["tp_gold"].tolist() == [1, 1]
