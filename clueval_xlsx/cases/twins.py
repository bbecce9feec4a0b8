"""Twins: cases of one sheet with the same words, labels and class, of which one decision can hold for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from clueval_xlsx.text.cells import lower
from clueval_xlsx.text.strings import IntArray

_WORDS = ("surface", "other_surface")  # compared without case and spaces
_LABELS = ("label_", "other_label_")


def add_twins(cases: pd.DataFrame) -> pd.DataFrame:
    """The cases of one sheet with `twin_group`, the number of the first case of its group, and `alike`, its size.

    A group has no name of its own: a number tells nothing about the words, also where these are left out.
    """
    group = twin_groups(cases)
    first = cases["number"].to_numpy(np.int64)[np.unique(group, return_index=True)[1]]
    return cases.assign(twin_group=first[group], alike=np.bincount(group)[group] if len(group) else group)


def twin_groups(cases: pd.DataFrame) -> IntArray:
    """The group of each case of a sheet, numbered from 0: same words, own labels, class, other words and labels.

    >>> words = ["Jay B.", "JAY  B.", "Kay"]
    >>> same = {"class": "FN", "other_surface": "", "label_a": "PER", "other_label_a": ""}
    >>> twin_groups(pd.DataFrame({"surface": words, **same})).tolist()
    [0, 0, 1]
    """
    keys = [_bare(cases[name].tolist()) for name in _WORDS]
    keys += [cases[name].tolist() for name in cases.columns if name.startswith(_LABELS)]
    keys.append(cases["class"].tolist())
    codes = np.zeros(len(cases), dtype=np.int64)
    for values in keys:  # numbered anew after each column, so that the product of two numbers stays small
        own, names = pd.factorize(np.array(values, dtype=object))
        codes, _ = pd.factorize(codes * max(len(names), 1) + own)
    return np.asarray(codes, dtype=np.int64)


def _bare(texts: Iterable[str]) -> list[str]:
    """Words as they are compared: without case, and without spaces, which depend on how the text was cut."""
    return [lower("".join(text.split())) for text in texts]


@dataclass(frozen=True)
class TwinGroups:
    """Which cases are twins, and in which documents they stand; cases without a twin are in no group."""

    members: tuple[tuple[str, ...], ...]
    document: Mapping[str, str | int]  # of every case that has a twin

    @cached_property
    def _group(self) -> Mapping[str, int]:
        return {case: number for number, cases in enumerate(self.members) for case in cases}

    def group(self, case_id: str) -> tuple[str, ...]:
        """A case with all its twins, in their order; nothing if it has none."""
        number = self._group.get(case_id)
        return () if number is None else self.members[number]

    def others(self, case_id: str, *, same_document: bool = False) -> tuple[str, ...]:
        """The twins of a case, or only those in its own document."""
        return tuple(
            other
            for other in self.group(case_id)
            if other != case_id and (not same_document or self.document[other] == self.document[case_id])
        )


def groups_of(tables: Iterable[pd.DataFrame]) -> TwinGroups:
    """The twins among the cases of some sheets."""
    members: list[tuple[str, ...]] = []
    document: dict[str, str | int] = {}
    for table in tables:
        own = table[table["twin_group"].duplicated(keep=False)] if len(table) else table
        if not len(own):
            continue
        document.update(zip(own["case_id"].tolist(), own["document"].tolist(), strict=True))
        members += map(tuple, own.groupby("twin_group", sort=False)["case_id"].agg(list))
    return TwinGroups(tuple(members), document)
