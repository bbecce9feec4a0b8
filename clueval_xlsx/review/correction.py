"""Gold and decisions → corrected gold, what changed, and what could not be changed because decisions clash.

Pure: spans go in, spans come out. A decision says which gold spans it concerns, as they stand, and what is to be
left of each; so applying the same decisions to corrected gold finds nothing more to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.merging import merge_layers
from clueval_xlsx.corpus.spans import label_list, make_spans, positions, touching
from clueval_xlsx.review.vocabulary import ConflictKind, Effect
from clueval_xlsx.text.strings import IntArray


class LayerSpan(NamedTuple):
    """A span on one layer; both ends inclusive."""

    layer: str
    start: int
    end: int
    label: str | None


Content = frozenset[LayerSpan]  # what all layers have at one merged span
NOTHING: Content = frozenset()


@dataclass(frozen=True)
class Decision:
    """What was decided about one case.

    `targets` are the gold spans it concerns, `results` what is left of each (the same, if the decision confirms
    it), `added` what is new. A decision that calls the model wrong says nothing against deleting gold as well.
    """

    case_id: str
    code: str
    effect: Effect
    targets: tuple[Content, ...] = ()
    results: tuple[Content, ...] = ()
    added: Content = NOTHING
    allows_deletion: bool = False

    @property
    def modifies(self) -> bool:
        """Whether gold would be another after it."""
        return bool(self.added) or any(old != new for old, new in zip(self.targets, self.results, strict=True))

    @property
    def whole_effect(self) -> tuple[object, ...]:
        """What two decisions about the same case must share to be the same: the effect with its corrections."""
        return self.effect, self.results, self.added


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
    if len(spans) == 1:
        return spans[0].start, spans[0].end
    return min(span.start for span in spans), max(span.end for span in spans)


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
    present = _present(layers, merged, decisions)
    decisions = [decision for decision in decisions if _still_there(decision, present)]
    conflicts, held = _contradictions(decisions)
    while True:
        active = [decision for decision in decisions if decision.modifies and decision.case_id not in held]
        clashes = _overlaps(active, decisions, merged, present)
        if not clashes:
            break
        conflicts += clashes
        held |= {case for clash in clashes for case in clash.cases} & {decision.case_id for decision in active}
    changes = [change for decision in active for change in _changes(decision, present)]
    removed = {span for change in changes for span in change.old}
    added = {span for change in changes for span in change.new}
    return Correction(_rebuilt(layers, removed, added), tuple(changes), tuple(conflicts), frozenset(held))


def _present(
    layers: Mapping[str, pd.DataFrame], merged: pd.DataFrame, decisions: Sequence[Decision]
) -> frozenset[Content]:
    """Those of the spans that decisions speak of which gold has just so, on all layers together."""
    rows = {pair: row for row, pair in enumerate(zip(merged["start"].tolist(), merged["end"].tolist(), strict=True))}
    asked = {extent(content) for each in decisions for content in (*each.targets, each.added) if content}
    return frozenset(contents(layers, merged, [rows[place] for place in asked if place in rows]).values())


def _still_there(decision: Decision, present: frozenset[Content]) -> bool:
    """False for what was carried out before: its targets are gone, what it adds is there."""
    if decision.targets:
        return any(target in present for target in decision.targets)
    return decision.added not in present


def _contradictions(decisions: Sequence[Decision]) -> tuple[list[Conflict], set[str]]:
    """Decisions about the same gold span that leave different results behind, and all that hang on them."""
    claims: dict[Content, list[tuple[Decision, Content]]] = defaultdict(list)
    for decision in decisions:
        for target, result in zip(decision.targets, decision.results, strict=True):
            claims[target].append((decision, result))
    conflicts: list[Conflict] = []
    held: set[str] = set()
    for target, said in claims.items():
        if len(said) == 1:
            continue
        deleted = any(not result for _, result in said)
        binding = [(d, r) for d, r in said if not (deleted and d.allows_deletion and r == target)]
        if len({result for _, result in binding}) > 1:
            cases = tuple(dict.fromkeys(decision.case_id for decision, _ in binding))
            conflicts.append(Conflict(ConflictKind.CONTRADICTION, cases, (extent(target),)))
            held.update(cases)
    # A decision that is held back takes along those that would change one of its gold spans.
    grown = bool(held)
    while grown:
        shaken = {t for d in decisions if d.case_id in held and d.modifies for t in d.targets}
        more = {d.case_id for d in decisions if d.modifies and d.case_id not in held and shaken & set(d.targets)}
        for case in sorted(more):
            target = next(t for d in decisions if d.case_id == case for t in d.targets if t in shaken)
            partners = (d.case_id for d, _ in claims[target] if d.case_id in held and d.modifies)
            conflicts.append(Conflict(ConflictKind.CONTRADICTION, (case, *partners), (extent(target),)))
        held |= more
        grown = bool(more)
    return conflicts, held


def _overlaps(
    active: Sequence[Decision], decisions: Sequence[Decision], merged: pd.DataFrame, present: frozenset[Content]
) -> list[Conflict]:
    """New spans that would overlap a gold span that stays, or another new span."""
    new: dict[Content, list[Decision]] = defaultdict(list)
    replaced: set[tuple[int, int]] = set()
    for decision in active:
        for target, result in zip(decision.targets, decision.results, strict=True):
            if target != result and target in present:
                replaced.add(extent(target))
                if result:
                    new[result].append(decision)
        if decision.added and decision.added not in present:
            new[decision.added].append(decision)
    found = _overlaps_with_gold(new, replaced, merged, decisions)
    clashing = {case for conflict in found for case in conflict.cases}
    units = sorted(new.items(), key=lambda unit: extent(unit[0]))
    reach: list[tuple[Content, list[Decision]]] = []
    for content, owners in units:
        begin = extent(content)[0]
        reach = [unit for unit in reach if extent(unit[0])[1] >= begin]
        for other, other_owners in reach:
            cases = tuple(dict.fromkeys(d.case_id for d in (*other_owners, *owners)))
            if not clashing & set(cases):
                found.append(Conflict(ConflictKind.OVERLAP, cases, (extent(other), extent(content))))
        reach.append((content, owners))
    return found


def _overlaps_with_gold(
    new: Mapping[Content, Sequence[Decision]],
    replaced: set[tuple[int, int]],
    merged: pd.DataFrame,
    decisions: Sequence[Decision],
) -> list[Conflict]:
    start, end = positions(merged)
    in_the_way: list[tuple[Content, Sequence[Decision], tuple[int, int]]] = []
    places = np.array([extent(content) for content in new], dtype=np.int64).reshape(-1, 2)
    ranges = touching(places[:, 0], places[:, 1], start, end)
    for (content, owners), first, stop in zip(new.items(), *(side.tolist() for side in ranges), strict=True):
        for row in range(first, stop):
            gold = int(start[row]), int(end[row])
            if gold not in replaced:
                in_the_way.append((content, owners, gold))
                break
    if not in_the_way:
        return []
    confirming: dict[tuple[int, int], list[str]] = defaultdict(list)
    for decision in decisions:
        for target in decision.targets:
            confirming[extent(target)].append(decision.case_id)
    return [
        Conflict(
            ConflictKind.OVERLAP,
            tuple(dict.fromkeys([*(owner.case_id for owner in owners), *confirming[gold]])),
            (extent(content), gold),
            with_gold=gold,
            adds=any(owner.added for owner in owners),
        )
        for content, owners, gold in in_the_way
    ]


def _changes(decision: Decision, present: frozenset[Content]) -> list[Change]:
    """What one decision does; several gold spans with one result between them are one change."""
    by_result: dict[Content, set[LayerSpan]] = defaultdict(set)
    for target, result in zip(decision.targets, decision.results, strict=True):
        if target != result and target in present:
            by_result[result if result else frozenset({*target, _DELETED})] |= target
    changes = []
    for result, old in by_result.items():
        new = NOTHING if _DELETED in result else result
        changes.append(Change(decision.case_id, decision.code, frozenset(old), new))
    if decision.added and decision.added not in present:
        changes.append(Change(decision.case_id, decision.code, NOTHING, decision.added))
    return changes


_DELETED = LayerSpan("", -1, -1, None)  # keeps deletions of different spans apart


def _rebuilt(
    layers: Mapping[str, pd.DataFrame], removed: set[LayerSpan], added: set[LayerSpan]
) -> dict[str, pd.DataFrame]:
    """The layers without the removed and with the added spans; a layer nothing happened to stays the same object."""
    rebuilt = {}
    for layer, spans in layers.items():
        gone = {span for span in removed if span.layer == layer} - added
        new = {span for span in added if span.layer == layer} - removed
        if not gone and not new:
            rebuilt[layer] = spans
            continue
        rows = [
            span
            for span in zip(spans["start"].tolist(), spans["end"].tolist(), label_list(spans[layer]), strict=True)
            if LayerSpan(layer, *span) not in gone
        ]
        rows = sorted({*rows, *((span.start, span.end, span.label) for span in new)}, key=lambda span: span[:2])
        start = np.array([row[0] for row in rows], dtype=np.int64)
        end = np.array([row[1] for row in rows], dtype=np.int64)
        rebuilt[layer] = make_spans(start, end, {layer: [row[2] for row in rows]})
    return rebuilt
