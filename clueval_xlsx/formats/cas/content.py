"""What a CAS holds that matters here, whichever file it was read from: a text and annotations with features."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clueval_xlsx.options.values import Unit

# What programs annotate on the way, and what says something about the document: nobody's gold standard.
_STRUCTURE = frozenset(
    {
        "Token", "Sentence", "Lemma", "Stem", "POS", "MorphologicalFeatures", "DocumentMetaData", "DocumentAnnotation",
        "TagsetDescription", "TagDescription", "SurfaceForm", "Paragraph", "Heading", "Div", "Document", "Compound",
        "CompoundPart", "Split", "LinkingMorpheme", "MetaDataStringField", "FeatureDefinition", "LayerDefinition",
        "Chunk", "Constituent", "XmlDocument", "XmlElement", "XmlTextNode", "XmlAttribute", "PdfPage", "PdfChunk",
        "CASMetadata", "Sofa", "View", "NULL", "FSArray", "StringArray", "Field",
    }
)  # fmt: skip
_STRUCTURE_PACKAGES = (
    "uima.", "org.dkpro.core.api.xml.", "org.dkpro.core.api.pdf.", "de.tudarmstadt.ukp.inception.",
    "de.tudarmstadt.ukp.clarin.webanno.api.type.", "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.",
    "de.tudarmstadt.ukp.dkpro.core.api.syntax.", "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
)  # fmt: skip
RELATION_ENDS = frozenset({"Governor", "Dependent"})
CHAIN_FEATURES = frozenset({"referenceType", "referenceRelation", "first", "next"})
CHAIN_REFERENCES = ("first", "next")  # the last link of a chain has neither, but one of them leads to it
SCORES = ("score", "confidence")


@dataclass(frozen=True)
class CasAnnotation:
    """One annotation: how its file knows it, and its features that hold a text or a number, as text."""

    key: Hashable
    type: str
    begin: int
    end: int
    features: Mapping[str, str]
    where: str = ""

    @property
    def score(self) -> str | None:
        """How sure whoever made it was, if it says so."""
        return next((self.features[name] for name in SCORES if name in self.features), None)


@dataclass(frozen=True)
class NewAnnotation:
    """An annotation as it should be; a feature that is None goes."""

    type: str
    begin: int
    end: int
    features: Mapping[str, str | None]


@dataclass(frozen=True)
class CasEdit:
    """What changes in a file: annotations that go, that change, and new ones."""

    removed: Sequence[Hashable] = ()
    changed: Mapping[Hashable, NewAnnotation] = field(default_factory=dict)
    added: Sequence[NewAnnotation] = ()

    def __bool__(self) -> bool:
        return bool(self.removed or self.changed or self.added)


class CasContent(Protocol):
    """A file that holds one CAS.

    `declared` are the types that the file declares, with their features, even where no annotation has them, `skipped`
    what it holds that are no spans. Offsets count in `unit`.
    """

    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def document_id(self) -> str | None: ...
    @property
    def unit(self) -> Unit: ...
    @property
    def annotations(self) -> Sequence[CasAnnotation]: ...
    @property
    def declared(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def skipped(self) -> Mapping[str, int]: ...

    def edited(self, edit: CasEdit) -> bytes:
        """The file with these changes; everything else keeps its bytes."""


NO_WIDTH, OTHER_VIEWS = "annotations without width", "annotations of other views"
RELATIONS, CHAINS = "relations", "links of chains"


def short_name(type_: str) -> str:
    """A type without its package."""
    return type_.rpartition(".")[2]


def is_structure(type_: str) -> bool:
    """Whether a type is what programs annotate on the way: tokens, sentences, what is known of the document."""
    return type_.startswith(_STRUCTURE_PACKAGES) or short_name(type_) in _STRUCTURE
