"""Figures in the review workbook: live ones beside the raw ones, answers that are filled in, native charts."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

import pytest

from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.review.judgements import JUDGEMENTS
from clueval_xlsx.words import Words, languages
from tests.support.workbooks import (
    FIRST,
    TABS,
    answers_for,
    example,
    headers,
    live_figures,
    opened,
    texts,
    written,
)

OFFERED = [judgement for judgement in JUDGEMENTS if {"FN", "FP"} & {*judgement.sheets}]


@pytest.mark.parametrize("labelled", [None, "category"])
def test_stored_values_are_right_with_answers_filled_in(labelled):
    evaluation = example(labelled=labelled)
    answers, codes = answers_for(evaluation)
    content = written(evaluation, Handout(answers=answers))
    values = opened(content, values=True)
    words = Words("en")
    counts, estimate = live_figures(values["Metrics"])
    for judgement in OFFERED:
        expected = tuple(
            codes[name].count(judgement.code) if name in judgement.sheets else "–" for name in ("FN", "FP")
        )
        assert counts[words[f"judgement.{judgement.code}"]] == expected
    assert counts["judged"] == (7, 6)
    raw = {key: int(evaluation.headline[key]) for key in ("gold", "tp_gold", "pred", "tp_pred")}
    label = 1 if labelled else 0
    gold, found = raw["gold"] - 2 + 3, raw["tp_gold"] + 1 + 1 + 3 + label
    supported = raw["tp_pred"] + 3 + 1 + 1
    assert estimate == {
        "Reference spans": (raw["gold"], gold),
        "found": (raw["tp_gold"], found),
        "Model spans": (raw["pred"], raw["pred"]),
        "supported": (raw["tp_pred"], supported),
        "Recall": (raw["tp_gold"] / raw["gold"], pytest.approx(found / gold)),
        "Precision": (raw["tp_pred"] / raw["pred"], pytest.approx(supported / raw["pred"])),
    }
    sheet, total = values[TABS["FN"]], len(evaluation.case_tables[0])
    states = texts(sheet, "State")
    assert sum(state.startswith(("✓", "✗ differs")) for state in states) == 7
    done = sum(state.startswith(("✓", "↔")) for state in states)
    assert sheet["D1"].value.startswith(f"{done} of {total} done")


def test_filled_in_answers_are_in_the_words_of_the_lists():
    answers, _ = answers_for(example())
    for lang in languages():
        words = Words(lang)
        sheet = opened(written(example(), Handout(lang=lang, answers=answers))).worksheets[1]
        row = FIRST + 2
        found = {header: sheet.cell(row, headers(sheet).index(header) + 1) for header in headers(sheet)}
        assert found[words["column.judgement"]].value == f"3 {words['judgement.boundary']}"
        assert found[words["column.correct_span"]].value == f"R {words['span_choice.as_reference']}"
        assert found[f"{words['column.correct_label']}: risk"].value == "MEDIUM"
        assert found[f"{words['column.correct_label']}: category"].value is None
        assert found[words["column.severity"]].value == f"1 {words['severity.direct']}"
        assert found[words["column.comment"]].value == "= not a formula"
        assert found[words["column.comment"]].data_type == "s"


def test_earlier_judgements_are_shown_as_words_in_a_column_of_their_own():
    case = example().case_tables[0]["case_id"][3]
    sheet = opened(written(example(), Handout(earlier={case: "Anna: Model is wrong"})))[TABS["FN"]]
    shown = texts(sheet, "Earlier judgements")
    assert shown[3] == "Anna: Model is wrong"
    assert set(shown[:3] + shown[4:]) == {""}
    assert "Earlier judgements" not in headers(opened(written(example()))[TABS["FN"]])


def _chart_texts(content):
    """The XML of each chart."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("xl/charts/chart"))
        return [archive.read(name).decode() for name in names]


def _charts(content):
    """Of each chart: the ranges of its series, and what it shows before a program has looked at the cells."""
    return [
        [
            (reference, re.findall("<c:v>([^<]*)</c:v>", cache))
            for _, reference, cache in re.findall(r"<c:(cat|val)>.*?<c:f>([^<]+)</c:f>(.*?)</c:\1>", text)
        ]
        for text in _chart_texts(content)
    ]


def test_charts_draw_from_a_hidden_sheet_and_carry_their_figures():
    """A hidden column is not drawn by every program."""
    content = written(example())
    book = opened(content, values=True)
    charts = _charts(content)
    for chart in _chart_texts(content):
        assert chart.count("<c:dLbls>") == chart.count("<c:ser>")  # a value beside every bar and dot
        assert "maxMin" not in chart  # no axis is turned round: the other would stand on top
    assert [len(series) for series in charts] == [2, 2, 2, 4, 4]
    for reference, shown in (series for chart in charts for series in chart):
        sheet, _, area = reference.replace("$", "").rpartition("!")
        assert book[sheet].sheet_state == "hidden"
        cells = [row[0].value for row in book[sheet][area]]
        if isinstance(cells[0], str):
            assert [name.rstrip("\u2060") for name in shown] == cells  # no number for a name
        else:
            assert [float(value) for value in shown] == pytest.approx(cells)
    visible = [sheet for sheet in book if sheet.sheet_state == "visible"]
    assert not any(
        dimension.hidden for sheet in visible if sheet._charts for dimension in sheet.column_dimensions.values()
    )
