"""Faults that are put into a sound workbook on purpose: each must be found by the audit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tests.audit.package import Package

Change = Callable[[bytes], bytes]
BOOK, STRINGS, STYLES, CHART = "xl/workbook.xml", "xl/sharedStrings.xml", "xl/styles.xml", "xl/charts/chart1.xml"
CASES, METRICS, GUIDE = "Missed (FN)", "Metrics", "Guide"


def _first(pattern: str, new: str) -> Change:
    """Replace the first match; a fault that does not happen is no fault."""

    def change(content: bytes) -> bytes:
        made, count = re.subn(pattern.encode(), new.encode(), content, count=1, flags=re.DOTALL)
        assert count == 1, f"{pattern} is not in the part"
        return made

    return change


def _swapped(first: str, second: str) -> Change:
    """Two neighbouring elements in the other order."""
    return _first(f"({first})(.*?)({second})", r"\3\2\1")


# What is done, to which sheet or part, and how.
FAULTS: dict[str, tuple[str, Change]] = {
    "a formula over 8,192 characters": (METRICS, _first(r"<f>SUM\(", "<f>" + "1+" * 4_100 + "SUM(")),
    "a text over 255 characters in a formula": (CASES, _first(r"<f>IF\(", f'<f>LEN("{"x" * 256}")+IF(')),
    "a formula that begins with =": (METRICS, _first("<f>SUM", "<f>=SUM")),
    "a bracket too few": (METRICS, _first(r"<f>SUM\(([^<)]*)\)", r"<f>SUM(\1")),
    "a function that does not exist": (METRICS, _first("<f>SUM", "<f>SUMME")),
    "a sheet in a formula that is not there": (METRICS, _first("<f>SUM\\(clueval_figures", "<f>SUM(clueval_figure")),
    "a range of a formula beyond its sheet": (METRICS, _first(r"(<f>SUM\([^$<]+\$B\$)\d+", r"\g<1>9999")),
    "functions nested 65 deep": (METRICS, _first("<f>SUM", "<f>" + "IF(1," * 65 + "1,1)" + ",1)" * 64 + "+SUM")),
    "a formula without a value": (METRICS, _first(r"(</f>)<v>[^<]*</v>", r"\1")),
    "a shared string that is not there": (CASES, _first(r't="s"><v>\d+', 't="s"><v>999999')),
    "a count of strings that is wrong": (STRINGS, _first(r' count="\d+"', ' count="3"')),
    "a count of unique strings that is wrong": (STRINGS, _first(r'uniqueCount="\d+"', 'uniqueCount="3"')),
    "a cell of 32,768 characters": (STRINGS, _first(r"<si><t>[^<]*", "<si><t>" + "x" * 32_768)),
    "spaces that nothing preserves": (STRINGS, _first(r"<si><t>([^<]*)", r"<si><t> \1")),
    "a run without text": (STRINGS, _first(r"(<r><rPr>.*?</rPr><t[^>]*>)[^<]+", r"\1")),
    "a format that is not there": (CASES, _first(r'(<c r="A\d+" s=)"\d+"', r'\1"9999"')),
    "a font that is not there": (STYLES, _first(r'(<cellXfs.*?<xf [^>]*fontId=)"\d+"', r'\1"999"')),
    "a count of fonts that is wrong": (STYLES, _first(r'<fonts count="\d+"', '<fonts count="1"')),
    "a row of 500 points": (CASES, _first(r' ht="[^"]+"', ' ht="500"')),
    "a column 300 wide": (CASES, _first(r' width="[^"]+"', ' width="300"')),
    "cells in the wrong order": (CASES, _first(r'<c r="A4"', '<c r="ZZ4"')),
    "two rows of one number": (CASES, _first(r'<row r="5"', '<row r="4"')),
    "a dimension that leaves cells out": (CASES, _first(r'<dimension ref="[^"]+"', '<dimension ref="A1:B2"')),
    "merged ranges that overlap": (METRICS, _first(r'(<mergeCell ref="[^"]+"/>)', r"\1\1")),
    "a merged range of one cell": (METRICS, _first(r'<mergeCell ref="[^"]+"', '<mergeCell ref="B2"')),
    "a validation title of 33 characters": (CASES, _first(r' errorTitle="[^"]*"', f' errorTitle="{"x" * 33}"')),
    "a validation message of 256 characters": (CASES, _first(r' error="[^"]*"', f' error="{"x" * 256}"')),
    "a list whose sheet is not there": (CASES, _first("<formula1>clueval_lists", "<formula1>clueval_list")),
    "a look of a rule that is not there": (CASES, _first(r'dxfId="\d+"', 'dxfId="77"')),
    "two rules of one priority": (CASES, _first(r'priority="2"', 'priority="1"')),
    "a link to a sheet that is not there": (GUIDE, _first(r"location=\"[^\"!]*!", "location=\"'Nowhere'!")),
    "a filter beyond the cells": (CASES, _first(r'(<autoFilter ref="[A-Z]+\d+:[A-Z]+)\d+', r"\g<1>99999")),
    "elements in the wrong order": (CASES, _swapped("<pageMargins[^>]*/>", "<pageSetup[^>]*/>")),
    "a footer of 300 characters": (CASES, _first("<oddFooter>", "<oddFooter>" + "x" * 300)),
    "a drawing that is not there": (METRICS, _first(r'<drawing r:id="[^"]+"', '<drawing r:id="rId99"')),
    "a sheet's name of 32 characters": (BOOK, _first(r'<sheet name="Confusion"', f'<sheet name="{"x" * 32}"')),
    "two sheets of one name": (BOOK, _first(r'<sheet name="Confusion"', '<sheet name="METRICS"')),
    "a hidden sheet shown first": (BOOK, _first(r"<workbookView ", '<workbookView activeTab="7" ')),
    "a name of a sheet that is not there": (BOOK, _first(r'localSheetId="\d+"', 'localSheetId="55"')),
    "a chart of a sheet that is not there": (CHART, _first("<c:f>clueval_figures", "<c:f>figures")),
    "a chart with fewer cached values than cells": (CHART, _first(r'<c:ptCount val="\d+"', '<c:ptCount val="1"')),
    "a cached value that is no number": (CHART, _first(r"(<c:numCache>.*?<c:v>)[^<]+", r"\1nan")),
    "a value that is no number": (METRICS, _first(r'(<c r="[A-Z]+\d+" s="\d+"><v>)[^<]+', r"\1inf")),
    "a part without a type": (
        "[Content_Types].xml",
        _first(r'<Override PartName="/xl/worksheets/sheet2.xml"[^>]*/>', ""),
    ),
    "a relation that leads nowhere": (
        "xl/_rels/workbook.xml.rels",
        _first("worksheets/sheet3.xml", "worksheets/sheet33.xml"),
    ),
    "XML that does not close": (CASES, _first("</worksheet>", "")),
}  # fmt: skip


def with_fault(content: bytes, name: str) -> bytes:
    """A workbook with one of the faults."""
    package = Package.opened(content)
    place, change = FAULTS[name]
    part = next((part for sheet, part, _ in package.sheets if sheet == place), place)
    return replace(package, parts={**package.parts, part: change(package.parts[part])}).packed()
