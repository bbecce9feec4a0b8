"""Which label of a detector answers to which label of a dataset: the steps in their order, each told."""

from __future__ import annotations

import pytest

from clueval_xlsx.detectors.base import Description
from clueval_xlsx.detectors.label_counterparts import BUILT_IN, CUSTOM, GIVEN, LABEL_MAP, SAME, align_entities

PRESIDIO = Description(
    "presidio",
    "2",
    "en",
    "",
    entities=("PERSON", "EMAIL", "EMAIL_ADDRESS", "DATE_TIME", "ADDRESS", "VESSEL", "LOCATION", "US_MBI"),
    label_map={"SHIP": "VESSEL", "EMAIL": "EMAIL", "LAW": "STATUTE"},
    custom_entities=("ADDRESS",),
    presidio_names=True,
)


def found(label: str, description: Description = PRESIDIO, **given: str) -> tuple[str, str, bool] | None:
    counterparts = align_entities([label], description, given).counterparts
    return (counterparts[0].entity, counterparts[0].step, counterparts[0].detected) if counterparts else None


@pytest.mark.parametrize(
    ("label", "entity", "step"),
    [
        ("PER", "PERSON", BUILT_IN),
        ("Date", "DATE_TIME", BUILT_IN),
        ("e-mail", "EMAIL_ADDRESS", BUILT_IN),
        ("EMAIL", "EMAIL_ADDRESS", BUILT_IN),  # before the label map, which would keep EMAIL
        ("SHIP", "VESSEL", LABEL_MAP),
        ("VESSEL", "VESSEL", SAME),
        ("us mbi", "US_MBI", SAME),
        ("ADDRESS", "ADDRESS", CUSTOM),  # somebody wrote a recognizer for it: not blurred into LOCATION
        ("CITY", "LOCATION", BUILT_IN),
    ],
)
def test_the_step_that_finds_a_counterpart(label: str, entity: str, step: str) -> None:
    assert found(label) == (entity, step, True)


def test_a_name_that_presidio_has_but_this_configuration_never_gives_is_a_miss() -> None:
    assert found("ORG") == ("ORGANIZATION", BUILT_IN, False)
    notes = align_entities(["ORG"], PRESIDIO).notes()
    assert any("never gives ORGANIZATION: all such gold spans count as missed" in note for note in notes)


def test_a_label_without_a_counterpart_is_named() -> None:
    aligned = align_entities(["PER", "CASE_NUMBER"], PRESIDIO)
    assert aligned.unmapped == ("CASE_NUMBER",)
    assert aligned.notes() == [
        "labels aligned by built-in map: PER → PERSON",
        "labels without a counterpart: CASE_NUMBER",
    ]
    assert aligned.mapping == (("PER", "PERSON"),)
    assert aligned.renames == "--map PER=PERSON"


def test_what_the_user_says_comes_first_from_either_side() -> None:
    assert found("CODE", CODE="US_MBI") == ("US_MBI", GIVEN, True)
    assert found("CODE", CODE="SECRET") == ("SECRET", GIVEN, False)
    # The detector's label renamed to the dataset's: the built-in map must not rename it back.
    assert found("DATE", DATE_TIME="DATE") == ("DATE", GIVEN, True)
    assert found("DOB", DATE_TIME="DATE") == ("DATE", BUILT_IN, True)
