"""A detector as a Python package: names behind Herr, Frau, Mr, Ms and Dr."""

import re
from collections.abc import Sequence

from clueval_xlsx.detectors.base import Description, Detection, DetectorSettings, configuration_hash
from clueval_xlsx.exceptions import DetectorError

_TITLES = {"de": r"Herrn?|Frau|Dr\.|Prof\.", "en": r"Mr|Mrs|Ms|Dr|Judge"}


def make(settings: DetectorSettings) -> "Honorifics":
    """What the entry point names: settings in, detector out. An DetectorError becomes a message, not a traceback."""
    if settings.language not in _TITLES:
        raise DetectorError(f"honorifics: no titles for {settings.language!r}. Allowed: {', '.join(_TITLES)}.")
    return Honorifics(settings)


class Honorifics:
    """Marks one or more capitalised words behind a title."""

    def __init__(self, settings: DetectorSettings) -> None:
        self.settings = settings
        self.label = settings.options.get("label", "PERSON")
        self.pattern = re.compile(rf"\b(?:{_TITLES[settings.language]})\.? ((?:[A-ZÄÖÜ][\w-]+ ?)+)")

    def describe(self) -> Description:
        """Who this is; the hash covers every option, so that results can be told apart."""
        return Description(
            name="honorifics",
            version="1.0",
            language=self.settings.language,
            configuration=configuration_hash(self.settings),
            entities=(self.label,),
            batch_size=8,  # up to eight texts come at once
        )

    def analyse(self, texts: Sequence[str]) -> list[list[Detection]]:
        """The finds in each text: half-open code point offsets."""
        return [
            [
                Detection(match.start(1), match.start(1) + len(match[1].rstrip()), self.label, 0.8)
                for match in self.pattern.finditer(text)
            ]
            for text in texts
        ]
