"""Bringing the labels of two sides together before they are compared: mapped, equivalent, ignored, discarded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, join_layers
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.corpus.spans import label_codes, label_column, label_vocabulary, layers_of
from clueval_xlsx.exceptions import OptionError, nearest
from clueval_xlsx.options import LabelRules
from clueval_xlsx.text.strings import BoolArray, IntArray

_MOST_SHOWN = 5
_Occurrences = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Alignment:
    """What aligning the labels did: counts by label and side, and the documents left out with their reasons."""

    mapped: _Occurrences = field(default_factory=dict)  # "OLD=NEW" -> {"gold": n, "pred": n}
    ignored: _Occurrences = field(default_factory=dict)
    discarded: tuple[int, ...] = ()  # indices of documents
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # document ID -> its unmapped labels
    notes: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()  # labels before, and after
    present: frozenset[str] = frozenset()

    def __add__(self, other: Alignment) -> Alignment:
        """Of two parts of one corpus, by the same rules, without notes; a part leaves no document out."""

        def added(mine: _Occurrences, theirs: _Occurrences) -> _Occurrences:
            return {
                name: {side: count + theirs[name][side] for side, count in counts.items()}
                for name, counts in mine.items()
            }

        return Alignment(
            added(self.mapped, other.mapped),
            added(self.ignored, other.ignored),
            given=self.given | other.given,
            present=self.present | other.present,
        )

    @property
    def discarded_labels(self) -> dict[str, int]:
        """The labels that caused it, and how many documents each of them cost."""
        labels = [label for found in self.reasons.values() for label in found]
        return {label: labels.count(label) for label in sorted(set(labels))}

    def describe(self) -> dict[str, Any]:
        """For metrics.json."""
        return {
            "mapped": {name: dict(counts) for name, counts in self.mapped.items()},
            "ignored": {name: dict(counts) for name, counts in self.ignored.items()},
            "discarded": {document: list(labels) for document, labels in self.reasons.items()},
            "discarded_labels": self.discarded_labels,
        }


def align_labels(pair: Pair, rules: LabelRules) -> tuple[Pair, Alignment]:
    """Rename labels and leave out documents with unmapped ones; the pair itself if there is nothing to do."""
    if rules == LabelRules():
        return pair, Alignment()
    mapping = rules.map
    mapped = {f"{old}={new}": _occurrences(pair, old) for old, new in mapping.items()}
    given = _labels_of(pair)
    if mapping:
        pair = _change(pair, lambda spans, layer: relabel(spans, layer, mapping))
    discarded, reasons = _unmapped(pair, rules)
    beyond = [index for index in rules.left_out if not 0 <= index < len(discarded)]
    if beyond:
        raise OptionError(f"document {beyond[0]} was left out, but there are only {len(discarded)} documents.")
    discarded[list(rules.left_out)] = True
    if discarded.any():
        pair = _change(pair, lambda spans, _: spans[~discarded[pair.corpus.document_of(spans["start"].to_numpy())]])
    ignored = {label: _occurrences(pair, label) for label in rules.ignore}
    left_out = tuple(np.flatnonzero(discarded).tolist())
    alignment = Alignment(mapped, ignored, left_out, reasons, given=given, present=_labels_of(pair))
    return pair, replace(alignment, notes=alignment_notes(alignment, rules, len(pair.corpus.documents)))


def relabel(spans: pd.DataFrame, layer: str, mapping: Mapping[str, str]) -> pd.DataFrame:
    """The same spans with other labels on one layer; labels without a new name keep theirs.

    >>> import pandas as pd
    >>> relabel(pd.DataFrame({"start": [0], "end": [1], "ner": ["LOCATION"]}), "ner", {"LOCATION": "LOC"})
       start  end  ner
    0      0    1  LOC
    """
    old = label_vocabulary([spans], layer)
    names = [mapping.get(label, label) for label in old]
    new = sorted(set(names))
    number = np.array([new.index(name) for name in names] + [-1], dtype=np.int64)
    codes = number[label_codes(spans, layer, old)]
    changed = spans.copy()
    changed[layer] = pd.Categorical.from_codes(codes, categories=pd.Index(new, dtype=object))
    return changed


def canonical(spans: pd.DataFrame, rules: LabelRules) -> pd.DataFrame:
    """The spans with every label replaced by the first of its equivalence group."""
    for layer in layers_of(spans):
        spans = relabel(spans, layer, rules.representatives)
    return spans


def has_label(frame: pd.DataFrame, columns: Iterable[str], labels: Sequence[str]) -> BoolArray:
    """Rows with one of these labels in any of the columns."""
    found = np.zeros(len(frame), dtype=bool)
    for column in columns if labels else ():
        found |= frame[column].isin(labels).to_numpy(bool)
    return found


def _change(pair: Pair, change: Any) -> Pair:
    """Change the spans of every layer on both sides, and merge the layers again."""

    def changed(side: Annotation) -> Annotation:
        layers = {name: change(spans, name).reset_index(drop=True) for name, spans in side.layers.items()}
        listed = side.listed
        if listed is not None:
            spans = listed.spans
            for name in layers_of(spans):
                spans = change(spans, name)
            labels = {name: label_column(spans[name]) for name in layers_of(spans)}
            listed = listed.take(spans.index.to_numpy())
            listed = replace(listed, mentions=replace(listed.mentions, labels=labels))
        joined = join_layers(layers, pair.corpus)
        return replace(side, layers=layers, spans=joined, listed=listed)

    return replace(pair, gold=changed(pair.gold), pred=changed(pair.pred))


def _labels_of(pair: Pair) -> frozenset[str]:
    return frozenset(_labels_of_side(pair.gold) | _labels_of_side(pair.pred))


def _labels_of_side(side: Annotation) -> set[str]:
    return {label for name, spans in side.layers.items() for label in label_vocabulary([spans], name)}


def _misspelt(mapping: Mapping[str, str], present: frozenset[str]) -> list[str]:
    """A note on labels of the mapping that no span has, where one that is not mapped is much like them."""
    free = present - mapping.keys()
    found = [f"{old}{like}" for old in mapping if old not in present and (like := _like(old, free))]
    return [f"--map: no span has the label {', '.join(found)}"] if found else []


def _like(label: str, present: frozenset[str]) -> str:
    close = nearest(label, sorted(present))
    return f" (is {close} meant?)" if close else ""


def _occurrences(pair: Pair, label: str) -> dict[str, int]:
    def count(side: Annotation) -> int:
        return sum(int((spans[name] == label).sum()) for name, spans in side.layers.items())

    return {"gold": count(pair.gold), "pred": count(pair.pred)}


def discards_by_prediction(pair: Pair, rules: LabelRules) -> bool:
    """Whether taking predictions out may change which documents are left out because of their labels."""
    if not rules.discards:
        return False
    gold, pred = _labels_of_side(pair.gold), _labels_of_side(pair.pred)
    mapping = rules.map
    gold, pred = ({mapping.get(label, label) for label in side} for side in (gold, pred))
    known = {*mapping.values(), *rules.ignore, *rules.representatives, *rules.accounted}
    return bool(pred - gold - known or (gold - known and (rules.map or rules.accounted)))


def _unmapped(pair: Pair, rules: LabelRules) -> tuple[BoolArray, dict[str, tuple[str, ...]]]:
    """The documents with labels nobody accounted for, and those labels.

    A label is accounted for if it stands in the mapping, in an equivalence group or among the ignored ones, or
    if both sides have it. Without a mapping gold's labels are the measure: only predicted labels can be foreign.
    """
    corpus = pair.corpus
    discarded = np.zeros(len(corpus.documents), dtype=bool)
    if not rules.discards:
        return discarded, {}
    gold, pred = _labels_of_side(pair.gold), _labels_of_side(pair.pred)
    known = {*rules.map.values(), *rules.ignore, *rules.representatives, *rules.accounted} | (gold & pred)
    foreign = (gold | pred) - known if rules.map or rules.accounted else pred - gold - known
    places: list[tuple[IntArray, str]] = []
    for side in (pair.gold, pair.pred):
        for name, spans in side.layers.items():
            for label in sorted(foreign):
                start = spans["start"].to_numpy()[(spans[name] == label).to_numpy(bool)]
                places.append((corpus.document_of(start), label))
    reasons: dict[int, set[str]] = {}
    for documents, label in places:
        for document in np.unique(documents).tolist():
            reasons.setdefault(document, set()).add(label)
    discarded[list(reasons)] = True
    return discarded, {corpus.doc_ids[index]: tuple(sorted(reasons[index])) for index in sorted(reasons)}


def alignment_notes(alignment: Alignment, rules: LabelRules, size: int) -> tuple[str, ...]:
    """What to tell people about what was done to the labels of so many documents."""
    notes = []
    for verb, counted in (("mapped", alignment.mapped), ("ignored", alignment.ignored)):
        shown = [f"{name} ({counts['gold']} gold, {counts['pred']} predicted)" for name, counts in counted.items()]
        if shown:
            notes.append(f"labels {verb}: {', '.join(shown)}")
    if alignment.reasons:
        labels = ", ".join(f"{label} ({count})" for label, count in alignment.discarded_labels.items())
        documents = list(alignment.reasons)
        more = f" and {len(documents) - _MOST_SHOWN} more" if len(documents) > _MOST_SHOWN else ""
        wanted = ",".join([*alignment.mapped, *(f"{label}=…" for label in alignment.discarded_labels)])
        notes.append(
            f"{len(documents)} of {size} documents left out because of unmapped labels: "
            f"{labels}; they are {', '.join(documents[:_MOST_SHOWN])}{more}. "
            f"Map the labels (--map {wanted}), or keep the documents with --set labels.unmapped=keep"
        )
    present = alignment.present
    nowhere = [label for label in [*rules.ignore, *rules.representatives] if label not in present]
    if nowhere and not alignment.discarded:
        named = ", ".join(f"{label}{_like(label, present)}" for label in dict.fromkeys(nowhere))
        notes.append(f"no span has the label {named}, though it was named")
    return (*notes, *_misspelt(rules.map, alignment.given))
