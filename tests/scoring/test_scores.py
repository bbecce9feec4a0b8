"""Score rows: counts, rates, averages, groups and intervals, and nothing is ever divided by zero."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.options import Options
from clueval_xlsx.outputs.json_results import json_text, metrics
from clueval_xlsx.scoring.scores import rates
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.tables import Sides, pair_of

TABLE = """
    token  gold   pred
    <text id="d1" domain="tax">
    <s id="1">
    a      B-X    B-X
    b      O      O
    c      B-Y    O
    </s>
    <s id="2">
    d      B-X    B-X
    e      I-X    O
    </s>
    </text>
    <text id="d2" domain="civil">
    <s id="3">
    f      B-X    B-X
    g      O      B-Z
    </s>
    </text>
    <text id="d3" domain="civil">
    <s id="4">
    h      B-Y    B-X
    </s>
    </text>
"""
# By hand: gold a(X) c(Y) d-e(X) f(X) h(Y); pred a(X) d(X) f(X) g(Z) h(X).
# exact: a, f, h match, of which a and f have the same label; d is inside d-e, so gold d-e is missed and pred d is
# contained in gold. overlap: gold finds a, f, h; pred finds a, d, f, h.


@pytest.fixture(scope="module")
def result() -> Evaluation:
    return evaluate(pair_of(TABLE), Options(by=("domain", "s_id"), replicates=200))


def counts(rows) -> list[tuple]:
    return [tuple(map(int, row)) for row in rows[["gold", "tp_gold", "fn", "pred", "tp_pred", "fp"]].to_numpy()]


def test_overall_rows_hold_all_levels_unlabelled_and_labelled(result: Evaluation) -> None:
    overall = result.select(scheme="clueval", layer=None, group_key=None)
    assert overall[["level", "labelled"]].fillna("").to_numpy().tolist() == [
        [level, layer] for level in ("exact", "superset", "tiling", "overlap") for layer in ("", "span")
    ]
    assert counts(overall) == [(5, 3, 2, 5, 3, 2), (5, 2, 3, 5, 2, 3)] + 3 * [(5, 3, 2, 5, 4, 1), (5, 2, 3, 5, 3, 2)]


def test_macro_averages_all_labels_of_either_side_a_rate_over_nothing_counting_0(result: Evaluation) -> None:
    (row,) = result.select(level="overlap", labelled=None, layer="span", average="macro").to_dict("records")
    assert row["recall"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)  # Z has no gold span
    assert row["precision"] == pytest.approx((1 + 0 + 0) / 3)  # Y has no prediction, none of Z is right
    assert row["f1"] == pytest.approx(2 * (2 / 3) / (2 / 3 + 1) / 3)  # only X has both
    assert math.isnan(row["gold"])
    assert row["label"] is None


def test_metadata_rows_of_documents_and_sentences(result: Evaluation) -> None:
    rows = result.select(level="overlap", labelled=None, layer=None, group_key="domain")
    assert dict(zip(rows["group"], counts(rows), strict=True)) == {
        "tax": (3, 1, 2, 2, 2, 0),
        "civil": (2, 2, 0, 3, 2, 1),
    }
    rows = result.select(level="overlap", labelled=None, layer=None, group_key="s_id")
    assert dict(zip(rows["group"], counts(rows), strict=True)) == {
        "1": (2, 1, 1, 1, 1, 0), "2": (1, 0, 1, 1, 1, 0), "3": (1, 1, 0, 2, 1, 1), "4": (1, 1, 0, 1, 1, 0),
    }  # fmt: skip


# ---- rates -------------------------------------------------------------------------------------------------------


def test_rates_come_from_counts_and_are_not_rounded() -> None:
    found = rates({"gold": 3, "tp_gold": 1, "pred": 7, "tp_pred": 2}, 2)
    precision, recall = 2 / 7, 1 / 3
    assert float(found["precision"]) == precision
    assert float(found["recall"]) == recall
    assert float(found["f1"]) == pytest.approx(2 * precision * recall / (precision + recall), rel=1e-15)
    assert float(found["f_beta"]) == pytest.approx(5 * precision * recall / (4 * precision + recall), rel=1e-15)


@pytest.mark.parametrize(
    ("gold", "tp_gold", "pred", "tp_pred", "expected"),
    [
        (4, 0, 0, 0, 0.0),  # never predicted
        (0, 0, 3, 0, 0.0),  # only predicted
        (4, 0, 3, 0, 0.0),
        (4, 2, 0, 0, 0.0),  # found under another label, never predicted under this one
        (0, 0, 0, 0, math.nan),
        (4, 4, math.nan, math.nan, math.nan),  # a side that is not counted at all
    ],
)
def test_f_is_zero_where_a_side_has_something_and_nothing_is_right(
    gold: float, tp_gold: float, pred: float, tp_pred: float, expected: float
) -> None:
    found = rates({"gold": gold, "tp_gold": tp_gold, "pred": pred, "tp_pred": tp_pred}, 2)
    assert [float(found["f1"]), float(found["f_beta"])] == pytest.approx([expected] * 2, nan_ok=True)


PLAIN, MARKED = b"a\tO\nb\tO\n", b"a\tB-X\nb\tI-X\n"
EMPTY_SIDES = {
    "empty gold": (Sides(PLAIN, MARKED), None, 0.0),
    "empty prediction": (Sides(MARKED, PLAIN), 0.0, None),
    "both empty": (Sides(PLAIN, PLAIN), None, None),
}


@pytest.mark.parametrize(("sides", "recall", "precision"), EMPTY_SIDES.values(), ids=EMPTY_SIDES)
def test_empty_sides_give_undefined_rates_and_no_division_by_zero(
    sides: Sides, recall: float | None, precision: float | None, write_pair, tmp_path: Path
) -> None:
    content = json.loads(json_text(metrics(evaluate(pair_of(sides)))))
    assert (content["headline"]["recall"], content["headline"]["precision"]) == (recall, precision)
    assert content["headline"]["f1"] == (None if recall is precision is None else 0.0)
    gold, pred = write_pair(sides)
    done = run("score", gold, pred)
    assert done.code == 0, done.err
    assert "n/a" in done.out
    done = run("evaluate", gold, pred, "--files", tmp_path / "files")
    assert done.code == 0, done.err
    assert {"metrics.json", "scores.csv", "false_negatives.csv", "false_positives.csv"} <= {
        path.name for path in (tmp_path / "files").iterdir()
    }


# ---- intervals ---------------------------------------------------------------------------------------------------


def test_no_interval_where_documents_cannot_say_anything(result: Evaluation) -> None:
    by_sentence = result.select(level="overlap", labelled=None, layer=None, group_key="s_id")
    assert by_sentence["recall_low"].isna().all()  # each sentence lies in one document
    single = evaluate(pair_of(Sides(MARKED, MARKED))).headline
    assert math.isnan(single["recall_low"])
    assert evaluate(pair_of(TABLE), Options(replicates=0)).scores["recall_low"].isna().all()


# ---- metrics.json ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def content(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    target = tmp_path_factory.mktemp("json") / "metrics.json"
    sides = examples / "gold.vrt", examples / "pred.vrt"
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "--by", "domain", "--json", target)
    assert done.code == 0, done.err

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(target.read_text("utf-8"), parse_constant=refuse)


def test_the_top_of_metrics_json(content: dict) -> None:
    assert set(content) >= {
        "schema",
        "signature",
        "inputs",
        "headline",
        "scores",
        "presidio",
    }
    assert not set(content) & {"precision", "recall", "f1_score", "details"}  # nobody reads one recall for the other
    assert content["schema"] == 2
    for part in ("scheme:clueval", "level:overlap", "layers:category=2,risk=3", "seed:20240"):
        assert part in content["signature"]
    for side in ("gold", "pred"):
        described = content["inputs"][side]
        assert set(described) >= {"path", "sha256", "documents", "sentences", "tokens", "spans"}
        assert len(described["sha256"]) == 64
        assert described["sha256"][:12] in content["signature"]
        assert described["documents"] == 4
    assert (content["inputs"]["gold"]["spans"], content["inputs"]["pred"]["spans"]) == (75, 74)


def test_the_presidio_part_of_metrics_json(content: dict) -> None:
    content = content["presidio"]
    details = content["details"]
    assert set(details) >= {
        "pii_precision", "pii_recall", "pii_f1_score", "entity_precision_dict", "entity_recall_dict", "total_samples",
        "samples_evaluated", "samples_discarded",
    }  # fmt: skip
    assert (details["total_samples"], details["samples_evaluated"], details["samples_discarded"]) == (4, 4, 0)
    assert (content["precision"], content["recall"]) == (details["pii_precision"], details["pii_recall"])
