"""What a judgement means at its case: which gold spans it concerns, and what is to be left of them.

Whether a judgement counts is told by the rule that State goes by (`answers`), held against the same facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from clueval_xlsx.cases.contexts import context_bounds
from clueval_xlsx.cases.kinds import AG, FN, FP, UM
from clueval_xlsx.cases.twins import TwinGroups, groups_of
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.answers import (
    NEW_LABEL_SIGN,
    NONE,
    PART,
    CaseFacts,
    Wrong,
    label_key,
    settles,
    span_choice,
)
from clueval_xlsx.review.assignment import agreed_cases
from clueval_xlsx.review.correction import NOTHING, Content, Decision, LayerSpan, Parts, contents, extent
from clueval_xlsx.review.facts import Extent, Located, answer_rule, case_facts, chosen_spans, locate
from clueval_xlsx.review.judgements import Effect, Judgement, Scope, SpanChoice

_CORRECTING = frozenset({Effect.ADD, Effect.BOUNDARY, Effect.LABEL})


@dataclass(frozen=True)
class Case:
    """One case with everything a judgement can refer to."""

    case_id: str
    sheet: str
    row: int  # of its span among the spans of its side
    own: Extent
    other: Extent | None  # first to last span of the other side that touches it
    targets: tuple[Content, ...]  # the gold spans that it concerns
    predicted: Content  # what the model has here; on FN nothing is ever added from it

    @property
    def hull(self) -> Extent:
        """From the first to the last token that either side has marked."""
        other = self.other or self.own
        return min(self.own[0], other[0]), max(self.own[1], other[1])

    @property
    def choices(self) -> Mapping[SpanChoice, Extent]:
        """What each choice of a correct span means here."""
        if self.sheet == FP:
            return chosen_spans(self.other, self.own)
        return chosen_spans(None if self.sheet == UM else self.own, self.other)


class CaseBook:
    """The cases of a run, and what judgements about them mean."""

    def __init__(
        self, evaluation: Evaluation, judged: Iterable[Judgement] = (), more_labels: Sequence[str] = ()
    ) -> None:
        """`judged` are the judgements that will be asked about, `more_labels` those known beside what occurs."""
        self._evaluation = evaluation
        records = list(judged)
        self.agreed = _agreed(evaluation, records)
        unmarked = evaluation.unmarked_cases
        more = [table for table in (self.agreed, unmarked) if table is not None and len(table)]
        self._tables = [*evaluation.bare_cases, *more]
        self._rule = answer_rule(evaluation, more_labels)
        self._facts: dict[str, CaseFacts] = {}
        self._corrected = {record.case_id for record in records if record.effect in _CORRECTING}
        self._spelling = {layer: self._spellings(layer, more_labels) for layer in evaluation.pair.layers}

    def _spellings(self, layer: str, more: Sequence[str]) -> dict[str, str]:
        """The labels of a layer by how they are compared; each also by itself."""
        pair, gold = self._evaluation.pair, self._evaluation.raw.gold
        labels = [*label_vocabulary((gold.spans, pair.gold.spans, pair.pred.spans), layer), *more]
        folded = {label_key(label): label for label in reversed(labels)}
        return {**folded, **{label: label for label in labels}}

    @cached_property
    def table(self) -> pd.DataFrame:
        """All cases, FN first, by their ID."""
        return pd.concat(self._tables, ignore_index=True).set_index("case_id", drop=False)

    @cached_property
    def cases(self) -> Mapping[str, Case]:
        """Every case by its ID."""
        pair, gold_layers = self._evaluation.pair, self._evaluation.raw.gold.layers  # labels as they stand in the file
        table = self.table
        by_sheet = {sheet: table[(table["sheet"] == sheet).to_numpy(bool)] for sheet in (FN, AG, FP, UM)}
        first, stop = (column.tolist() for column in self._evaluation.strict.pred.touched)
        pred_rows = by_sheet[FP]["row"].tolist()
        gold_rows = [*by_sheet[FN]["row"].tolist(), *by_sheet[AG]["row"].tolist()]
        wanted = {*gold_rows, *(row for own in pred_rows for row in range(first[own], stop[own]))}
        gold = contents(gold_layers, pair.gold.spans, wanted)
        pred = contents(pair.pred.layers, pair.pred.spans, pred_rows)
        found: dict[str, Case] = {}
        columns = ("case_id", "sheet", "row", "start", "end", "other_start", "other_end")
        labels = zip(*(table[f"label_{layer}"].tolist() for layer in pair.layers), strict=True)
        rows = zip(*(table[name].tolist() for name in columns), strict=True)
        for (case_id, sheet, row, start, end, other_start, other_end), own_labels in zip(rows, labels, strict=True):
            other = (other_start, other_end) if other_start >= 0 else None
            targets: tuple[Content, ...] = ()
            predicted = NOTHING
            if sheet == FP:
                targets, predicted = tuple(gold[each] for each in range(first[row], stop[row])), pred[row]
            elif sheet == UM:  # what would be added has the labels of its twins
                named = zip(pair.layers, own_labels, strict=True)
                predicted = frozenset(LayerSpan(layer, start, end, label) for layer, label in named if label)
            else:
                targets = (gold[row],)
            found[case_id] = Case(case_id, sheet, row, (start, end), other, targets, predicted)
        return found

    @cached_property
    def twins(self) -> TwinGroups:
        """Which cases are alike."""
        return groups_of(self._tables)

    @cached_property
    def related(self) -> Mapping[str, Sequence[str]]:
        """The cases of the other sheet that show the same disagreement."""
        return dict(zip(self.table["case_id"], self.table["related"], strict=True))

    def settled_by(self, decision: Decision) -> Iterator[str]:
        """The linked cases that a decision settles where they have none of their own."""
        linked = self.related.get(decision.case_id, ())
        for other in linked:
            if settles(decision.effect, only=len(linked) == 1 and len(self.related[other]) == 1):
                yield other

    def _facts_of(self, case_id: str) -> CaseFacts:
        """What a judgement of a case is held against; made at once for all that may be corrected, and their twins."""
        if case_id not in self._facts:
            wanted = {case_id, *self._corrected, *(twin for case in self._corrected for twin in self.twins.group(case))}
            asked = self.table["case_id"].isin(wanted - self._facts.keys()).to_numpy(bool)
            self._facts |= case_facts(self._evaluation, self.table[asked])
        return self._facts[case_id]

    def decide(self, record: Judgement) -> Decision | Wrong:
        """What one judgement would do, or why it cannot count."""
        case, effect = self.cases[record.case_id], record.effect
        if effect in _CORRECTING and (wrong := self._rule.wrong(record, self._facts_of(case.case_id))) is not None:
            return wrong
        if effect is None or effect is Effect.OPEN:
            return Decision(case.case_id, record.code, Effect.OPEN)
        notes: list[str] = []
        targets, added, results = case.targets, frozenset[Content](), [frozenset({target}) for target in case.targets]
        if effect is Effect.DELETE:
            results = [frozenset() for _ in targets]
        elif effect is Effect.ADD or effect is Effect.BOUNDARY:
            old = [case.predicted] if effect is Effect.ADD else targets
            whole = self._parts(case, record, old, notes)
            if not whole or NOTHING in whole:
                return Wrong.NOTHING_LEFT if whole else Wrong.NOT_IN_TEXT
            if effect is Effect.ADD:
                added, targets, results = whole, (), []
            else:
                results = [whole for _ in targets]
        elif effect is Effect.LABEL:
            labels = {layer: self._label(layer, typed, notes) for layer, typed in _labels(record)}
            results = [frozenset({_relabelled(target, labels)}) for target in targets]
        return Decision(
            case.case_id,
            record.code,
            effect,
            targets,
            tuple(results),
            added,
            takes_over=bool(record.correct_span),
            allows_deletion=effect is Effect.NONE and case.sheet == FP,
            notes=tuple(notes),
        )

    def _parts(self, case: Case, record: Judgement, old: Sequence[Content], notes: list[str]) -> Parts:
        """What is to stand here: a span for each part of the correct span, with the labels that are given or kept."""
        typed = {layer: text.split(PART) for layer, text in _labels(record)}
        places = self._extents(case, record.correct_span, notes)
        parts: list[tuple[Extent, int]] = []  # with the number that each has in the cell
        for number in sorted(range(len(places)), key=places.__getitem__):
            (low, high), first = parts[-1] if parts else ((-1, -1), number)
            if parts and places[number][0] <= high:
                parts[-1] = (low, max(high, places[number][1])), first
                notes.append("parts of the correct span overlap; they make one span")
            else:
                parts.append((places[number], number))
        missing = [layer for layer in self._evaluation.pair.layers if not any(part.layer == layer for part in old[0])]
        if record.effect is Effect.ADD and missing and not set(missing) <= typed.keys():
            notes.append(f"nothing is added on layer {', '.join(missing)}, where the model has no label")
        found: set[Content] = set()
        for place, number in parts:
            texts = {layer: labels[number if len(labels) > 1 else 0] for layer, labels in typed.items()}
            labels = {layer: self._label(layer, text, notes) for layer, text in texts.items()}
            found.add(_one_extent(old, place, labels))
        return frozenset(found)

    def _extents(self, case: Case, typed: str, notes: list[str]) -> list[Extent]:
        if not typed:
            return [case.own]
        choice = span_choice(typed)
        if choice is not None:
            return [case.choices[choice]]
        places = []
        for part in typed.split(PART):
            located = self._located(case, part)
            if located is None:
                return []
            text = self._evaluation.pair.corpus.text(*located.extent)
            if not located.whole:
                notes.append(f"{part.strip()!r} is no whole word; {text!r} was taken")
            elif not located.alone:
                notes.append(f"{part.strip()!r} stands there more than once; the nearest was taken")
            if located.extent[0] > case.hull[1] or located.extent[1] < case.hull[0]:
                notes.append(f"{part.strip()!r} shares no word with what either side has marked")
            places.append(located.extent)
        return places

    def _located(self, case: Case, typed: str) -> Located | None:
        """Where typed words stand: in one sentence, and in the context that the workbook shows."""
        corpus, (low, high) = self._evaluation.pair.corpus, case.hull
        shown = context_bounds(corpus, np.array([low]), np.array([high]), self._evaluation.options.context)
        first, stop = int(shown.left[0]), int(shown.right[0])
        edges = [first, stop]
        if corpus.hard_breaks:
            edges = [first, *corpus.breaks[(corpus.breaks > first) & (corpus.breaks < stop)].tolist(), stop]
        places = [locate(typed, corpus.tokens.take(range(*each)), each[0], case.own) for each in pairwise(edges)]
        found = [place for place in places if place is not None]
        if not found:
            return None
        own = case.own
        nearest = min(found, key=lambda place: max(place.extent[0] - own[1], own[0] - place.extent[1], 0))
        return nearest._replace(alone=nearest.alone and len(found) == 1)

    def _label(self, layer: str, typed: str, notes: list[str]) -> str | None:
        """A label in the spelling that the corpus uses; None where the layer is to have none."""
        text, folded, known = typed.strip(), label_key(typed), self._spelling[layer]
        if folded == NONE:
            return None
        label = known.get(text) or known.get(folded)
        if label is None:
            label = text.removeprefix(NEW_LABEL_SIGN)
            label = known.get(label_key(label), label)
            if label not in known:
                notes.append(f"{label!r} is a new label of layer {layer}")
        return label


def _labels(record: Judgement) -> list[tuple[str, str]]:
    return [(layer, text) for layer, text in record.correct_labels.items() if label_key(text)]


def _agreed(evaluation: Evaluation, records: Sequence[Judgement]) -> pd.DataFrame:
    """The agreed spans that somebody judged, and the twins that their judgements hold for, as a table of cases."""
    wanted = [record for record in records if record.case_id.startswith(f"{AG}-")]
    if not wanted:
        return evaluation.bare_cases[0].head(0)
    table = agreed_cases(evaluation)
    twins = groups_of([table])
    reached = {record.case_id for record in wanted}
    for record in wanted:
        if record.applies_to:
            reached.update(twins.others(record.case_id, same_document=record.applies_to is Scope.DOCUMENT))
    return table[table["case_id"].isin(reached)].reset_index(drop=True)


def _one_extent(old: Sequence[Content], span: Extent, labels: Mapping[str, str | None]) -> Content:
    """One extent on every layer that has a span here; each keeps the label with most tokens unless one is given."""
    tokens: Counter[tuple[str, str | None]] = Counter()
    for part in sorted(NOTHING.union(*old), key=lambda part: (part.start, part.end)):
        tokens[part.layer, part.label] += part.end - part.start + 1
    chosen = {layer: label for layer, label in labels.items() if label is not None}
    kept: dict[str, str | None] = {}
    for (layer, label), _ in tokens.most_common():  # of equal ones the leftmost comes first
        if layer not in labels:
            kept.setdefault(layer, label)
    return frozenset(LayerSpan(layer, *span, label) for layer, label in (kept | chosen).items())


def _relabelled(old: Content, labels: Mapping[str, str | None]) -> Content:
    """The same spans with other labels; a layer that has none here gets one over the whole extent."""
    kept = {part for part in old if part.layer not in labels}
    for layer, label in labels.items():
        parts = [part for part in old if part.layer == layer]
        if label is not None:
            kept |= {part._replace(label=label) for part in parts} or {LayerSpan(layer, *extent(old), label)}
    return frozenset(kept)
