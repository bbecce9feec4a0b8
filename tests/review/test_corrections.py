"""What each judgement does to gold, worked by hand, on FN and on FP."""

from __future__ import annotations

import random
from itertools import product

import pytest

from clueval_xlsx.review.answers import Wrong
from clueval_xlsx.review.correction import correct
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.facts import answer_rule, case_facts
from clueval_xlsx.review.judgements import Judgement
from tests.support.judging import EFFECTS, case, decide, judged, spans
from tests.support.workbooks import example

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


GOLD = [("Herr Dietmar Kolbe", "PER"), ("Marlene", "PER"), ("Kammer", "ORG")]
HERR, MARLENE, KAMMER, BERT = "Herr Dietmar Kolbe", "Marlene Osterhagen", "Kammer", "Bert Kiesling"
TWO, BOTH_ORG = [("Herr", "ORG"), ("Kolbe", "PER")], [("Herr", "ORG"), ("Kolbe", "ORG")]


@pytest.fixture
def run():
    return judged(TABLE)


@pytest.mark.parametrize(
    ("sheet", "words", "answer", "gone", "new"),
    [
        ("FN", KAMMER, Judgement("model_error"), (), []),
        ("FP", BERT, Judgement("model_error"), (), []),
        ("FN", KAMMER, Judgement("unclear"), (), []),
        ("FN", HERR, Judgement("acceptable"), (), []),
        ("FN", KAMMER, Judgement("gold_wrong"), (KAMMER,), []),
        ("FP", BERT, Judgement("gold_missing"), (), [(BERT, "PER")]),
        ("FP", BERT, Judgement("gold_missing", "Bert", {"span": "ORG"}), (), [("Bert", "ORG")]),
        ("FN", HERR, Judgement("boundary", "as_model"), (HERR,), [("Dietmar Kolbe", "PER")]),
        ("FN", HERR, Judgement("boundary", "common"), (HERR,), [("Dietmar Kolbe", "PER")]),
        ("FN", HERR, Judgement("boundary", "Kolbe"), (HERR,), [("Kolbe", "PER")]),
        ("FN", HERR, Judgement("boundary", "DietmarKolbe und"), (HERR,), [("Dietmar Kolbe und", "PER")]),
        ("FN", HERR, Judgement("boundary", "🟩\u2060Dietmar\u2060🟩 Kolbe"), (HERR,), [("Dietmar Kolbe", "PER")]),
        ("FN", HERR, Judgement("boundary", "dietmar kolbe"), (HERR,), [("Dietmar Kolbe", "PER")]),
        ("FN", HERR, Judgement("boundary", "as_reference", {"span": "org"}), (HERR,), [(HERR, "ORG")]),
        ("FP", MARLENE, Judgement("boundary", "as_model"), ("Marlene",), [(MARLENE, "PER")]),
        ("FP", MARLENE, Judgement("boundary", "Osterhagen"), ("Marlene",), [("Osterhagen", "PER")]),
        ("FP", MARLENE, Judgement("boundary", "as_model", {"span": "org"}), ("Marlene",), [(MARLENE, "ORG")]),
        ("FP", MARLENE, Judgement("label", correct_labels={"span": "ORG"}), ("Marlene",), [("Marlene", "ORG")]),
        ("FN", KAMMER, Judgement("label", correct_labels={"span": "per"}), (KAMMER,), [(KAMMER, "PER")]),
        ("FN", KAMMER, Judgement("label", correct_labels={"span": "!COURT"}), (KAMMER,), [(KAMMER, "COURT")]),
        # a span that is split, each part with a label of its own or one for both
        ("FN", HERR, Judgement("boundary", "Herr | Kolbe"), (HERR,), [("Herr", "PER"), ("Kolbe", "PER")]),
        ("FN", HERR, Judgement("boundary", "Herr|Kolbe", {"span": "ORG|PER"}), (HERR,), TWO),
        ("FN", HERR, Judgement("boundary", "Herr|Kolbe", {"span": "ORG"}), (HERR,), BOTH_ORG),
        ("FN", HERR, Judgement("boundary", "Herr Dietmar|Dietmar Kolbe und"), (HERR,), [(f"{HERR} und", "PER")]),
        # words that were shown to nobody as marked, and a part of a word
        ("FP", BERT, Judgement("gold_missing", "Kammer traf"), (KAMMER,), [("Kammer traf", "PER")]),
        ("FN", HERR, Judgement("boundary", "Diet"), (HERR,), [("Dietmar", "PER")]),
    ],
)  # fmt: skip
def test_what_a_judgement_does_to_gold(run, sheet, words, answer, gone, new):
    result = decide(run, {case(run, sheet, words): answer})
    assert not result.needs_a_person
    assert sorted(spans(result)) == sorted([span for span in GOLD if span[0] not in gone] + new)
    assert result.undecided == ((case(run, sheet, words),) if answer.code == "unclear" else ())


@pytest.mark.parametrize(
    ("sheet", "words", "answer", "reason"),
    [
        ("FN", KAMMER, Judgement("boundary"), "correct_span"),
        ("FN", KAMMER, Judgement("label"), "correct_label"),
        ("FN", KAMMER, Judgement("boundary", "as_model"), "nothing_marked"),
        ("FN", KAMMER, Judgement("boundary", "Landgericht"), "not_in_text"),
        ("FN", KAMMER, Judgement("boundary", "Marlene"), "not_in_text"),  # of another sentence
        ("FN", KAMMER, Judgement("boundary", "as_reference"), "same_span"),
        ("FN", KAMMER, Judgement("boundary", "kammer"), "same_span"),
        ("FN", KAMMER, Judgement("label", correct_labels={"span": "org"}), "same_label"),
        ("FN", KAMMER, Judgement("label", correct_labels={"span": "OGR"}), "new_label"),
        ("FN", KAMMER, Judgement("label", correct_labels={"span": "!A B"}), "new_label"),
        ("FN", KAMMER, Judgement("label", correct_labels={"span": "–"}), "nothing_left"),
        ("FN", KAMMER, Judgement("label", correct_labels={"span": "PER|ORG"}), "parts"),
        ("FN", HERR, Judgement("boundary", "Herr|Kolbe", {"span": "PER|ORG|PER"}), "parts"),
        ("FP", BERT, Judgement("boundary", "as_model"), "no_reference"),
        ("FP", BERT, Judgement("label", correct_labels={"span": "ORG"}), "no_reference"),
        ("FP", BERT, Judgement("gold_missing", "both"), "nothing_marked"),
    ],
)
def test_what_state_does_not_tick_is_held_back_with_its_reason(run, sheet, words, answer, reason):
    result = decide(run, {case(run, sheet, words): answer})
    (problem,) = result.unusable
    assert problem.reason == reason
    assert not problem.found.endswith(reason)
    assert spans(result) == GOLD
    assert result.needs_a_person


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Judgement("boundary", "Diet"), "'Diet' is no whole word; 'Dietmar' was taken"),
        (Judgement("boundary", "und"), "'und' shares no word with what either side has marked"),
        (Judgement("boundary", "Herr Dietmar Kolb"), "the correction leaves the reference as it is"),
        (Judgement("boundary", "Herr Dietmar|Dietmar Kolbe und"), "parts of the correct span overlap"),
        (Judgement("label", correct_labels={"span": "!COURT"}), "'COURT' is a new label of layer span"),
        (Judgement("gold_wrong", "Kolbe"), "a correct span beside “Should not be marked” does nothing"),
        (
            Judgement("model_error", correct_labels={"span": "ORG"}),
            "a correct label beside “Model is wrong” does nothing",
        ),
    ],
)
def test_what_is_not_plain_is_noted_with_its_cell(run, answer, said):
    result = decide(run, {case(run, "FN", HERR): answer})
    assert any(said in note and note.startswith("anna.xlsx!FN!") for note in result.notes)
    assert not result.problems


def test_a_correction_that_changes_nothing_is_no_error_of_the_reference(run):
    result = decide(run, {case(run, "FN", HERR): Judgement("boundary", "Herr Dietmar Kolb")})
    assert result.ledger.set_index("entry")["FN"].loc[["gold_error", "model_error"]].tolist() == [0, 1]
    assert not result.correction.changes


def test_acceptable_counts_as_right(run):
    answers = {case(run, "FN", HERR): Judgement("acceptable"), case(run, "FP", MARLENE): Judgement("acceptable")}
    table = decide(run, answers).scores.set_index("state")[["tp_gold", "tp_pred"]]
    assert table.loc["corrected"].tolist() == table.loc["raw"].tolist()
    assert (table.loc["accepted"] - table.loc["raw"]).tolist() == [1, 1]


def test_typed_words_mean_the_nearest_occurrence_else_the_first():
    run = judged("""
        token  gold   pred
        Anna   O      O
        und    O      O
        traf   B-PER  O
        Anna   O      O
    """)
    result = decide(run, {case(run, "FN", "traf"): Judgement("boundary", "Anna")})
    assert result.changes["new_start"].tolist() == [3]
    assert any("stands there more than once" in note for note in result.notes)


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
    assert [problem.reason for problem in result.problems] == ["not_in_text"]


# -- a correction takes over what it contains -------------------------------------------------------------------------

NAMES = """
    token     gold   pred
    Herr      O      O
    Desvonde  B-PER  O
    Botes     B-PER  B-PER
    und       O      O
    Humane    O      B-ORG
    Society   O      I-ORG
    of        O      I-ORG
    the       O      O
    United    B-LOC  B-LOC
    States    I-LOC  I-LOC
    Real      B-ORG  B-LOC
    Madrid    I-ORG  I-LOC
    -         I-ORG  O
    Barcelona I-ORG  O
"""
FIRST, SOCIETY, REAL = "Desvonde", "Humane Society of", "Real Madrid - Barcelona"
KEPT = [("Desvonde", "PER"), ("Botes", "PER"), ("United States", "LOC"), (REAL, "ORG")]


def _but(*gone, new):
    return sorted([span for span in KEPT if span[0] not in gone] + new)


@pytest.mark.parametrize(
    ("sheet", "words", "answer", "result"),
    [
        ("FN", FIRST, Judgement("boundary", "Desvonde Botes"), _but(FIRST, "Botes", new=[("Desvonde Botes", "PER")])),
        (
            "FP",
            SOCIETY,
            Judgement("gold_missing", "Humane Society of the United States"),
            _but("United States", new=[("Humane Society of the United States", "ORG")]),
        ),
        (
            "FN",
            REAL,
            Judgement("boundary", "Real Madrid | Barcelona"),
            _but(REAL, new=[("Real Madrid", "ORG"), ("Barcelona", "ORG")]),
        ),
    ],
)
def test_a_correction_replaces_what_it_contains_and_may_be_split(sheet, words, answer, result):
    run = judged(NAMES)
    found = decide(run, {case(run, sheet, words): answer})
    assert sorted(spans(found)) == result
    assert not found.needs_a_person
    gone = {text for text, _ in KEPT} - {text for text, _ in result}
    assert " | ".join(sorted(gone, key=NAMES.find)) == " | ".join(found.changes["old_text"])
    again = correct(found.correction.layers, list(found.decisions.values()))
    assert not again.changes


def test_a_correction_that_cuts_into_gold_shows_that_span_to_the_person_who_decides():
    run = judged(NAMES)
    society, real = case(run, "FP", SOCIETY), case(run, "FN", REAL)
    (conflict,) = decide(run, {society: Judgement("gold_missing", "Society of the United")}).conflicts
    assert "United States" in conflict.words  # which is no case: both sides agree
    found = decide(run, {society: Judgement("gold_missing", "of the United States Real")})
    assert real in found.to_decide
    assert real not in found.cases_in_conflict  # nobody judged it, but it stands in the way


def test_a_span_that_somebody_confirmed_is_not_taken_over():
    run = judged("""
        token  gold   pred
        a      B-X    O
        b      B-X    O
    """)
    answers = {case(run, "FN", "a"): Judgement("boundary", "a b"), case(run, "FN", "b"): Judgement("model_error")}
    found = decide(run, answers)
    (conflict,) = found.conflicts
    assert set(conflict.cases) == set(answers)
    assert spans(found) == [("a", "X"), ("b", "X")]
    answers[case(run, "FN", "b")] = Judgement("boundary", "a b")
    assert spans(decide(run, answers)) == [("a b", "X")]


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
        (Judgement("label", correct_labels={"span": "!ORG"}), Judgement("boundary", "both")),
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


@pytest.mark.parametrize(
    ("answer", "settles"),
    [
        (Judgement("boundary", "both"), True),
        (Judgement("label", correct_labels={"span": "!X"}), True),
        (Judgement("model_error"), True),
        (Judgement("acceptable"), True),
        (Judgement("unclear"), True),
        (Judgement("gold_wrong"), False),
    ],
)
def test_one_judgement_settles_the_pair(answer, settles):
    run = judged(CROSSED)
    one, other = case(run, "FN", "Petra Weidmann"), case(run, "FP", "Weidmann Partner")
    found = decide(run, {one: answer})
    assert found.settled == ({other: one} if settles else {})
    assert found.ledger.set_index("entry").loc["settled"].tolist() == [0, int(settles)]
    own = decide(run, {one: answer, other: Judgement("unclear")})  # its own judgement wins
    assert own.settled == {}


def test_of_several_links_only_a_correction_settles():
    run = judged("""
        token  gold   pred
        a      B-X    B-X
        b      O      I-X
        c      B-X    I-X
    """)
    whole = case(run, "FP", "a b c")
    assert decide(run, {whole: Judgement("model_error")}).settled == {}
    assert len(decide(run, {whole: Judgement("boundary", "as_model")}).settled) == len(run.bare_cases[0])


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
    answer = Judgement("label", correct_labels={"category": "!PLACE", "risk": "LOW"})
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


def test_a_forgotten_span_is_added_as_it_was_shown_to_every_layer_that_the_model_labels():
    run = judged(LAYERED, LAYERS)
    found = decide(run, {case(run, "FP", "Bert Kiesling"): Judgement("gold_missing")})
    assert spans(found, "category")[1:] == [("Bert Kiesling", "PER")]
    assert spans(found, "risk")[1:] == [("Bert Kiesling", "LOW")]


def test_a_deleted_span_is_deleted_on_every_layer():
    run = judged(LAYERED, LAYERS)
    found = decide(run, {case(run, "FN", "Haus Lerchen 8"): Judgement("gold_wrong")})
    assert spans(found, "category") == spans(found, "risk") == []


# -- State and the re-import are one rule ---------------------------------------------------------------------------


def test_what_state_ticks_is_carried_out_and_nothing_else():
    evaluation = example(replicates=0)
    book, rule, rng = CaseBook(evaluation), answer_rule(evaluation), random.Random(5)
    facts = case_facts(evaluation, book.table.reset_index(drop=True))
    labels = ("", "PERSON", "OGR", "!NEW", "-", "A|B")
    ticked = 0
    for case_id, known in facts.items():
        parts = [known.text[at : at + rng.randint(2, 30)] for at in rng.sample(range(len(known.text) - 2), 6)]
        typed = ["", "M", "wie das Modell", "r", "B", "C", "nowhere", "x", known.same, *parts, "|".join(parts[:2])]
        codes = ("boundary", "label") if case_id[:2] == "FN" else ("boundary", "label", "gold_missing")
        for code, span, label in product(codes, typed, labels):
            record = Judgement(code, span, {"category": label}, case_id=case_id, effect=EFFECTS[code])
            wrong, decision = rule.wrong(record, known), book.decide(record)
            assert (decision if isinstance(decision, Wrong) else None) is wrong, record
            ticked += wrong is None
    assert ticked > 500
