"""Thresholds of scores: the figures at each are those of a run with the predictions that stay."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.formats.loading import read_sides
from clueval_xlsx.options import LabelRules, Options
from clueval_xlsx.scoring.names import LEVELS
from clueval_xlsx.scoring.scores import COUNTS, RATES
from clueval_xlsx.scoring.thresholds import threshold_rates
from tests.support.commands import refused, run
from tests.support.strategies import at_most

TEXT = "".join(f"w{number}\tO\n" for number in range(12))


def table(spans: list[tuple[int, int, str, float | None]]) -> str:
    rows = ["start\tend\tspan\tscore"]
    rows += [f"{start}\t{end}\t{label}\t{'' if score is None else score}" for start, end, label, score in spans]
    return "\n".join(rows) + "\n"


@st.composite
def sequences(draw: st.DrawFn) -> list[tuple[int, int, str, float | None]]:
    cuts = sorted(draw(st.sets(st.integers(0, 12), min_size=2, max_size=9)))
    spans = []
    for start, stop in pairwise(cuts):
        if draw(st.booleans()):
            score = draw(st.sampled_from([0.1, 0.5, 0.5, 0.9, None]))
            spans.append((start, stop - 1, draw(st.sampled_from("AB")), score))
    return spans


def evaluation(folder: Path, gold: list, pred: list, options: Options):
    """Gold and predictions as tables on one text of three documents."""
    lines = TEXT.splitlines(keepends=True)
    text = "".join(f'<text id="{n}">\n{"".join(lines[4 * n : 4 * n + 4])}</text>\n' for n in range(3))
    for name, content in (("text.vrt", text), ("gold.tsv", table(gold)), ("pred.tsv", table(pred))):
        (folder / name).write_text(content, "utf-8")
    from clueval_xlsx.options import ReadOptions

    how = ReadOptions(text=str(folder / "text.vrt"))
    return evaluate(make_pair(*read_sides(folder / "gold.tsv", folder / "pred.tsv", how, how)), options)


def inside(spans: list) -> list:
    """The spans that lie within one document."""
    return [span for span in spans if span[0] // 4 == span[1] // 4]


@pytest.mark.parametrize("labelled", [None, "span"])
@at_most(12)  # each of them is some twenty runs
@given(gold=sequences(), pred=sequences(), ignored=st.sampled_from([(), ("B",)]))
def test_every_threshold_has_the_counts_of_a_run_with_the_predictions_that_stay(
    tmp_path_factory: pytest.TempPathFactory, labelled: str | None, gold: list, pred: list, ignored: tuple[str, ...]
) -> None:
    folder = tmp_path_factory.mktemp("t")
    gold, pred = inside(gold), inside(pred)
    for level in LEVELS:
        options = Options(level=level, labelled=labelled, labels=LabelRules(ignore=ignored))
        result = evaluation(folder, gold, pred, options)
        if all(score is None for *_, score in pred):
            assert result.pred_scores is None
            return
        found = threshold_rates(result.raw, options.labels, level=level, labelled=labelled, beta=2.0)
        assert found.table["threshold"].tolist() == sorted({score for *_, score in pred if score is not None})
        for _, row in found.table.iterrows():
            stay = [span for span in pred if span[3] is None or span[3] >= row.threshold]
            one = evaluation(folder, gold, stay, options).headline
            numbers = [*COUNTS, *(f"{rate}{end}" for rate in RATES for end in ("", "_low", "_high"))]
            assert row[numbers].tolist() == pytest.approx(one[numbers].tolist(), nan_ok=True)


def test_of_many_scores_a_hundred_are_taken_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clueval_xlsx.scoring.thresholds.MOST_THRESHOLDS", 3)
    pred = [(place, place, "A", place / 10) for place in range(7)]
    raw = evaluation(tmp_path, [(0, 0, "A", None)], pred, Options()).raw
    found = threshold_rates(raw, LabelRules(), level="exact", labelled=None, beta=2)
    assert found.table["threshold"].tolist() == [0.0, 0.3, 0.6]
    assert found.table["pred"].tolist() == [7, 4, 1]


# ---- the command -------------------------------------------------------------------------------------------------


@pytest.fixture
def files(write) -> tuple[Path, Path, Path]:
    """Ten documents with two gold spans each; one of them is found for sure, the other with a low score."""
    text = "".join(f'<text id="{n}">\n' + "".join(f"w{i}\tO\n" for i in range(6)) + "</text>\n" for n in range(10))
    gold = [(6 * n + at, 6 * n + at, "A", None) for n in range(10) for at in (0, 2)]
    pred = [(6 * n, 6 * n, "A", 0.9) for n in range(10)] + [(6 * n + 2, 6 * n + 2, "A", 0.4) for n in range(10)]
    pred += [(6 * n + 4, 6 * n + 4, "A", 0.2) for n in range(10)]
    return write("t.vrt", text), write("gold.tsv", table(gold)), write("pred.tsv", table(sorted(pred)))


def test_the_highest_threshold_whose_lower_bound_of_recall_holds_is_named(files, tmp_path: Path) -> None:
    text, gold, pred = files
    done = run(
        "score",
        "--thresholds",
        gold,
        pred,
        "--text",
        text,
        "--fail-under",
        "recall.low=0.6",
        "--json",
        tmp_path / "s.json",
    )
    assert done.code == 0, done.err
    assert "at 60.0 % is 0.4: recall 100.0 % (" in " ".join(done.out.split())
    content = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert content["chosen"]["threshold"] == 0.4
    assert [(row["threshold"], row["tp_gold"], row["pred"], row["fp"]) for row in content["thresholds"]] == [
        (0.2, 20, 30, 10),
        (0.4, 20, 20, 0),
        (0.9, 10, 10, 0),
    ]
    none = run("score", "--thresholds", gold, pred, "--text", text, "--fail-under", "recall.low=0.95")
    assert "No threshold keeps the lower bound of recall at 95.0 %: even with every span recall is 100.0 %" in " ".join(
        none.out.split()
    )


def test_cells_that_hold_no_score_are_noted_unless_they_are_empty(files, write) -> None:
    text, gold, _ = files
    rows = "start\tend\tspan\tscore\n0\t0\tA\t0.5\n2\t2\tA\t\n6\t6\tA\thigh\n8\t8\tA\tnan\n"
    done = run("score", "--thresholds", gold, write("p.tsv", rows), "--text", text)
    assert "p.tsv: 2 scores are no finite numbers and count as none: " in done.err
    assert "p.tsv:4: 'high'; " in done.err
    assert "p.tsv:5: 'nan'." in done.err
    assert "3 spans have no score and stay at every threshold" in done.out


def test_the_recall_to_hold_is_the_only_gate_and_csv_has_every_threshold(files, tmp_path: Path) -> None:
    text, gold, pred = files
    call = ("score", "--thresholds", gold, pred, "--text", text)
    refused(run(*call, "--fail-under", "recall=0.9"), "recall.low=0.95, once")
    refused(run(*call, "--as", "latex"), "Allowed: table, json, csv")
    assert run(*call, "--fail-under", "recall.low=0.95").code == 4
    assert [row.split(",")[0] for row in run(*call, "--as", "csv").out.splitlines()] == [
        "threshold",
        "0.2",
        "0.4",
        "0.9",
    ]
    assert json.loads(run(*call, "--as", "json").out)["chosen"] is None
    assert run(*call, "--json", gold / "x").code == 2


# ---- scores on their way -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["again.tsv", "again.xlsx", "presidio.json", "studio.json"])
def test_scores_go_through_converters(files, tmp_path: Path, target: str) -> None:
    text, _, pred = files
    to = {"presidio.json": "presidio", "studio.json": "label-studio"}.get(target)
    done = run("convert", pred, tmp_path / target, "--text", text, *(("--to", to) if to else ()))
    assert done.code == 0, done.err
    where = ("--text", text) if to is None else ()
    side = ("--pred-layer", "span=label") if to == "label-studio" else ()
    gold = tmp_path / "gold.vrt"
    assert run("convert", files[1], gold, "--text", text).code == 0
    done = run("score", "--thresholds", gold, tmp_path / target, *where, *side, "--json", "-", "--align", "text")
    assert done.code == 0, done.err
    assert [(row["threshold"], row["pred"]) for row in json.loads(done.out)["thresholds"]] == [
        (0.2, 30),
        (0.4, 20),
        (0.9, 10),
    ]


# ---- overlaps ----------------------------------------------------------------------------------------------------


@pytest.fixture
def overlapping(write) -> tuple[Path, Path]:
    """Twenty documents in which an unsure prediction hides a sure and right one, and a surer one hides none."""
    words = "Ann Lee in Bonn"
    gold, pred = [(0, 3, None), (11, 15, None)], [(0, 7, 0.3), (0, 3, 0.6), (11, 15, 0.9)]

    def side(spans: list[tuple[int, int, float | None]]) -> str:
        found = [
            {"entity_type": "A", "start_position": start, "end_position": end, "entity_value": words[start:end]}
            | ({} if score is None else {"score": score})
            for start, end, score in spans
        ]
        return json.dumps([{"full_text": words, "spans": found}] * 20)

    return write("gold.json", side(gold)), write("pred.json", side(pred))


def test_a_prediction_that_gave_way_to_one_below_the_threshold_counts(overlapping) -> None:
    gold, pred = overlapping
    done = run(
        "score",
        "--thresholds",
        gold,
        pred,
        "--nested",
        "longest",
        "--level",
        "exact",
        "--json",
        "-",
        "--fail-under",
        "recall.low=0.8",
    )
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert [(row["threshold"], row["recall"], row["precision"]) for row in content["thresholds"]] == [
        (0.3, 0.5, 0.5),
        (0.6, 1.0, 1.0),
        (0.9, 0.5, 1.0),
    ]
    assert content["chosen"]["threshold"] == 0.6
