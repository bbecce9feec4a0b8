"""The same two documents in every format give the same metrics and the same error tables."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.formats.loading import read_pair
from clueval_xlsx.formats.span_table import span_workbook
from clueval_xlsx.options import Options, ReadOptions, SchemeOptions
from tests.support.folders import FIXTURES

FOLDER = FIXTURES
GOLD = {
    "brat": "brat-gold",
    "tab": "tab.json",
    "tab, flat": "tab-flat.json",
    "presidio": "presidio-gold.json",
    "label-studio": "label-studio.json",
}
RECORDS = (
    "doccano.jsonl",
    "doccano-relations.jsonl",
    "doccano-users.jsonl",
    "prodigy.jsonl",
    "spacy.json",
    "ai4privacy.jsonl",
    "label-studio-min.json",
)
COLUMNS = ("uner.iob2", "hipe.tsv", "bioes.conll", "bilou.conll", "tokens.jsonl", "tokens.csv")
PRED = {
    "brat": "brat-pred",
    "tab": "tab.json",
    "presidio": "presidio-pred.json",
    "label-studio": "label-studio.json",
    "table of characters": "pred-chars.csv",
}
TEXT = FOLDER / "brat-gold"
# `seqeval` strict needs tags; the scores of all other schemes are compared.
SCHEMES = SchemeOptions(scheme=("semeval", "scenario", "tokens", "iou", "coverage", "chars", "documents"))
OPTIONS = Options(level="exact", labelled="span", schemes=SCHEMES, replicates=50)


def run(gold: str, pred: str, **both: object) -> Evaluation:
    sides = (ReadOptions(**both), ReadOptions(text=TEXT if pred == "brat-pred" else None, **both))  # type: ignore[arg-type]
    return evaluate(read_pair(FOLDER / gold, FOLDER / pred, *sides), OPTIONS)


@pytest.fixture(scope="module")
def reference() -> Evaluation:
    """The token files, which every other format is compared with."""
    return run("gold.vrt", "pred.vrt")


def scores_of(result: Evaluation) -> pd.DataFrame:
    scores = result.scores[result.scores["scheme"] != "entities"]
    order = ["scheme", "variant", "level", "labelled", "layer", "label", "average", "group_key", "group"]
    return scores.sort_values(order, kind="stable", ignore_index=True, key=lambda column: column.astype(str))


def plain(text: str) -> str:
    return " ".join(text.split())


def cases_of(result: Evaluation, *, words_only: bool) -> pd.DataFrame:
    cases = pd.concat(result.case_tables, ignore_index=True)
    columns = ["sheet", "class", "document", "surface", "label_span", "other_surface", "other_label_span"]
    shown = cases[columns].copy()
    shown["context"] = [plain(context) for context in cases["context"]]
    shown["document_start"], shown["document_end"] = cases["document_start"], cases["document_end"]
    if not words_only:
        shown["context"] = cases["context"]
        for name in ("case_id", "char_start", "char_end"):
            shown[name] = cases[name]
        shown["related"] = [" ".join(ids) for ids in cases["related"]]
    return shown.sort_values(["sheet", "document", "document_start"], ignore_index=True)


PROJECTS = ("inception-xmi.zip", "inception-json.zip", "inception-tsv.zip")


@pytest.mark.parametrize(
    ("gold", "pred"), [*zip(PROJECTS, PROJECTS, strict=True), ("brat-gold", PROJECTS[2]), (PROJECTS[1], "tab.json")]
)
def test_projects_of_two_annotators_give_the_same_metrics_and_cases(
    gold: str, pred: str, reference: Evaluation, brat: Evaluation
) -> None:
    sides = [ReadOptions(annotator=who if "zip" in name else None) for who, name in (("anna", gold), ("model", pred))]
    result = evaluate(read_pair(FOLDER / gold, FOLDER / pred, *sides), OPTIONS)
    same(scores_of(result), scores_of(reference))
    same(cases_of(result, words_only=True), cases_of(reference, words_only=True))
    if "tsv" not in gold:  # what stands between two sentences is no part of WebAnno TSV
        same(cases_of(result, words_only=False), cases_of(brat, words_only=False))


def same(left: pd.DataFrame, right: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(left, right, check_dtype=False)


def test_the_reference_is_what_the_fixture_says(reference: Evaluation) -> None:
    overall = reference.scores[reference.scores["scheme"] == "clueval"]
    overall = overall[overall["layer"].isna() & overall["group_key"].isna() & overall["labelled"].isna()]
    assert overall["tp_gold"].tolist() == [1, 3, 4, 6]
    assert overall["tp_pred"].tolist() == [1, 6, 6, 6]
    assert set(overall["gold"]) == {10}
    assert set(overall["pred"]) == {12}
    assert reference.case_tables[0]["class"].tolist() == [
        "partial", "tiling", "superset", "superset", "label", "overlap", "FN", "overlap", "FN", "partial",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def brat() -> Evaluation:
    """The brat folders, whose offsets and contexts every character format must have, too."""
    return run("brat-gold", "brat-pred")


@pytest.mark.parametrize(("gold", "pred"), list(product(GOLD.values(), PRED.values())), ids=lambda name: name)
def test_character_formats_mixed_freely_give_the_same_metrics_and_cases(
    gold: str, pred: str, reference: Evaluation, brat: Evaluation
) -> None:
    result = run(gold, pred)
    same(scores_of(result), scores_of(reference))
    same(cases_of(result, words_only=True), cases_of(reference, words_only=True))
    same(cases_of(result, words_only=False), cases_of(brat, words_only=False))


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("gold.conll", "pred.conll"),
        ("gold.vrt", "pred.conll"),
        ("gold.vrt", "pred.csv"),
        ("gold.tsv", "pred.vrt"),
        ("gold.vrt", "tab.json"),
        ("gold.vrt", "brat-pred"),
        ("gold.conll", "presidio-pred.json"),
        ("brat-gold", "pred.vrt"),
        ("tab.json", "pred.vrt"),
        ("label-studio.json", "pred.conll"),
    ],
)
def test_tokens_and_characters_meet(gold: str, pred: str, reference: Evaluation) -> None:
    result = run(gold, pred)
    by_character = {"scenario", "iou", "coverage", "chars"} if "conll" in gold else set()
    left, right = (table[~table["scheme"].isin(by_character)] for table in (scores_of(result), scores_of(reference)))
    same(left.reset_index(drop=True), right.reset_index(drop=True))
    expected = cases_of(reference, words_only=True)
    found = cases_of(result, words_only=True)
    if "conll" in gold:  # CoNLL does not say where there is no space
        expected, found = (table.drop(columns=["context", "surface", "other_surface"]) for table in (expected, found))
    same(found, expected)


@pytest.mark.parametrize("name", RECORDS)
def test_records_of_every_tool_give_the_same_metrics_and_cases(
    name: str, reference: Evaluation, brat: Evaluation
) -> None:
    result = run(f"gold-{name}", f"pred-{name}")
    same(scores_of(result), scores_of(reference))
    same(cases_of(result, words_only=True), cases_of(reference, words_only=True))
    same(cases_of(result, words_only=False), cases_of(brat, words_only=False))


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_in_every_dress_give_the_same_metrics_and_cases(name: str, reference: Evaluation) -> None:
    agree_on_tokens(run(f"gold-{name}", f"pred-{name}"), reference)


def agree_on_tokens(result: Evaluation, reference: Evaluation) -> None:
    """The same figures and cases, but for what depends on spaces, which not every format tells."""
    by_character = {"scenario", "iou", "coverage", "chars"}
    left, right = (table[~table["scheme"].isin(by_character)] for table in (scores_of(result), scores_of(reference)))
    same(left.reset_index(drop=True), right.reset_index(drop=True))
    expected, found = (
        cases_of(each, words_only=True).drop(columns=["context", "surface", "other_surface"])
        for each in (reference, result)
    )
    same(found, expected)


def test_a_span_table_as_workbook_is_the_same(tmp_path: Path, reference: Evaluation) -> None:
    path = tmp_path / "pred.xlsx"
    path.write_bytes(span_workbook(reference.pair.pred.spans, reference.pair.corpus))
    result = evaluate(read_pair(FOLDER / "gold.vrt", path), OPTIONS)
    same(scores_of(result), scores_of(reference))
    same(cases_of(result, words_only=True), cases_of(reference, words_only=True))


def test_metadata_of_documents_can_be_grouped_by() -> None:
    for name in ("tab.json", "label-studio.json", "presidio-gold.json"):
        pair = read_pair(FOLDER / name, FOLDER / "tab.json")
        result = evaluate(pair, Options(by=("court",), replicates=0))
        rows = result.select(scheme="clueval", level="overlap", labelled=None, group_key="court", layer=None)
        assert sorted(zip(rows["group"], rows["gold"], strict=True)) == [("local", 5), ("regional", 5)]
