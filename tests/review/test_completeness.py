"""One rule for a complete row: what counts as judged in the progress is what the re-import can carry out."""

from __future__ import annotations

import json

import pytest

from clueval_xlsx.review.judgements import AnswerPart, Completeness, Judgement, completeness
from clueval_xlsx.review.vocabulary import Effect
from tests.support.commands import run
from tests.support.judging import case, judged, workbook
from tests.support.tables import cut

LABELS = {"span": "PER"}
TABLE = """
    token    gold   pred
    Herr     B-PER  O
    Dietmar  I-PER  B-PER
    Kolbe    I-PER  I-PER
    und      O      O
    Bert     O      B-PER
    ,        O      O
    Kammer   B-ORG  O
"""


@pytest.mark.parametrize(
    ("effect", "span", "labels", "state"),
    [
        (None, "", {}, Completeness(judged=False)),
        (None, "both", {}, Completeness(judged=False, missing=AnswerPart.JUDGEMENT)),
        (None, "", LABELS, Completeness(judged=False, missing=AnswerPart.JUDGEMENT)),
        (Effect.BOUNDARY, "", LABELS, Completeness(judged=False, missing=AnswerPart.CORRECT_SPAN)),
        (Effect.BOUNDARY, "Kolbe", {}, Completeness(judged=True)),
        (Effect.LABEL, "both", {}, Completeness(judged=False, missing=AnswerPart.CORRECT_LABEL)),
        (Effect.LABEL, "", {"span": "\u200b \u2060"}, Completeness(judged=False, missing=AnswerPart.CORRECT_LABEL)),
        (Effect.LABEL, "", LABELS, Completeness(judged=True)),
        *((effect, "", {}, Completeness(judged=True)) for effect in Effect if effect not in {"boundary", "label"}),
    ],
)
def test_an_answer_is_complete_with_what_its_effect_needs(effect, span, labels, state):
    assert completeness(effect, span, labels) == state


def test_status_counts_a_row_as_judged_only_if_the_reimport_can_use_it(tmp_path):
    evaluation = judged(TABLE)
    (tmp_path / "gold.vrt").write_bytes(cut(TABLE).gold)
    answers = {
        case(evaluation, "FN", "Herr Dietmar Kolbe"): Judgement("boundary"),
        case(evaluation, "FP", "Bert"): Judgement("gold_missing"),
        case(evaluation, "FN", "Kammer"): Judgement("label", correct_span="both"),
    }
    path = tmp_path / "anna.xlsx"
    path.write_bytes(workbook(evaluation, answers).getvalue())
    (row,) = json.loads(run("status", path, "--json", "-").out)["workbooks"]
    assert (row["account"]["judged"], row["account"]["unusable"]) == (1, 2)
    done = run("reimport", path, "--gold", tmp_path / "gold.vrt", "-o", tmp_path / "new.vrt")
    assert done.code == 3
    assert f"{row['account']['judged']} of 3 cases are judged" in done.out
    assert done.out.count("The judgement needs a correct") == row["account"]["unusable"]
