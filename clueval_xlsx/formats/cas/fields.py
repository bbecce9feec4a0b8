"""Which type and feature of a CAS each layer takes its labels from: as asked for, or the usual one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.cas.content import SCORES, CasContent, is_structure, short_name
from clueval_xlsx.formats.options import ONE_SIDE
from clueval_xlsx.options import DEFAULT_LAYER

NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
_USUAL = ("value", "label", "kind", "category", "type", "entity_type", "entityType", "class", "tag", "name")
_NO_LABELS = frozenset({*SCORES, "begin", "end", "sofa", "identifier", "id", "order", "comment", "note"})


@dataclass(frozen=True)
class TypeFeature:
    """A type, and the feature that holds the label; without one the spans have no label."""

    type: str
    feature: str = ""

    def __str__(self) -> str:
        return f"{self.type}:{self.feature}" if self.feature else self.type


@dataclass(frozen=True)
class _Known:
    """The types of the files that may be layers: how often they occur, and their features that do."""

    counts: Counter[str]
    features: dict[str, Counter[str]]


def choose_layer_fields(
    layers: Mapping[str, int | str | None], contents: Sequence[CasContent], name: str
) -> dict[str, TypeFeature]:
    """The type and feature of each layer; without layers the only type that is annotated, by its usual feature."""
    known = _known(contents)
    if layers:
        return {layer: _asked(layer, wanted, known, name) for layer, wanted in layers.items()}
    annotated = [type_ for type_ in known.features if known.counts[type_]] or list(known.features)
    if not annotated:
        return {DEFAULT_LAYER: TypeFeature(NAMED_ENTITY, "value")}
    if len(annotated) > 1:
        raise OptionError(
            f"{name}: several types are annotated: {_listed(annotated, known)}. "
            f"Choose one, or several as layers: --layer {DEFAULT_LAYER}={_call(annotated[0], known)}."
        )
    return {DEFAULT_LAYER: _with_feature(DEFAULT_LAYER, annotated[0], known, name)}


def _known(contents: Sequence[CasContent]) -> _Known:
    counts: Counter[str] = Counter()
    features: dict[str, Counter[str]] = {}
    for content in contents:
        for type_, names in content.declared.items():
            if not is_structure(type_):
                features.setdefault(type_, Counter()).update(dict.fromkeys(names, 0))
        for each in content.annotations:
            if not is_structure(each.type):
                counts[each.type] += 1
                features.setdefault(each.type, Counter()).update(each.features.keys())
    return _Known(counts, features)


def _asked(layer: str, wanted: int | str | None, known: _Known, name: str) -> TypeFeature:
    """What `--layer NAME=Type:feature` means; the package may be left out, and the type where there is only one."""
    if isinstance(wanted, int):
        raise OptionError(
            f"{name}: --layer {layer}={wanted}: a CAS has no columns. Give --layer {layer}=TYPE:FEATURE; "
            f"there are {_listed(list(known.features), known) or 'no annotations'}."
        )
    said = layer if wanted is None else wanted
    type_said, colon, feature = said.rpartition(":")
    type_said = type_said if colon else said
    types = [type_ for type_ in known.features if type_said in {type_, short_name(type_)}]
    if len(types) == 1:
        if not colon:
            return _with_feature(layer, types[0], known, name)
        if feature in known.features[types[0]] or not known.counts[types[0]]:
            return TypeFeature(types[0], feature)
        own = ", ".join(known.features[types[0]]) or "none"
        raise OptionError(f"{name}: --layer {layer}={said}: {types[0]} has no feature {feature!r}. Features: {own}.")
    annotated = [type_ for type_ in known.features if known.counts[type_]] or list(known.features)
    if not colon and not types:
        with_feature = [type_ for type_ in annotated if said in known.features[type_]]
        if len(with_feature) == 1:
            return TypeFeature(with_feature[0], said)
        if wanted is None and len(annotated) == 1:
            return _with_feature(layer, annotated[0], known, name)
    if not known.features and "." in type_said:
        return TypeFeature(type_said, feature if colon else "value")  # a file without annotations has no types
    if len(types) > 1:
        raise OptionError(f"{name}: --layer {layer}={said} may mean {' or '.join(types)}. Give the whole name.")
    raise OptionError(
        f"{name}: --layer {layer}={said}: there is no such type or feature, only {_listed(annotated, known) or 'none'}."
        f" Give --layer NAME=TYPE:FEATURE{ONE_SIDE}."
    )


def _with_feature(layer: str, type_: str, known: _Known, name: str) -> TypeFeature:
    """A type with the feature that holds its labels: a usual one, or the only one."""
    feature = _usual_feature(type_, known)
    if feature is None:
        names = ", ".join(known.features[type_])
        raise OptionError(
            f"{name}: which feature of {type_} holds the labels? Features: {names}. "
            f"Give --layer {layer}={short_name(type_)}:FEATURE."
        )
    return TypeFeature(type_, feature)


def _usual_feature(type_: str, known: _Known) -> str | None:
    """The usual feature of a type, empty where it has none, None where several could be meant."""
    found = known.features[type_]
    filled = [feature for feature in found if found[feature]] or list(found)
    usual = next((feature for feature in _USUAL if feature in filled), None)
    if usual is not None:
        return usual
    others = [feature for feature in filled if feature not in _NO_LABELS]
    if len(others) == 1:
        return others[0]
    return "" if not others else None


def _call(type_: str, known: _Known) -> str:
    feature = _usual_feature(type_, known)
    return f"{type_}:{'FEATURE' if feature is None else feature}".rstrip(":")


def _listed(types: Sequence[str], known: _Known) -> str:
    """Types with their features and how many annotations they have."""
    parts = []
    for type_ in types[:10]:
        features = "|".join(known.features[type_])
        parts.append(f"{type_}{f':{features}' if features else ''} ({known.counts[type_]} annotations)")
    return ", ".join(parts) + (", …" if len(types) > 10 else "")
