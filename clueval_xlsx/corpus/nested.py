"""Annotations of one sequence that overlap or nest: refused, or all but the longest dropped, or merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.spans import label_column, label_list
from clueval_xlsx.corpus.standoff import ERROR, LONGEST, MERGE, NESTED, Mentions
from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Resolved:
    """Mentions free of overlap; `group` gives the mention of each annotation (-1: dropped), `lines` what was done."""

    mentions: Mentions
    group: IntArray
    lines: tuple[str, ...]


def resolve(
    listed: Mentions,
    mode: str,
    describe: Callable[[int], str],
    where: Callable[[int], str],
    *,
    forgive_repeats: bool = False,
) -> Resolved:
    """Make a sequence of annotations free of overlap.

    `describe(row)` says what an annotation is, `where(row)` where it stands. With `forgive_repeats` annotations
    of the same extent and labels (several annotators who agree) become one without a word.
    """
    if mode not in NESTED:
        raise OptionError(f"--nested {mode}: unknown. Allowed: {', '.join(NESTED)}.")
    count = len(listed)
    ranges = listed.ranges
    order = np.lexsort((np.arange(count), ranges.end, ranges.start, ranges.document))
    owner = np.arange(count)  # the annotation that stands for each one
    if forgive_repeats:
        owner = _first_of_equals(listed)
    rows = order[owner[order] == order]

    new = np.ones(len(rows), dtype=bool)
    if len(rows) > 1:
        stride = int(ranges.end.max()) + 1
        start, end = (ranges.document[rows] * stride + value[rows] for value in (ranges.start, ranges.end))
        new[1:] = start[1:] >= np.maximum.accumulate(end)[:-1]
    cluster = np.cumsum(new) - 1
    sizes = np.bincount(cluster) if len(rows) else np.empty(0, np.int64)
    first = np.flatnonzero(new)
    clusters = [rows[first[index] : first[index] + sizes[index]] for index in np.flatnonzero(sizes > 1).tolist()]
    if clusters and mode == ERROR:
        raise InputError(problems=_overlap_problems(clusters, ranges, describe, where))

    kept = owner.copy()
    lines: list[str] = []
    joined: dict[int, IntArray] = {}
    for members in clusters:
        place = where(int(members[0]))
        if mode == LONGEST:
            chosen = _longest(members, ranges)
            for row in members.tolist():
                if row not in chosen:
                    kept[row] = -1
                    holder = next(other for other in chosen if _overlap(ranges, row, other))
                    lines.append(f"{place}: dropped {describe(row)}, which overlaps the longer {describe(holder)}")
        elif mode == MERGE:
            kept[members] = members[0]
            joined[int(members[0])] = members
            lines.append(f"{place}: merged {' + '.join(describe(row) for row in members.tolist())}")
    if forgive_repeats:
        kept = kept[owner]  # repeats follow the annotation that stands for them
    heads = rows[kept[rows] == rows]
    number = np.full(count + 1, -1, dtype=np.int64)
    number[heads] = np.arange(len(heads))
    mentions = listed.take(heads)
    if joined:
        mentions = _with_joined(mentions, listed, joined, number)
    return Resolved(mentions, number[kept], tuple(lines))


def _first_of_equals(listed: Mentions) -> IntArray:
    ranges = listed.ranges
    frame = pd.DataFrame({"document": ranges.document, "start": ranges.start, "end": ranges.end})
    for name, values in listed.labels.items():
        frame[f"label {name}"] = values.codes
    group = frame.groupby(list(frame.columns), sort=False).ngroup().to_numpy(np.int64)
    first = np.full(int(group.max()) + 1 if len(group) else 0, len(group), dtype=np.int64)
    np.minimum.at(first, group, np.arange(len(group)))
    return first[group]


def _longest(members: IntArray, ranges: Ranges) -> list[int]:
    """The longest first; of equals the leftmost, then the first listed; each that overlaps none before it."""
    length = ranges.end[members] - ranges.start[members]
    chosen: list[int] = []
    for row in members[np.lexsort((members, ranges.start[members], -length))].tolist():
        if not any(_overlap(ranges, row, other) for other in chosen):
            chosen.append(row)
    return chosen


def _overlap(ranges: Ranges, left: int, right: int) -> bool:
    return bool(ranges.start[left] < ranges.end[right] and ranges.start[right] < ranges.end[left])


def _overlap_problems(
    clusters: Sequence[IntArray], ranges: Ranges, describe: Callable[[int], str], where: Callable[[int], str]
) -> list[Problem]:
    problems = []
    for members in clusters:
        reach = int(members[0])
        for row in members[1:].tolist():
            if _overlap(ranges, reach, row):
                problems.append(
                    Problem(
                        where(row),
                        f"{describe(row)} overlaps {describe(reach)}",
                        remedy="Spans of one sequence must not overlap or nest: mend the annotations, or choose "
                        "what happens to them (--nested longest|merge)",
                    )
                )
            if ranges.end[row] > ranges.end[reach]:
                reach = row
    return problems


def _with_joined(mentions: Mentions, listed: Mentions, joined: dict[int, IntArray], number: IntArray) -> Mentions:
    """Stretch merged mentions over their members; the label with most characters wins, a tie goes to the leftmost."""
    end = mentions.ranges.end.copy()
    start = mentions.ranges.start.copy()
    labels = {layer: label_list(values) for layer, values in mentions.labels.items()}
    attributes = {name: label_list(values) for name, values in mentions.attributes.items()}
    for head, members in joined.items():
        row = int(number[head])
        start[row] = listed.ranges.start[members].min()
        end[row] = listed.ranges.end[members].max()
        weights = (listed.ranges.end[members] - listed.ranges.start[members]).tolist()
        for own, source in ((labels, listed.labels), (attributes, listed.attributes)):
            for name in own:
                votes: dict[str | None, int] = {}
                for label, weight in zip(label_list(source[name][members]), weights, strict=True):
                    votes[label] = votes.get(label, 0) + weight
                own[name][row] = max(votes, key=lambda label: votes[label])  # the first of equals: dicts keep order
    return Mentions(
        Ranges(mentions.ranges.document, start, end),
        {layer: label_column(values) for layer, values in labels.items()},
        {name: label_column(values) for name, values in attributes.items()},
    )


def overlap_note(name: str, lines: Sequence[str], mode: str) -> list[str]:
    """One note about what was dropped or merged, with the first few."""
    if not lines:
        return []
    what = (
        "overlapping annotations were dropped" if mode == LONGEST else "groups of overlapping annotations were merged"
    )
    more = f"; and {len(lines) - _SHOWN} more, which `clueval-xlsx validate` lists" if len(lines) > _SHOWN else ""
    return [f"{name}: {len(lines)} {what} (--nested {mode}): {'; '.join(lines[:_SHOWN])}{more}"]
