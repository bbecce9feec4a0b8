"""Who claims a group of twins: one lookup for each group on a hidden sheet, which the States of its rows read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from clueval_xlsx.cases.twins import TwinGroups
from clueval_xlsx.outputs.xlsx.book import Formula
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures

CLASH = -1  # the judgement of a group that different ones claim


class Claim(NamedTuple):
    """The number of the case whose judgement holds for others, and the number of that judgement; 0: nobody's."""

    number: int = 0
    judgement: int = 0


class TwinCells(NamedTuple):
    """What the claim of a row is called, for all its twins and for those of its document, and who claims it."""

    group: str
    document: str
    number: str = ""  # a cell
    judgement: str = ""


class ClaimRanges(NamedTuple):
    """Where the claims, the numbers and the counted judgements of a sheet stand."""

    claims: str
    numbers: str
    counted: str


@dataclass(frozen=True)
class Claims:
    """What the answers of a workbook claim: case → its claim and whether it is for its own document only."""

    twins: TwinGroups
    given: Mapping[str, tuple[Claim, bool]]  # in the order of the rows

    def names(self, case_id: str) -> tuple[str, str]:
        """What the claims of a case are called: for the whole group, for its document."""
        group = self._names[case_id]
        return group, f"{group}/{self._documents[self.twins.document[case_id]]}"

    @cached_property
    def _names(self) -> dict[str, str]:
        return {case: f"t{number}" for number, cases in enumerate(self.twins.members, 1) for case in cases}

    @cached_property
    def _documents(self) -> dict[object, int]:
        return {name: number for number, name in enumerate(dict.fromkeys(self.twins.document.values()), 1)}

    @cached_property
    def _by_name(self) -> dict[str, Claim]:
        found: dict[str, Claim] = {}
        for case_id, (claim, in_document) in self.given.items():
            name = self.names(case_id)[in_document]
            found[name] = _first(found.get(name, Claim()), claim)
        return found

    def named(self, name: str) -> Claim:
        """Who claims by this name."""
        return self._by_name.get(name, Claim())

    @cached_property
    def first_judgements(self) -> dict[str, int]:
        """What the first row says that claims by a name; rows that say nothing yet claim nothing."""
        found: dict[str, int] = {}
        for case_id, (claim, in_document) in self.given.items():
            found.setdefault(self.names(case_id)[in_document], claim.judgement)
        return found

    def of(self, case_id: str) -> Claim:
        """Whose judgement holds for a case that has none of its own; in its document before elsewhere."""
        if case_id not in self._names:
            return Claim()
        group, document = self.names(case_id)
        return _first(self.named(document), self.named(group))

    def groups(self, prefix: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The groups of a sheet by name, and behind each those of its documents in which several stand."""
        for members in self.twins.members:
            if not members[0].startswith(prefix):
                continue
            yield self.names(members[0])[0], members
            by_document: dict[str, list[str]] = {}
            for case in members:
                by_document.setdefault(self.names(case)[1], []).append(case)
            yield from ((name, tuple(cases)) for name, cases in by_document.items() if len(cases) > 1)


def _first(one: Claim, other: Claim) -> Claim:
    """Two claims as one: the first counts, unless they differ."""
    if not one.judgement or not other.judgement:
        return one if one.judgement else other
    return one if one.judgement == other.judgement else Claim(one.number, CLASH)


def write_claims(
    figures: HiddenFigures, sheet: str, claims: Claims, ranges: Sequence[ClaimRanges]
) -> dict[str, TwinCells]:
    """The lookups of one kind of sheet; returns what the rows of its twins read."""
    groups = list(claims.groups(f"{sheet}-"))
    if not groups:
        return {}
    first = figures.next_row + 1
    rows: list[list[str | float | Formula]] = []
    found: dict[str, TwinCells] = {}
    whole = 0
    for line, (name, members) in enumerate(groups, first):
        is_group = "/" not in name
        whole = line if is_group else whole
        own, first_said, judgement, all_number, all_judgement = (
            figures.sheet.range((at, column), (at, column))
            for at, column in ((line, 1), (line, 2), (line, 3), (whole, 1), (whole, 3))
        )
        claim, both = claims.named(name), claims.of(members[0]) if not is_group else claims.named(name)
        number = f"={own}" if is_group else f"=IF({own}>0,{own},{all_number})"
        held = f"={judgement}"
        if not is_group:
            same = f"IF({all_judgement}={judgement},{judgement},{CLASH})"
            held = f"=IF({judgement}=0,{all_judgement},IF({all_judgement}=0,{judgement},{same}))"
        rows.append(
            [
                name,
                Formula(f"={_looked_up(name, ranges)}", claim.number),
                Formula(f"={_looked_up(name, ranges, 'counted')}", claims.first_judgements.get(name, 0)),
                Formula(f"=IF({own}=0,0,{_unanimous(name, first_said, ranges)})", claim.judgement),
                Formula(number, both.number),
                Formula(held, both.judgement),
            ]
        )
        cells = [figures.sheet.range((line, column), (line, column)) for column in (4, 5)]
        found.update({case: TwinCells(*claims.names(case), *cells) for case in members})
    figures.table([sheet, "own", "first", "judgement", "number", "holds"], rows)
    return found


def _looked_up(name: str, ranges: Sequence[ClaimRanges], column: str = "numbers") -> str:
    """The number (or the judgement) of the first row that claims by a name, 0 if none does."""
    formula = "0"
    for each in reversed(ranges):
        formula = f'IFERROR(INDEX({getattr(each, column)},MATCH("{name}",{each.claims},0)),{formula})'
    return formula


def _unanimous(name: str, first: str, ranges: Sequence[ClaimRanges]) -> str:
    """The judgement of whoever claims by a name, if it is one; `first` is the cell of the first of them."""
    every = "+".join(f'COUNTIF({each.claims},"{name}")' for each in ranges)
    same = "+".join(f'COUNTIFS({each.claims},"{name}",{each.counted},{first})' for each in ranges)
    return f"IF({every}={same},{first},{CLASH})"
