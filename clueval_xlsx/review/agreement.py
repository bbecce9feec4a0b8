"""How far judges agree: raw agreement, Cohen's kappa for each pair, Fleiss' kappa, Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

RAW, COHEN, FLEISS, ALPHA = "raw", "cohen", "fleiss", "krippendorff"
Codes = npt.NDArray[np.int64]  # cases by judges; -1: not judged

COLUMNS = ("sheet", "layer", "label", "measure", "judges", "cases", "value")


def agreement_table(judged: pd.DataFrame, labels: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """All measures: over everything, by sheet, and by label.

    `judged` has the columns `case_id`, `sheet`, `judge`, `code`, each case once for each judge. `labels`
    gives the labels of each case: `{case_id: {"category": "PERSON"}}`. Only cases that two people judged count.
    A measure that is not defined (one judge, or one judgement only) is missing.
    """
    rows = _measures(judged, {"sheet": None, "layer": None, "label": None})
    for sheet, part in judged.groupby("sheet", sort=True):
        rows += _measures(part, {"sheet": sheet, "layer": None, "label": None})
    for layer in dict.fromkeys(layer for own in labels.values() for layer in own):
        names = pd.Series([labels.get(case, {}).get(layer, "") for case in judged["case_id"]], index=judged.index)
        for label, part in judged[names != ""].groupby(names[names != ""], sort=True):
            rows += _measures(part, {"sheet": None, "layer": layer, "label": label})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _measures(judged: pd.DataFrame, identity: Mapping[str, str | None]) -> list[dict[str, object]]:
    codes, names = code_matrix(judged)
    shared = codes[(codes >= 0).sum(axis=1) >= 2] if codes.size else codes
    if not len(shared):
        return []
    whole = shared[(shared >= 0).all(axis=1)]
    everyone = ", ".join(names)
    rows = [
        (RAW, everyone, len(shared), raw_agreement(shared)),
        (FLEISS, everyone, len(whole), fleiss_kappa(whole)),
        (ALPHA, everyone, len(shared), krippendorff_alpha(shared)),
    ]
    for first, second in combinations(range(len(names)), 2):
        both = shared[(shared[:, first] >= 0) & (shared[:, second] >= 0)]
        if len(both):
            pair = f"{names[first]}, {names[second]}"
            if len(names) > 2:
                rows.append((RAW, pair, len(both), raw_agreement(both[:, [first, second]])))
            rows.append((COHEN, pair, len(both), cohen_kappa(both[:, first], both[:, second])))
    return [
        {**identity, "measure": measure, "judges": who, "cases": cases, "value": value}
        for measure, who, cases, value in rows
    ]


def code_matrix(judged: pd.DataFrame) -> tuple[Codes, list[str]]:
    """Judgements as numbers, cases by judges; -1 where somebody did not judge."""
    names = sorted(judged["judge"].unique())
    if not names:
        return np.empty((0, 0), dtype=np.int64), []
    values = {code: number for number, code in enumerate(sorted(judged["code"].unique()))}
    rows, cases = pd.factorize(judged["case_id"])
    columns = judged["judge"].map({name: number for number, name in enumerate(names)}).to_numpy(np.int64)
    matrix = np.full((len(cases), len(names)), -1, dtype=np.int64)
    matrix[rows, columns] = judged["code"].map(values).to_numpy(np.int64)
    return matrix, names


def raw_agreement(codes: Codes) -> float:
    """The share of agreeing pairs of judges, averaged over cases that two or more judged.

    >>> raw_agreement(np.array([[0, 0, 1], [1, 1, -1]]))
    0.6666666666666666
    """
    counts = _counts(codes)
    judges = counts.sum(axis=1)
    several = judges >= 2
    if not several.any():
        return float("nan")
    pairs = (counts * (counts - 1)).sum(axis=1)[several] / (judges * (judges - 1))[several]
    return float(pairs.mean())


def cohen_kappa(first: Codes, second: Codes) -> float:
    """Agreement of two judges beyond chance; not defined if both used one judgement only.

    >>> round(cohen_kappa(np.array([0] * 25 + [1] * 25), np.array([0] * 20 + [1] * 5 + [0] * 10 + [1] * 15)), 3)
    0.4
    """
    both = np.stack([first, second], axis=1)
    shares = [_counts(both[:, [judge]], int(both.max(initial=0))).mean(axis=0) for judge in (0, 1)]
    return _beyond_chance(raw_agreement(both), float((shares[0] * shares[1]).sum()))


def fleiss_kappa(codes: Codes) -> float:
    """Agreement of several judges who judged every case; not defined for fewer than two of them."""
    if not len(codes) or codes.shape[1] < 2:
        return float("nan")
    shares = _counts(codes).sum(axis=0) / codes.size
    return _beyond_chance(raw_agreement(codes), float((shares**2).sum()))


def _counts(codes: Codes, largest: int | None = None) -> Codes:
    """How often each code was given to each case."""
    values = np.arange((codes.max(initial=0) if largest is None else largest) + 1)
    counts: Codes = (codes[:, :, None] == values).sum(axis=1)
    return counts


def _beyond_chance(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")


def krippendorff_alpha(codes: Codes) -> float:
    """Krippendorff's alpha for nominal data; gaps are allowed."""
    import krippendorff

    known = np.unique(codes[codes >= 0])
    if len(known) < 2:
        return float("nan")
    data = np.where(codes < 0, np.nan, codes).T
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))


def labels_by_case(cases: pd.DataFrame, layers: Sequence[str]) -> dict[str, dict[str, str]]:
    """The labels of every case, as `agreement_table` wants them."""
    columns = [cases[f"label_{layer}"].tolist() for layer in layers]
    return {
        case_id: {layer: label for layer, label in zip(layers, labels, strict=True) if label}
        for case_id, *labels in zip(cases["case_id"].tolist(), *columns, strict=True)
    }
