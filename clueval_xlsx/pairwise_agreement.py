"""Several annotations of the same documents, none of them gold: how far each two agree, and who stands apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options import Options
from clueval_xlsx.text.strings import BoolArray

_FEWEST = 3  # annotations, among which one can stand apart


@dataclass(frozen=True, eq=False)
class AgreeingPair:
    """Two annotations: the first taken as gold, the second as prediction; F1 is the same the other way round.

    There is no evaluation where the two have no document in common.
    """

    first: str
    second: str
    evaluation: Evaluation | None

    def f1(self, level: str, labelled: str | None) -> float:
        """The F1 of everything at a level, with the labels of a layer or without labels."""
        if self.evaluation is None:
            return float("nan")
        return float(self.evaluation.overall("clueval", level=level, labelled=labelled)["f1"])

    def rows(self, **identity: str | None) -> pd.DataFrame:
        """Score rows of scheme `clueval`."""
        return pd.DataFrame() if self.evaluation is None else self.evaluation.select(scheme="clueval", **identity)


@dataclass(frozen=True)
class Apart:
    """Who agrees least with the others: the mean F1 with them, and that of the others among themselves."""

    name: str
    own: float
    others: float


@dataclass(frozen=True, eq=False)
class PairwiseAgreement:
    """Every two of several annotations."""

    names: tuple[str, ...]
    readings: tuple[Reading, ...]
    layers: tuple[str, ...]
    options: Options
    pairs: tuple[AgreeingPair, ...]

    def matrix(self, level: str, labelled: str | None) -> pd.DataFrame:
        """F1 of everyone with everyone else; the diagonal is empty."""
        table = pd.DataFrame(np.nan, index=list(self.names), columns=list(self.names))
        for pair in self.pairs:
            table.loc[pair.first, pair.second] = table.loc[pair.second, pair.first] = pair.f1(level, labelled)
        return table

    @property
    def apart(self) -> Apart | None:
        """Who stands apart at the chosen level: the one without whom the others agree best, if that is better."""
        matrix = self.matrix(self.options.level, self.options.labelled).to_numpy()
        if len(self.names) < _FEWEST or np.isnan(matrix[~np.eye(len(matrix), dtype=bool)]).any():
            return None
        found = []
        for place, name in enumerate(self.names):
            rest: BoolArray = np.arange(len(self.names)) != place
            among = matrix[np.ix_(rest, rest)]
            found.append(Apart(name, float(matrix[place, rest].mean()), float(np.nanmean(among))))
        apart = max(found, key=lambda one: one.others - one.own)
        return apart if apart.others > apart.own else None


def pairwise_agreement(
    named: Sequence[tuple[str, Reading]], options: Options | None = None, *, align: bool = False
) -> PairwiseAgreement:
    """Compare every two of several annotations of the same documents."""
    options = options or Options()
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise OptionError(f"two annotations have the same name: {', '.join(names)}. Name them with --name.")
    pairs = []
    for (first, left), (second, right) in combinations(named, 2):
        apart = left.unseen | right.unseen
        common = [doc_id for doc_id in left.doc_ids if doc_id not in apart]
        result = evaluate(make_pair(left, right, align=align), options) if common else None
        pairs.append(AgreeingPair(first, second, result))
    readings = tuple(reading for _, reading in named)
    return PairwiseAgreement(tuple(names), readings, readings[0].layer_names, options, tuple(pairs))
