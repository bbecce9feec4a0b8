"""What must hold for any text and any judgement: nothing judged, nothing changed; all errors judged, none left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus import correcting
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import check_disjoint
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.review.correction import correct
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.reimport import reimport
from tests.support.judging import decide, judged, pair_with, workbook
from tests.support.strategies import at_most
from tests.support.tables import Sides, listed

TAGS = ["O", "O", "O", "B-A", "I-A", "I-A", "B-B", "I-B"]
LEVELS = ["exact", "superset", "tiling", "overlap"]


@st.composite
def sides(draw: st.DrawFn, layers: int = 1) -> Sides:
    """Two files over the same words, with sentences and documents, several columns of tags each."""
    gold, pred = ['<text id="d">'], ['<text id="d">']
    size = draw(st.integers(1, 10))
    for number in range(size):
        for mark in draw(st.sampled_from([[], [], [], [""], ["<s>"], ["</text>", f'<text id="d{number}">']])):
            gold.append(mark)
            pred.append(mark)
        word = draw(st.sampled_from(["Ann", "Lee", "und", "B", ","]))
        for lines in (gold, pred):
            tags = [draw(st.sampled_from(TAGS)) for _ in range(layers)]
            lines.append("\t".join([word, *tags, "x"]))
    return Sides("\n".join([*gold, "</text>", ""]).encode(), "\n".join([*pred, "</text>", ""]).encode())


@st.composite
def answers(draw: st.DrawFn, codes: list[str], layers: list[str]) -> Judgement:
    code = draw(st.sampled_from(codes))
    choice = draw(st.sampled_from(["as_reference", "as_model", "both", "common", "Ann", "Lee und", "B,"]))
    labels = {layer: draw(st.sampled_from(["A", "B", "C"])) for layer in layers if draw(st.booleans())}
    return Judgement(code, choice, labels)


@st.composite
def judged_runs(draw: st.DrawFn):
    """An evaluation of one or two layers at some level, with any answers to its cases."""
    layers = draw(st.sampled_from([{"x": 2}, {"x": 2, "y": 3}]))
    level = draw(st.sampled_from(LEVELS))
    run = judged(draw(sides(len(layers))), layers, level=level)
    given = {}
    for sheet, table in zip(("FN", "FP"), run.bare_cases, strict=True):
        own = "gold_wrong" if sheet == "FN" else "gold_missing"
        codes = ["model_error", own, own, "boundary", "boundary", "label", "acceptable", "unclear"]
        for case_id in table["case_id"]:
            if draw(st.integers(0, 3)):
                given[case_id] = draw(answers(codes, list(layers)))
    return run, given


def layers_of(reading: Reading, pair: Pair) -> dict[str, list[tuple]]:
    return {name: listed(spans) for name, spans in reading.annotation.layers.items()}


def reread(run, content: bytes) -> dict[str, list[tuple]]:
    import io

    how = ReadOptions(**run.pair.gold.source.reading)
    return layers_of(read(io.BytesIO(content), how, name="corrected"), run.pair)


def gold_reading(run, side: bytes) -> Reading:
    import io

    return read(io.BytesIO(side), ReadOptions(**run.pair.gold.source.reading), name="gold.vrt")


@given(judged_runs())
@at_most(50)
def test_corrections_never_make_spans_overlap_and_applying_them_again_changes_nothing(example):
    run, given_answers = example
    result = decide(run, given_answers)
    for layer, spans in result.correction.layers.items():
        check_disjoint(spans, layer)
    chosen = [each.decision for each in result.resolutions.values() if each.decision is not None]
    again = correct(result.correction.layers, chosen, run.pair.corpus.documents.start)
    assert not again.changes
    for layer, spans in again.layers.items():
        assert listed(spans) == listed(result.correction.layers[layer])


@given(judged_runs())
@at_most(30)
def test_every_judged_case_is_decided_open_or_reported(example):
    run, given_answers = example
    result = decide(run, given_answers)
    # what was typed where nothing is to be typed is reported, too, and the row may count all the same
    reported = {problem.case for problem in result.problems} - set(result.decisions) - set(result.cases_in_conflict)
    assert {*result.decisions, *result.cases_in_conflict, *reported} == set(given_answers)
    assert set(result.cases_in_conflict).isdisjoint(result.decisions)
    counted = result.ledger[["FN", "FP"]].to_numpy().sum()
    assert counted == sum(len(table) for table in run.bare_cases)


@given(sides(2), st.data())
@at_most(25)
def test_the_corrected_file_decodes_to_exactly_the_intended_spans(both, data):
    run = judged(both, {"x": 2, "y": 3}, level=data.draw(st.sampled_from(LEVELS)))
    given_answers = {
        case_id: data.draw(answers([own, "boundary", "label"], ["x", "y"]))
        for own, table in zip(("gold_wrong", "gold_missing"), run.bare_cases, strict=True)
        for case_id in table["case_id"]
    }
    result = decide(run, given_answers)
    content = correcting.correct(gold_reading(run, both.gold), result.correction.layers)["gold.vrt"]
    assert reread(run, content) == {layer: listed(spans) for layer, spans in result.correction.layers.items()}
    kept = [[line.split(b"\t")[0], line.split(b"\t")[3:]] for line in content.split(b"\n")]
    assert kept == [[line.split(b"\t")[0], line.split(b"\t")[3:]] for line in both.gold.split(b"\n")]


def judge_all(run) -> dict[str, Judgement]:
    missed, unsupported = run.bare_cases
    return {
        **dict.fromkeys(missed["case_id"], Judgement("gold_wrong")),
        **dict.fromkeys(unsupported["case_id"], Judgement("gold_missing")),
    }


@given(sides(), st.booleans())
@at_most(25)
def test_judging_every_error_at_level_exact_leaves_none(both, labelled):
    run = judged(both, level="exact", labelled="span" if labelled else None)
    result = decide(run, judge_all(run))
    assert not result.conflicts
    assert [len(table) for table in result.corrected.bare_cases] == [0, 0]


@given(sides(2), st.sampled_from(LEVELS), st.sampled_from(["en", "de"]))
@at_most(6)
def test_an_unjudged_workbook_gives_the_identical_file(both, level, lang):
    pair = pair_with(both, {"x": 2, "y": 3})
    run = evaluate(pair, Options(level=level, replicates=0))
    import io

    gold = io.BytesIO(both.gold)
    gold.name = "gold.vrt"
    result = reimport([workbook(run, lang=lang)], gold)
    assert result.content == both.gold
    assert not result.needs_a_person
    assert not result.runs[0].records


@given(judged_runs())
@at_most(10)
def test_judgements_come_back_from_the_workbook_as_they_were_picked(example):
    import io

    run, given_answers = example
    side = run.pair.corpus.tokens.data[:-8]
    gold = io.BytesIO(side)
    gold.name = "gold.vrt"
    result = reimport([workbook(run, given_answers, lang="de", judge="Anna")], gold)
    direct = decide(run, given_answers)
    back = result.runs[0]
    assert {record.case_id: record.code for record in back.records} == {
        record.case_id: record.code for record in direct.records
    }
    assert back.changes["new"].tolist() == direct.changes["new"].tolist()
    assert back.correction.held == direct.correction.held
    for layer, spans in direct.correction.layers.items():
        assert listed(spans) == listed(back.correction.layers[layer])
