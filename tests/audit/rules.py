"""The audit of a workbook: every rule of Excel's that it breaks, with the part and the cell."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree

from tests.audit import formulas
from tests.audit.package import CHART, LAST_COLUMN, LAST_ROW, MAIN, RELATION, Area, Package, area, units
from tests.audit.sheet_rules import SheetAudit, used

_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\]")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_LONGEST_NAME, _LONGEST_CELL = 31, 32_767


def audit(content: bytes) -> list[str]:
    """Everything that Excel would object to or show wrong; empty if nothing is."""
    return list(_findings(Package.opened(content)))


def _findings(package: Package) -> Iterator[str]:
    yield from _book(package)
    if "xl/sharedStrings.xml" in package.parts:
        for number, item in enumerate(package.tree("xl/sharedStrings.xml").iter(f"{MAIN}si")):
            yield from (f"shared string {number}: {problem}" for problem in text_problems(item))
    areas = {name: used(package, part) for name, part, _ in package.sheets}
    for name, part, _ in package.sheets:
        yield from (f"{name}: {finding}" for finding in SheetAudit(package, name, part, areas).findings())
    yield from _charts(package, areas)


def _book(package: Package) -> Iterator[str]:
    tree = package.tree("xl/workbook.xml")
    names = [name for name, _, _ in package.sheets]
    for name, _, _ in package.sheets:
        bad = _NOT_IN_NAMES.search(name) or name.startswith("'") or name.endswith("'") or name.casefold() == "history"
        if not 1 <= units(name) <= _LONGEST_NAME or bad:
            yield f"workbook: {name!r} is no name for a sheet"
    for name, count in Counter(name.casefold() for name in names).items():
        if count > 1:
            yield f"workbook: {count} sheets are called {name!r}"
    visible = [state == "visible" for _, _, state in package.sheets]
    for view in tree.iter(f"{MAIN}workbookView"):
        active = int(view.get("activeTab", "0"))
        if not 0 <= active < len(names) or not visible[active]:
            yield f"workbook: sheet {active} is shown first, but it is hidden or not there"
    if not any(visible):
        yield "workbook: all sheets are hidden"
    yield from _defined_names(tree, names)


def _defined_names(tree: ElementTree.Element, names: list[str]) -> Iterator[str]:
    areas = {name: Area(1, 1, LAST_ROW, LAST_COLUMN) for name in names}
    seen: Counter[tuple[str, str | None]] = Counter()
    for each in tree.iter(f"{MAIN}definedName"):
        name, own = each.get("name", ""), each.get("localSheetId")
        seen[name.casefold(), own] += 1
        if own is not None and not 0 <= int(own) < len(names):
            yield f"workbook: the name {name} belongs to sheet {own}, which is not there"
        if not re.fullmatch(r"[A-Za-z_\\][\w.\\]{0,254}", name):
            yield f"workbook: {name!r} is no name for a range"
        for place in (each.text or "").split(","):
            rows = re.fullmatch(r"(.+!)\$(\d+):\$(\d+)", place)
            shown = f"{rows[1]}$A${rows[2]}:$XFD${rows[3]}" if rows else place
            yield from (f"workbook: the name {name}: {problem}" for problem in formulas.reference(shown, areas, ""))
    for (name, _), count in seen.items():
        if count > 1:
            yield f"workbook: {count} ranges are called {name!r}"


def text_problems(item: ElementTree.Element) -> Iterator[str]:
    """What is wrong with a string, plain or in runs."""
    if units("".join(text.text or "" for text in item.iter(f"{MAIN}t"))) > _LONGEST_CELL:
        yield f"longer than {_LONGEST_CELL:,} characters"
    for text in item.iter(f"{MAIN}t"):
        words = text.text or ""
        if _ILLEGAL.search(words):
            yield "holds a character that XML does not allow"
        kept = text.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"
        if words != words.strip(" \t\r\n") and not kept:
            yield "begins or ends with spaces that nothing preserves"
    for run in item.iter(f"{MAIN}r"):
        if not "".join(text.text or "" for text in run.iter(f"{MAIN}t")):
            yield "a run without text"


def _charts(package: Package, areas: dict[str, Area]) -> Iterator[str]:
    hidden = {name for name, part, _ in package.sheets if part in package.parts and _hides_columns(package, part)}
    for name in package.parts:
        if re.fullmatch(r"xl/charts/chart\d+\.xml", name):
            yield from (f"{name}: {problem}" for problem in _chart(package.tree(name), areas, hidden))


def _hides_columns(package: Package, part: str) -> bool:
    return any(each.get("hidden") == "1" for each in package.tree(part).iter(f"{MAIN}col"))


def _chart(tree: ElementTree.Element, areas: dict[str, Area], hidden: set[str]) -> Iterator[str]:
    if not list(tree.iter(f"{CHART}ser")):
        yield "a chart without series"
    for place in (*tree.iter(f"{CHART}numRef"), *tree.iter(f"{CHART}strRef")):
        formula = place.findtext(f"{CHART}f", "")
        yield from formulas.reference(formula, areas, "")
        sheet, _, cells = formula.rpartition("!")
        if sheet.strip("'") in hidden:
            yield f"{formula}: stands on a sheet with hidden columns, which not every program draws"
        cache = next((each for each in place if each.tag.endswith("Cache")), None)
        found = area(cells)
        if cache is None or found is None:
            yield f"{formula}: has no cached values"
            continue
        count = cache.find(f"{CHART}ptCount")
        points = list(cache.iter(f"{CHART}pt"))
        if count is None or int(count.get("val", "-1")) != found.size:
            yield f"{formula}: another number of cached values than cells"
        if len({point.get("idx") for point in points}) < len(points) or len(points) > found.size:
            yield f"{formula}: cached values of cells that are not there"
        if place.tag.endswith("numRef"):
            for point in points:
                value = point.findtext(f"{CHART}v", "")
                if not _is_finite(value):
                    yield f"{formula}: the cached value {value!r} is no number"
    for relation in tree.iter():
        if relation.get(f"{RELATION}id") == "":
            yield "an empty relation"


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
