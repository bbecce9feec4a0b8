"""Where the roles of a review sheet stand, read from the headers of the written workbook and from the words files.

This is the only module that knows how the product names its columns and values; operations and oracle go by roles:
`case` and `block` (the case ID of the row and the one inside the annotation block), `judgement`, `correct_span`,
`correct_label:LAYER`, `applies_to`, `severity`, `comment`, `span`, `other_span`, `context`, `document`, `twin_group`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tests.simulator.book import Book, Sheet
from tests.support.folders import ROOT

CASE_ID = re.compile(r"[A-Z]{2}-[A-Z2-7]{8,32}")
# The keys that headers may have in the words files ([column]), by role.
_KEYS = {
    "judgement": ("judgement",),
    "correct_span": ("correct_span",),
    "applies_to": ("applies_to",),
    "severity": ("severity",),
    "comment": ("comment",),
    "span": ("span",),
    "other_span": ("other_span",),
    "context": ("context",),
    "document": ("document",),
    "twin_group": ("twin_group",),
    "start": ("start",),
    "end": ("end",),
    "other_start": ("other_start",),
    "other_end": ("other_end",),
}
_CORRECT_LABEL = "correct_label"
SHEETS_OF_JUDGEMENT = {"gold_wrong": ("FN",), "gold_missing": ("FP",)}  # all others are offered on both
JUDGEMENTS = ("model_error", "gold_wrong", "gold_missing", "boundary", "label", "acceptable", "unclear")
DIGITS = {
    "model_error": 1,
    "gold_wrong": 2,
    "gold_missing": 2,
    "boundary": 3,
    "label": 4,
    "acceptable": 5,
    "unclear": 6,
}
SEVERITY_DIGITS = {"direct": 1, "quasi": 2, "harmless": 3}
SCOPE_DIGITS = {"all": 1, "document": 2}
VALUE_DIGITS = {"judgement": DIGITS, "severity": SEVERITY_DIGITS, "applies_to": SCOPE_DIGITS}


def normalise(text: str) -> str:
    """Words as they are compared here: no case, no invisible characters, single spaces."""
    visible = unicodedata.normalize("NFC", text).translate({0x2060: None, 0x200B: None, 0xFEFF: None})
    return " ".join(visible.split()).casefold()


@cache
def words() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """The words files by language."""
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in (ROOT / "templates" / "words").glob("*.toml")}


@cache
def header_words(role: str) -> Mapping[str, str]:
    """What the header of a role says, by language."""
    keys = _KEYS.get(role, (role.partition(":")[0],))
    found = {}
    for language, sections in words().items():
        for key in keys:
            if key in sections["column"]:
                found[language] = str(sections["column"][key])
    return found


@cache
def value_words(section: str) -> Mapping[str, Mapping[str, str]]:
    """The words of a list (`judgement`, `span_choice`, `severity`): code → language → words."""
    found: dict[str, dict[str, str]] = {}
    for language, sections in words().items():
        for code, text in sections[section].items():
            found.setdefault(code, {})[language] = str(text)
    return found


def role_of_header(text: str) -> str:
    """The role of a column by the words of its header; empty if it is none of ours."""
    found = normalise(text)
    for role in _KEYS:
        if found in {normalise(word) for word in header_words(role).values()}:
            return role
    for word in header_words(_CORRECT_LABEL).values():
        if found.startswith(normalise(word)):
            layer = found[len(normalise(word)) :].strip(" :()–-")
            return f"{_CORRECT_LABEL}:{layer}"
    for key in ("label", "other_label"):
        for word in header_words(key).values():
            if found.startswith(f"{normalise(word)}:"):
                return f"{key}:{found.partition(':')[2].strip()}"
    return ""


def is_id(text: str) -> bool:
    """Whether a text is the ID of a case."""
    return CASE_ID.fullmatch(text) is not None


def is_manifest(sheet: Sheet) -> bool:
    """Whether this is the hidden sheet that knows the run."""
    return "manifest" in sheet.name


def tag(book: Book) -> None:
    """Give every cell of the review sheets of a fresh workbook its role."""
    for sheet in book.sheets:
        header = _header_row(sheet)
        if header is not None:
            _tag_sheet(sheet, header)


def _header_row(sheet: Sheet) -> int | None:
    for number, row in enumerate(sheet.rows[:200]):
        if {"judgement", "correct_span"} <= {role_of_header(cell.shown) for cell in row}:
            return number
    return None


def _tag_sheet(sheet: Sheet, header: int) -> None:
    from dataclasses import replace

    below = range(header + 1, len(sheet.rows))
    columns = {column: role_of_header(cell.shown) for column, cell in enumerate(sheet.rows[header])}
    ids = [column for column in columns if all(is_id(sheet.cell(row, column).shown) for row in below)]
    judgement = next(column for column, role in columns.items() if role == "judgement")
    ids.sort(key=lambda column: abs(column - judgement))
    columns.update(dict(zip(ids, ("block", "case"), strict=False)))
    if len(ids) < 2:
        raise ValueError(f"sheet {sheet.name}: found {len(ids)} columns of case IDs, allowed: 2")
    for column, role in columns.items():
        sheet.set(header, column, replace(sheet.cell(header, column), role=f"header:{role}"))
        for row in below:
            if role:
                sheet.set(row, column, replace(sheet.cell(row, column), role=role))


@dataclass(frozen=True)
class Layout:
    """Where things stand on a sheet now: columns by role, rows of cases, and the header if it is there."""

    columns: Mapping[str, int]
    rows: Mapping[int, str]  # row → case ID
    header: int | None
    permuted: bool = False  # lines of the block stand beside other cases than their own

    @property
    def block(self) -> tuple[int, int]:
        """The first and last column of the annotation block."""
        inside = [column for role, column in self.columns.items() if role in ANNOTATIONS or _is_label(role)]
        inside += [self.columns["block"]] if "block" in self.columns else []
        return min(inside), max(inside)

    @property
    def table(self) -> tuple[int, int]:
        """The first and last row of the cases."""
        return min(self.rows), max(self.rows)


ANNOTATIONS = ("judgement", "correct_span", "applies_to", "severity", "comment")


def _is_label(role: str) -> bool:
    return role.startswith(f"{_CORRECT_LABEL}:")


def is_annotation(role: str) -> bool:
    """Whether a person fills in this column."""
    return role in ANNOTATIONS or _is_label(role)


def layout(sheet: Sheet) -> Layout | None:
    """The layout of a sheet by what its cells were meant for; None if there is no case on it."""
    places: dict[str, Counter[int]] = {}
    rows: dict[int, str] = {}
    header = None
    for number, row in enumerate(sheet.rows):
        for column, cell in enumerate(row):
            if cell.role == "header:judgement":
                header = number
            elif cell.role and not cell.role.startswith("header:"):
                places.setdefault(cell.role, Counter())[column] += 1
        case = case_of_row(sheet, number)
        if case:
            rows[number] = case
    if not rows:
        return None
    columns = {role: counts.most_common(1)[0][0] for role, counts in places.items()}
    return Layout(columns, rows, header, _is_permuted(sheet, rows))


def _is_permuted(sheet: Sheet, rows: Mapping[int, str]) -> bool:
    """Whether a line stands beside another case; an ID that occurs twice was copied, and the row's own counts."""
    inside = {row: cell.shown for row in rows for cell in sheet.rows[row] if cell.role == "block" and is_id(cell.shown)}
    often = Counter(inside.values())
    return any(case != rows[row] and often[case] == 1 for row, case in inside.items())


def case_of_row(sheet: Sheet, row: int) -> str:
    """The case of a row: its own ID, else the one in the block."""
    found = {cell.role: cell.shown for cell in sheet.rows[row] if cell.role in {"case", "block"} and is_id(cell.shown)}
    return found.get("case") or found.get("block", "")


def ids_of_row(sheet: Sheet, row: int) -> set[str]:
    """The IDs that a row carries: one, or two where a part of the sheet was moved by itself."""
    return {cell.shown for cell in sheet.rows[row] if cell.role in {"case", "block"} and is_id(cell.shown)}
