"""What is understood in a cell, and the one rule that says whether a row counts."""

from __future__ import annotations

from itertools import product

import pytest

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.review.answers import (
    AnswerRule,
    CaseFacts,
    LabelEntry,
    SpanEntry,
    Wrong,
    judgement_choices,
    known_labels,
    label_entry,
    rule,
    severities,
    span_choice,
    span_entry,
)
from clueval_xlsx.review.facts import answer_rule, case_facts, locate
from clueval_xlsx.review.judgements import JUDGEMENTS, Effect, Judgement, SpanChoice, custom_judgements
from clueval_xlsx.words import Words, in_every_language
from tests.support.judging import case, judged

OWN = custom_judgements(
    {
        code: {"effect": effect, "en": words}
        for code, effect, words in (
            ("public", "gold_wrong", "Public figure"),
            ("role", "acceptable", "Role, not name"),
            ("moved", "boundary", "Moved"),
            ("tenth", "model_error", "Tenth of them"),
        )
    }
)
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


@pytest.mark.parametrize("sheet", [FN, FP, AG])
def test_the_digit_alone_is_enough_and_means_the_same_on_every_sheet(sheet):
    choices = judgement_choices(JUDGEMENTS, sheet)
    first, second = {FN: ("model_error", "gold_wrong"), FP: ("model_error", "gold_missing")}.get(
        sheet, ("confirmed", "gold_wrong")
    )
    expected = [first, second, "boundary", "label", None if sheet == AG else "acceptable", "unclear", None]
    assert [choices.find(str(digit)) for digit in range(1, 8)] == expected
    assert [choices.find(f"{digit}.") for digit in range(1, 8)] == expected


@pytest.mark.parametrize("sheet", [FN, FP, AG])
def test_words_of_every_language_codes_and_digits_with_words_are_understood_and_nothing_else(sheet):
    choices = judgement_choices(JUDGEMENTS, sheet)
    for judgement in JUDGEMENTS:
        expected = judgement.code if sheet in judgement.sheets else None
        every = in_every_language(f"judgement.{judgement.code}").values()
        for words in (judgement.code, *every):
            for typed in (words, words.upper(), f" {words} ", words.replace(" ", "\u00a0")):
                if "ß" not in words or typed == words:
                    assert choices.find(typed) == expected, typed
            assert choices.find(words[:-1]) is None
        for words in every:
            assert choices.find(f"{judgement.digit} {words}") == expected
            assert choices.find(f"{judgement.digit}9 {words}") is None
    for typed in ("", "?", "*", "~", "1 2", "0", "1" * 300, "1=1"):
        assert choices.find(typed) is None, typed


def test_judgements_of_a_project_get_the_digits_that_are_left():
    choices = judgement_choices((*JUDGEMENTS, *OWN), FN)
    assert [choices.find(typed) for typed in ("7", "8", "9", "tenth of them", "10")] == [
        *("public", "role", "moved", "tenth"),
        None,
    ]
    assert severities().find("2") == "quasi"


@pytest.mark.parametrize(("language", "letters"), [("en", "MRBC"), ("de", "MRBG")])
def test_one_letter_is_a_choice_of_a_span_and_a_quoted_one_is_a_word(language, letters):
    words = Words(language)
    for letter, choice in zip(letters, SpanChoice, strict=True):
        text = words[f"span_choice.{choice}"]
        for typed in (letter, letter.lower(), f" {letter}\u2060", text, f"{letter} {text}", text.upper(), choice):
            assert span_choice(typed) is choice, typed
        assert span_choice(f'"{letter}"') is None
    facts = CaseFacts("WitnessMsaid", marked="1", idle="2")
    assert [span_entry(text, facts).name for text in ("M", "R", "B", '"M"', "X", "'x'", "s", "„s“", "ss m", "")] == [
        *("FINE", "SAME", "UNMARKED", "FINE", "ABSENT", "ABSENT", "ABSENT", "FINE", "FINE", "EMPTY"),
    ]


def test_typed_words_are_found_whatever_their_case_spaces_quotation_marks_and_dashes():
    facts = CaseFacts("HerrMüller-LüdenscheidtausderStraße12...", same="herr")
    fine = ["müller – lüdenscheidt", "STRAßE\u00a012", "„Straße“", "🟥Herr🟥 Müller", "Herr | 12…", "12"]
    assert {text: span_entry(text, facts) for text in fine} == dict.fromkeys(fine, SpanEntry.FINE)
    absent = ["Strasse", "STRASSE", "Muller", "Herr | Frau", "Herr |", "|", "[…]", "x" * 700, "a|" * 9]
    assert {text: span_entry(text, facts) for text in absent} == dict.fromkeys(absent, SpanEntry.ABSENT)
    assert span_entry("HERR", facts) is SpanEntry.SAME


def test_labels_are_known_or_new_on_purpose():
    known = known_labels(["PER", "Court staff"], several=False)
    expected = {
        LabelEntry.EMPTY: ["", " \u2060"],
        LabelEntry.SAME: ["PER", "per "],
        LabelEntry.FINE: ["COURT  staff", "!NEW", "!per"],
        LabelEntry.NEW: ["NEW", "court", "?", "*", "!", "! NEW", "!NEW LABEL", "-", "PER |", "!" + "x" * 250],
        LabelEntry.PARTS: ["PER | PER", "PER|!X"],
    }
    for entry, texts in expected.items():
        assert {text: label_entry(text, "PER", known, "") for text in texts} == dict.fromkeys(texts, entry)
    assert label_entry("per | !NEW", "PER", known, "Anna | Ben") is LabelEntry.LIST


def test_every_effect_says_what_it_needs():
    wrong = {
        (effect, span, label): rule(effect, span, label, reference=True)
        for effect, span, label in product(Effect, SpanEntry, LabelEntry)
    }
    for effect in (Effect.NONE, Effect.DELETE, Effect.ACCEPT, Effect.OPEN):
        assert {found for (own, _, _), found in wrong.items() if own is effect} == {None}
    boundary = {span: wrong[Effect.BOUNDARY, span, LabelEntry.EMPTY] for span in SpanEntry}
    assert list(boundary.values()) == [
        *(Wrong.CORRECT_SPAN, Wrong.SAME_SPAN, None, Wrong.NOT_IN_TEXT, Wrong.NOTHING_MARKED),
    ]
    assert wrong[Effect.BOUNDARY, SpanEntry.SAME, LabelEntry.FINE] is None
    label = [wrong[Effect.LABEL, SpanEntry.EMPTY, label] for label in LabelEntry]
    assert label == [
        *(Wrong.CORRECT_LABEL, Wrong.SAME_LABEL, None, Wrong.PARTS, Wrong.NEW_LABEL, Wrong.PARTS, Wrong.NOTHING_LEFT),
    ]
    assert wrong[Effect.ADD, SpanEntry.SAME, LabelEntry.SAME] is None
    for effect in (Effect.BOUNDARY, Effect.LABEL):
        assert rule(effect, SpanEntry.FINE, LabelEntry.FINE, reference=False) is Wrong.NO_REFERENCE


def test_a_row_is_held_against_what_is_marked_at_its_case():
    evaluation = judged(TABLE)
    facts = {}
    for table in evaluation.bare_cases:
        facts |= case_facts(evaluation, table)
    kolbe, bert = case(evaluation, "FN", "Herr Dietmar Kolbe"), case(evaluation, "FP", "Bert")
    assert (facts[kolbe].text, facts[kolbe].same) == ("HerrDietmarKolbeundBert,Kammer", "herrdietmarkolbe")
    assert (facts[kolbe].marked, facts[kolbe].idle, facts[kolbe].labels) == ("14", "23", ("PER",))
    assert (facts[bert].marked, facts[bert].reference) == ("1", False)
    own = answer_rule(evaluation)
    assert isinstance(own, AnswerRule)

    def wrong(case_id, effect, span="", label="", *, applies=None):
        labels = {"span": label} if label else {}
        return own.wrong(
            Judgement("x", correct_span=span, correct_labels=labels, applies_to=applies, effect=effect), facts[case_id]
        )

    assert wrong(kolbe, None) is None
    assert wrong(kolbe, None, "M") is Wrong.JUDGEMENT
    assert wrong(kolbe, Effect.BOUNDARY, "as_model") is None
    assert wrong(kolbe, Effect.BOUNDARY, "Herr Kolbe") is Wrong.NOT_IN_TEXT
    assert wrong(kolbe, Effect.LABEL, label="PER") is Wrong.SAME_LABEL
    assert wrong(kolbe, Effect.LABEL, label="COURT") is Wrong.NEW_LABEL
    assert wrong(kolbe, Effect.LABEL, label="!COURT") is None
    assert wrong(bert, Effect.BOUNDARY, "Bert") is Wrong.NO_REFERENCE
    assert wrong(bert, Effect.ADD, "R") is Wrong.NOTHING_MARKED


@pytest.mark.parametrize(
    ("typed", "own", "extent", "whole"),
    [
        ("anna", (4, 4), (4, 4), True),
        ("ANNA", (0, 0), (0, 0), True),
        ("Anna", (2, 2), (0, 0), True),  # as far from both: the first
        ("nna met B", (1, 1), (0, 2), False),
        ("Anna Lee", (0, 0), None, True),
    ],
)
def test_words_are_taken_where_they_overlap_the_case_else_nearest_else_first_in_whole_tokens(typed, own, extent, whole):
    found = locate(typed, ["Anna", "met", "Ben", ",", "Anna"], 0, own)
    assert (found and found.extent) == extent
    if found:
        assert found.whole is whole
