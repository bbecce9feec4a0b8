"""Gold and decisions → corrected gold, what changed, and what could not be changed because decisions clash.

Pure: spans go in, spans come out. A decision says which gold spans it concerns, as they stand, and what is to be
left of each; so applying the same decisions to corrected gold finds nothing more to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.spans import label_list, make_spans, merge_layers, positions, touching
from clueval_xlsx.review.judgements import ConflictKind, Effect
from clueval_xlsx.text.strings import IntArray


class LayerSpan(NamedTuple):
    """A span on one layer; both ends inclusive."""

    layer: str
    start: int
    end: int
    label: str | None


Content = frozenset[LayerSpan]  # what all layers have at one merged span
Parts = frozenset[Content]  # what is left of a span: nothing, one span, or several that it was split into
NOTHING: Content = frozenset()


@dataclass(frozen=True)
class Decision:
    """What was decided about one case.

    `targets` are the gold spans it concerns, `results` what is left of each (itself, if the decision confirms it),
    `added` what is new. A decision that `takes_over` replaces other gold spans inside of what it leaves behind, too.
    One that calls the model wrong says nothing against deleting gold as well. `notes` say what was not plain.
    """

    case_id: str
    code: str
    effect: Effect
    targets: tuple[Content, ...] = ()
    results: tuple[Parts, ...] = ()
    added: Parts = frozenset()
    takes_over: bool = False
    allows_deletion: bool = False
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def modifies(self) -> bool:
        """Whether gold would be another after it."""
        return bool(self.added) or any({old} != new for old, new in zip(self.targets, self.results, strict=True))

    @property
    def whole_effect(self) -> tuple[object, ...]:
        """What two decisions about the same case must share to be the same: the effect with its corrections."""
        return self.effect, self.results, self.added

    def leaves(self, target: Content) -> Parts:
        """What is left of one of its targets."""
        return self.results[self.targets.index(target)]


@dataclass(frozen=True)
class Change:
    """One decision that was carried out: what stood there, and what stands there now."""

    case_id: str
    code: str
    old: Content
    new: Content


@dataclass(frozen=True)
class Conflict:
    """Decisions that were not carried out, because together they make no sense."""

    kind: ConflictKind
    cases: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    with_gold: tuple[int, int] | None = None  # the gold span that stays and is in the way
    adds: bool = False  # the case in the way of gold wanted to add a span: `boundary` may be what is meant


@dataclass(frozen=True, eq=False)
class Correction:
    """The corrected layers and how they came about."""

    layers: Mapping[str, pd.DataFrame]
    changes: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]
    held: frozenset[str] = frozenset()  # cases whose decision clashes and was not carried out


def extent(content: Iterable[LayerSpan]) -> tuple[int, int]:
    """First and last position of a merged span.

    >>> extent([LayerSpan("risk", 3, 5, "LOW"), LayerSpan("category", 2, 4, "DATE")])
    (2, 5)
    """
    spans = list(content)
    return min(span.start for span in spans), max(span.end for span in spans)


def sorted_parts(content: Content) -> list[LayerSpan]:
    """The parts of a span by place and layer."""
    return sorted(content, key=lambda part: (part.start, part.end, part.layer))


def contents(layers: Mapping[str, pd.DataFrame], merged: pd.DataFrame, rows: Iterable[int]) -> dict[int, Content]:
    """What every layer has inside the given rows of the merged sequence."""
    wanted = np.array(sorted(set(rows)), dtype=np.int64)
    start, end = positions(merged)
    found: dict[int, list[LayerSpan]] = {row: [] for row in wanted.tolist()}
    for layer, spans in layers.items():
        layer_start, layer_end = positions(spans)
        first = np.searchsorted(layer_start, start[wanted], side="left")
        stop = np.searchsorted(layer_start, end[wanted], side="right")
        labels = label_list(spans[layer])
        for row, low, high in zip(wanted.tolist(), first.tolist(), stop.tolist(), strict=True):
            found[row] += [
                LayerSpan(layer, int(layer_start[i]), int(layer_end[i]), labels[i]) for i in range(low, high)
            ]
    return {row: frozenset(spans) for row, spans in found.items()}


def correct(
    layers: Mapping[str, pd.DataFrame], decisions: Sequence[Decision], documents: IntArray | None = None
) -> Correction:
    """Apply decisions to gold: deletions, then replacements, then additions; what clashes is left alone.

    `layers` holds one span frame a layer, `documents` the first position of every document.
    """
    merged = next(iter(layers.values())) if len(layers) == 1 else merge_layers(layers, documents)
    gold = _Gold(layers, merged)
    present = gold.present(decisions)
    decisions = [decision for decision in decisions if _still_there(decision, present)]
    decisions = _taking_over(decisions, gold)
    present |= {target for decision in decisions for target in decision.targets if decision.takes_over}
    conflicts, held = _contradictions(decisions)
    while True:
        active = [decision for decision in decisions if decision.modifies and decision.case_id not in held]
        clashes = _overlaps(active, decisions, gold, present)
        if not clashes:
            break
        conflicts += clashes
        held |= {case for clash in clashes for case in clash.cases} & {decision.case_id for decision in active}
    changes = [change for decision in active for change in _changes(decision, present)]
    removed = {span for change in changes for span in change.old}
    added = {span for change in changes for span in change.new}
    return Correction(_rebuilt(layers, removed, added), tuple(changes), tuple(conflicts), frozenset(held))


class _Gold:
    """The merged spans of gold, and what the layers have at them."""

    def __init__(self, layers: Mapping[str, pd.DataFrame], merged: pd.DataFrame) -> None:
        self._layers, self._merged = layers, merged
        self.start, self.end = positions(merged)

    def present(self, decisions: Sequence[Decision]) -> set[Content]:
        """Those of the spans that decisions speak of which gold has just so, on all layers together."""
        places = list(zip(self.start.tolist(), self.end.tolist(), strict=True))
        rows = {place: row for row, place in enumerate(places)}
        asked = {extent(content) for each in decisions for content in (*each.targets, *each.added)}
        return set(contents(self._layers, self._merged, [rows[place] for place in asked if place in rows]).values())

    def touched(self, new: Sequence[Content]) -> list[range]:
        """The rows that each of these spans would overlap."""
        places = np.array([extent(content) for content in new], dtype=np.int64).reshape(-1, 2)
        first, stop = touching(places[:, 0], places[:, 1], self.start, self.end)
        return [range(*pair) for pair in zip(first.tolist(), stop.tolist(), strict=True)]

    def place(self, row: int) -> tuple[int, int]:
        """First and last position of a row."""
        return int(self.start[row]), int(self.end[row])

    def inside(self, new: Sequence[Parts]) -> list[list[Content]]:
        """For each of these, the spans that lie wholly inside of one of its parts."""
        spans = [(number, content) for number, parts in enumerate(new) for content in parts]
        rows: list[set[int]] = [set() for _ in new]
        for (number, content), touched in zip(spans, self.touched([span for _, span in spans]), strict=True):
            low, high = extent(content)
            rows[number].update(row for row in touched if low <= self.start[row] and self.end[row] <= high)
        known = contents(self._layers, self._merged, set[int]().union(*rows))
        return [[known[row] for row in sorted(own)] for own in rows]


def _still_there(decision: Decision, present: set[Content]) -> bool:
    """False for what was carried out before: its targets are gone, what it adds is there."""
    if decision.targets:
        return any(target in present for target in decision.targets)
    return not decision.added or not decision.added <= present


def _taking_over(decisions: Sequence[Decision], gold: _Gold) -> list[Decision]:
    """Decisions with the further gold spans inside of what they leave behind, where nobody says otherwise of these."""
    spoken_for = {target for each in decisions for target in each.targets if not each.allows_deletion}
    left = [each.added.union(*each.results) if each.takes_over and each.modifies else Parts() for each in decisions]
    found = []
    for decision, new, inside in zip(decisions, left, gold.inside(left), strict=True):
        more = [content for content in inside if content not in spoken_for]
        targets, results = (*decision.targets, *more), (*decision.results, *(new for _ in more))
        found.append(replace(decision, targets=targets, results=results) if more else decision)
    return found


def _contradictions(decisions: Sequence[Decision]) -> tuple[list[Conflict], set[str]]:
    """Decisions about the same gold span that leave different results behind, and all that hang on them."""
    claims: dict[Content, list[Decision]] = defaultdict(list)
    for decision in decisions:
        for target in decision.targets:
            claims[target].append(decision)
    conflicts: list[Conflict] = []
    held: set[str] = set()
    for target, speaking in claims.items():
        if len(speaking) == 1:
            continue
        deleted = any(not each.leaves(target) for each in speaking)
        binding = [each for each in speaking if not (deleted and each.allows_deletion)]
        if len({each.leaves(target) for each in binding}) > 1:
            cases = tuple(dict.fromkeys(each.case_id for each in binding))
            conflicts.append(Conflict(ConflictKind.CONTRADICTION, cases, (extent(target),)))
            held.update(cases)
    # A decision that is held back takes along those that would change one of its gold spans.
    changing = [each for each in decisions if each.modifies]
    shaken = [target for each in changing if each.case_id in held for target in each.targets]
    while shaken:
        target = shaken.pop()
        more = [each for each in claims[target] if each.modifies and each.case_id not in held]
        partners = [each.case_id for each in claims[target] if each.modifies and each.case_id in held]
        for each in more:
            conflicts.append(Conflict(ConflictKind.CONTRADICTION, (each.case_id, *partners), (extent(target),)))
            held.add(each.case_id)
            shaken += each.targets
    return conflicts, held


def _overlaps(
    active: Sequence[Decision], decisions: Sequence[Decision], gold: _Gold, present: set[Content]
) -> list[Conflict]:
    """New spans that would overlap a gold span that stays, or another new span."""
    owners: dict[Content, list[Decision]] = defaultdict(list)
    replaced: set[tuple[int, int]] = set()
    for decision in active:
        parts = set(decision.added - present)
        for target, result in zip(decision.targets, decision.results, strict=True):
            if {target} != result and target in present:
                replaced.add(extent(target))
                parts |= result
        for content in parts:
            owners[content].append(decision)
    speaking: dict[tuple[int, int], list[str]] = defaultdict(list)
    for decision in decisions:
        for target in decision.targets:
            speaking[extent(target)].append(decision.case_id)
    new = sorted(owners, key=extent)
    found: list[Conflict] = []
    clashing: set[str] = set()
    for content, touched in zip(new, gold.touched(new), strict=True):
        stays = next((place for place in map(gold.place, touched) if place not in replaced), None)
        if stays is not None:
            cases = tuple(dict.fromkeys([*(owner.case_id for owner in owners[content]), *speaking[stays]]))
            adds = any(owner.added and not owner.takes_over for owner in owners[content])
            found.append(Conflict(ConflictKind.OVERLAP, cases, (extent(content), stays), with_gold=stays, adds=adds))
            clashing.update(cases)
    reach: list[Content] = []
    for content in new:
        reach = [other for other in reach if extent(other)[1] >= extent(content)[0]]
        for other in reach:
            cases = tuple(dict.fromkeys(owner.case_id for owner in (*owners[other], *owners[content])))
            if not clashing & set(cases):
                found.append(Conflict(ConflictKind.OVERLAP, cases, (extent(other), extent(content))))
        reach.append(content)
    return found


def _changes(decision: Decision, present: set[Content]) -> list[Change]:
    """What one decision does; several gold spans with one result between them are one change, deletions are not."""
    old: dict[tuple[Parts, Content], Content] = {}
    for target, result in zip(decision.targets, decision.results, strict=True):
        if {target} != result and target in present:
            key = result, NOTHING if result else target
            old[key] = old.get(key, NOTHING) | target
    if decision.added and not decision.added <= present:
        old.setdefault((decision.added, NOTHING), NOTHING)
    return [
        Change(decision.case_id, decision.code, before, NOTHING.union(*result)) for (result, _), before in old.items()
    ]


def _rebuilt(
    layers: Mapping[str, pd.DataFrame], removed: set[LayerSpan], added: set[LayerSpan]
) -> dict[str, pd.DataFrame]:
    """The layers without the removed and with the added spans; a layer nothing happened to stays the same object."""
    rebuilt = {}
    for layer, spans in layers.items():
        gone, new = ({span[1:] for span in side if span.layer == layer} for side in (removed - added, added - removed))
        rebuilt[layer] = spans
        if gone or new:
            known = zip(spans["start"].tolist(), spans["end"].tolist(), label_list(spans[layer]), strict=True)
            rows = sorted({*known} - gone | new, key=lambda row: row[:2])
            start, end = (np.array([row[side] for row in rows], dtype=np.int64) for side in (0, 1))
            rebuilt[layer] = make_spans(start, end, {layer: [row[2] for row in rows]})
    return rebuilt
