"""The rules of one sheet: cells, rows, formulas, ranges, validations, formats, links, pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from xml.etree import ElementTree

from tests.audit import formulas
from tests.audit.package import LAST_COLUMN, LAST_ROW, MAIN, RELATION, Area, Package, area, units

_HIGHEST, _WIDEST, _MOST_LINKS, _MOST_BREAKS, _MOST_RULES = 409.5, 255, 65_530, 1_023, 65_534
_LONGEST_TITLE, _LONGEST_MESSAGE, _LONGEST_FOOTER, _LONGEST_LINK = 32, 255, 255, 2_079
# The order in which the elements of a sheet must stand.
_ELEMENTS = (
    "sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetCalcPr sheetProtection protectedRanges scenarios "
    "autoFilter sortState dataConsolidate customSheetViews mergeCells phoneticPr conditionalFormatting dataValidations "
    "hyperlinks printOptions pageMargins pageSetup headerFooter rowBreaks colBreaks customProperties cellWatches "
    "ignoredErrors smartTags drawing legacyDrawing legacyDrawingHF picture oleObjects controls webPublishItems "
    "tableParts extLst"
)
_ORDER = _ELEMENTS.split()


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
        self.strings_used = sum(each.get("t") == "s" for each in self.tree.iter(f"{MAIN}c"))

    def findings(self) -> Iterator[str]:
        """Everything that is wrong."""
        for rule in (
            self._order,
            self._rows,
            self._cells,
            self._columns,
            self._merged,
            self._validations,
            self._conditional,
            self._links,
            self._ranges,
            self._pages,
            self._relations,
        ):
            yield from rule()

    @cached_property
    def _own(self) -> Area:
        return self.areas[self.name]

    def _all(self, name: str) -> list[ElementTree.Element]:
        return list(self.tree.iter(f"{MAIN}{name}"))

    def _order(self) -> Iterator[str]:
        names = [each.tag.removeprefix(MAIN) for each in self.tree]
        places = [_ORDER.index(name) for name in names if name in _ORDER]
        if places != sorted(places) or len(places) < len(names):
            yield "its elements stand in an order that Excel does not take"

    def _rows(self) -> Iterator[str]:
        before = 0
        for row in self._all("row"):
            number = int(row.get("r", "0"))
            if not before < number <= LAST_ROW:
                yield f"row {number} stands behind row {before}"
            before = number
            if float(row.get("ht", "0")) > _HIGHEST:
                yield f"row {number} is {row.get('ht')} points high"
            if int(row.get("outlineLevel", "0")) > 7:
                yield f"row {number} has the level {row.get('outlineLevel')}"
            left = 0
            for cell in row:
                found = area(cell.get("r", ""))
                if found is None or found.top != number or found.left <= left:
                    yield f"cell {cell.get('r')} stands in row {number} behind column {left}"
                else:
                    left = found.left
        dimension = self.tree.find(f"{MAIN}dimension")
        stated = area(dimension.get("ref", "")) if dimension is not None else None
        if dimension is not None and (
            stated is None or stated.bottom < self._own.bottom or stated.right < self._own.right
        ):
            yield f"its dimension {dimension.get('ref')} leaves cells out"

    def _cells(self) -> Iterator[str]:
        styles = self.package.tree("xl/styles.xml").find(f"{MAIN}cellXfs")
        formats = len(styles) if styles is not None else 0
        shared: dict[str, Area | None] = {}
        for cell in self._all("c"):
            place, kind, value = cell.get("r"), cell.get("t", "n"), cell.findtext(f"{MAIN}v")
            if not 0 <= int(cell.get("s", "0")) < formats:
                yield f"{place}: format {cell.get('s')} is not there"
            formula = cell.find(f"{MAIN}f")
            if formula is None or value != "":  # the value of a formula may be no text at all
                yield from (f"{place}: {problem}" for problem in self._value(kind, value))
            if formula is not None:
                if value is None:
                    yield f"{place}: a formula without a value"
                if kind == "s":
                    yield f"{place}: the value of a formula is a shared string"
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

    def _value(self, kind: str, value: str | None) -> Iterator[str]:
        if kind == "s" and not (value or "").isdigit():
            yield f"{value!r} is no number of a shared string"
        elif kind == "s" and int(value or "0") >= len(self.package.strings):
            yield f"shared string {value} is not there"
        elif kind == "n" and value is not None:
            try:
                if not math.isfinite(float(value)):
                    yield f"{value!r} is no number"
            except ValueError:
                yield f"{value!r} is no number"
        elif kind == "b" and value not in {"0", "1"}:
            yield f"{value!r} is no truth value"
        elif kind not in {"s", "n", "b", "str", "inlineStr", "e"}:
            yield f"{kind!r} is no type of a cell"

    def _columns(self) -> Iterator[str]:
        last = 0
        for each in self._all("col"):
            low, high = int(each.get("min", "0")), int(each.get("max", "0"))
            if not last < low <= high <= LAST_COLUMN:
                yield f"columns {low} to {high} stand behind column {last}"
            last = high
            if not 0 <= float(each.get("width", "0")) <= _WIDEST:
                yield f"column {low} has the width {each.get('width')}"

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

    def _pages(self) -> Iterator[str]:
        for group in (*self._all("rowBreaks"), *self._all("colBreaks")):
            if int(group.get("count", "0")) != len(group) or len(group) > _MOST_BREAKS:
                yield "another number of page breaks than it says, or too many"
        for each in (*self._all("oddFooter"), *self._all("oddHeader")):
            if units(each.text or "") > _LONGEST_FOOTER:
                yield f"a footer of {units(each.text or '')} characters"
            if re.search(r"&(?![&LCRDTPNAFGZ0-9\"KBIUESXYHO])", (each.text or "").replace("&&", "")):
                yield "a footer with an & that means nothing"

    def _relations(self) -> Iterator[str]:
        known = self.package.relations(self.part)
        for each in (*self._all("drawing"), *self._all("legacyDrawing")):
            if each.get(f"{RELATION}id") not in known:
                yield f"drawing {each.get(f'{RELATION}id')} is not there"
