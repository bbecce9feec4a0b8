"""Which label of a detector answers to which label of a dataset, found step by step, each step told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clueval_xlsx.detectors.base import Description
from clueval_xlsx.options import LabelRules

GIVEN = "given with --map"
BUILT_IN = "built-in map"
LABEL_MAP = "label map of the NLP configuration"
CUSTOM = "custom recognizer"
SAME = "same name"
STEPS = (GIVEN, BUILT_IN, LABEL_MAP, CUSTOM, SAME)

# What datasets call the things for which Presidio has a name. Short codes that mean different things in different
# datasets (ST, LD, AN, CODE, MISC, QUANTITY) are left out on purpose: --map says what they mean.
PRESIDIO_NAMES: Mapping[str, tuple[str, ...]] = {
    "PERSON": (
        "PER", "PERSON", "PERS", "NAME", "PERSON_NAME", "FULL_NAME", "FIRST_NAME", "FIRSTNAME", "GIVEN_NAME",
        "GIVENNAME", "MIDDLE_NAME", "MIDDLENAME", "LAST_NAME", "LASTNAME", "SURNAME", "FAMILY_NAME", "PATIENT",
        "DOCTOR", "STAFF", "HCW", "PERSONENNAME", "VORNAME", "NACHNAME",
    ),
    "LOCATION": (
        "LOC", "LOCATION", "GPE", "FAC", "PLACE", "ADDRESS", "STREET", "STREET_ADDRESS", "STREETADDRESS",
        "BUILDING_NUMBER", "CITY", "TOWN", "STATE", "COUNTY", "COUNTRY", "ZIP", "ZIPCODE", "ZIP_CODE", "POSTCODE",
        "POSTAL_CODE", "ORT", "ADRESSE", "STADT", "STRASSE", "LAND",
    ),
    "ORGANIZATION": (
        "ORG", "ORGANIZATION", "ORGANISATION", "COMPANY", "COMPANY_NAME", "INSTITUTION", "EMPLOYER", "HOSPITAL",
        "VENDOR", "BANK", "FIRMA", "UNTERNEHMEN",
    ),
    "DATE_TIME": (
        "DATE", "TIME", "DATETIME", "DATE_TIME", "DOB", "BIRTHDAY", "DATE_OF_BIRTH", "BIRTH_DATE", "BIRTHDATE",
        "DATUM", "GEBURTSDATUM",
    ),
    "NRP": ("NRP", "NORP", "NATIONALITY", "RELIGION", "DEM", "DEMOGRAPHIC"),
    "AGE": ("AGE", "ALTER"),
    "EMAIL_ADDRESS": ("EMAIL", "E_MAIL", "MAIL", "EMAIL_ADDRESS"),
    "PHONE_NUMBER": (
        "PHONE", "PHONE_NUMBER", "PHONENUMBER", "TELEPHONE", "TELEPHONE_NUMBER", "TELEPHONENUM", "MOBILE", "FAX",
        "TELEFON", "TELEFONNUMMER",
    ),
    "URL": ("URL", "WEBSITE", "DOMAIN_NAME", "DOMAIN"),
    "IP_ADDRESS": ("IP", "IP_ADDRESS", "IPV4", "IPV6"),
    "MAC_ADDRESS": ("MAC", "MAC_ADDRESS"),
    "IBAN_CODE": ("IBAN", "IBAN_CODE"),
    "CREDIT_CARD": ("CREDIT_CARD", "CREDITCARD", "CREDIT_CARD_NUMBER", "CREDITCARDNUMBER"),
    "CRYPTO": ("CRYPTO", "BITCOIN", "BITCOIN_ADDRESS", "WALLET"),
    "MEDICAL_LICENSE": ("MEDICAL_LICENSE",),
    "US_SSN": ("SSN", "US_SSN", "SOCIAL_SECURITY_NUMBER", "SOCIALNUM"),
    "US_PASSPORT": ("US_PASSPORT",),
    "US_DRIVER_LICENSE": ("US_DRIVER_LICENSE", "US_DRIVERS_LICENSE"),
    "US_BANK_NUMBER": ("US_BANK_NUMBER",),
    "US_ITIN": ("US_ITIN", "ITIN"),
    "UK_NHS": ("UK_NHS", "NHS", "NHS_NUMBER"),
    "UK_NINO": ("UK_NINO", "NINO"),
}  # fmt: skip
_TO_PRESIDIO = {name: entity for entity, names in PRESIDIO_NAMES.items() for name in names}


@dataclass(frozen=True)
class Counterpart:
    """The detector's label for a label of the dataset, the step that found it, and whether it is ever given."""

    label: str
    entity: str
    step: str
    detected: bool = True


@dataclass(frozen=True)
class EntityAlignment:
    """Labels of a dataset and their counterparts; `unmapped` have none. `known` says whether that can be told."""

    counterparts: tuple[Counterpart, ...] = ()
    unmapped: tuple[str, ...] = ()
    known: bool = True

    @property
    def mapping(self) -> tuple[tuple[str, str], ...]:
        """What has to be renamed, beyond what the user said."""
        return tuple(
            (one.label, one.entity) for one in self.counterparts if one.label != one.entity and one.step != GIVEN
        )

    @property
    def renames(self) -> str:
        """The same as options for a later `evaluate`."""
        return " ".join(f"--map {old}={new}" for old, new in self.mapping)

    def rules(self, chosen: LabelRules, description: Description, left_out: Sequence[int]) -> LabelRules:
        """The rules that somebody chose, with what follows from the detector's labels and from where it failed."""
        return replace(
            chosen,
            map={**dict(self.mapping), **chosen.map},
            accounted=tuple(sorted({*(description.entities or ()), *(one.entity for one in self.counterparts)})),
            unmapped="keep" if not self.known or chosen.unmapped == "keep" else "discard",
            left_out=tuple(left_out),
        )

    def notes(self) -> list[str]:
        """Every step and what it found."""
        if not self.known:
            return ["the detector does not say which labels it can give: labels are compared as they are"]
        notes = []
        for step in STEPS:
            found = [one for one in self.counterparts if one.step == step]
            if found:
                notes.append(f"labels aligned by {step}: {', '.join(map(_shown, found))}")
        silent = [one.entity for one in self.counterparts if not one.detected]
        if silent:
            notes.append(
                f"this configuration of the detector never gives {', '.join(dict.fromkeys(silent))}: "
                "all such gold spans count as missed"
            )
        if self.unmapped:
            notes.append(f"labels without a counterpart: {', '.join(self.unmapped)}")
        return notes


def align_entities(
    labels: Sequence[str], description: Description, given: Mapping[str, str] | None = None
) -> EntityAlignment:
    """Find the counterpart of every label of a dataset.

    `given` renames labels on both sides, so it may name the dataset's labels or the detector's. The steps in
    order: what the user says, the built-in map, the label map of the NLP configuration, entities of custom
    recognizers, the same name among the supported entities. The first step that leads to an entity which the
    detector can give decides; only a label that a custom recognizer was written for is not renamed before. Where
    no step does, a name that Presidio has in principle is still a counterpart, only one that is never found: such
    spans are misses, not a reason to leave their documents out.

    >>> found = align_entities(["PER", "EMAIL"], Description("x", "1", "en", "", ("EMAIL_ADDRESS",),
    ...                                                      presidio_names=True))
    >>> [(one.label, one.entity, one.detected) for one in found.counterparts]
    [('PER', 'PERSON', False), ('EMAIL', 'EMAIL_ADDRESS', True)]
    """
    given = given or {}
    renamed = {entity: given.get(entity, entity) for entity in (*(description.entities or ()), *PRESIDIO_NAMES)}
    if description.entities is None:
        return EntityAlignment(
            tuple(Counterpart(label, given[label], GIVEN) for label in labels if label in given), known=False
        )
    entities = {renamed[entity] for entity in description.entities}
    named = {renamed[entity] for entity in description.entities if entity in given}  # by the user, as the dataset does
    counterparts, unmapped = [], []
    for label in labels:
        candidates = [
            replace(one, entity=one.entity if one.step == GIVEN else renamed.get(one.entity, one.entity))
            for one in _candidates(label, description, given)
        ]
        if label in named:
            candidates.insert(0, Counterpart(label, label, GIVEN))
        fitting = [one for one in candidates if one.entity in entities]
        # What the user says holds even if the detector never gives that label.
        chosen = candidates[:1] if label in given else fitting[:1]
        if not chosen and description.presidio_names:
            chosen = candidates[:1]
        if not chosen:
            unmapped.append(label)
            continue
        one = chosen[0]
        counterparts.append(Counterpart(one.label, one.entity, one.step, one.entity in entities))
    return EntityAlignment(tuple(counterparts), tuple(unmapped))


def _candidates(label: str, description: Description, given: Mapping[str, str]) -> list[Counterpart]:
    plain = label.upper().replace("-", "_").replace(" ", "_")
    found = []
    if label in given:
        found.append(Counterpart(label, given[label], GIVEN))
    # A recognizer that somebody wrote for this very label is meant for it; so is every label of a detector that
    # has names of its own. The built-in map would only blur them.
    if label in description.custom_entities:
        found.append(Counterpart(label, label, CUSTOM))
    elif not description.presidio_names and label in (description.entities or ()):
        found.append(Counterpart(label, label, SAME))
    if plain in _TO_PRESIDIO:
        found.append(Counterpart(label, _TO_PRESIDIO[plain], BUILT_IN))
    for name in (label, plain):
        if name in description.label_map:
            found.append(Counterpart(label, description.label_map[name], LABEL_MAP))
    for step, entities in ((CUSTOM, description.custom_entities), (SAME, description.entities or ())):
        found += [Counterpart(label, name, step) for name in dict.fromkeys((label, plain)) if name in entities]
    return found


def _shown(one: Counterpart) -> str:
    return one.label if one.label == one.entity else f"{one.label} → {one.entity}"
