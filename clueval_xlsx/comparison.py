"""Several systems over the same gold standard: metrics side by side, paired tests, errors alone and shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP, Sheet
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.figures import notebook_table
from clueval_xlsx.options.declaration import shown
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.names import is_relaxed, strict_variant
from clueval_xlsx.scoring.scores import RATES, RatesByDocument, difference_interval, rates, swaps
from clueval_xlsx.text.strings import IntArray

IDENTITY = ["scheme", "variant", "level", "labelled"]
STRICT, RELAXED = "strict", "relaxed"
_SUMS = ("gold", "tp_gold", "pred", "tp_pred")
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class System:
    """One thing compared: its name, its evaluation, and its score rows (of the whole and by document)."""

    name: str
    evaluation: Evaluation
    scores: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems side by side; the first one is what the others are compared with in short tables."""

    systems: tuple[System, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """The systems with their recall, and no word of the corpus."""
        shown = ", ".join(f"{each.name} recall {each.evaluation.headline.recall:.3f}" for each in self.systems)
        return f"<Comparison: {shown}>"

    def _repr_html_(self) -> str:
        """The rates of every system, for a notebook."""
        rows = [system.evaluation.headline[list(RATES)].astype(float) for system in self.systems]
        return notebook_table(pd.DataFrame(rows, index=self.names))

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return [system.name for system in self.systems]

    @property
    def signature(self) -> str:
        """What was computed: the first run's signature, with every system's input."""
        first = self.systems[0].evaluation
        shared = first.signature[: first.signature.rindex("|pred:")]
        inputs = ",".join(f"{each.name}={each.evaluation.pair.pred.source.sha256[:12]}" for each in self.systems)
        return f"{shared}|compare:{inputs}"

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """The overall score rows of all systems, row by row side by side, with a column `system`."""
        parts = [_overall(system.scores).assign(system=system.name) for system in self.systems]
        joined = pd.concat(parts, ignore_index=True)
        return joined.iloc[np.argsort(self._places(joined, len(joined)), kind="stable")].reset_index(drop=True)

    @cached_property
    def _identities(self) -> list[tuple[str | None, ...]]:
        """The rows that all systems have, in the first one's order."""
        first, *others = [_identities(_overall(system.scores)) for system in self.systems]
        return [identity for identity in first if all(identity in other for other in others)]

    def _places(self, rows: pd.DataFrame, otherwise: int) -> IntArray:
        """The place of each score row among those that all systems have."""
        places = {identity: place for place, identity in enumerate(self._identities)}
        return np.array([places.get(identity, otherwise) for identity in _identities(rows)], dtype=np.int64)

    @cached_property
    def documents(self) -> list[str]:
        """The documents that were evaluated for all systems."""
        first, *others = [_by_document(system.scores)["group"] for system in self.systems]
        return [name for name in first.unique() if all((other == name).any() for other in others)]

    @cached_property
    def differences(self) -> pd.DataFrame:
        """For each row, rate and pair of systems: both values, second less first, interval, p.

        The interval looks at both systems on the same documents, which are clusters. `p` comes from approximate
        randomisation over documents, `p_holm` is corrected for the number of tests. Tests are chosen beforehand: of the
        headline, recall, precision and F-beta of each system against the first.
        """
        options = self.systems[0].evaluation.options
        sums = np.stack([self._sums(system) for system in self.systems])
        totals = _rates(sums.sum(axis=1), options.beta)
        clustered = [RatesByDocument.of(list(np.moveaxis(table, -1, 0)), options.beta) for table in sums]
        names = [(*identity, rate) for identity in self._identities for rate in RATES]
        parts = []
        for first, second in combinations(range(len(self.systems)), 2):
            difference = totals[second] - totals[first]
            chance = np.full(difference.shape, np.nan)
            if first == 0 and self._headline is not None:
                row = self._headline
                chance[row] = self._chance(sums[first][:, row], sums[second][:, row], difference[row])
            low, high = difference_interval(clustered[first], clustered[second])
            unknown = np.isnan(difference) | (not options.replicates)
            numbers = {
                "first_value": totals[first],
                "second_value": totals[second],
                "difference": difference,
                "low": np.where(unknown, np.nan, low),
                "high": np.where(unknown, np.nan, high),
                "p": chance,
            }
            part = pd.DataFrame(names, columns=[*IDENTITY, "rate"], dtype=object)
            part = part.assign(first=self.names[first], second=self.names[second])
            parts.append(part.assign(**{name: values.ravel() for name, values in numbers.items()}))
        table = pd.concat(parts, ignore_index=True)
        return table.assign(p_holm=holm(table["p"]))

    def _sums(self, system: System) -> FloatArray:
        """Counts by document, row and kind of count."""
        rows = _by_document(system.scores)
        document = pd.Index(self.documents, dtype=object).get_indexer(rows["group"])
        row = self._places(rows, -1)
        kept = (document >= 0) & (row >= 0)
        sums = np.zeros((len(self.documents), len(self._identities), len(_SUMS)))
        sums[document[kept], row[kept]] = rows.loc[kept, list(_SUMS)].fillna(0).to_numpy(np.float64)
        return sums

    @cached_property
    def _headline(self) -> int | None:
        """The place of the row that stands for the headline: the one of its level and labels, else the first."""
        options = self.systems[0].evaluation.options
        wanted = ("clueval", options.level, options.labelled)
        for place, (scheme, _, level, labelled) in enumerate(self._identities):
            if (scheme, level, labelled) == wanted:
                return place
        return 0 if self._identities else None

    def headline_difference(self, other: str, rate: str) -> Mapping[Any, Any] | None:
        """What distinguishes a system from the first in a rate of the headline; None where nothing was compared."""
        if self._headline is None:
            return None
        table = self.differences
        rows = table[(table["first"] == self.names[0]) & (table["second"] == other) & (table["rate"] == rate)]
        return rows.to_dict("records")[self._headline]

    @property
    def tests(self) -> int:
        """How many p-values there are, for which Holm's correction is made."""
        return int(self.differences["p_holm"].notna().sum())

    def _chance(self, first: FloatArray, second: FloatArray, difference: FloatArray) -> FloatArray:
        """How often differences at least so large arise when documents change sides at random; F1 is not tested.

        `first` and `second` are the counts of the systems, documents × 4.
        """
        options = self.systems[0].evaluation.options
        if not options.replicates or len(self.documents) < 2:
            return np.full(difference.shape, np.nan)
        as_large, count = np.ones(difference.shape), 1
        for batch in swaps(len(self.documents), options.replicates, options.seed):
            moved = batch @ (second - first)
            left = _rates(first.sum(axis=0) + moved, options.beta)
            right = _rates(second.sum(axis=0) - moved, options.beta)
            as_large += (np.abs(right - left) >= np.abs(difference) - _ROUNDING).sum(axis=0)
            count += len(batch)
        chance = np.where(np.isnan(difference), np.nan, as_large / count)
        chance[RATES.index("f1")] = np.nan
        return chance

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Every error of any system: the case, its class under each system (empty: right there), who makes it."""
        return pd.concat([self._errors(FN), self._errors(FP)], ignore_index=True)

    @cached_property
    def shared(self) -> pd.DataFrame:
        """How many errors are made by exactly these systems: `sheet`, `systems` (a tuple), `count`."""
        counts = Counter(zip(self.errors["sheet"], self.errors["systems"], strict=True))
        rows = [
            (sheet, chosen, counts[sheet, chosen])
            for sheet in (FN, FP)
            for size in range(1, len(self.systems) + 1)
            for chosen in combinations(self.names, size)
            if size in {1, len(self.systems)} or counts[sheet, chosen]
        ]
        return pd.DataFrame(rows, columns=["sheet", "systems", "count"])

    def _errors(self, sheet: Sheet) -> pd.DataFrame:
        # A case is known by its ID: token positions may differ where each pair was cut into tokens by itself.
        classes: list[dict[str, str]] = []
        parts = []
        for system in self.systems:
            cases = system.evaluation.bare_cases[0 if sheet == FN else 1]
            seen = [case for known in classes for case in known]
            new = cases[~cases["case_id"].isin(seen) & cases["document"].isin(self.documents)]
            parts.append(system.evaluation.with_contexts(new))
            classes.append(dict(zip(cases["case_id"], cases["class"], strict=True)))
        errors = pd.concat(parts, ignore_index=True)
        errors["order"] = pd.Index(self.documents, dtype=object).get_indexer(errors["document"])
        within = "char_start" if "char_start" in errors else "document_start"
        errors = errors.sort_values(["order", within], kind="stable", ignore_index=True)
        makers: list[tuple[str, ...]] = [()] * len(errors)
        for place, (name, known) in enumerate(zip(self.names, classes, strict=True)):
            kinds = [known.get(case, "") for case in errors["case_id"]]
            errors[f"class_{place}"] = kinds
            makers = [(*others, name) if kind else others for others, kind in zip(makers, kinds, strict=True)]
        inner = ["class", "related", "relaxed", "row", "order"]
        return errors.assign(systems=makers).drop(columns=inner, errors="ignore")


def compare(named: Mapping[str, Evaluation] | Sequence[tuple[str, Evaluation]]) -> Comparison:
    """Compare evaluations of several systems; one alone is compared with itself under relaxed labels.

    `named`  the name and the evaluation of each system, a dict or pairs; the others are compared with the first

    Gives a `Comparison`: metrics side by side, differences with intervals and tests, errors alone and shared.
    Raises `OptionError` if a name or an evaluation is missing, `InputError` if gold is not the same everywhere.

    >>> from clueval_xlsx import evaluate_tags
    >>> gold, old, new = [["B-PER", "B-LOC"]], [["O", "B-LOC"]], [["B-PER", "B-LOC"]]
    >>> compare({"old": evaluate_tags(gold, old), "new": evaluate_tags(gold, new)})
    <Comparison: old recall 0.500, new recall 1.000>
    """
    named = _named(named)
    evaluations = [evaluation for _, evaluation in named]
    if len(named) == 1:
        evaluation = evaluations[0]
        if evaluation.relaxed is None:
            raise OptionError(
                "compare needs two predictions or more; one alone can be compared strict against relaxed. "
                "Give another prediction, or labels that count as the same (--equivalent ORG,LOC)."
            )
        strict, relaxed = _strict_and_relaxed(evaluation)
        return Comparison((strict, relaxed))
    gold = {evaluation.raw.gold.source.sha256 for evaluation in evaluations}
    if len(gold) > 1:
        raise InputError("the systems were evaluated on different gold files. Compare them with the same one.")
    if len({name for name, _ in named}) < len(named):
        raise OptionError(f"two systems have the same name: {', '.join(name for name, _ in named)}. Use --name.")
    notes = []
    if len({evaluation.alignment.discarded for evaluation in evaluations}) > 1:
        notes.append(
            "documents were left out for some systems only: each system's figures are over its own documents, the "
            "differences over those that all have"
        )
    return Comparison(tuple(System(name, each, each.scores) for name, each in named), tuple(notes))


def _named(given: object) -> list[tuple[str, Evaluation]]:
    """Names and evaluations, from a mapping or from pairs."""
    entries = given.items() if isinstance(given, Mapping) else given if isinstance(given, Sequence) else ()
    found = []
    for entry in entries:
        match entry:
            case (str(name), Evaluation() as evaluation):
                found.append((name, evaluation))
            case _:
                found.clear()
                break
    if not found:
        raise OptionError(
            f"named: found {shown(given)}. Allowed: the name and the evaluation of every system, such as "
            '{"old": first, "new": second}.'
        )
    return found


def holm(chances: Sequence[float]) -> list[float]:
    """P-values corrected for their number by Holm's step-down method; what is not a number stays so.

    >>> [round(value, 6) for value in holm([0.01, 0.04, 0.03, float("nan")])]
    [0.03, 0.06, 0.06, nan]
    """
    values = np.asarray(chances, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = values[order] * np.arange(len(order), 0, -1)
    corrected = np.full(len(values), np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in corrected]


def _strict_and_relaxed(evaluation: Evaluation) -> tuple[System, System]:
    """One evaluation as two systems: the rows that have a relaxed form, strict and relaxed."""
    scores = evaluation.scores
    relaxed = np.array([is_relaxed(variant) for variant in scores["variant"]])
    loose = scores[relaxed].copy()
    loose["variant"] = pd.Series([strict_variant(variant) for variant in loose["variant"]], loose.index, dtype=object)
    paired = set(_identities(loose))
    tight = scores[~relaxed]
    tight = tight[[identity in paired for identity in _identities(tight)]]
    marked, applied = evaluation.with_equivalence("mark"), evaluation.with_equivalence("apply")
    return System(STRICT, marked, tight), System(RELAXED, applied, loose)


def _overall(scores: pd.DataFrame) -> pd.DataFrame:
    return scores[scores["layer"].isna() & scores["group_key"].isna() & scores["gold"].notna()]


def _by_document(scores: pd.DataFrame) -> pd.DataFrame:
    return scores[scores["group_key"] == "document"]


def _identities(rows: pd.DataFrame) -> list[tuple[str | None, ...]]:
    columns = [[value if isinstance(value, str) else None for value in rows[name]] for name in IDENTITY]
    return list(zip(*columns, strict=True))


def _rates(counts: FloatArray, beta: float) -> FloatArray:
    """Rates from the last axis of counts; the last axis of the result goes through `RATES`."""
    found = rates({name: counts[..., index] for index, name in enumerate(_SUMS)}, beta)
    return np.stack([found[name] for name in RATES], axis=-1)
