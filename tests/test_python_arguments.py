"""Arguments as people write them in Python: understood where they are unambiguous, else refused in one sentence."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from clueval_xlsx import (
    LabelRules,
    Options,
    ReadOptions,
    SchemeOptions,
    compare,
    error_table,
    evaluate,
    evaluate_spans,
    evaluate_tags,
    match_spans,
    read,
    read_pair,
    reimport,
    set_threads,
    write_workbook,
)
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.options import CaseOptions
from clueval_xlsx.review.judgements import Judgement
from tests.support.folders import ROOT
from tests.support.judging import workbook
from tests.support.workbooks import example

GOLD = [["B-PER", "O"], ["B-MISC", "I-MISC"]]
PRED = [["B-PER", "O"], ["B-PER", "I-PER"]]
FRAME = pd.DataFrame({"start": [0], "end": [3], "label": ["PER"]})
NAMED = FRAME.assign(doc_id=7)
RESULT = evaluate_tags(GOLD, PRED)
GOLD_SPANS, PRED_SPANS, CORPUS = RESULT.pair.gold.spans, RESULT.pair.pred.spans, RESULT.pair.corpus


def ann() -> io.BytesIO:
    return io.BytesIO(b"Ann\tB-PER\nLee\tI-PER\n")


@pytest.mark.parametrize(
    ("written", "same"),
    [
        (SchemeOptions(scheme="seqeval"), SchemeOptions(scheme=("seqeval",))),
        (SchemeOptions(scheme=["seqeval", "iou"]), SchemeOptions(scheme=("seqeval", "iou"))),
        (SchemeOptions(scheme={"seqeval", "iou"}), SchemeOptions(scheme=("iou", "seqeval"))),
        (SchemeOptions(iou_threshold=0.5), SchemeOptions(iou_threshold=(0.5,))),  # type: ignore[arg-type]
        (SchemeOptions(iou_threshold=np.array([0.5])), SchemeOptions(iou_threshold=(0.5,))),  # type: ignore[arg-type]
        (SchemeOptions(allow={"NAME": "[.]"}), SchemeOptions(allow=(("NAME", "[.]"),))),
        (LabelRules(map={"MISC": "PER"}), LabelRules(map=(("MISC", "PER"),))),
        (LabelRules(equivalent=[["MISC", "PER"]]), LabelRules(equivalent=(("MISC", "PER"),))),
        (LabelRules(ignore="MISC"), LabelRules(ignore=("MISC",))),
        (Options(by="court"), Options(by=("court",))),
        (Options(schemes="seqeval"), Options(schemes=SchemeOptions(scheme=("seqeval",)))),  # type: ignore[arg-type]
        (Options(schemes=["seqeval"]), Options(schemes=SchemeOptions(scheme=("seqeval",)))),  # type: ignore[arg-type]
        (Options(seed=np.int64(3)), Options(seed=3)),  # type: ignore[arg-type]
        (ReadOptions(text=Path("texts")), ReadOptions(text="texts")),  # type: ignore[arg-type]
        (ReadOptions(tag_names=["O", "B-PER"]), ReadOptions(tag_names=("O", "B-PER"))),
        (CaseOptions(judges=["anna", "ben"]), CaseOptions(judges=("anna", "ben"))),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_options_may_be_written_in_several_ways(written: object, same: object) -> None:
    assert written == same
    assert repr(written) == repr(same)


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (pd.Series(GOLD), pd.Series(PRED)),
        (np.array(GOLD), np.array(PRED)),
        ([np.array(line) for line in GOLD], [np.array(line) for line in PRED]),
        ([pd.Series(line) for line in GOLD], [pd.Series(line) for line in PRED]),
        (tuple(map(tuple, GOLD)), tuple(map(tuple, PRED))),
    ],
)  # fmt: skip
def test_lists_of_tags_may_be_series_and_arrays(gold: Any, pred: Any) -> None:
    result = evaluate_tags(gold, pred, pd.Series([["Ann", "Lee"], ["a", "b"]]), documents=pd.Series(["x", "y"]))
    expected = evaluate_tags(GOLD, PRED, [["Ann", "Lee"], ["a", "b"]], documents=["x", "y"])
    pd.testing.assert_frame_equal(result.summary, expected.summary)
    assert result.signature == expected.signature  # what was compared is known by its content, not by how it was held


def test_long_arrays_of_tags_are_told_apart() -> None:
    gold = np.full(5_000, "O", dtype=object)
    other = gold.copy()
    other[2_500] = "B-PER"
    first, second = (evaluate_tags([each], [gold]) for each in (gold, other))
    with pytest.raises(InputError, match="different gold files"):
        compare({"a": first, "b": second})


@pytest.mark.parametrize(
    ("frame", "texts"),
    [
        (FRAME, "Ann Lee"),
        (FRAME, ["Ann Lee"]),
        (FRAME, pd.Series(["Ann Lee"])),
        (NAMED, {7: "Ann Lee"}),
        (NAMED, {"7": "Ann Lee"}),
        (NAMED, pd.Series({7: "Ann Lee"})),
    ],
)  # fmt: skip
def test_texts_of_frames_may_be_series_and_have_any_keys(frame: pd.DataFrame, texts: Any) -> None:
    assert list(evaluate_spans(frame, frame.iloc[:0], texts).cases["surface"]) == ["Ann"]


def test_systems_are_compared_from_a_mapping_and_from_pairs() -> None:
    other = evaluate_tags(GOLD, GOLD)
    assert compare({"a": RESULT, "b": other}).names == compare([("a", RESULT), ("b", other)]).names == ["a", "b"]


def test_one_workbook_is_brought_home_without_a_list(tmp_path: Path) -> None:
    result = example()
    path = tmp_path / "anna.xlsx"
    path.write_bytes(workbook(result, {result.case_tables[0]["case_id"].iloc[0]: Judgement("gold_wrong")}).getvalue())
    gold = ROOT / "examples" / "gold.vrt"
    found = [repr(reimport(each, gold)) for each in ([path], path, str(path), io.BytesIO(path.read_bytes()))]
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LabelRules(equivalent=("MISC", "PER")), r"equivalent: found \('MISC', 'PER'\).*groups.*\[\(\"ORG\""),
        (lambda: LabelRules(map="MISC=PER"), "map: found 'MISC=PER'. Allowed: OLD=NEW, as a dict"),
        (lambda: LabelRules(map={"MISC": 3}), "map: found 'MISC=3'"),
        (lambda: LabelRules(ignore=3), "ignore: found 3. Allowed: LABEL, one or a list of them"),
        (lambda: SchemeOptions(scheme=["seqvl"]), "scheme: found 'seqvl'. Allowed: clueval.*Did you mean 'seqeval'"),
        (lambda: SchemeOptions(iou_threshold="x"), "iou_threshold: found .*a number more than 0 up to 1"),
        (lambda: Options(level="exactly"), "level: found 'exactly'. Allowed: exact"),
        (lambda: Options(replicates=True), "replicates: found True"),
        (lambda: ReadOptions(layers=["category"]), r"layers: found \['category'\]. Allowed: NAME.*as a dict"),
        (lambda: ReadOptions(token_id="4"), "token_id: found '4'. Allowed: a whole number from 1"),
        (lambda: ReadOptions(nested="longst"), "nested: found 'longst'. Allowed: error.*Did you mean 'longest'"),
        (lambda: evaluate_tags(GOLD, PRED, options={"level": "exact"}), "options: found {'level': 'exact'}"),
        (lambda: evaluate(GOLD, PRED), "pair: found .*read_pair"),
        (lambda: evaluate_tags([[None]], [["O"]]), r"gold\[0\]: None is no tag"),
        (lambda: evaluate_tags(GOLD, PRED, documents=[None, None]), "a list has no document"),
        (lambda: evaluate_spans(FRAME, FRAME, {"a": "Ann"}), "frames have no column doc_id"),
        (lambda: evaluate_spans(NAMED, NAMED, pd.Series({7: None})), r"texts\['7'\]: found NoneType"),
        (lambda: evaluate_spans([[]], [[]], ["a"], nested="longst"), "nested: found 'longst'"),
        (lambda: read(3), "source: found 3. Allowed: a path"),
        (lambda: read(io.StringIO("Ann")), "a file opened as text"),
        (lambda: read_pair(ann(), ann(), align="texts"), "align: found 'texts'. Allowed: tokens, text"),
        (lambda: reimport(3, "gold.vrt"), "workbooks: found 3"),
        (lambda: write_workbook("x.xlsx", RESULT), "evaluation: found 'x.xlsx'"),
        (lambda: write_workbook(RESULT, io.StringIO()), "target: found StringIO"),
        (lambda: match_spans(FRAME.drop(columns="end"), FRAME), "no column 'end'. Columns: start, label"),
        (lambda: match_spans(FRAME, FRAME.assign(start="x")), "second sequence: the column 'start' is of"),
        (lambda: error_table(3, GOLD_SPANS, PRED_SPANS, CORPUS), "spans: found int"),
        (lambda: error_table(GOLD_SPANS, GOLD_SPANS, PRED_SPANS, CORPUS, sheet="X"), "sheet: found 'X'. Allowed: FN"),
        (lambda: set_threads(0), "count: found 0"),
    ],
)  # fmt: skip
def test_what_is_ambiguous_or_of_the_wrong_kind_is_refused_in_one_sentence(
    call: Callable[[], object], words: str
) -> None:
    with pytest.raises((OptionError, InputError), match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
