"""The rules of one sheet: cells, rows, formulas, ranges, validations, formats, links, pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from xml.etree import ElementTree

from tests.audit import formulas
from tests.audit.package import MAIN, RELATION, Area, Package, area, units

_HIGHEST, _MOST_LINKS, _MOST_RULES = 409.5, 65_530, 65_534
_LONGEST_TITLE, _LONGEST_MESSAGE, _LONGEST_LINK = 32, 255, 2_079


def used(package: Package, part: str) -> Area:
    """The range that a sheet's cells and rows take."""
    cells = [area(each.get("r", "")) for each in package.tree(part).iter(f"{MAIN}c")]
    known = [cell for cell in cells if cell is not None]
    return Area(1, 1, max((c.bottom for c in known), default=1), max((c.right for c in known), default=1))


class SheetAudit:
    """Goes through one sheet."""

    def __init__(self, package: Package, name: str, part: str, areas: Mapping[str, Area]) -> None:
        self.package, self.name, self.part, self.areas = package, name, part, areas
        self.tree = package.tree(part)

    def findings(self) -> Iterator[str]:
        """Everything that is wrong."""
        for rule in (
            self._rows,
            self._cells,
            self._merged,
            self._validations,
            self._conditional,
            self._links,
            self._ranges,
        ):
            yield from rule()

    @cached_property
    def _own(self) -> Area:
        return self.areas[self.name]

    def _all(self, name: str) -> list[ElementTree.Element]:
        return list(self.tree.iter(f"{MAIN}{name}"))

    def _rows(self) -> Iterator[str]:
        for row in self._all("row"):
            if float(row.get("ht", "0")) > _HIGHEST:
                yield f"row {row.get('r')} is {row.get('ht')} points high"

    def _cells(self) -> Iterator[str]:
        shared: dict[str, Area | None] = {}
        for cell in self._all("c"):
            place, value, formula = cell.get("r"), cell.findtext(f"{MAIN}v"), cell.find(f"{MAIN}f")
            if formula is not None:
                if value is None:
                    yield f"{place}: a formula without a value"
                yield from (f"{place}: {each}" for each in formulas.problems(formula.text or "", self.areas, self.name))
                if formula.get("t") == "shared":
                    whole = area(formula.get("ref", "")) or shared.get(formula.get("si", ""))
                    shared[formula.get("si", "")] = whole
                    if (
                        whole is None
                        or not (area(place or "") or whole).within(whole)
                        or (formula.text and not formula.get("ref"))
                    ):
                        yield f"{place}: a shared formula that nobody has said, or beyond its range"

    def _merged(self) -> Iterator[str]:
        found: list[Area] = []
        for group in self._all("mergeCells"):
            if group.get("count") is not None and int(group.get("count", "0")) != len(group):
                yield "another number of merged ranges than it says"
        for each in self._all("mergeCell"):
            own = area(each.get("ref", ""))
            if own is None or own.size < 2:
                yield f"merged: {each.get('ref')} is no range of cells"
                continue
            if any(own.meets(other) for other in found):
                yield f"merged: {each.get('ref')} overlaps another"
            found.append(own)

    def _areas(self, sqref: str | None, what: str) -> Iterator[str]:
        for text in (sqref or "").split() or [""]:
            if area(text) is None:
                yield f"{what}: {text!r} is no range of cells"

    def _validations(self) -> Iterator[str]:
        groups = self._all("dataValidations")
        for group in groups:
            if int(group.get("count", "0")) != len(group) or len(group) > _MOST_RULES:
                yield "another number of validations than it says, or too many"
        for each in self._all("dataValidation"):
            where = f"validation of {each.get('sqref')}"
            yield from self._areas(each.get("sqref"), "validation")
            for key, most in (
                ("errorTitle", _LONGEST_TITLE),
                ("promptTitle", _LONGEST_TITLE),
                ("error", _LONGEST_MESSAGE),
                ("prompt", _LONGEST_MESSAGE),
            ):
                if units(each.get(key, "")) > most:
                    yield f"{where}: {key} has {units(each.get(key, ''))} characters"
            source = each.findtext(f"{MAIN}formula1", "")
            if each.get("type") == "list" and source.startswith('"'):
                if units(source) - 2 > _LONGEST_MESSAGE:
                    yield f"{where}: a list of {units(source)} characters"
            elif each.get("type") == "list":
                yield from (f"{where}: {problem}" for problem in formulas.reference(source, self.areas, self.name))

    def _conditional(self) -> Iterator[str]:
        looks = self.package.tree("xl/styles.xml").find(f"{MAIN}dxfs")
        count = len(looks) if looks is not None else 0
        priorities = []
        for group in self._all("conditionalFormatting"):
            yield from self._areas(group.get("sqref"), "conditional format")
            for rule in group.iter(f"{MAIN}cfRule"):
                priorities.append(rule.get("priority"))
                if not 0 <= int(rule.get("dxfId", "0")) < max(count, 1):
                    yield f"conditional format of {group.get('sqref')}: look {rule.get('dxfId')} is not there"
                for formula in rule.iter(f"{MAIN}formula"):
                    problems = formulas.problems(formula.text or "", self.areas, self.name)
                    yield from (f"conditional format of {group.get('sqref')}: {problem}" for problem in problems)
        if len(set(priorities)) < len(priorities):
            yield "two conditional formats have one priority"

    def _links(self) -> Iterator[str]:
        links = self._all("hyperlink")
        if len(links) > _MOST_LINKS:
            yield f"{len(links)} links"
        for each in links:
            location = each.get("location", "")
            where = f"link in {each.get('ref')}"
            if area(each.get("ref", "")) is None:
                yield f"{where}: is no cell"
            if units(location) > _LONGEST_LINK or units(each.get("display", "")) > _LONGEST_MESSAGE:
                yield f"{where}: is too long"
            if location:
                yield from (f"{where}: {problem}" for problem in formulas.reference(location, self.areas, self.name))
            elif each.get(f"{RELATION}id") not in self.package.relations(self.part):
                yield f"{where}: leads nowhere"

    def _ranges(self) -> Iterator[str]:
        for each in self._all("autoFilter"):
            found = area(each.get("ref", ""))
            if found is None or not found.within(self._own):
                yield f"the filter's range {each.get('ref')} reaches beyond the cells"
        for each in self._all("selection"):
            yield from self._areas(each.get("sqref", "A1"), "selection")
        for each in self._all("pane"):
            if area(each.get("topLeftCell", "A1")) is None:
                yield f"the frozen part begins at {each.get('topLeftCell')}"
        for each in self._all("ignoredError"):
            yield from self._areas(each.get("sqref"), "ignored error")
