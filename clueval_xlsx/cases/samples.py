"""Which cases are drawn and who gets them: units of linked cases, stratified samples, even shares for judges."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.cases.twins import groups_of
from clueval_xlsx.corpus.spans import overlap_components, positions
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.text.cells import key
from clueval_xlsx.text.strings import BoolArray, IntArray

_RARE = "rare"
_LEAST_IN_STRATUM = 2  # a stratum with one drawn unit tells nothing about its spread


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn and handed out together: the overlap components of both sides' spans that hold cases.

    `cases` has one row a case with its `unit` (an index into the other arrays); `component` is the number of the
    unit's overlap component, by which spans of both sides are counted.
    """

    cases: pd.DataFrame  # case_id, sheet, unit
    component: IntArray
    stratum: tuple[str, ...]
    document: tuple[str, ...]
    label: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.component)


@dataclass(frozen=True)
class Draw:
    """A stratified sample of units: which, and how many of how many in each stratum."""

    chosen: BoolArray
    stratum: tuple[str, ...]  # of each unit, rare ones joined
    strata: Mapping[str, tuple[int, int]]  # stratum -> (units drawn, units there are)


def span_components(gold: pd.DataFrame, pred: pd.DataFrame, documents: IntArray) -> tuple[IntArray, IntArray]:
    """The overlap component of each gold and of each predicted span."""
    start = np.concatenate([positions(gold)[0], positions(pred)[0]])
    end = np.concatenate([positions(gold)[1], positions(pred)[1]])
    component = overlap_components(start, end, documents)
    return component[: len(gold)], component[len(gold) :]


def make_units(tables: Mapping[str, pd.DataFrame], components: Mapping[str, IntArray], layer: str) -> Units:
    """Group the cases of each sheet into units; `components` of a sheet's side are found by the row of a case.

    The stratum of a unit is label × class of its first case, missed ones first.
    """
    parts = []
    for order, (sheet, cases) in enumerate(tables.items()):
        parts.append(
            pd.DataFrame(
                {
                    "case_id": cases["case_id"].to_numpy(object),
                    "sheet": sheet,
                    "order": order,
                    "component": components[sheet][cases["row"].to_numpy(np.int64)],
                    "label": cases[f"label_{layer}"].to_numpy(object),
                    "class": cases["class"].to_numpy(object),
                    "document": cases["document"].to_numpy(object),
                    "row": cases["row"].to_numpy(np.int64),
                }
            )
        )
    rows = pd.concat(parts, ignore_index=True).sort_values(
        ["component", "order", "row"], kind="stable", ignore_index=True
    )
    codes, numbers = pd.factorize(rows["component"])
    first = rows.drop_duplicates("component")
    return Units(
        cases=rows.assign(unit=codes)[["case_id", "sheet", "unit"]],
        component=np.asarray(numbers, dtype=np.int64),
        stratum=tuple(
            f"{sheet} {label} {kind}"
            for sheet, label, kind in zip(first["sheet"], first["label"], first["class"], strict=True)
        ),
        document=tuple(first["document"]),
        label=tuple(first["label"]),
    )


def units_of_words(cases: pd.DataFrame, layer: str) -> Units:
    """Cases of one sheet that share their words and labels as one unit: whoever decides one decides them all."""
    labels = [name for name in cases.columns if name.startswith("label_")]
    words = [key(surface) for surface in cases["surface"]]
    keys = pd.Series(list(zip(words, *(cases[name] for name in labels), strict=True)), dtype=object)
    codes, _ = pd.factorize(keys)
    first = cases[~pd.Series(codes, index=cases.index).duplicated()]
    return Units(
        cases=pd.DataFrame({"case_id": cases["case_id"], "sheet": cases["sheet"], "unit": codes}),
        component=np.arange(len(first), dtype=np.int64),
        stratum=tuple(first["class"]),
        document=tuple(first["document"]),
        label=tuple(first[f"label_{layer}"]),
    )


def draw(units: Units, size: int, seed: int) -> Draw:
    """Draw a stratified sample: every stratum in proportion, none with fewer than two units if it has them.

    Where a sample is too small for that, the rarest strata are drawn from together.
    """
    generator = np.random.default_rng(seed)
    strata = _pooled(pd.Series(units.stratum, dtype=object), size)
    codes, names = pd.factorize(strata, sort=True)
    there = np.bincount(codes, minlength=len(names)).astype(np.int64)
    wanted = _allocate(there, min(size, len(units)))
    chosen = np.zeros(len(units), dtype=bool)
    for code, count in enumerate(wanted.tolist()):
        members = np.flatnonzero(codes == code)
        chosen[generator.choice(members, size=count, replace=False)] = True
    counted = {str(name): (int(n), int(total)) for name, n, total in zip(names, wanted, there, strict=True)}
    return Draw(chosen, tuple(strata), counted)


def _pooled(strata: pd.Series, size: int) -> pd.Series:
    """Strata of which two units can be drawn each with half of the sample; the rarest are joined until that is so."""
    counts = strata.value_counts().sort_index().sort_values(kind="stable")
    needed = counts.clip(upper=_LEAST_IN_STRATUM)
    rare = 0
    while rare < len(counts) and needed.iloc[rare:].sum() + (_LEAST_IN_STRATUM if rare else 0) > size / 2:
        rare += 1
    return strata.where(~strata.isin(counts.index[:rare]), _RARE) if rare > 1 else strata


def _allocate(there: IntArray, size: int) -> IntArray:
    """How many to draw from each stratum: at least two where there are two, the rest in proportion."""
    least = np.minimum(there, _LEAST_IN_STRATUM)
    if size >= there.sum():
        return there
    if least.sum() > size:
        least = np.minimum(there, 1) if len(there) <= size else np.zeros_like(there)
    share = (there - least) * ((size - least.sum()) / max((there - least).sum(), 1))
    wanted = least + np.floor(share).astype(np.int64)
    left = size - int(wanted.sum())
    order = np.argsort(-(share - np.floor(share)), kind="stable")
    order = order[(wanted < there)[order]]
    wanted[order[:left]] += 1
    return wanted


def twin_bundles(units: Units, tables: Iterable[pd.DataFrame]) -> IntArray:
    """The bundle of each unit: units with twins of each other are in one, and go to one judge."""
    import networkx as nx

    unit_of = dict(zip(units.cases["case_id"].tolist(), units.cases["unit"].tolist(), strict=True))
    graph = nx.Graph()
    for members in groups_of(tables).members:
        graph.add_edges_from(itertools.pairwise(unit_of[case] for case in members))
    bundle = np.arange(len(units), dtype=np.int64)
    for linked in nx.connected_components(graph):
        bundle[list(linked)] = min(linked)
    return np.unique(bundle, return_inverse=True)[1].reshape(-1).astype(np.int64)


def deal(
    units: Units,
    chosen: BoolArray,
    judges: Sequence[str],
    *,
    double: float,
    seed: int,
    bundles: IntArray | None = None,
) -> dict[str, set[int]]:
    """Deal units to judges: all shares evenly, those of labels and documents nearly so, the share `double` to two.

    Units of one of the `bundles` stay together, unless they are judged twice: then the second judge gets them one by
    one. Bundles are dealt first, the largest before all; whoever has least gets the next.

    >>> units = Units(pd.DataFrame(), np.arange(4), ("a",) * 4, ("d1", "d1", "d2", "d2"), ("PER",) * 4)
    >>> hands = deal(units, np.ones(4, bool), ["anna", "ben"], double=0.5, seed=1)
    >>> sorted(len(hand) for hand in hands.values()), len(hands["anna"] & hands["ben"])
    ([3, 3], 2)
    """
    generator = np.random.default_rng(seed)
    indices = np.flatnonzero(chosen)
    shuffled = indices[generator.permutation(len(indices))]
    order = sorted(shuffled.tolist(), key=lambda unit: (units.label[unit], units.document[unit]))
    hands: dict[str, set[int]] = {name: set() for name in judges}
    bundle = np.arange(len(units)) if bundles is None else bundles
    together: dict[int, list[int]] = {}
    for unit in order:
        together.setdefault(int(bundle[unit]), []).append(unit)
    people = [judges[place] for place in generator.permutation(len(judges))]
    given: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in judges}
    for members in sorted(together.values(), key=len, reverse=True):
        label, document = ("label", units.label[members[0]]), ("document", units.document[members[0]])
        name = min(people, key=lambda name: (len(hands[name]), given[name][label], given[name][document]))
        hands[name].update(members)
        given[name].update((label, document))
    if len(judges) > 1:
        second = _second_hands(hands, order, bundle, round(double * len(order)))
        for name, units_again in second.items():
            hands[name].update(units_again)
    return hands


def _second_hands(
    hands: Mapping[str, set[int]], order: Sequence[int], bundle: IntArray, twice: int
) -> dict[str, set[int]]:
    """What each judge gets of others' units, so many in all: every two judges share as many to within one.

    The units of a bundle that are judged twice go to one second judge, which is all that makes shares uneven.
    """
    own = {name: _spread([unit for unit in order if unit in hand]) for name, hand in hands.items()}
    second: dict[str, set[int]] = {name: set() for name in hands}
    reader: dict[int, str] = {}  # who is the second judge of a bundle
    shared = dict.fromkeys(itertools.combinations(hands, 2), 0)
    while twice and shared:
        pair = min(shared, key=lambda two: (shared[two], sum(len(hands[name]) + len(second[name]) for name in two)))
        larger = max(pair, key=lambda name: (len(hands[name]) + len(second[name]), len(own[name])))
        other = pair[1] if larger == pair[0] else pair[0]
        for giver, taker in ((larger, other), (other, larger)):
            unit = next((unit for unit in own[giver] if reader.get(int(bundle[unit]), taker) == taker), None)
            if unit is not None:
                break
        else:  # neither has a unit that the other may get
            del shared[pair]
            continue
        own[giver].remove(unit)
        second[taker].add(unit)
        reader[int(bundle[unit])] = taker
        shared[pair] += 1
        twice -= 1
    return second


def _spread(units: Sequence[int]) -> list[int]:
    """The same units in an order of which any beginning lies evenly among them.

    >>> _spread([10, 11, 12, 13])
    [10, 12, 11, 13]
    """
    digits = (len(units) - 1).bit_length()
    places = sorted(range(len(units)), key=lambda place: f"{place:0{digits}b}"[::-1])
    return [units[place] for place in places]


def select_cases(cases: pd.DataFrame, units: Units, chosen: set[int]) -> pd.DataFrame:
    """The cases of one sheet that belong to the chosen units, in the order of the sheet."""
    wanted = set(units.cases.loc[units.cases["unit"].isin(chosen), "case_id"])
    return cases[cases["case_id"].isin(wanted)].reset_index(drop=True)


def draw_agreed(rows: IntArray, size: int, seed: int) -> IntArray:
    """So many of the agreed spans, drawn at random."""
    if size >= len(rows):
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, size=size, replace=False))


def parse_share(text: str) -> float:
    """A share such as `20%` or `0.2`.

    >>> parse_share("20%"), parse_share("0.5")
    (0.2, 0.5)
    """
    try:
        value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise OptionError(f"{text!r} is not a share. Allowed: 0 % to 100 %, such as 20% or 0.2.")
    return value
