"""Strict scores beside relaxed ones, row by row."""

from __future__ import annotations

import pandas as pd

from clueval_xlsx.scoring.names import is_relaxed, strict_variant
from clueval_xlsx.scoring.scores import COUNTS, RATES

_IDENTITY = ["scheme", "variant", "level", "labelled", "layer", "label", "average"]


def strict_against_relaxed(scores: pd.DataFrame) -> pd.DataFrame:
    """One row for each score that has a relaxed counterpart, overall and by label.

    Counts and rates appear as `NAME_strict`, `NAME_relaxed` and `NAME_difference` (relaxed less strict), the
    number of matches that needed an equivalence as `relaxed_matches`. Empty without equivalent labels.
    """
    whole = scores[scores["group_key"].isna()]
    relaxed = whole[[is_relaxed(variant) for variant in whole["variant"]]].copy()
    relaxed["relaxed_matches"] = [
        counts.get("relaxed", 0) if isinstance(counts, dict) else 0 for counts in relaxed["counts"]
    ]
    relaxed["variant"] = pd.Series([strict_variant(variant) for variant in relaxed["variant"]], relaxed.index, object)
    numbers = [*COUNTS, *RATES]
    # pandas does not join on missing values in every version: an empty text stands for them.
    left = whole[_IDENTITY + numbers].copy()
    right = relaxed[[*_IDENTITY, *numbers, "relaxed_matches"]].copy()
    for frame in (left, right):
        frame[_IDENTITY] = frame[_IDENTITY].astype(object).where(frame[_IDENTITY].notna(), "")
    joined = left.merge(right, on=_IDENTITY, suffixes=("_strict", "_relaxed"))
    for name in numbers:
        joined[f"{name}_difference"] = joined[f"{name}_relaxed"] - joined[f"{name}_strict"]
    joined[_IDENTITY] = joined[_IDENTITY].astype(object).where(joined[_IDENTITY] != "", None)
    return joined
