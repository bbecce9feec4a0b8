"""Runs matching, scores and error tables on a pair, and returns one frozen result with its signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.confusion import confusion
from clueval_xlsx.errors import FN, FP, error_table, link_cases, select_errors
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.matching import LEVELS, match_spans
from clueval_xlsx.pairing import Annotation, Pair
from clueval_xlsx.schemes import clueval
from clueval_xlsx.scores import Grouping, ScoreSettings, score_table
from clueval_xlsx.spans import label_vocabulary
from clueval_xlsx.version import __version__


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


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of one run; renderings read it and compute nothing."""

    pair: Pair
    options: Options
    gold_match: pd.DataFrame
    pred_match: pd.DataFrame
    scores: pd.DataFrame
    signature: str
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def headline(self) -> pd.Series:
        """The row of the chosen level."""
        options = self.options
        return self.overall("clueval", level=options.level, labelled=options.labelled)

    def overall(self, scheme: str, *, level: str | None = None, labelled: str | None = None) -> pd.Series:
        """The micro-averaged row over everything."""
        rows = self.select(scheme=scheme, level=level, labelled=labelled, layer=None, group_key=None, average="micro")
        return rows.iloc[0]

    def select(self, **identity: str | None) -> pd.DataFrame:
        """The score rows with these identities; None means that the column is empty."""
        keep = np.ones(len(self.scores), dtype=bool)
        for name, value in identity.items():
            column = self.scores[name]
            keep &= (column.isna() if value is None else column == value).to_numpy(bool)
        return self.scores[keep]

    @cached_property
    def cases(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The FN and the FP cases, linked to each other."""
        return self._cases(with_context=True)

    @cached_property
    def bare_cases(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The same cases without their contexts, which take most of the time."""
        return self._cases(with_context=False)

    def _cases(self, *, with_context: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
        options, pair = self.options, self.pair
        gold, pred = pair.gold.spans, pair.pred.spans
        tables = []
        for sheet, a, b, match in ((FN, gold, pred, self.gold_match), (FP, pred, gold, self.pred_match)):
            wrong = a[select_errors(match, a, options.level, options.labelled)]
            tables.append(
                error_table(
                    wrong,
                    a,
                    b,
                    pair.corpus,
                    sheet=sheet,
                    level=options.level,
                    context=options.context,
                    metadata=options.by,
                    with_context=with_context,
                )
            )
        return link_cases(*tables)

    def confusion(self, layer: str) -> pd.DataFrame:
        """Gold labels against predicted labels on a layer."""
        return confusion(self.pair.gold.spans, self.pair.pred.spans, layer)


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
    if options.level not in LEVELS:
        raise OptionError(f"unknown level {options.level!r}. Allowed: {', '.join(LEVELS)}.")
    if options.labelled is not None and options.labelled not in pair.layers:
        raise OptionError(f"--labelled {options.labelled}: there is no such layer. Layers: {', '.join(pair.layers)}.")
    gold, pred = pair.gold.spans, pair.pred.spans
    gold_match, pred_match = match_spans(gold, pred), match_spans(pred, gold)
    tallies = clueval.tallies(gold, pred, gold_match, pred_match, pair.layers)
    settings = ScoreSettings(
        documents=pair.corpus.documents.start,
        vocabulary={layer: label_vocabulary([gold, pred], layer) for layer in pair.layers},
        groupings=groupings(pair, options.by),
        beta=options.beta,
        seed=options.seed,
        replicates=options.replicates,
        headline=(options.level, options.labelled),
    )
    return Evaluation(
        pair, options, gold_match, pred_match, score_table(tallies, settings), signature(pair, options), pair.notes
    )


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


def groupings(pair: Pair, keys: Sequence[str]) -> list[Grouping]:
    """What rows are grouped by: the documents always, then the chosen metadata."""
    corpus = pair.corpus
    found = [Grouping("document", corpus.doc_ids, np.arange(len(corpus.doc_ids)), per_document=True)]
    everywhere = np.arange(len(corpus), dtype=np.int64)
    for key in keys:
        values = corpus.metadata(key, everywhere)
        names = [str(value) for value in values.categories]
        found.append(Grouping(key, names, values.codes.astype(np.int64), per_document=False))
    return found


def signature(pair: Pair, options: Options) -> str:
    """One line that says exactly what was computed."""

    def columns(side: Annotation) -> str:
        return ",".join(f"{layer}={side.source.columns.get(layer, '-')}" for layer in pair.layers)

    gold, pred = columns(pair.gold), columns(pair.pred)
    parts = {
        "version": __version__,
        "scheme": "clueval",
        "level": options.level,
        "labelled": options.labelled or "no",
        "layers": gold if gold == pred else f"{gold}/{pred}",
        "merged": "yes" if len(pair.layers) > 1 else "no",
        "beta": f"{options.beta:g}",
        "by": ",".join(options.by) or "-",
        "context": "sentence" if options.context is None else str(options.context),
        "seed": str(options.seed),
        "replicates": str(options.replicates),
        "gold": pair.gold.source.sha256[:12],
        "pred": pair.pred.source.sha256[:12],
    }
    return "clueval-xlsx|" + "|".join(f"{key}:{value}" for key, value in parts.items())
