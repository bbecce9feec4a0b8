"""What is understood in a cell with a list: digits, words of every language, first letters; and what is not."""

from __future__ import annotations

import pytest

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.review.choices import judgement_choices, severity_choices
from clueval_xlsx.review.judgements import JUDGEMENTS, custom_judgements
from clueval_xlsx.words import in_every_language

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


@pytest.mark.parametrize("sheet", [FN, FP, AG])
def test_the_digit_alone_is_enough_and_means_the_same_on_every_sheet(sheet):
    choices = judgement_choices(JUDGEMENTS, sheet)
    first, second = {FN: ("model_error", "gold_wrong"), FP: ("model_error", "gold_missing")}.get(
        sheet, ("confirmed", "gold_wrong")
    )
    expected = [first, second, "boundary", "label", None if sheet == AG else "acceptable", "unclear", None]
    assert [choices.find(str(digit)) for digit in range(1, 8)] == expected


@pytest.mark.parametrize("sheet", [FN, FP, AG])
def test_words_of_every_language_codes_and_digits_with_words_are_understood(sheet):
    choices = judgement_choices(JUDGEMENTS, sheet)
    for judgement in JUDGEMENTS:
        expected = judgement.code if sheet in judgement.sheets else None
        for words in (judgement.code, *in_every_language(f"judgement.{judgement.code}").values()):
            for typed in (words, words.upper(), f" {words} ", words.replace(" ", "\u00a0")):
                assert choices.find(typed) == expected, typed
        for words in in_every_language(f"judgement.{judgement.code}").values():
            assert choices.find(f"{judgement.digit} {words}") == expected


def test_first_letters_are_enough_where_they_can_mean_one_thing_only():
    choices = judgement_choices(JUDGEMENTS, FN)
    assert choices.find("mod") == "model_error"
    assert choices.find("Cannot") == "unclear"
    assert choices.find("Reference") is None  # too long, or the wrong label
    assert choices.find("Reference h") == "label"
    assert choices.find("3 ref") == "boundary"


@pytest.mark.parametrize(
    "typed",
    ["", " ", "0", "7", "9", "12", "1 2", "1 Should not be marked", "?", "*", "~", "M*", "1?", "x" * 300, "1.5", "-1"],
)
def test_what_means_no_choice_or_two_is_not_understood(typed):
    assert judgement_choices(JUDGEMENTS, FN).find(typed) is None


def test_own_judgements_have_the_digits_seven_to_nine_and_further_ones_only_words():
    assert [each.digit for each in OWN] == ["7", "8", "9", ""]
    choices = judgement_choices((*JUDGEMENTS, *OWN), FN)
    assert [choices.find(digit) for digit in "789"] == ["public", "role", "moved"]
    assert choices.find("8 Role, not name") == "role"
    assert choices.find("tenth of") == "tenth"


def test_a_digit_of_two_judgements_means_neither():
    other = custom_judgements({"elsewhere": {"effect": "unclear", "en": "Asked elsewhere"}})
    choices = judgement_choices((*JUDGEMENTS, *OWN, *other), FN)
    assert choices.find("7") is None
    assert choices.find("Asked elsewhere") == "elsewhere"


def test_severities_have_digits_too():
    choices = severity_choices()
    assert [choices.find(typed) for typed in ("1", "2 quasi", "UNBEDENKLICH", "d", "4")] == [
        "direct",
        "quasi",
        "harmless",
        "direct",
        None,
    ]
