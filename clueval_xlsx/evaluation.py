"""Runs matching, scores and error tables on a pair, and returns one frozen result with its signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP, UM, Sheet
from clueval_xlsx.corpus.annotation import FloatArray, span_scores
from clueval_xlsx.corpus.label_rules import align_labels
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.exceptions import OptionError, did_you_mean
from clueval_xlsx.figures import Figures, InputFacts, signature
from clueval_xlsx.options import Options
from clueval_xlsx.options.values import wanted
from clueval_xlsx.scoring.counts import Breakdown, Counts, Tally, count, groupings
from clueval_xlsx.scoring.matched_pair import MatchedPair, match_pair, relaxed_pair
from clueval_xlsx.scoring.matching import MatchedSpans, confusion
from clueval_xlsx.scoring.schemes import chars, chosen_tallies, entities, iou, presidio
from clueval_xlsx.scoring.schemes.clueval import counted, right
from clueval_xlsx.text.strings import BoolArray, IntArray

if TYPE_CHECKING:
    from clueval_xlsx.cases.order import CaseOrder
    from clueval_xlsx.cases.unmarked import UnmarkedOptions, UnmarkedPassages
    from clueval_xlsx.formats.in_memory import Array, Spans, Tags, Texts

__all__ = [
    "Evaluation",
    "evaluate",
    "evaluate_each",
    "evaluate_spans",
    "evaluate_tags",
    "evaluation_parts",
]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Evaluation(Figures):
    """The result of one run; renderings read it and compute nothing.

    `pair` has its labels aligned, `raw` is what it was before. `strict` is the pair after matching, from which
    scores, cases and confusion come; `relaxed` the same with equivalent labels, where there are any. `unmarked` are
    passages that both sides may have missed, where they were asked for, `order` that of the cases, unless it is
    the order of the text.
    """

    pair: Pair
    strict: MatchedPair
    raw: Pair
    breakdown: Breakdown
    relaxed: MatchedPair | None = None
    unmarked: UnmarkedPassages | None = None
    order: CaseOrder | None = None

    @cached_property
    def counts(self) -> Counts:
        """What all chosen schemes have counted."""
        return count(self.tallies, self.breakdown)

    @cached_property
    def presidio_counts(self) -> Counts:
        """What the Presidio pipeline counts."""
        return count(self.presidio_tallies, replace(self.breakdown, groupings=()))

    @cached_property
    def tallies(self) -> Sequence[Tally]:
        """The units of all chosen schemes."""
        found = chosen_tallies(self.strict, self.relaxed)
        ignore = self.options.labels.ignore
        return [*found, *entities.tallies(self.pair, self.options.level, self.alignment.discarded, ignore)]

    @cached_property
    def presidio_tallies(self) -> Sequence[Tally]:
        """What the Presidio pipeline counts: scheme `iou` at 0.9, any type and by type.

        If scheme `presidio` was chosen it is that one, at the first of its thresholds.
        """
        if "presidio" in self.options.schemes.chosen:
            return presidio.tallies(self.strict)[:2]
        return [iou.tally(self.strict, 0.9, labelled) for labelled in (None, self.strict.type_layer)]

    @cached_property
    def presidio_confusion(self) -> Counter[tuple[str, str]] | None:
        """Of scheme `presidio`, how often which type met which, at the first of its thresholds."""
        return presidio.confusion(self.strict) if "presidio" in self.options.schemes.chosen else None

    def with_equivalence(self, mode: Literal["apply", "mark"]) -> Evaluation:
        """The same result with equivalent labels applied to, or only marked in, the headline and the cases."""
        return replace(self, options=replace(self.options, labels=replace(self.options.labels, equivalence=mode)))

    @cached_property
    def errors(self) -> tuple[BoolArray, BoolArray]:
        """The gold spans and the predictions that do not count as right, as the headline counts them."""
        return self._errors(self.governing)

    @property
    def governing(self) -> MatchedPair:
        """What headline and cases come from: with equivalent labels only if they are applied, and labels matter."""
        chosen = self.relaxed is not None and self.options.labels.applied and self.options.labelled is not None
        return self.relaxed if chosen and self.relaxed is not None else self.strict

    def _errors(self, matched: MatchedPair) -> tuple[BoolArray, BoolArray]:
        level, labelled = self.options.level, self.options.labelled
        gold, pred = (counted(side, level) & ~right(side, level, labelled) for side in matched.sides)
        return gold, pred

    @cached_property
    def cases(self) -> pd.DataFrame:
        """All cases with their contexts, the missed ones (FN) first; `sheet` tells them apart."""
        return pd.concat(self.case_tables, ignore_index=True)

    @cached_property
    def case_tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The FN and the FP cases with their contexts."""
        missed, unsupported = self.bare_cases
        return self.with_contexts(missed), self.with_contexts(unsupported)

    @cached_property
    def bare_cases(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The FN and the FP cases, linked to each other, with twins; `relaxed`: an equivalence would resolve it."""
        from clueval_xlsx.cases.table import case_table, link_cases
        from clueval_xlsx.cases.twins import add_twins

        options, corpus = self.options, self.pair.corpus
        unresolved = self.errors if self.relaxed is None else self._errors(self.relaxed)
        tables = []
        for sheet, side, wrong, still in zip((FN, FP), self.strict.sides, self.errors, unresolved, strict=True):
            rows = np.flatnonzero(wrong)
            table = case_table(rows, side, corpus, sheet=sheet, level=options.level, metadata=options.by)
            own = self._case_scores(side, rows)
            scored = table if own is None else table.assign(score=own)
            tables.append(scored.assign(relaxed=~still[rows]))
        missed, unsupported = link_cases((tables[0], tables[1]), self.strict.sides)
        if self.order is not None:
            missed, unsupported = self.order.apply(missed, FN), self.order.apply(unsupported, FP)
        return add_twins(missed), add_twins(unsupported)

    @cached_property
    def pred_scores(self) -> FloatArray | None:
        """How sure each prediction is, NaN where nobody said; None where nobody ever did."""
        return span_scores(self.pair.pred)

    def _case_scores(self, side: MatchedSpans, rows: IntArray) -> FloatArray | None:
        """The score of a case: of its own prediction, or the highest of those that touch a missed span."""
        scores = self.pred_scores
        if scores is None or side is self.strict.pred:
            return None if scores is None else scores[rows]
        own, other = side.pairs
        found = np.full(len(side.spans), -np.inf)
        np.fmax.at(found, own, scores[other])
        return np.where(np.isneginf(found), np.nan, found)[rows]

    @cached_property
    def unmarked_cases(self) -> pd.DataFrame | None:
        """The cases of passages that nobody marked, without their contexts; None where nobody asked for them."""
        if self.unmarked is None:
            return None
        from clueval_xlsx.cases.twins import add_twins
        from clueval_xlsx.cases.unmarked import unmarked_table

        return add_twins(unmarked_table(self.unmarked, self.pair.corpus, metadata=self.options.by))

    def with_unmarked(self, options: UnmarkedOptions, confirmed: IntArray | None = None) -> Evaluation:
        """The same result with the passages that both sides may have missed.

        `confirmed` are rows of predictions that were judged right: their words count as marked.
        """
        from clueval_xlsx.cases.unmarked import MarkedText, unmarked_passages

        pair, none = self.pair, np.empty(0, dtype=np.int64)
        text = MarkedText(
            pair.corpus,
            pair.gold.spans,
            pair.pred.spans,
            ~self.strict.gold.ignored,
            none if confirmed is None else confirmed,
            self.alignment.discarded,
        )
        return replace(self, unmarked=unmarked_passages(text, options))

    def with_order(self, kind: str, also: Sequence[pd.DataFrame] = ()) -> Evaluation:
        """The same result with its cases in another order: `place`, `label` or `suspicion`.

        `also` are the spans of further systems: whom they side with makes gold more or less suspicious.
        """
        from clueval_xlsx.cases.order import BLIND, OrderKind, order_by_label, order_by_suspicion, suspicion

        if kind == OrderKind.PLACE:
            return replace(self, order=None)
        rows = np.flatnonzero(self.errors[0]), np.flatnonzero(self.errors[1])
        if kind == OrderKind.LABEL:
            layer = self.options.labelled or self.pair.layers[0]
            labels = [side.labels[layer][own] for side, own in zip(self.strict.sides, rows, strict=True)]
            return replace(self, order=order_by_label(dict(zip((FN, FP), labels, strict=True))))
        from clueval_xlsx.cases.samples import span_components

        ranks = suspicion(self.strict, rows, self.options.labelled, also, self.pred_scores)
        components = span_components(self.pair.gold.spans, self.pair.pred.spans, self.pair.corpus.documents.start)
        units = [own[each] for own, each in zip(components, rows, strict=True)]
        sheets = [dict(zip((FN, FP), each, strict=True)) for each in (ranks, units)]
        order = order_by_suspicion(sheets[0], sheets[1], self.options.seed)
        blind = not also and self.pred_scores is None
        return replace(self, order=order, notes=(*self.notes, BLIND) if blind else self.notes)

    def with_contexts(self, cases: pd.DataFrame) -> pd.DataFrame:
        """Some cases with the words around them, which take most of the time: so only for those that are written."""
        from clueval_xlsx.cases.table import add_contexts

        sheets = list(dict.fromkeys(cases["sheet"]))
        if len(sheets) > 1:
            parts = [self.with_contexts(cases[(cases["sheet"] == sheet).to_numpy(bool)]) for sheet in sheets]
            return pd.concat(parts).loc[cases.index]
        side = self._side(sheets[0]) if sheets else self.strict.gold
        return add_contexts(cases, side, self.pair.corpus, self.options.context)

    def _side(self, sheet: Sheet) -> MatchedSpans:
        """The spans that the cases of a sheet are rows of."""
        if sheet == UM and self.unmarked is not None:
            return MatchedSpans.alone(self.unmarked.spans)
        return self.strict.pred if sheet == FP else self.strict.gold

    def confusion(self, layer: str) -> pd.DataFrame:
        """Gold labels against predicted labels on a layer."""
        return confusion(*self.strict.sides, layer)


def evaluate(pair: Pair, options: Options | None = None) -> Evaluation:
    """Match and score gold and prediction.

    `pair`  both sides, as `read_pair` gives them
    `options`  what to compute, such as `Options(level="exact", labelled="category")`; None for the usual

    Gives an `Evaluation`. Raises `OptionError` if an option names a layer, a scheme or a key that is not there.

    >>> import io
    >>> from clueval_xlsx import read_pair
    >>> gold, pred = io.BytesIO(b"Ann\\tB-PER\\nLee\\tI-PER\\n"), io.BytesIO(b"Ann\\tB-PER\\nLee\\tO\\n")
    >>> result = evaluate(read_pair(gold, pred))
    >>> int(result.headline.fn), float(result.headline.precision)
    (1, 1.0)
    """
    wanted("pair", pair, Pair, "what read_pair(gold, pred) gives; for lists of tags or spans there is evaluate_tags")
    options = wanted(
        "options", Options() if options is None else options, Options, "Options, such as Options(level='exact')"
    )
    _check_layers(options, pair.layers)
    if "chars" in options.schemes.chosen:
        chars.compile_rules(options.schemes.allow)  # a bad rule stops the run before anything is computed
    raw = pair
    pair, alignment = align_labels(raw, options.labels)
    groups = groupings(pair, options.by, alignment.discarded)
    strict = match_pair(
        pair,
        options.labels,
        options.schemes,
        level=options.level,
        groupings=groups,
        discarded=alignment.discarded,
    )
    relaxed = relaxed_pair(strict, options.labels) if options.labels.equivalent else None
    breakdown = replace(
        Breakdown.whole(pair, alignment.discarded),
        vocabulary=strict.vocabulary,
        listed_vocabulary=strict.listed_vocabulary,
        groupings=groups,
        headline=(options.level, options.labelled),
    )
    inputs = InputFacts.of(pair)
    return Evaluation(
        inputs=inputs,
        pair=pair,
        raw=raw,
        options=options,
        breakdown=breakdown,
        signature=signature(inputs, options),
        strict=strict,
        relaxed=relaxed,
        alignment=alignment,
        notes=(*pair.notes, *alignment.notes),
    )


def evaluate_tags(
    gold: Tags,
    pred: Tags,
    tokens: Tags | None = None,
    *,
    documents: Sequence[str] | Array | None = None,
    options: Options | None = None,
) -> Evaluation:
    """Match and score lists of tags, as seqeval takes them. The layer is called `span`.

    `gold`, `pred`  a list of tags for each sentence: BIO, BIOES, BILOU or IO; arrays and series will do
    `tokens`  the words of each sentence; without them every token counts as one character
    `documents`  the document of each sentence, because intervals rest on documents; without it each is one
    `options`  what to compute, such as `Options(level="exact")`; None for the usual

    Gives an `Evaluation`. Raises `InputError` if the lists do not fit each other or something is no tag, `OptionError`
    if an option does not fit.

    >>> result = evaluate_tags([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]])
    >>> float(result.headline.recall)
    0.5
    """
    from clueval_xlsx.formats.in_memory import pair_of_tags

    return evaluate(pair_of_tags(gold, pred, tokens, documents), options)


def evaluate_spans(
    gold: Spans,
    pred: Spans,
    texts: Texts | None = None,
    *,
    nested: str | None = None,
    options: Options | None = None,
) -> Evaluation:
    """Match and score lists of spans, as nervaluate takes them, or data frames. The layer is called `span`.

    `gold`, `pred`  a list for each document of dicts with `start`, `end` and `label`, or frames with these columns
    `texts`  the texts of the documents; for frames of several documents (column `doc_id`) a dict or series by its name
    `nested`  what becomes of annotations that overlap: `error`, `longest` or `merge`
    `options`  what to compute, such as `Options(level="exact")`; None for the usual

    With `texts`, offsets count characters and the end is exclusive; without, `start` and `end` are token positions,
    both inclusive.

    Gives an `Evaluation`. Raises `InputError` with the place of a span that does not fit, `OptionError` if an option
    does not.

    >>> gold = [[{"start": 0, "end": 7, "label": "PER"}]]
    >>> pred = [[{"start": 0, "end": 3, "label": "PER"}, {"start": 4, "end": 7, "label": "PER"}]]
    >>> result = evaluate_spans(gold, pred, ["Ann Lee came."])
    >>> float(result.headline.recall), int(result.summary.loc["exact", "fn"])
    (1.0, 1)
    """
    from clueval_xlsx.formats.in_memory import pair_of_spans

    return evaluate(pair_of_spans(gold, pred, texts, nested=nested), options)


def _check_layers(options: Options, layers: Collection[str]) -> None:
    """Refuse options that name a layer which is not there."""
    for option, name in (("--labelled", options.labelled), ("scheme.type_layer", options.schemes.type_layer)):
        if name is not None and name not in layers:
            raise _no_layer(option, name, layers)


def _no_layer(option: str, name: str, layers: Collection[str]) -> OptionError:
    hint = did_you_mean(name, layers)
    return OptionError(f"{option} {name}: there is no such layer.{hint} Layers: {', '.join(layers)}.")


def evaluation_parts(pair: Pair, *, merged: bool = True) -> list[Pair]:
    """What is evaluated: all layers as one sequence, or each layer by itself."""
    return [pair] if merged or len(pair.layers) == 1 else [pair.layer(name) for name in pair.layers]


def evaluate_each(parts: Sequence[Pair], options: Options) -> list[Evaluation]:
    """Evaluate every part; labels are compared only in the part that has the layer."""
    known = {layer for part in parts for layer in part.layers}
    if options.labelled is not None and options.labelled not in known:
        raise _no_layer("--labelled", options.labelled, sorted(known))
    return [
        evaluate(part, options if options.labelled in {None, *part.layers} else replace(options, labelled=None))
        for part in parts
    ]
