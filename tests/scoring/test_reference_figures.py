"""The figures on the ler-dev data, by level, layer and scheme, as brute force, nervaluate and seqeval find them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.formats.loading import read_pair
from clueval_xlsx.options import LabelRules, Options, ReadOptions, SchemeOptions
from clueval_xlsx.scoring.names import LEVELS

# level: tp_gold, fn, tp_pred, fp, then the same with the labels agreeing
FINE = {
    "exact": (3200, 1844, 3200, 801, 3039, 2005, 3039, 962),
    "superset": (3563, 1481, 3605, 396, 3323, 1721, 3351, 650),
    "tiling": (3579, 1465, 3605, 396, 3337, 1707, 3351, 650),
    "overlap": (3586, 1458, 3606, 395, 3342, 1702, 3352, 649),
}
COUNTS = ["tp_gold", "fn", "tp_pred", "fp"]


def results(folder: Path, layers: dict[str, int]) -> Evaluation:
    pair = read_pair(folder / "ler-dev.gold.vrt", folder / "ler-dev.pred.vrt", ReadOptions(layers=layers, token_id=4))
    return evaluate(pair, Options(replicates=0))


@pytest.fixture(scope="module")
def fine(shared_data: Path) -> Evaluation:
    return results(shared_data, {"fine": 2})


@pytest.fixture(scope="module")
def merged(shared_data: Path) -> Evaluation:
    return results(shared_data, {"fine": 2, "coarse": 3})


def test_sizes(fine: Evaluation) -> None:
    assert len(fine.pair.corpus) == 214_443
    assert len(fine.pair.corpus.breaks) == 6_666
    assert (len(fine.pair.gold.spans), len(fine.pair.pred.spans)) == (5044, 4001)
    assert fine.pair.gold.orphans["fine"] + fine.pair.pred.orphans["fine"] == 64


@pytest.mark.parametrize("level", LEVELS)
def test_layer_fine(fine: Evaluation, level: str) -> None:
    plain, labelled = (fine.overall("clueval", level=level, labelled=layer) for layer in (None, "fine"))
    assert (*plain[COUNTS], *labelled[COUNTS]) == FINE[level]


def test_merged_layers(merged: Evaluation) -> None:
    assert (len(merged.pair.gold.spans), len(merged.pair.pred.spans)) == (5044, 4289)
    rows = [merged.overall("clueval", level=level) for level in LEVELS]
    assert [row["tp_gold"] for row in rows] == [3484, 4001, 4006, 4007]
    assert [row["tp_pred"] for row in rows] == [3484, 3735, 3737, 3737]
    labelled = merged.overall("clueval", level="overlap", labelled="fine")
    assert (labelled["tp_gold"], labelled["tp_pred"]) == (3444, 3244)


def test_layer_coarse_alone(merged: Evaluation) -> None:
    row = evaluate(merged.pair.layer("coarse"), Options(replicates=0)).overall("clueval", level="overlap")
    assert (row["tp_gold"], row["tp_pred"]) == (3928, 3801)


@pytest.fixture(scope="module")
def everything(shared_data: Path) -> Evaluation:
    files = [shared_data / f"ler-dev.{side}.vrt" for side in ("gold", "pred")]
    options = Options(
        replicates=0,
        schemes=SchemeOptions(scheme=("all",), iou_threshold=(0.9, 0.5)),
        labels=LabelRules(equivalent=(("GRT", "INN"),)),
    )
    return evaluate(read_pair(*files, ReadOptions(layers={"fine": 2}, token_id=4)), options)


@pytest.mark.parametrize(
    ("variant", "tp", "fp", "fn", "relaxed"), [("0.3", 3462, 501, 1582, None), ("0.3 relaxed", 3477, 486, 1567, 15)]
)
def test_coverage(everything: Evaluation, variant: str, tp: int, fp: int, fn: int, relaxed: int | None) -> None:
    row = everything.overall("coverage", variant=variant, labelled="fine")
    assert (row["tp_gold"], row["tp_pred"], row["fp"], row["fn"]) == (tp, tp, fp, fn)
    assert row["precision"] == tp / (tp + fp)
    assert (row["counts"] or {}).get("relaxed") == relaxed


def test_scenario(everything: Evaluation) -> None:
    row = everything.overall("scenario", variant="strict", labelled="fine")
    assert row["counts"] == {
        "strict": 3039, "exact": 326, "partial": 206, "incorrect": 179, "missed": 1294, "spurious": 251
    }  # fmt: skip
    flexible = everything.overall("scenario", variant="flexible", labelled="fine")
    partial = everything.overall("scenario", variant="partial", labelled="fine")
    assert flexible["recall"] == (3039 + 326) / 5044
    assert partial["precision"] == (3039 + 326 + 103) / 4001
