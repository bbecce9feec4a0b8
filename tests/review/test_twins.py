"""Judge once: a decision that holds for the twins of its case, by hand, in the log, in figures, between judges."""

from __future__ import annotations

import pytest

from clueval_xlsx.review.judgements import ConflictKind, Judgement, Outcome, Scope
from clueval_xlsx.review.log import read_log, standing_decisions, write_log
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
WRONG, RIGHT = Judgement("gold_wrong", applies_to=ALL), Judgement("model_error")
FIRST = Judgement("gold_wrong", applies_to=DOCUMENT)
JAYS, FRAU = ["Jay B."] * 3, ["Frau Jay B.", "Frau Jay B.", "Jay B."]


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
    assert missed.loc[kays(run), "alike"].tolist() == missed.loc[ids(run, "Jay B."), "alike"].tolist() == [3, 3, 3]
    assert missed.loc[kays(run), "twin_group"].tolist() == [1, 1, 1]
    assert missed.loc[ids(run, "Kay", label="LOC"), "alike"].tolist() == [1]
    assert run.bare_cases[1].set_index("case_id").loc[ids(run, "Amt", "FP"), "alike"].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("answers", "left", "carried"),  # answers by judge and Kay; the Kays that are left; which was carried from which
    [
        ([{1: WRONG}], [], {0: 1, 2: 1}),
        ([{0: FIRST}], ["Kay"], {1: 0}),
        ([{0: Judgement("gold_wrong")}], ["KAY", "Kay"], {}),  # without a scope for its case alone
        ([{0: WRONG, 1: RIGHT}], ["KAY"], {2: 0}),  # a twin keeps its own judgement
        ([{0: WRONG, 1: Judgement("unclear")}], ["KAY"], {2: 0}),
        ([{0: WRONG}, {1: RIGHT}], ["KAY"], {2: 0}),  # also somebody else's
        ([{0: WRONG}, {1: FIRST}], [], {2: 0}),  # claims that agree
        ([{0: WRONG}, {0: RIGHT}], ["Kay", "KAY", "Kay"], {}),  # what is disputed is not carried
        ([{0: WRONG}, {0: RIGHT}, {0: RIGHT}], ["Kay", "KAY", "Kay"], {}),  # nor what was outvoted
    ],
)
def test_whom_a_decision_reaches(run, answers, left, carried):
    cases = kays(run)
    books = [
        records({cases[at]: answer for at, answer in own.items()}, who)
        for who, own in zip(("Anna", "Ben", "Cem"), answers, strict=False)
    ]
    found = decide(run, *books)
    assert [words for words in persons(found) if words != "Jay B."] == left
    assert ("Kay", "LOC") in spans(found)
    assert found.carried == {cases[twin]: cases[source] for twin, source in carried.items()}
    disputed = [(cases[0],)] if answers == [{0: WRONG}, {0: RIGHT}] else []
    assert [conflict.cases for conflict in found.conflicts] == disputed


def test_decisions_that_claim_twins_and_differ_are_one_conflict_that_names_both_cells():
    run = judged(TABLE.replace("</text>\n", "<s>\n    Kay    B-PER  O\n    </s>\n    </text>\n"))
    first, second, third, *others = kays(run)
    found = decide(run, {first: WRONG, second: Judgement("model_error", applies_to=ALL)})
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.cases) == (ConflictKind.CLAIMS, (third, *others))
    assert conflict.places == ("anna.xlsx!FN!M5", "anna.xlsx!FN!M6")
    assert persons(found)[0] == "KAY"  # both keep their own; what is claimed twice stays as it was
    assert found.needs_a_person
    said = zip("ABC", (first, second, third), (WRONG, Judgement("model_error", applies_to=ALL), WRONG), strict=True)
    books = [records({case: answer}, who) for who, case, answer in said]
    assert set(decide(run, *books).carried) == set(others)  # the majority of the claims decides
    last = records({third: Judgement("gold_wrong", applies_to=ALL)}, "Cem", final=True)
    settled = decide(run, records({first: WRONG, second: Judgement("model_error", applies_to=ALL)}, "Anna"), last)
    assert third not in settled.cases_in_conflict


@pytest.mark.parametrize(
    ("words", "sheet", "at", "answer", "result", "carried"),
    [
        ("Jay B.", "FN", 2, Judgement("boundary", "as_model", applies_to=ALL), ["Jay", "Jay", "Jay"], 2),
        ("Jay B.", "FN", 0, Judgement("boundary", "Frau Jay B.", applies_to=ALL), FRAU, 1),
        ("Amt", "FP", 0, Judgement("gold_missing", applies_to=ALL), JAYS, 1),
    ],
)  # fmt: skip
def test_corrections_carry_over_by_what_they_say(run, words, sheet, at, answer, result, carried):
    twins = ids(run, words, sheet)
    found = decide(run, {twins[at]: answer})
    assert [person for person in persons(found) if "Jay" in person] == result
    assert len(found.carried) == carried
    open_twins = set(twins) - set(found.carried) - {twins[at]}
    assert all(any(twin in note and "stays open" in note for note in found.notes) for twin in open_twins)
    assert not found.problems
    assert len([1 for _, label in spans(found) if label == "ORG"]) == (2 if sheet == "FP" else 0)


def test_a_boundary_carried_from_a_twin_settles_the_linked_cases_of_the_twin():
    run = judged(TABLE, level="exact")
    missed, unsupported = ids(run, "Jay B."), ids(run, "Jay", "FP")
    found = decide(run, {missed[0]: Judgement("boundary", "as_model", applies_to=ALL)})
    assert len(unsupported) == 3
    assert found.settled == dict(zip(unsupported, missed, strict=True))


def test_log_changes_and_ledger_tell_decisions_on_the_case_from_carried_ones(run):
    first, second, third = kays(run)
    found = decide(run, {first: WRONG})
    entries = read_log(write_log(found.log("2026-11-17")))
    (entry,) = entries
    assert (entry.case_id, entry.applies_to, entry.outcome, entry.place) == (
        first,
        ALL,
        Outcome.APPLIED,
        "anna.xlsx!FN!M5",
    )
    assert list(entry.reached) == [second, third]
    through = {first: "", second: first, third: first}
    assert {case: each.twin for case, each in standing_decisions(entries).items()} == through
    assert dict(zip(found.changes["case"], found.changes["twin"], strict=True)) == through
    row = found.ledger.set_index("entry").loc["gold_error"]
    assert (row["FN"], row["carried"]) == (3, 2)
    assert "carried" not in decide(run, {first: Judgement("gold_wrong")}).ledger.columns


@pytest.mark.parametrize(
    ("ben", "cases", "value"),
    [
        ({1: Judgement("model_error", applies_to=ALL)}, 2, 0.5),  # through different twins: one unit for the group
        ({0: Judgement("model_error", applies_to=ALL)}, 2, 0.5),  # the same twin twice: a pair, no unit beside it
        ({1: RIGHT}, 1, 1.0),  # Ben decided a twin, not the group
    ],
)
def test_agreement_has_direct_pairs_and_one_unit_for_a_group(run, ben, cases, value):
    (alone,) = ids(run, "Kay", label="LOC")
    anna = records({kays(run)[0]: WRONG, alone: RIGHT}, "Anna")
    other = records({**{kays(run)[at]: answer for at, answer in ben.items()}, alone: RIGHT}, "Ben")
    found = decide(run, anna, other).agreement
    overall = found[(found["measure"] == "raw") & found["sheet"].isna() & found["label"].isna()].iloc[0]
    assert (overall["cases"], overall["value"]) == (cases, value)
