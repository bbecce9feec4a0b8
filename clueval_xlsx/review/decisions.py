"""What a judgement means at its case: which gold spans it concerns, and what is to be left of them."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from clueval_xlsx.cases.contexts import context_bounds
from clueval_xlsx.cases.kinds import FN, FP, UM, Sheet
from clueval_xlsx.cases.table import BETWEEN, NO_LABEL
from clueval_xlsx.cases.twins import TwinGroups, groups_of
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.formats.registry import ONE_WORD, format_named
from clueval_xlsx.review.assignment import agreed_cases
from clueval_xlsx.review.choices import scope_choices, severity_choices
from clueval_xlsx.review.correction import NOTHING, Content, Decision, LayerSpan, contents, extent
from clueval_xlsx.review.judgements import AnswerPart, Judgement
from clueval_xlsx.review.normalising import clean, normalise
from clueval_xlsx.review.typed_words import Missing, find_words
from clueval_xlsx.review.vocabulary import SPAN_CHOICES, Effect, Scope, SpanChoice
from clueval_xlsx.words import FALLBACK, Words, in_every_language, known_language

Extent = tuple[int, int]


class Unusable(Exception):  # noqa: N818 - it is reported, not an error of the program
    """Why a judgement cannot be carried out.

    `column` is the key of the cell at fault, `reason` a key of the language files (`unusable.KEY`), `value` what
    stands there; `found` and `allowed` say it in English, with the words of lists as the workbook
    has them.
    """

    def __init__(self, column: str, reason: str, value: str, *, found: str, allowed: str) -> None:
        super().__init__(column, reason, value)
        self.column, self.reason, self.value = column, reason, value
        self.found, self.allowed = found, allowed


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
    def reference(self) -> Extent | None:
        """The extent of the reference."""
        return self.other if self.sheet in {FP, UM} else self.own

    @property
    def model(self) -> Extent | None:
        """The extent of the model's spans."""
        return self.own if self.sheet == FP else self.other


class CaseBook:
    """The cases of a run, and what judgements about them mean."""

    def __init__(
        self,
        evaluation: Evaluation,
        agreed: Mapping[str, Scope | None] | None = None,
        language: str = FALLBACK,
    ) -> None:
        """`agreed` are the IDs of the agreed spans that somebody judged, beside the cases, and for which twins.

        What is allowed in a cell is named in `language`, the workbook's.
        """
        self._evaluation = evaluation
        self._language = language
        self._gold_layers = evaluation.raw.gold.layers  # labels as they stand in the file
        missed, unsupported = evaluation.bare_cases
        self.agreed = _agreed(evaluation, agreed or {})
        self._unmarked = evaluation.unmarked_cases
        more = [table for table in (self.agreed, self._unmarked) if table is not None and len(table)]
        self._tables = [missed, unsupported, *more]

    @cached_property
    def table(self) -> pd.DataFrame:
        """All cases, FN first, by their ID."""
        return pd.concat(self._tables, ignore_index=True).set_index("case_id", drop=False)

    @cached_property
    def cases(self) -> Mapping[str, Case]:
        """Every case by its ID."""
        pair = self._evaluation.pair
        gold, pred = pair.gold.spans, pair.pred.spans
        missed, unsupported = self._tables[:2]
        missed = pd.concat([missed, self.agreed], ignore_index=True) if len(self.agreed) else missed
        own_rows, pred_rows = (table["row"].to_numpy(np.int64) for table in (missed, unsupported))
        first, stop = (column[pred_rows] for column in self._evaluation.strict.pred.touched)
        wanted = {*own_rows.tolist(), *(row for pair in zip(first, stop, strict=True) for row in range(*pair))}
        gold_contents = contents(self._gold_layers, gold, wanted)
        pred_contents = contents(pair.pred.layers, pred, pred_rows.tolist())
        found: dict[str, Case] = {}
        for table, targets, predicted in (
            (missed, [(gold_contents[row],) for row in own_rows.tolist()], [NOTHING] * len(missed)),
            (
                unsupported,
                [tuple(gold_contents[row] for row in range(*pair)) for pair in zip(first, stop, strict=True)],
                [pred_contents[row] for row in pred_rows.tolist()],
            ),
        ):
            columns = ("case_id", "sheet", "row", "start", "end", "other_start", "other_end")
            rows = zip(*(table[name].tolist() for name in columns), targets, predicted, strict=True)
            for case_id, sheet, row, start, end, other_start, other_end, target, content in rows:
                other = (other_start, other_end) if other_start >= 0 else None
                found[case_id] = Case(case_id, sheet, row, (start, end), other, target, content)
        return found | self._unmarked_cases()

    def _unmarked_cases(self) -> dict[str, Case]:
        """The passages that nobody marked: what a judgement would add has the labels of their twins."""
        table = self._unmarked
        if table is None:
            return {}
        layers = self._evaluation.pair.layers
        found = {}
        columns = (*("case_id", "row", "start", "end"), *(f"label_{layer}" for layer in layers))
        for case_id, row, start, end, *labels in zip(*(table[name].tolist() for name in columns), strict=True):
            named = zip(layers, labels, strict=True)
            added = frozenset(LayerSpan(layer, start, end, label) for layer, label in named if label)
            found[case_id] = Case(case_id, UM, row, (start, end), None, (), added)
        return found

    @cached_property
    def twins(self) -> TwinGroups:
        """Which cases are alike."""
        return groups_of(self._tables)

    @cached_property
    def related(self) -> Mapping[str, Sequence[str]]:
        """The cases of the other sheet that show the same disagreement."""
        return dict(zip(self.table["case_id"], self.table["related"], strict=True))

    def knows_label(self, layer: str, label: str) -> bool:
        """Whether a label occurs on a layer, on either side; the sign for "none" is always known."""
        return label == NO_LABEL or normalise(label) in {normalise(name) for name in self._vocabulary.get(layer, {})}

    @cached_property
    def _vocabulary(self) -> Mapping[str, Mapping[str, str]]:
        """Every layer's labels by their normalised words; what two labels share is nobody's."""
        pair = self._evaluation.pair
        found: dict[str, dict[str, str]] = {}
        for layer in pair.layers:
            names: dict[str, list[str]] = defaultdict(list)
            frames = [self._gold_layers[layer], pair.pred.layers[layer]]
            for label in label_vocabulary(frames, layer):
                names[normalise(label)].append(label)
            found[layer] = {name: labels[0] for name, labels in names.items() if len(labels) == 1}
            found[layer].update({label: label for labels in names.values() for label in labels})
        return found

    def decide(self, record: Judgement) -> Decision:
        """What one judgement would do; raises `Unusable` if that cannot be told."""
        case = self.cases[record.case_id]
        labels = self._labels(record)
        check_complete(record, self._language)
        match record.effect:
            case Effect.DELETE:
                results = [NOTHING for _ in case.targets]
            case Effect.ADD:
                return Decision(case.case_id, record.code, Effect.ADD, added=self._addition(case, record, labels))
            case Effect.BOUNDARY:
                _needs_reference(case, "correct_span")
                result = _one_extent(case.targets, self._span(case, record), labels)
                results = [result for _ in case.targets]
            case Effect.LABEL:
                _needs_reference(case, "judgement")
                results = [_relabelled(target, labels, extent(target)) for target in case.targets]
            case Effect.NONE | Effect.ACCEPT:
                results = list(case.targets)
            case _:
                return Decision(case.case_id, record.code, Effect.OPEN)
        allows = record.effect is Effect.NONE and case.sheet == FP
        return Decision(case.case_id, record.code, record.effect, case.targets, tuple(results), allows_deletion=allows)

    def _addition(self, case: Case, record: Judgement, labels: Mapping[str, str]) -> Content:
        if record.correct_span:
            return _one_extent([case.predicted], self._span(case, record), labels)
        return _relabelled(case.predicted, labels, case.own)

    def _labels(self, record: Judgement) -> dict[str, str]:
        """The correct labels in the spelling the corpus uses; new ones may be typed."""
        found = {}
        for layer, typed in record.correct_labels.items():
            shown = clean(typed)
            if not shown:
                continue
            known = self._vocabulary[layer]
            label = known.get(shown) or known.get(normalise(shown)) or shown
            if label not in known.values():
                self._check_new_label(label, layer)
                self._check_meant_as_label(label, layer, self.cases[record.case_id])
            found[layer] = label
        return found

    def _check_new_label(self, label: str, layer: str) -> None:
        broken = any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in label)
        own = format_named(self._evaluation.pair.gold.source.format)
        blank = own.labels == ONE_WORD and any(letter.isspace() for letter in label)
        if broken or blank or BETWEEN.strip() in label:
            known = ", ".join(sorted(set(self._vocabulary[layer].values()))) or "none so far"
            raise Unusable(
                "correct_label",
                "bad_label",
                label,
                found=repr(label),
                allowed=f"one label ({known}), or a new one that {own.title} can hold",
            )
        if label in {NO_LABEL, "-"} and len(self._evaluation.pair.layers) == 1:
            raise Unusable(
                "correct_label",
                "no_label",
                label,
                found=repr(label),
                allowed="a label; to delete the span choose that judgement",
            )

    def _check_meant_as_label(self, label: str, layer: str, case: Case) -> None:
        """Refuse a new label that is one of another layer, an entry of another list, or words of the passage."""
        low, high = _hull(case)
        tokens = self._evaluation.pair.corpus.tokens.take(range(low, high + 1))
        others = [name for name, known in self._vocabulary.items() if name != layer and label in known.values()]
        listed = severity_choices().has(label) or scope_choices().has(label) or normalise(label) in _span_words()
        if not others and not listed and find_words(label, tokens, 0, high - low) is Missing.NOT_FOUND:
            return
        of = f", a label of layer {others[0]}" if others else ", which looks like an entry of another column"
        known = ", ".join(sorted(set(self._vocabulary[layer].values()))) or "none so far"
        raise Unusable(
            f"correct_label:{layer}",
            "misplaced",
            label,
            found=f"{label!r}{of}",
            allowed=f"a label of layer {layer} ({known}), or a new one",
        )

    def _span(self, case: Case, record: Judgement) -> Extent:
        choice = record.correct_span
        found = self._chosen(case, SpanChoice(choice)) if choice in SPAN_CHOICES else self._typed(case, choice)
        corpus = self._evaluation.pair.corpus
        edges = np.array(found, dtype=np.int64)
        crosses = corpus.document_of(edges) if not corpus.hard_breaks else corpus.sentence_of(edges)
        if crosses[0] != crosses[1]:
            raise Unusable(
                "correct_span",
                "crosses",
                corpus.text(*found),
                found=f"{corpus.text(*found)!r}, which crosses the end of a sentence",
                allowed="words of one sentence",
            )
        return found

    def _chosen(self, case: Case, choice: SpanChoice) -> Extent:
        reference, model = case.reference, case.model
        chosen = {SpanChoice.AS_REFERENCE: reference, SpanChoice.AS_MODEL: model}.get(choice)
        if reference and model:
            if choice == SpanChoice.BOTH:
                chosen = min(reference[0], model[0]), max(reference[1], model[1])
            elif choice == SpanChoice.COMMON:
                chosen = max(reference[0], model[0]), min(reference[1], model[1])
        if chosen is None:
            shown = Words(known_language(self._language))[f"span_choice.{choice}"]
            who = {FP: "the reference", FN: "the model"}.get(Sheet(case.sheet), "nobody")
            raise Unusable(
                "correct_span",
                "not_marked",
                choice,
                found=f"{shown!r}, but {who} has marked {'anything' if who == 'nobody' else 'nothing'} here",
                allowed="the exact words, typed",
            )
        return chosen

    def _typed(self, case: Case, words: str) -> Extent:
        corpus = self._evaluation.pair.corpus
        low, high = _hull(case)
        window = self._evaluation.options.context
        shown = context_bounds(corpus, np.array([low], np.int64), np.array([high], np.int64), window)
        first, stop = int(shown.left[0]), int(shown.right[0])
        found = find_words(words, corpus.tokens.take(range(first, stop)), case.own[0] - first, case.own[1] - first)
        if isinstance(found, Missing):
            raise _not_located(words, found, self._language)
        return found[0] + first, found[1] + first


def _hull(case: Case) -> Extent:
    """From the first to the last token that either side has marked at a case."""
    return case.own if case.other is None else (min(case.own[0], case.other[0]), max(case.own[1], case.other[1]))


def _span_words() -> set[str]:
    """The words of the choices of spans in every language."""
    return {normalise(text) for choice in SPAN_CHOICES for text in in_every_language(f"span_choice.{choice}").values()}


def _not_located(words: str, why: Missing, language: str) -> Unusable:
    """Why typed words cannot be used."""
    if why is Missing.EMPTY:
        return Unusable("correct_span", "not_found", words, found=repr(words), allowed=_span_choices(language))
    if why is Missing.NOT_FOUND:
        found, allowed = "which is not in the context as whole words", "words as they stand in the context"
        return Unusable("correct_span", "not_found", words, found=f"{words!r}, {found}", allowed=allowed)
    return Unusable(
        "correct_span",
        "ambiguous",
        words,
        found=f"{words!r}, which occurs twice at the same distance from the span",
        allowed="words that occur once, for instance with a neighbouring word",
    )


def _agreed(evaluation: Evaluation, wanted: Mapping[str, Scope | None]) -> pd.DataFrame:
    """The agreed spans among these IDs and the twins that their judgements hold for, as a table of cases."""
    if not wanted:
        return evaluation.bare_cases[0].head(0)
    table = agreed_cases(evaluation)
    twins = groups_of([table])
    reached = [twins.others(case, same_document=scope is Scope.DOCUMENT) for case, scope in wanted.items() if scope]
    return table[table["case_id"].isin([*wanted, *(case for cases in reached for case in cases)])].reset_index(
        drop=True
    )


def check_complete(record: Judgement, language: str = FALLBACK) -> None:
    """Refuse a judgement that lacks its correction; `language` is the one of the workbook."""
    missing = record.completeness.missing
    if missing is AnswerPart.CORRECT_SPAN:
        allowed = _span_choices(language)
        raise Unusable(missing, "span_missing", "", found="empty, but the judgement needs it", allowed=allowed)
    if missing is AnswerPart.CORRECT_LABEL:
        raise Unusable(missing, "label_missing", "", found="empty, but the judgement needs it", allowed="a label")


def _needs_reference(case: Case, column: str) -> None:
    if not case.targets:
        raise Unusable(
            column,
            "no_reference",
            "",
            found="a correction of the reference, which has marked nothing here",
            allowed="the judgement that the reference forgot this, or another one without a correction",
        )


def _one_extent(old: Sequence[Content], span: Extent, labels: Mapping[str, str]) -> Content:
    """One extent on every layer that has a span here; each keeps the label with most tokens unless one is given."""
    votes: dict[str, dict[str | None, tuple[int, int]]] = defaultdict(dict)
    for part in sorted({part for content in old for part in content}, key=lambda part: (part.start, part.end)):
        tokens, first = votes[part.layer].get(part.label, (0, part.start))
        votes[part.layer][part.label] = tokens + part.end - part.start + 1, first
    chosen: dict[str, str | None] = {
        layer: min(found, key=lambda label: (-found[label][0], found[label][1])) for layer, found in votes.items()
    }
    chosen.update(labels)
    return _checked(frozenset(LayerSpan(layer, *span, label) for layer, label in chosen.items() if not _none(label)))


def _relabelled(old: Content, labels: Mapping[str, str], whole: Extent) -> Content:
    """The same spans with other labels; a layer that has none here gets one over the whole extent."""
    kept = {part for part in old if part.layer not in labels}
    for layer, label in labels.items():
        parts = [part for part in old if part.layer == layer]
        if not _none(label):
            kept |= {part._replace(label=label) for part in parts} or {LayerSpan(layer, *whole, label)}
    return _checked(frozenset(kept))


def _checked(content: Content) -> Content:
    if not content:
        raise Unusable(
            "correct_label",
            "no_label",
            NO_LABEL,
            found=f"{NO_LABEL!r} on every layer",
            allowed="a label; to delete the span choose that judgement",
        )
    return content


def _none(label: str | None) -> bool:
    """Whether a typed label says that the layer has none here; a span without a label (None) is one all the same."""
    return label in {NO_LABEL, "-"}


def _span_choices(language: str) -> str:
    words = Words(known_language(language)).section("span_choice")
    return ", ".join(repr(words[choice]) for choice in SPAN_CHOICES) + ", or the exact words"
