"""The CAS of each document becomes one reading: which type and feature each layer is, and what is written back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import NewSpan, Reading, SourceChange, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.collect import Collector
from clueval_xlsx.formats.json_records import shown
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import ONE_SIDE, format_named
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions
from clueval_xlsx.options.values import Unit
from clueval_xlsx.text.characters import UTF16

NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
SCORES = ("score", "confidence")
_USUAL = ("value", "label", "kind", "category", "type", "entity_type", "entityType", "class", "tag", "name")
_NO_LABELS = frozenset({*SCORES, "begin", "end", "sofa", "identifier", "id", "order", "comment", "note"})
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


@dataclass(frozen=True)
class TypeFeature:
    """A type, and the feature that holds the label; without one the spans have no label."""

    type: str
    feature: str = ""

    def __str__(self) -> str:
        return f"{self.type}:{self.feature}" if self.feature else self.type


def choose_layer_fields(
    layers: Mapping[str, int | str | None], contents: Sequence[Cas], name: str
) -> dict[str, TypeFeature]:
    """The type and feature of each layer; without layers the only type that is annotated, by its usual feature."""
    known = _Types(contents, name)
    if layers:
        return {layer: known.asked(layer, wanted) for layer, wanted in layers.items()}
    annotated = known.annotated
    if not annotated:
        return {DEFAULT_LAYER: TypeFeature(NAMED_ENTITY, "value")}
    if len(annotated) > 1:
        feature = known.usual_feature(annotated[0])
        call = f"{annotated[0]}:{'FEATURE' if feature is None else feature}".rstrip(":")
        raise OptionError(
            f"{name}: several types are annotated: {known.listed(annotated)}. "
            f"Choose one, or several as layers: --layer {DEFAULT_LAYER}={call}."
        )
    return {DEFAULT_LAYER: known.with_feature(DEFAULT_LAYER, annotated[0])}


class _Types:
    """The types of the files that may be layers: how often they occur, and their features that do."""

    def __init__(self, contents: Sequence[Cas], name: str) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self.features: dict[str, Counter[str]] = {}
        for cas in contents:
            for type_, names in cas.declared.items():
                if not _is_structure(type_):
                    self.features.setdefault(type_, Counter()).update(dict.fromkeys(names, 0))
            for each in cas.annotations:
                if not _is_structure(each.type):
                    self.counts[each.type] += 1
                    self.features.setdefault(each.type, Counter()).update(each.features.keys())

    @property
    def annotated(self) -> list[str]:
        """The types that occur, or where none does all that are declared."""
        return [type_ for type_ in self.features if self.counts[type_]] or list(self.features)

    def asked(self, layer: str, wanted: int | str | None) -> TypeFeature:
        """What `--layer NAME=Type:feature` means; the package may be left out, and the type where there is only one."""
        if isinstance(wanted, int):
            raise OptionError(
                f"{self.name}: --layer {layer}={wanted}: a CAS has no columns. Give --layer {layer}=TYPE:FEATURE; "
                f"there are {self.listed(list(self.features)) or 'no annotations'}."
            )
        said = layer if wanted is None else wanted
        type_said, colon, feature = said.rpartition(":")
        type_said = type_said if colon else said
        types = [type_ for type_ in self.features if type_said in {type_, type_.rpartition(".")[2]}]
        if len(types) == 1:
            if not colon:
                return self.with_feature(layer, types[0])
            if feature in self.features[types[0]] or not self.counts[types[0]]:
                return TypeFeature(types[0], feature)
            own = ", ".join(self.features[types[0]]) or "none"
            raise OptionError(
                f"{self.name}: --layer {layer}={said}: {types[0]} has no feature {feature!r}. Features: {own}."
            )
        if not colon and not types:
            with_feature = [type_ for type_ in self.annotated if said in self.features[type_]]
            if len(with_feature) == 1:
                return TypeFeature(with_feature[0], said)
            if wanted is None and len(self.annotated) == 1:
                return self.with_feature(layer, self.annotated[0])
        if not self.features and "." in type_said:
            return TypeFeature(type_said, feature if colon else "value")  # a file without annotations has no types
        if len(types) > 1:
            raise OptionError(
                f"{self.name}: --layer {layer}={said} may mean {' or '.join(types)}. Give the whole name."
            )
        raise OptionError(
            f"{self.name}: --layer {layer}={said}: there is no such type or feature, only "
            f"{self.listed(self.annotated) or 'none'}. Give --layer NAME=TYPE:FEATURE{ONE_SIDE}."
        )

    def with_feature(self, layer: str, type_: str) -> TypeFeature:
        """A type with the feature that holds its labels: a usual one, or the only one."""
        feature = self.usual_feature(type_)
        if feature is None:
            raise OptionError(
                f"{self.name}: which feature of {type_} holds the labels? Features: {', '.join(self.features[type_])}. "
                f"Give --layer {layer}={type_.rpartition('.')[2]}:FEATURE."
            )
        return TypeFeature(type_, feature)

    def usual_feature(self, type_: str) -> str | None:
        """The usual feature of a type, empty where it has none, None where several could be meant."""
        features = self.features[type_]
        filled = [feature for feature in features if features[feature]] or list(features)
        usual = next((feature for feature in _USUAL if feature in filled), None)
        if usual is not None:
            return usual
        others = [feature for feature in filled if feature not in _NO_LABELS]
        if len(others) > 1:
            return None
        return others[0] if others else ""

    def listed(self, types: Sequence[str]) -> str:
        """Types with their features and how many annotations they have."""
        parts = []
        for type_ in types[:10]:
            features = "|".join(self.features[type_])
            parts.append(f"{type_}{f':{features}' if features else ''} ({self.counts[type_]} annotations)")
        return ", ".join(parts) + (", …" if len(types) > 10 else "")


def _is_structure(type_: str) -> bool:
    """Whether a type is what programs annotate on the way: tokens, sentences, what is known of the document."""
    return type_.startswith(_STRUCTURE_PACKAGES) or type_.rpartition(".")[2] in _STRUCTURE


# ---- reading -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CasDocument:
    """A document: its ID, the CAS of each annotator that counts, by the path of its file, and its text."""

    id: str | None
    contents: Mapping[str, Cas]
    text: str


@dataclass(frozen=True, eq=False)
class CasFiles:
    """The files as they came; `packed` makes of the corrected ones what is written."""

    contents: Mapping[str, Cas]
    fields: Mapping[str, TypeFeature]
    packed: Callable[[Mapping[str, bytes]], dict[str, bytes]]

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The files with these changes; every other feature structure stays as it was."""
        by_file: dict[str, list[CasChange]] = {}
        for change in changes:
            new = None if change.new is None else self._new(change.new)
            place = change.old or reading.homes[change.document]
            if place is None:
                assert change.new is not None
                raise OptionError(
                    f"{reading.source.name}: document {reading.doc_ids[change.document]!r} has no annotations of "
                    f"the chosen annotator to add {change.new.surface!r} to. Choose another (--annotator)."
                )
            by_file.setdefault(place[0], []).append((place[1] if change.old else None, new))
        corrected = {}
        for path in sorted(by_file):
            cas = self.contents[path]
            if cas.edited is None:
                raise OptionError(
                    f"{cas.name}: only UIMA CAS XMI is written back. Export the project from INCEpTION again with "
                    "this format, and evaluate that."
                )
            corrected[path] = cas.edited(by_file[path])
        return self.packed(corrected)

    def _new(self, span: NewSpan) -> NewAnnotation:
        fields = [self.fields[layer] for layer in span.labels]
        labels = zip(fields, span.labels.values(), strict=True)
        features = {field.feature: label for field, label in labels if field.feature}
        return NewAnnotation(fields[0].type, span.start, span.end, features)


def read_cas_file(opened: OpenedSource, cas: Cas, format_name: str, options: ReadOptions) -> Reading:
    """The reading of a file that holds one document."""
    raw, path = opened.data, PurePath(opened.name).name
    document = CasDocument(cas.document_id, {path: cas}, cas.text)
    source = Source(opened.name, format_name, digest(raw))
    reading = read_cas([document], source, options, lambda corrected: {path: raw, **corrected})
    return reading if cas.edited is not None else replace(reading, carrier=None)


def read_cas(
    documents: Sequence[CasDocument],
    source: Source,
    options: ReadOptions,
    packed: Callable[[Mapping[str, bytes]], dict[str, bytes]],
    unannotated: frozenset[int] = frozenset(),
    *,
    union: bool = False,
) -> Reading:
    """The reading of documents, given what their corrected files are packed into, and which nobody chosen has seen.

    `union` says that annotators are taken together.
    """
    name = source.name
    contents = {path: cas for document in documents for path, cas in document.contents.items()}
    known = [] if options.text_only else list(contents.values())  # then nothing about annotations can be wrong
    fields = choose_layer_fields(options.layers, known, name)
    unit = next((cas.unit for cas in contents.values()), options.offsets)
    layers = {layer: str(field) for layer, field in fields.items()}
    collector = Collector(name, format_named(source.format), replace(options, offsets=unit), layers)
    by_type: dict[str, list[TypeFeature]] = {}
    for each in fields.values():
        by_type.setdefault(each.type, []).append(each)
    if len(by_type) > 1:
        collector.sequences = {layer: field.type for layer, field in fields.items()}
    skipped: Counter[str] = Counter()
    for number, document in enumerate(documents):
        collector.add_document(TextDocument(document.id, document.text))
        collector.homes.append((next(iter(document.contents)),) if document.contents else None)
        if len({cas.text for cas in document.contents.values()}) > 1:
            collector.complain(
                f"{name}: document {document.id!r}",
                "its annotators have different texts",
                "one text for each document",
                "Choose one annotator (--annotator NAME)",
            )
            continue
        for path, cas in document.contents.items() if not options.text_only else ():
            skipped.update(cas.skipped)
            for annotation in cas.annotations:
                if annotation.type in by_type:
                    features = annotation.features
                    collector.add(
                        number,
                        (annotation.begin, annotation.end),
                        {str(field): features.get(field.feature) or None for field in by_type[annotation.type]},
                        score=next((features[key] for key in SCORES if key in features), None),
                        sequence=annotation.type,
                        handle=(path, annotation.key),
                        where=annotation.where,
                    )
    if skipped:
        left = ", ".join(f"{what} ({count})" for what, count in skipped.items())
        collector.notes.append(f"{name}: left alone, because they are no spans: {left}")
    collector.unannotated |= unannotated
    return collector.finish(replace(source, columns=layers), CasFiles(contents, fields, packed), union=union)


# ---- A CAS, whichever file holds it: feature structures become a text with annotations

SOFA, VIEW = "uima.cas.Sofa", "uima.cas.View"
NO_WIDTH, RELATIONS, CHAINS = "annotations without width", "relations", "links of chains"
RELATION_ENDS = frozenset({"Governor", "Dependent"})
CHAIN_FEATURES = frozenset({"referenceType", "referenceRelation", "first", "next"})
_CHAIN_REFERENCES = ("first", "next")  # the last link of a chain has neither, but one of them leads to it
_OTHER_VIEWS = "annotations of other views"


@dataclass(frozen=True)
class CasAnnotation:
    """One annotation: how its file knows it, and its features that hold a text or a number, as text."""

    key: str
    type: str
    begin: int
    end: int
    features: Mapping[str, str]
    where: str


@dataclass(frozen=True)
class NewAnnotation:
    """An annotation as it should be; a feature that is None goes."""

    type: str
    begin: int
    end: int
    features: Mapping[str, str | None]


CasChange = tuple[str | None, NewAnnotation | None]  # the key of the old one, if there was any; what it becomes


@dataclass(frozen=True, eq=False)
class Cas:
    """The text and annotations of one CAS.

    `declared` are the types that the file declares, with their features, even where no annotation has them, `skipped`
    what it holds that are no spans. Offsets count in `unit`. `edited` writes the file with changes, where it can be.
    """

    name: str
    text: str
    document_id: str | None
    annotations: Sequence[CasAnnotation]
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    unit: Unit = UTF16
    edited: Callable[[Sequence[CasChange]], bytes] | None = None


# ---- feature structures --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureStructure:
    """A feature structure: all its values, with offsets as numbers; those that can hold a label; its first byte."""

    id: str
    type: str
    values: Mapping[str, Any]
    features: Mapping[str, str]
    place: int = 0

    @property
    def is_relation(self) -> bool:
        """Whether it connects two annotations."""
        return bool(RELATION_ENDS & self.values.keys())


def sofa_of(structures: Sequence[FeatureStructure], name: str) -> FeatureStructure:
    """The text that was annotated: that of the initial view, or the first."""
    sofas = [each for each in structures if each.type == SOFA and isinstance(each.values.get("sofaString"), str)]
    if not sofas:
        raise InputError(
            f"{name}: there is no text in this CAS (no Sofa with a sofaString). Export the document again."
        )
    return next((each for each in sofas if each.values.get("sofaID") == "_InitialView"), sofas[0])


def cas_of(structures: Sequence[FeatureStructure], name: str, **more: Any) -> Cas:
    """The CAS of these feature structures; `more` is what else the file says."""
    sofa = sofa_of(structures, name)
    chained = {str(each.values[key]) for each in structures for key in _CHAIN_REFERENCES if key in each.values}
    skipped: Counter[str] = Counter()
    annotations = []
    document_id = None
    for each in structures:
        values = each.values
        if document_id is None and each.type.endswith(".DocumentMetaData"):
            title = values.get("documentTitle") or values.get("documentId")
            document_id = title if isinstance(title, str) else None
        if "begin" not in values or "end" not in values:
            continue
        if each.is_relation:
            skipped[RELATIONS] += 1
        elif CHAIN_FEATURES & values.keys() or each.id in chained:
            skipped[CHAINS] += 1
        elif str(values.get("sofa") or sofa.id) != sofa.id:
            skipped[_OTHER_VIEWS] += 1
        else:
            where = f"{name}: {each.type} {each.id}"
            begin, end = values["begin"], values["end"]
            if type(begin) is not int or type(end) is not int:
                found = f"begin is {shown(begin)}, end is {shown(end)}"
                raise InputError(f"{where}: {found}. Allowed: whole numbers.")
            if begin == end:
                skipped[NO_WIDTH] += 1
            else:
                annotations.append(CasAnnotation(each.id, each.type, begin, end, each.features, where))
    return Cas(name, sofa.values["sofaString"], document_id, annotations, skipped=skipped, **more)
