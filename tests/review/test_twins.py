"""Judge once: a decision that holds for the twins of its case, by hand, in the log, in figures, between judges."""

from __future__ import annotations

import pytest

from clueval_xlsx.review.accounting import CaseState
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.log import read_log, standing_decisions, write_log
from clueval_xlsx.review.vocabulary import ConflictKind, Outcome, Scope, Severity
from tests.support.judging import decide, judged, records, spans

ALL, DOCUMENT = Scope.ALL, Scope.DOCUMENT
# Missed: Kay three times (once in capitals), Jay B . three times, of which the model has Jay; Amt only by the model.
TABLE = """
    token  gold   pred
    <text id="d1">
    <s>
    Kay    B-PER  O
    rief   O      O
    KAY    B-PER  O
    an     O      O
    </s>
    <s>
    Frau   O      O
    Jay    B-PER  B-PER
    B.     I-PER  O
    im     O      O
    Amt    O      B-ORG
    </s>
    </text>
    <text id="d2">
    <s>
    Kay    B-PER  O
    und    O      O
    Frau   O      O
    Jay    B-PER  B-PER
    B.     I-PER  O
    </s>
    <s>
    Herr   O      O
    Jay    B-PER  B-PER
    B.     I-PER  O
    im     O      O
    amt    O      B-ORG
    </s>
    <s>
    Kay    B-LOC  O
    </s>
    </text>
"""


@pytest.fixture(scope="module")
def run():
    return judged(TABLE)


def ids(run, words, sheet="FN", label=None):
    table = run.bare_cases[sheet == "FP"]
    chosen = table["surface"].str.casefold() == words.casefold()
    return table[chosen & (label is None or table["label_span"] == label)]["case_id"].tolist()


def kays(run):
    return ids(run, "Kay", label="PER")


def persons(found):
    return [words for words, label in spans(found) if label == "PER"]


def test_twins_have_the_same_words_labels_and_class_whatever_their_case_and_spacing(run):
    missed = run.bare_cases[0].set_index("case_id")
    assert missed.loc[kays(run), "alike"].tolist() == [3, 3, 3]
    assert missed.loc[kays(run), "twin_group"].tolist() == [1, 1, 1]
    assert missed.loc[ids(run, "Kay", label="LOC"), "alike"].tolist() == [1]
    assert missed.loc[ids(run, "Jay B."), "alike"].tolist() == [3, 3, 3]
    assert run.bare_cases[1].set_index("case_id").loc[ids(run, "Amt", "FP"), "alike"].tolist() == [2, 2]


def test_a_decision_for_all_alike_holds_for_every_twin(run):
    found = decide(run, {kays(run)[1]: Judgement("gold_wrong", applies_to=ALL)})
    assert persons(found) == ["Jay B.", "Jay B.", "Jay B."]
    assert ("Kay", "LOC") in spans(found)
    assert found.carried == {kays(run)[0]: kays(run)[1], kays(run)[2]: kays(run)[1]}


def test_a_decision_for_this_document_leaves_the_others_alone(run):
    found = decide(run, {kays(run)[0]: Judgement("gold_wrong", applies_to=DOCUMENT)})
    assert persons(found) == ["Jay B.", "Kay", "Jay B.", "Jay B."]
    assert list(found.carried) == [kays(run)[1]]


def test_without_a_scope_a_decision_holds_for_its_case_alone(run):
    found = decide(run, {kays(run)[0]: Judgement("gold_wrong")})
    assert len(found.correction.changes) == 1
    assert not found.carried


def test_a_twin_with_a_judgement_of_its_own_keeps_it(run):
    first, second, third = kays(run)
    found = decide(run, {first: Judgement("gold_wrong", applies_to=ALL), second: Judgement("model_error")})
    assert persons(found)[0] == "KAY"
    assert found.carried == {third: first}


def test_cannot_decide_is_a_judgement_of_its_own(run):
    first, second, _third = kays(run)
    found = decide(run, {first: Judgement("gold_wrong", applies_to=ALL), second: Judgement("unclear")})
    assert "KAY" in persons(found)
    assert found.undecided == (second,)


def test_a_judgement_of_somebody_else_is_the_twins_own_too(run):
    first, second, third = kays(run)
    anna, ben = {first: Judgement("gold_wrong", applies_to=ALL)}, {second: Judgement("model_error")}
    found = decide(run, records(anna, "Anna"), records(ben, "Ben"))
    assert persons(found)[0] == "KAY"
    assert found.carried == {third: first}


def test_two_decisions_that_claim_a_twin_and_differ_are_a_conflict_that_names_both_cells(run):
    first, second, third = kays(run)
    answers = {first: Judgement("gold_wrong", applies_to=ALL), second: Judgement("model_error", applies_to=ALL)}
    found = decide(run, answers)
    (conflict,) = found.conflicts
    assert conflict.kind is ConflictKind.CLAIMS
    assert conflict.cases == (third,)
    assert conflict.places == ("anna.xlsx!FN!M5", "anna.xlsx!FN!M6")
    assert persons(found)[:2] == ["KAY", "Jay B."]  # both keep their own; what is claimed twice stays as it was
    assert found.needs_a_person


def test_the_same_conflict_over_several_twins_is_told_once(run):
    table = TABLE.replace("</text>\n", "<s>\n    Kay    B-PER  O\n    </s>\n    </text>\n")
    run = judged(table)
    first, second, *others = kays(run)
    found = decide(
        run, {first: Judgement("gold_wrong", applies_to=ALL), second: Judgement("model_error", applies_to=ALL)}
    )
    assert [conflict.cases for conflict in found.conflicts] == [tuple(others)]


def test_two_decisions_that_claim_a_twin_and_agree_are_none(run):
    first, second, _third = kays(run)
    anna, ben = {first: Judgement("gold_wrong", applies_to=ALL)}, {second: Judgement("gold_wrong", applies_to=DOCUMENT)}
    found = decide(run, records(anna, "Anna"), records(ben, "Ben"))
    assert not found.conflicts
    assert "Kay" not in persons(found)


def test_the_majority_decides_between_claims_of_several_judges():
    run = judged(TABLE.replace("</text>\n", "<s>\n    Kay    B-PER  O\n    </s>\n    </text>\n"))
    first, second, third, *others = kays(run)
    codes = zip((first, second, third), ("gold_wrong", "model_error", "gold_wrong"), strict=True)
    books = [
        records({case: Judgement(code, applies_to=ALL)}, who) for who, (case, code) in zip("ABC", codes, strict=True)
    ]
    found = decide(run, *books)
    assert not found.conflicts
    assert set(found.carried) == set(others)
    assert persons(found).count("Kay") + persons(found).count("KAY") == 1


def test_what_is_disputed_or_outvoted_on_its_own_case_is_not_carried(run):
    first, _second, _third = kays(run)
    claim, other = {first: Judgement("gold_wrong", applies_to=ALL)}, {first: Judgement("model_error")}
    disputed = decide(run, records(claim, "Anna"), records(other, "Ben"))
    assert not disputed.carried
    assert disputed.cases_in_conflict == (first,)
    outvoted = decide(run, records(claim, "Anna"), records(other, "Ben"), records(other, "Cem"))
    assert not outvoted.carried
    assert not outvoted.correction.changes


def test_as_the_model_means_each_twins_own_model_span(run):
    jays = ids(run, "Jay B.")
    found = decide(run, {jays[2]: Judgement("boundary", "as_model", applies_to=ALL)})
    assert persons(found) == ["Kay", "KAY", "Jay", "Kay", "Jay", "Jay"]


def test_typed_words_hold_where_the_context_of_the_twin_has_them_and_else_it_stays_open(run):
    jays = ids(run, "Jay B.")
    found = decide(run, {jays[0]: Judgement("boundary", "Frau Jay B.", applies_to=ALL)})
    assert persons(found) == ["Kay", "KAY", "Frau Jay B.", "Kay", "Frau Jay B.", "Jay B."]
    assert found.carried == {jays[1]: jays[0]}
    assert any(jays[2] in note and "stays open" in note for note in found.notes)
    assert not found.problems
    assert found.ledger.set_index("entry").loc["unjudged", "FN"] == 5


def test_labels_carry_over_as_they_were_typed(run):
    found = decide(run, {kays(run)[0]: Judgement("label", correct_labels={"span": "LOC"}, applies_to=ALL)})
    assert [label for words, label in spans(found) if words.casefold() == "kay"] == ["LOC"] * 4


def test_twins_of_the_models_spans_are_added_each_at_its_own_place(run):
    found = decide(run, {ids(run, "Amt", "FP")[0]: Judgement("gold_missing", applies_to=ALL)})
    assert [words for words, label in spans(found) if label == "ORG"] == ["Amt", "amt"]


def test_a_boundary_carried_from_a_twin_settles_the_linked_cases_of_the_twin():
    run = judged(TABLE, level="exact")
    missed, unsupported = ids(run, "Jay B."), ids(run, "Jay", "FP")
    found = decide(run, {missed[0]: Judgement("boundary", "as_model", applies_to=ALL)})
    assert len(unsupported) == 3
    assert found.settled == dict(zip(unsupported, missed, strict=True))


def test_the_severity_of_a_carried_decision_holds_unless_the_twin_has_its_own(run):
    first, second, third = kays(run)
    answers = {first: Judgement("model_error", severity=Severity.DIRECT, applies_to=ALL)}
    found = decide(run, {**answers, second: Judgement(severity=Severity.HARMLESS)})
    assert found.severities == {first: "direct", second: "harmless", third: "direct"}
    assert second in found.carried


def test_a_scope_on_a_case_without_twins_is_noted_and_the_judgement_counts(run):
    (alone,) = ids(run, "Kay", label="LOC")
    found = decide(run, {alone: Judgement("gold_wrong", applies_to=ALL)})
    assert len(found.correction.changes) == 1
    assert any("has no twin" in note for note in found.notes)
    assert not found.problems


def test_log_and_changes_tell_decisions_on_the_case_from_carried_ones(run):
    first, second, third = kays(run)
    found = decide(run, {first: Judgement("gold_wrong", comment="c", applies_to=ALL)})
    entries = read_log(write_log(found.log("2026-11-17")))
    (entry,) = entries
    assert (entry.case_id, entry.applies_to, entry.outcome, entry.place) == (
        first,
        ALL,
        Outcome.APPLIED,
        "anna.xlsx!FN!M5",
    )
    assert list(entry.reached) == [second, third]
    assert {case: each.twin for case, each in standing_decisions(entries).items()} == {
        first: "",
        second: first,
        third: first,
    }
    assert dict(zip(found.changes["case"], found.changes["twin"], strict=True)) == {
        first: "",
        second: first,
        third: first,
    }


def test_the_ledger_counts_carried_decisions_apart(run):
    found = decide(run, {kays(run)[0]: Judgement("gold_wrong", applies_to=ALL)})
    row = found.ledger.set_index("entry").loc["gold_error"]
    assert (row["FN"], row["carried"]) == (3, 2)
    assert "carried" not in decide(run, {kays(run)[0]: Judgement("gold_wrong")}).ledger.columns


def test_agreement_has_direct_pairs_and_one_unit_for_a_group_decided_through_different_twins(run):
    first, second, _third = kays(run)
    (alone,) = ids(run, "Kay", label="LOC")
    anna = {first: Judgement("gold_wrong", applies_to=ALL), alone: Judgement("model_error")}
    ben = {second: Judgement("model_error", applies_to=ALL), alone: Judgement("model_error")}
    found = decide(run, records(anna, "Anna"), records(ben, "Ben"))
    raw = found.agreement[(found.agreement["measure"] == "raw") & found.agreement["sheet"].isna()]
    overall = raw[raw["label"].isna()].iloc[0]
    assert (overall["cases"], overall["value"]) == (2, 0.5)
    same = {first: Judgement("model_error", applies_to=ALL), alone: Judgement("model_error")}
    direct = decide(run, records(anna, "Anna"), records(same, "Ben")).agreement
    assert direct[direct["measure"] == "raw"].iloc[0]["cases"] == 2  # the same twin twice: a pair, no unit beside it
    without = {second: Judgement("model_error"), alone: Judgement("model_error")}
    apart = decide(run, records(anna, "Anna"), records(without, "Ben")).agreement
    assert apart[apart["measure"] == "raw"].iloc[0]["cases"] == 1  # Ben decided a twin, not the group


def test_a_last_word_holds_for_the_twins_that_were_disputed(run):
    first, second, third = kays(run)
    answers = {first: Judgement("gold_wrong", applies_to=ALL), second: Judgement("model_error", applies_to=ALL)}
    last = records({third: Judgement("gold_wrong")}, "Cem", final=True)
    found = decide(run, records(answers, "Anna"), last)
    assert not found.conflicts
    assert persons(found)[0] == "KAY"
    assert third not in found.carried
    assert found.account.counts[CaseState.CONFLICT] == 0
