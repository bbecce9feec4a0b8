"""What an input lacks of that which was asked for, so that no figures are made of nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.options import ReadOptions

# The key under which documents have their annotations.
ANNOTATION_KEYS = {
    "presidio": "spans",
    "tab": "annotations (predictions: presidio_detected_pii)",
    "label-studio": "annotations",
}


class Lacking(StrEnum):
    """What can be missing from an input as a whole."""

    ANNOTATIONS = "annotations"
    TOKENS = "tokens"
    DOCUMENT_TAG = "document tag"
    SENTENCE_TAG = "sentence tag"


@dataclass(frozen=True)
class Content:
    """An input by its name, format and number of documents, and what is missing from all of it."""

    name: str
    format: str
    documents: int
    missing: frozenset[Lacking]

    @classmethod
    def of(cls, reading: Reading, options: ReadOptions) -> Content:
        """Of a reading, whose tags go by these options."""
        homes = getattr(reading, "homes", ())
        source, missing = reading.source, set()
        if source.format in ANNOTATION_KEYS and homes and not any(home is not None for home in homes):
            missing.add(Lacking.ANNOTATIONS)
        if not (len(reading.corpus) if reading.tokenised else any(each.text.strip() for each in reading.documents)):
            missing.add(Lacking.TOKENS)
        if format_named(source.format).columns:
            if reading.nameless:
                missing.add(Lacking.DOCUMENT_TAG)
            if options.sentence_tag not in reading.corpus.regions:
                missing.add(Lacking.SENTENCE_TAG)
        return cls(source.name, source.format, len(homes), frozenset(missing))

    def __add__(self, other: Content) -> Content:
        """Of two parts of one input: what both of them lack."""
        return Content(self.name, self.format, self.documents + other.documents, self.missing & other.missing)
