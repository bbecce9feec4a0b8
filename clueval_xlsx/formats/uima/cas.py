"""A CAS, whichever file holds it: feature structures become a text with annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.json_records import shown
from clueval_xlsx.options.values import Unit
from clueval_xlsx.text.characters import UTF16

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
