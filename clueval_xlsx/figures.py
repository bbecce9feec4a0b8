"""The figures of a run: what was compared and how, the score table, its headline and the signature."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation
from clueval_xlsx.corpus.label_rules import Alignment
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options import Options
from clueval_xlsx.scoring.counts import DOCUMENT, Counts
from clueval_xlsx.scoring.names import LEVELS, RELAXED
from clueval_xlsx.scoring.scores import score_table
from clueval_xlsx.version import __version__


@dataclass(frozen=True)
class SideFacts:
    """What a result says about one side: where it comes from, and how much there is of it."""

    name: str
    sha256: str
    columns: Mapping[str, int | str]
    spans: int
    orphans: Mapping[str, int] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)  # the options it was read with
    dropped: int = 0  # annotations of its list that gave way to others that they overlap
    detector: str = ""

    @classmethod
    def of(cls, side: Annotation) -> SideFacts:
        """Of a side whose labels are aligned."""
        source = side.source
        return cls(
            source.name,
            source.sha256,
            source.columns,
            len(side.spans),
            dict(side.orphans),
            source.reading,
            side.dropped,
            source.detector,
        )


@dataclass(frozen=True)
class InputFacts:
    """What was compared: both sides, and the size of the corpus that they share."""

    gold: SideFacts
    pred: SideFacts
    layers: tuple[str, ...]
    documents: int
    sentences: int
    tokens: int
    align: str = ""  # how sides were brought together that have different tokens

    @classmethod
    def of(cls, pair: Pair) -> InputFacts:
        """Of a pair whose labels are aligned."""
        corpus = pair.corpus
        align = "text" if pair.added is not None else ""
        gold, pred = SideFacts.of(pair.gold), SideFacts.of(pair.pred)
        return cls(gold, pred, pair.layers, len(corpus.documents), len(corpus.breaks), len(corpus), align)

    @property
    def one_file(self) -> bool:
        """Whether both sides come from one file, or its copy, and from the same columns."""
        return self.gold.sha256 == self.pred.sha256 and dict(self.gold.columns) == dict(self.pred.columns)

    def meaningless(self, *, same_spans: bool) -> list[str]:
        """What leaves figures without meaning: no gold span, two sides that are the same, a single document."""
        notes = []
        if same_spans and self.one_file:
            notes.append(f"gold and prediction are the same: {self.gold.name}")
        if not self.gold.spans:
            notes.append(f"{self.gold.name} has no gold span, so recall is not defined")
        if self.documents == 1:
            notes.append("there is one document only: no 95 % intervals, which come from how documents differ")
        return notes


@dataclass(frozen=True, eq=False, kw_only=True)
class Figures(ABC):
    """What score tables, JSON and gates are made from, wherever it was counted; `alignment` says what labels became."""

    inputs: InputFacts
    options: Options
    signature: str
    alignment: Alignment = field(default_factory=Alignment)
    notes: tuple[str, ...] = ()

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """What all chosen schemes have counted."""

    @property
    @abstractmethod
    def presidio_counts(self) -> Counts:
        """What the Presidio pipeline counts: any type, and by type."""

    @property
    @abstractmethod
    def presidio_confusion(self) -> Counter[tuple[str, str]] | None:
        """Of scheme `presidio`, how often which type met which; None if it was not chosen."""

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that were compared."""
        return self.inputs.layers

    def __repr__(self) -> str:
        """The headline in one line, and no word of the corpus."""
        row, options = self.headline, self.options
        rates = ", ".join(f"{name} {_rate(row[name])}" for name in ("precision", "recall", "f1"))
        labelled = f", labels of {options.labelled}" if options.labelled else ""
        return (
            f"<Evaluation: {rates}; {int(row.fn)} missed, {int(row.fp)} unsupported; level {options.level}{labelled}>"
        )

    def _repr_html_(self) -> str:
        """The four levels as a small table for a notebook; no word of the corpus."""
        return notebook_table(self.summary)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The four levels, unlabelled, and the headline if its labels count: counts and rates."""
        named = {level: self.overall("clueval", level=level) for level in LEVELS}
        if self.options.labelled:
            named[f"{self.options.level}, {self.options.labelled}"] = self.headline
        counts, rates = ["gold", "fn", "pred", "fp"], ["precision", "recall", "f1", "f_beta"]
        found = pd.DataFrame([row[counts + rates] for row in named.values()], index=list(named))
        return found.astype({**dict.fromkeys(counts, int), **dict.fromkeys(rates, float)})

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The score table: computed when somebody looks, because the way back needs only a few rows of it."""
        return score_table(self.counts, self.options.beta, intervals=bool(self.options.replicates))

    @cached_property
    def presidio(self) -> pd.DataFrame:
        """What the Presidio pipeline reports, any type and by type, with F2."""
        return score_table(self.presidio_counts, intervals=False)

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
        found = self.select(scheme=scheme, layer=None, group_key=None, average="micro", **named)
        if found.empty:
            asked = ", ".join(f"{name}={value!r}" for name, value in {"scheme": scheme, **named}.items())
            chosen = ", ".join(self.options.schemes.chosen)
            raise OptionError(f"there is no row with {asked}. Computed: {chosen}; `scores` has all rows.")
        return found.iloc[0]

    def select(self, **identity: str | None) -> pd.DataFrame:
        """The score rows with these identities; None means that the column is empty.

        Where equivalent labels are applied, labelled `clueval` rows are the relaxed ones unless a variant is named.
        """
        if identity.get("scheme") == "clueval" and "variant" not in identity:
            identity["variant"] = self.label_variant if identity.get("labelled") else None
        kept = np.ones(len(self.scores), dtype=bool)
        for name, value in identity.items():
            if name not in self.scores:
                raise OptionError(f"{name}: there is no such column. Columns: {', '.join(self.scores)}.")
            column = self.scores[name]
            kept &= (column.isna() if value is None else column == value).to_numpy(bool)
        return self.scores[kept]


def notebook_table(table: pd.DataFrame) -> str:
    """A small table as a notebook shows it."""
    return table.to_html(na_rep="n/a", float_format="{:.3f}".format, border=0)


def all_scores(parts: Sequence[Figures]) -> pd.DataFrame:
    """The score rows of all that was evaluated by itself; those of documents are last, document by document.

    Layers that were evaluated by themselves share one table: every row then names its layer.
    """
    tables = [part.scores.assign(layer=part.layers[0]) if len(parts) > 1 else part.scores for part in parts]
    table = pd.concat(tables, ignore_index=True)
    of_document = (table["group_key"] == DOCUMENT).to_numpy(bool)
    place = np.full(len(table), -1)
    place[of_document] = pd.factorize(table["group"][of_document])[0]
    return table.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)


def signature(inputs: InputFacts, options: Options) -> str:
    """One line that says exactly what was computed."""

    def columns(side: SideFacts) -> str:
        return ",".join(f"{layer}={side.columns.get(layer, '-')}" for layer in inputs.layers)

    gold, pred = columns(inputs.gold), columns(inputs.pred)
    parts = {
        "version": __version__,
        **options.schemes.describe(),
        "level": options.level,
        "labelled": options.labelled or "no",
        "layers": gold if gold == pred else f"{gold}/{pred}",
        "merged": "yes" if len(inputs.layers) > 1 else "no",
        "beta": f"{options.beta:g}",
        "by": ",".join(options.by) or "-",
        "context": "sentence" if options.context is None else str(options.context),
        **options.labels.describe(),
        **_reading_parts(inputs),
        "seed": str(options.seed),
        "replicates": str(options.replicates),
        **({"detector": inputs.pred.detector} if inputs.pred.detector else {}),
        "gold": inputs.gold.sha256[:12],
        "pred": inputs.pred.sha256[:12],
    }
    return "clueval-xlsx|" + "|".join(f"{key}:{value}" for key, value in parts.items())


# Parts of a signature that may differ: what is predicted and by whom, and what changes no rate of the headline.
_FREE_PARTS = {"version", "scheme", "type-layer", "iou", "coverage", "scenario", "presidio", "chars", "by", "context"}
_FREE_PARTS |= {"seed", "replicates", "detector", "pred", "dropped", "compare"}


def signature_differences(there: str, here: str) -> list[str]:
    """What was computed differently in two runs, in words; nothing where their headlines can be compared.

    >>> signature_differences("clueval-xlsx|level:exact|pred:a", "clueval-xlsx|level:overlap|pred:b")
    ['level exact there, overlap here']
    """
    other, own = _governing_parts(there), _governing_parts(here)
    keys = [key for key in {**own, **other} if own.get(key) != other.get(key)]
    return [f"{key} {other.get(key, '-')} there, {own.get(key, '-')} here" for key in keys]


def _governing_parts(signature: str) -> dict[str, str]:
    """The parts of a signature that must agree; of the layers' columns only gold's."""
    parts = dict(part.partition(":")[::2] for part in signature.split("|")[1:])
    found = {key: value for key, value in parts.items() if key not in _FREE_PARTS}
    if "layers" in found:
        found["layers"] = found["layers"].partition("/")[0]
    return found


def _reading_parts(inputs: InputFacts) -> dict[str, str]:
    """How standoff annotations were read, where that was chosen, and whether tokens were cut."""
    parts = {}
    sides = (inputs.gold, inputs.pred)
    for name, usual in (("nested", None), ("offsets", "codepoints"), ("annotator", None)):
        gold, pred = (side.reading.get(name, usual) or "-" for side in sides)
        if {gold, pred} - {usual or "-"}:
            parts[name] = gold if gold == pred else f"{gold}/{pred}"
    if any(side.dropped for side in sides):
        parts["dropped"] = "/".join(str(side.dropped) for side in sides)
    if inputs.align:
        parts["align"] = inputs.align
    return parts


def _rate(value: float | None) -> str:
    return "n/a" if value is None or math.isnan(value) else f"{value:.3f}"
