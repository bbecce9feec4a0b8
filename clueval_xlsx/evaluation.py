"""Runs matching, scores and error tables on a pair, and returns one frozen result with its signature."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.table import add_contexts, case_table, link_cases
from clueval_xlsx.corpus.annotation import Annotation
from clueval_xlsx.corpus.label_rules import Alignment, LabelRules, align_labels
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.scoring.chosen_schemes import chosen_tallies
from clueval_xlsx.scoring.confusion import confusion
from clueval_xlsx.scoring.grouping import groupings
from clueval_xlsx.scoring.levels import LEVELS
from clueval_xlsx.scoring.matched_pair import MatchedPair, match_pair, relaxed_pair
from clueval_xlsx.scoring.scheme_settings import RELAXED, SchemeOptions
from clueval_xlsx.scoring.schemes import chars, entities, iou
from clueval_xlsx.scoring.schemes.clueval import counted, right
from clueval_xlsx.scoring.scores import ScoreSettings, score_table
from clueval_xlsx.text.strings import BoolArray
from clueval_xlsx.version import __version__

MOST_REPLICATES = 1_000_000  # more would change no figure, but fill the memory
_LARGEST_SEED = 2**63 - 1
_MOST_CONTEXT = 10**9  # tokens: more than any text has, and positions can still be added to it


@dataclass(frozen=True)
class Options:
    """What to compute. Everything here is part of the signature."""

    level: str = "overlap"
    labelled: str | None = None
    beta: float = 2.0
    by: tuple[str, ...] = ()
    seed: int = 20240
    replicates: int = 1000
    context: int | None = None
    schemes: SchemeOptions = field(default_factory=SchemeOptions)
    labels: LabelRules = field(default_factory=LabelRules)

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise OptionError(f"unknown level {self.level!r}. Allowed: {', '.join(LEVELS)}.")
        if not 0 < self.beta < math.inf:
            raise OptionError(f"--beta {self.beta}: a weight of recall. Allowed: more than 0, such as 2.")
        for name, value, most in (
            ("--replicates", self.replicates, MOST_REPLICATES),
            ("--seed", self.seed, _LARGEST_SEED),
            ("--context", self.context or 0, _MOST_CONTEXT),
        ):
            if not 0 <= value <= most:
                raise OptionError(f"{name} {value}: out of range. Allowed: 0 to {most:,}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """The result of one run; renderings read it and compute nothing.

    `pair` has its labels aligned, `raw` is what it was before. `strict` is the pair after matching, from which
    scores, cases and confusion come; `relaxed` the same with equivalent labels, where there are any.
    """

    pair: Pair
    options: Options
    settings: ScoreSettings
    signature: str
    strict: MatchedPair
    raw: Pair
    relaxed: MatchedPair | None = None
    alignment: Alignment = field(default_factory=Alignment)
    notes: tuple[str, ...] = ()

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The score table: computed when somebody looks, because the way back needs only a few rows of it."""
        tallies = chosen_tallies(self.strict, self.relaxed)
        tallies += entities.tallies(self.pair, self.options.level, self.alignment.discarded)
        return score_table(tallies, self.settings)

    @property
    def label_variant(self) -> str | None:
        """The variant of labelled `clueval` rows that governs headline and cases."""
        return RELAXED if self.options.labels.applied else None

    @cached_property
    def headline(self) -> pd.Series:
        """The row of the chosen level."""
        options = self.options
        return self.overall("clueval", level=options.level, labelled=options.labelled)

    def overall(self, scheme: str, **identity: str | None) -> pd.Series:
        """The micro-averaged row over everything; level, labelled and variant are empty unless they are given."""
        named = {"level": None, "labelled": None, **identity}
        if scheme != "clueval":
            named.setdefault("variant", None)
        return self.select(scheme=scheme, layer=None, group_key=None, average="micro", **named).iloc[0]

    def select(self, **identity: str | None) -> pd.DataFrame:
        """The score rows with these identities; None means that the column is empty.

        Where equivalent labels are applied, labelled `clueval` rows are the relaxed ones unless a variant is named.
        """
        if identity.get("scheme") == "clueval" and "variant" not in identity:
            identity["variant"] = self.label_variant if identity.get("labelled") else None
        keep = np.ones(len(self.scores), dtype=bool)
        for name, value in identity.items():
            column = self.scores[name]
            keep &= (column.isna() if value is None else column == value).to_numpy(bool)
        return self.scores[keep]

    def with_equivalence(self, mode: str) -> Evaluation:
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
    def cases(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The FN and the FP cases with their contexts."""
        missed, unsupported = self.bare_cases
        return self.with_contexts(missed), self.with_contexts(unsupported)

    @cached_property
    def bare_cases(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The FN and the FP cases, linked to each other; `relaxed` marks those that an equivalence would resolve."""
        options, corpus = self.options, self.pair.corpus
        unresolved = self.errors if self.relaxed is None else self._errors(self.relaxed)
        tables = []
        for sheet, side, wrong, still in zip((FN, FP), self.strict.sides, self.errors, unresolved, strict=True):
            rows = np.flatnonzero(wrong)
            table = case_table(rows, side, corpus, sheet=sheet, level=options.level, metadata=options.by)
            tables.append(table.assign(relaxed=~still[rows]))
        return link_cases((tables[0], tables[1]), self.strict.sides)

    def with_contexts(self, cases: pd.DataFrame) -> pd.DataFrame:
        """Some cases with the words around them, which take most of the time: so only for those that are written."""
        of_pred = (cases["sheet"] == FP).to_numpy(bool)
        if of_pred.any() and not of_pred.all():
            parts = [self.with_contexts(cases[chosen]) for chosen in (~of_pred, of_pred)]
            return pd.concat(parts).loc[cases.index]
        side = self.strict.pred if of_pred.any() else self.strict.gold
        return add_contexts(cases, side, self.pair.corpus, self.options.context)

    @cached_property
    def presidio(self) -> pd.DataFrame:
        """Scheme `iou` at 0.9 with F2, any type and by type: what the Presidio pipeline reports."""
        settings = ScoreSettings(self.pair.corpus.documents.start, self.strict.vocabulary, beta=2.0, replicates=0)
        layer = self.strict.type_layer
        return score_table([iou.tally(self.strict, 0.9, labelled) for labelled in (None, layer)], settings)

    def confusion(self, layer: str) -> pd.DataFrame:
        """Gold labels against predicted labels on a layer."""
        return confusion(*self.strict.sides, layer)


def evaluate(pair: Pair, options: Options | None = None) -> Evaluation:
    """Compare gold and prediction.

    >>> import io
    >>> from clueval_xlsx import read_pair
    >>> gold, pred = io.BytesIO(b"Ann\\tB-PER\\nLee\\tI-PER\\n"), io.BytesIO(b"Ann\\tB-PER\\nLee\\tO\\n")
    >>> result = evaluate(read_pair(gold, pred))
    >>> int(result.headline.fn), float(result.headline.precision)
    (1, 1.0)
    """
    options = options or Options()
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
    settings = ScoreSettings(
        documents=pair.corpus.documents.start,
        vocabulary=strict.vocabulary,
        groupings=groups,
        beta=options.beta,
        seed=options.seed,
        replicates=options.replicates,
        headline=(options.level, options.labelled),
        discarded=np.array(alignment.discarded, dtype=np.int64),
    )
    return Evaluation(
        pair=pair,
        raw=raw,
        options=options,
        settings=settings,
        signature=signature(pair, options),
        strict=strict,
        relaxed=relaxed,
        alignment=alignment,
        notes=(*pair.notes, *alignment.notes),
    )


def _check_layers(options: Options, layers: Collection[str]) -> None:
    """Refuse options that name a layer which is not there."""
    for option, name in (("--labelled", options.labelled), ("--type-layer", options.schemes.type_layer)):
        if name is not None and name not in layers:
            raise OptionError(f"{option} {name}: there is no such layer. Layers: {', '.join(layers)}.")


def evaluation_parts(pair: Pair, *, merged: bool = True) -> list[Pair]:
    """What is evaluated: all layers as one sequence, or each layer by itself."""
    return [pair] if merged or len(pair.layers) == 1 else [pair.layer(name) for name in pair.layers]


def evaluate_each(parts: Sequence[Pair], options: Options) -> list[Evaluation]:
    """Evaluate every part; labels are compared only in the part that has the layer."""
    known = {layer for part in parts for layer in part.layers}
    if options.labelled is not None and options.labelled not in known:
        raise OptionError(f"--labelled {options.labelled}: there is no such layer. Layers: {', '.join(sorted(known))}.")
    return [
        evaluate(part, options if options.labelled in {None, *part.layers} else replace(options, labelled=None))
        for part in parts
    ]


def signature(pair: Pair, options: Options) -> str:
    """One line that says exactly what was computed."""

    def columns(side: Annotation) -> str:
        return ",".join(f"{layer}={side.source.columns.get(layer, '-')}" for layer in pair.layers)

    gold, pred = columns(pair.gold), columns(pair.pred)
    parts = {
        "version": __version__,
        **options.schemes.describe(),
        "level": options.level,
        "labelled": options.labelled or "no",
        "layers": gold if gold == pred else f"{gold}/{pred}",
        "merged": "yes" if len(pair.layers) > 1 else "no",
        "beta": f"{options.beta:g}",
        "by": ",".join(options.by) or "-",
        "context": "sentence" if options.context is None else str(options.context),
        **options.labels.describe(),
        **_reading_parts(pair),
        "seed": str(options.seed),
        "replicates": str(options.replicates),
        **({"detector": pair.pred.source.detector} if pair.pred.source.detector else {}),
        "gold": pair.gold.source.sha256[:12],
        "pred": pair.pred.source.sha256[:12],
    }
    return "clueval-xlsx|" + "|".join(f"{key}:{value}" for key, value in parts.items())


def _reading_parts(pair: Pair) -> dict[str, str]:
    """How standoff annotations were read, where that was chosen, and whether tokens were cut."""
    parts = {}
    for name, usual in (("nested", None), ("offsets", "codepoints"), ("annotator", None)):
        gold, pred = (side.source.reading.get(name, usual) or "-" for side in (pair.gold, pair.pred))
        if {gold, pred} - {usual or "-"}:
            parts[name] = gold if gold == pred else f"{gold}/{pred}"
    if pair.added is not None:
        parts["align"] = "text"
    return parts
