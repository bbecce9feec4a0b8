"""What each judgement does to gold, worked by hand, on FN and on FP."""

from __future__ import annotations

import pytest

from clueval_xlsx.review.judgements import Judgement
from tests.support.judging import LINKED, case, decide, judged, spans

# "Herr Kolbe" is too long in gold, "Osterhagen" is missing, "Kammer" should not be there; the model has all right.
TABLE = """
    token       gold   pred
    <s>
    Herr        B-PER  O
    Dietmar     I-PER  B-PER
    Kolbe       I-PER  I-PER
    und         O      O
    Marlene     B-PER  B-PER
    Osterhagen  O      I-PER
    </s>
    <s>
    Die         O      O
    Kammer      B-ORG  O
    traf        O      O
    Bert        O      B-PER
    Kiesling    O      I-PER
    und         O      O
    Bert        O      O
    </s>
"""


@pytest.fixture
def run():
    return judged(TABLE)


def test_a_model_error_changes_nothing(run):
    result = decide(
        run,
        {
            case(run, "FN", "Kammer"): Judgement("model_error"),
            case(run, "FP", "Bert Kiesling"): Judgement("model_error"),
        },
    )
    assert not result.correction.changes
    assert not result.conflicts


def test_gold_wrong_deletes_the_gold_span(run):
    result = decide(run, {case(run, "FN", "Kammer"): Judgement("gold_wrong")})
    assert spans(result) == [("Herr Dietmar Kolbe", "PER"), ("Marlene", "PER")]


def test_gold_missing_adds_the_predicted_span(run):
    result = decide(run, {case(run, "FP", "Bert Kiesling"): Judgement("gold_missing")})
    assert ("Bert Kiesling", "PER") in spans(result)


def test_gold_missing_takes_correct_span_and_label(run):
    answer = Judgement("gold_missing", "Bert", {"span": "ORG"})
    result = decide(run, {case(run, "FP", "Bert Kiesling"): answer})
    assert [text for text in spans(result) if text[1] == "ORG"] == [("Kammer", "ORG"), ("Bert", "ORG")]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("as_reference", "Herr Dietmar Kolbe"),
        ("as_model", "Dietmar Kolbe"),
        ("both", "Herr Dietmar Kolbe"),
        ("common", "Dietmar Kolbe"),
        ("Kolbe", "Kolbe"),
        ("DietmarKolbe und", "Dietmar Kolbe und"),
        ("🟥\u2060Dietmar\u2060🟥 Kolbe", "Dietmar Kolbe"),
        ("dietmar kolbe", "Dietmar Kolbe"),
    ],
)
def test_boundary_on_a_missed_span_takes_every_choice(run, choice, words):
    result = decide(run, {case(run, "FN", "Herr Dietmar Kolbe"): Judgement("boundary", choice)})
    assert spans(result)[0] == (words, "PER")
    assert not result.problems


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("as_reference", "Marlene"),
        ("as_model", "Marlene Osterhagen"),
        ("both", "Marlene Osterhagen"),
        ("common", "Marlene"),
        ("Osterhagen", "Osterhagen"),
    ],
)
def test_boundary_on_an_unsupported_span_replaces_the_gold_it_overlaps(run, choice, words):
    result = decide(run, {case(run, "FP", "Marlene Osterhagen"): Judgement("boundary", choice)})
    assert spans(result)[1] == (words, "PER")
    assert len(spans(result)) == 3


def test_boundary_takes_a_label_along(run):
    result = decide(run, {case(run, "FP", "Marlene Osterhagen"): Judgement("boundary", "as_model", {"span": "org"})})
    assert spans(result)[1] == ("Marlene Osterhagen", "ORG")  # in the spelling of the corpus


def test_label_replaces_the_label_alone(run):
    result = decide(run, {case(run, "FN", "Kammer"): Judgement("label", correct_labels={"span": "COURT"})})
    assert spans(result)[2] == ("Kammer", "COURT")


def test_label_on_an_unsupported_span_relabels_the_gold_it_overlaps(run):
    result = decide(run, {case(run, "FP", "Marlene Osterhagen"): Judgement("label", correct_labels={"span": "ORG"})})
    assert spans(result)[1] == ("Marlene", "ORG")


def test_acceptable_counts_as_right_but_leaves_gold_alone(run):
    result = decide(
        run,
        {
            case(run, "FN", "Herr Dietmar Kolbe"): Judgement("acceptable"),
            case(run, "FP", "Marlene Osterhagen"): Judgement("acceptable"),
        },
    )
    assert not result.correction.changes
    table = result.scores.set_index("state")
    assert table.loc["raw", ["tp_gold", "tp_pred"]].tolist() == table.loc["corrected", ["tp_gold", "tp_pred"]].tolist()
    assert table.loc["accepted", "tp_gold"] == table.loc["raw", "tp_gold"] + 1
    assert table.loc["accepted", "tp_pred"] == table.loc["raw", "tp_pred"] + 1


def test_unclear_is_listed_and_changes_nothing(run):
    one = case(run, "FN", "Kammer")
    result = decide(run, {one: Judgement("unclear")})
    assert result.undecided == (one,)
    assert not result.correction.changes
    assert not result.needs_a_person


@pytest.mark.parametrize(
    ("sheet", "words", "answer", "reason"),
    [
        ("FN", "Kammer", Judgement("boundary"), "span_missing"),
        ("FN", "Kammer", Judgement("label"), "label_missing"),
        ("FN", "Kammer", Judgement("boundary", "as_model"), "not_marked"),
        ("FN", "Kammer", Judgement("boundary", "Landgericht"), "not_found"),
        ("FN", "Kammer", Judgement("boundary", "Kamm"), "not_found"),
        ("FN", "Kammer", Judgement("boundary", "Marlene"), "not_found"),  # of another sentence
        ("FN", "Kammer", Judgement("label", correct_labels={"span": "–"}), "no_label"),
        ("FN", "Kammer", Judgement("label", correct_labels={"span": "A | B"}), "bad_label"),
        ("FP", "Bert Kiesling", Judgement("boundary", "as_model"), "no_reference"),
        ("FP", "Bert Kiesling", Judgement("label", correct_labels={"span": "ORG"}), "no_reference"),
        ("FP", "Bert Kiesling", Judgement("gold_missing", "both"), "not_marked"),
    ],
)
def test_what_cannot_be_carried_out_is_reported_with_its_reason(run, sheet, words, answer, reason):
    result = decide(run, {case(run, sheet, words): answer})
    assert [problem.reason for problem in result.problems] == [reason]
    assert not result.correction.changes
    assert result.needs_a_person


def test_typed_words_at_the_same_distance_are_ambiguous():
    run = judged("""
        token  gold   pred
        Anna   O      O
        traf   B-PER  O
        Anna   O      O
    """)
    result = decide(run, {case(run, "FN", "traf"): Judgement("boundary", "Anna")})
    assert [problem.reason for problem in result.problems] == ["ambiguous"]


def test_typed_words_mean_the_nearest_occurrence():
    run = judged("""
        token  gold   pred
        Anna   O      O
        und    O      O
        traf   B-PER  O
        Anna   O      O
    """)
    result = decide(run, {case(run, "FN", "traf"): Judgement("boundary", "Anna")})
    assert result.changes["new_start"].tolist() == [3]


def test_words_that_cross_a_sentence_are_refused():
    table = """
        token  gold   pred
        <s>
        Anna   B-PER  O
        </s>
        <s>
        Lee    O      O
        </s>
    """
    run = judged(table, context=5)
    result = decide(run, {case(run, "FN", "Anna"): Judgement("boundary", "Anna Lee")})
    assert [problem.reason for problem in result.problems] == ["crosses"]


# -- what must not be carried out together ---------------------------------------------------------------------------


def test_a_forgotten_span_over_gold_that_stays_is_a_conflict_that_suggests_boundary(run):
    one = case(run, "FP", "Marlene Osterhagen")
    result = decide(run, {one: Judgement("gold_missing")})
    (conflict,) = result.conflicts
    assert conflict.kind == "overlap"
    assert conflict.hint == "boundary"
    assert result.cases_in_conflict == (one,)
    assert not result.correction.changes


CROSSED = """
    token    gold   pred
    Petra    B-PER  O
    Weidmann I-PER  B-PER
    Partner  O      I-PER
    kam      O      O
"""


@pytest.mark.parametrize(
    ("missed", "unsupported", "result"),
    [
        (Judgement("boundary", "both"), Judgement("boundary", "both"), [("Petra Weidmann Partner", "PER")]),
        (Judgement("boundary", "as_model"), None, [("Weidmann Partner", "PER")]),
        (None, Judgement("boundary", "common"), [("Weidmann", "PER")]),
        (Judgement("gold_wrong"), Judgement("gold_missing"), [("Weidmann Partner", "PER")]),
        (Judgement("gold_wrong"), Judgement("model_error"), []),
        (Judgement("boundary", "as_model"), Judgement("gold_missing"), [("Weidmann Partner", "PER")]),
        (Judgement("model_error"), Judgement("model_error"), [("Petra Weidmann", "PER")]),
        (Judgement("unclear"), Judgement("boundary", "both"), [("Petra Weidmann Partner", "PER")]),
    ],
)
def test_linked_cases_that_agree_are_carried_out_once(missed, unsupported, result):
    run = judged(CROSSED)
    answers = {case(run, "FN", "Petra Weidmann"): missed, case(run, "FP", "Weidmann Partner"): unsupported}
    found = decide(run, {key: answer for key, answer in answers.items() if answer is not None})
    assert spans(found) == result
    assert not found.conflicts


@pytest.mark.parametrize(
    ("missed", "unsupported"),
    [
        (Judgement("boundary", "both"), Judgement("boundary", "common")),
        (Judgement("model_error"), Judgement("boundary", "both")),
        (Judgement("gold_wrong"), Judgement("boundary", "both")),
        (Judgement("boundary", "as_model"), Judgement("model_error")),
        (Judgement("gold_wrong"), Judgement("acceptable")),
        (Judgement("model_error"), Judgement("gold_missing")),
        (Judgement("label", correct_labels={"span": "ORG"}), Judgement("boundary", "both")),
    ],
)
def test_linked_cases_that_contradict_each_other_are_a_conflict_that_names_both_rows(missed, unsupported):
    run = judged(CROSSED)
    answers = {case(run, "FN", "Petra Weidmann"): missed, case(run, "FP", "Weidmann Partner"): unsupported}
    found = decide(run, answers)
    (conflict,) = found.conflicts
    assert set(conflict.cases) == set(answers)
    assert len(conflict.places) == 2
    assert spans(found) == [("Petra Weidmann", "PER")]
    assert found.needs_a_person


def test_judging_one_of_a_linked_pair_settles_the_other():
    run = judged(CROSSED)
    one, other = case(run, "FN", "Petra Weidmann"), case(run, "FP", "Weidmann Partner")
    found = decide(run, {one: Judgement("boundary", "both")})
    assert found.settled == {other: one}
    assert found.ledger.set_index("entry").loc["settled"].tolist() == [0, 1]


def test_new_spans_that_overlap_each_other_are_held_back_both():
    run = judged(
        """
        token  gold   pred
        a      B-X    O
        b      O      O
        c      B-X    O
        """
    )
    answers = {case(run, "FN", "a"): Judgement("boundary", "a b"), case(run, "FN", "c"): Judgement("boundary", "b c")}
    found = decide(run, answers)
    (conflict,) = found.conflicts
    assert set(conflict.cases) == set(answers)
    assert spans(found) == [("a", "X"), ("c", "X")]


def test_two_gold_spans_may_become_one():
    run = judged(
        """
        token  gold   pred
        a      B-X    B-X
        b      O      I-X
        c      B-X    I-X
        """
    )
    found = decide(run, {case(run, "FP", "a b c"): Judgement("boundary", "as_model")})
    assert spans(found) == [("a b c", "X")]


# -- several layers --------------------------------------------------------------------------------------------------

LAYERED = """
    token     gold1   gold2   pred1   pred2
    Haus      B-ADR   O       O       O
    Lerchen   I-ADR   B-HIGH  O       O
    8         I-ADR   O       O       O
    und       O       O       O       O
    Bert      O       O       B-PER   O
    Kiesling  O       O       I-PER   B-LOW
"""
LAYERS = {"category": 2, "risk": 3}


def test_a_boundary_on_merged_spans_writes_one_extent_to_every_layer():
    run = judged(LAYERED, LAYERS)
    found = decide(run, {case(run, "FN", "Haus Lerchen 8"): Judgement("boundary", "Lerchen 8")})
    assert spans(found, "category") == [("Lerchen 8", "ADR")]
    assert spans(found, "risk") == [("Lerchen 8", "HIGH")]


def test_a_label_on_merged_spans_keeps_the_extent_of_each_layer():
    run = judged(LAYERED, LAYERS)
    answer = Judgement("label", correct_labels={"category": "PLACE", "risk": "LOW"})
    found = decide(run, {case(run, "FN", "Haus Lerchen 8"): answer})
    assert spans(found, "category") == [("Haus Lerchen 8", "PLACE")]
    assert spans(found, "risk") == [("Lerchen", "LOW")]


def test_a_label_for_one_layer_leaves_the_other_alone():
    run = judged(LAYERED, LAYERS)
    found = decide(run, {case(run, "FN", "Haus Lerchen 8"): Judgement("label", correct_labels={"risk": "LOW"})})
    assert found.correction.layers["category"] is run.pair.gold.layers["category"]
    assert spans(found, "risk") == [("Lerchen", "LOW")]


def test_a_dash_takes_the_label_of_one_layer_away():
    run = judged(LAYERED, LAYERS)
    found = decide(run, {case(run, "FN", "Haus Lerchen 8"): Judgement("label", correct_labels={"risk": "–"})})
    assert spans(found, "category") == [("Haus Lerchen 8", "ADR")]
    assert spans(found, "risk") == []


def test_a_forgotten_span_is_added_to_each_layer_as_the_model_has_it():
    run = judged(LAYERED, LAYERS)
    found = decide(run, {case(run, "FP", "Bert Kiesling"): Judgement("gold_missing")})
    assert spans(found, "category")[1:] == [("Bert Kiesling", "PER")]
    assert spans(found, "risk")[1:] == [("Kiesling", "LOW")]


def test_a_deleted_span_is_deleted_on_every_layer():
    run = judged(LAYERED, LAYERS)
    found = decide(run, {case(run, "FN", "Haus Lerchen 8"): Judgement("gold_wrong")})
    assert spans(found, "category") == spans(found, "risk") == []


def test_a_label_that_nobody_has_used_is_named_with_its_cell() -> None:
    evaluation = judged(LINKED)
    slip = decide(evaluation, {case(evaluation, "FN", "Marlene"): Judgement("label", correct_labels={"span": "PRE"})})
    assert [note for note in slip.notes if "'PRE' is a new label of layer span" in note]
    fine = decide(evaluation, {case(evaluation, "FN", "Marlene"): Judgement("label", correct_labels={"span": "per"})})
    assert not [note for note in fine.notes if "new label" in note]
