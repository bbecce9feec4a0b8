"""What Excel allows in a formula, and where its references lead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from openpyxl.formula import Tokenizer
from openpyxl.formula.tokenizer import Token

from tests.audit.package import Area, area, units

LONGEST, LONGEST_STRING, DEEPEST, MOST_ARGUMENTS = 8_192, 255, 64, 255
# The functions that the tool uses; Excel has had them all since 2007, and every program knows them.
_KNOWN = (
    "AND COUNTIF COUNTA EXACT HYPERLINK IF IFERROR INDEX ISNUMBER LEFT LEN LOWER MATCH MAX MIN NOT OR RIGHT MID ROW "
    "SUBSTITUTE SUM SUMPRODUCT TRIM TRUE FALSE VLOOKUP UPPER TEXT ROUND COUNT ISERROR ISBLANK FIND CHAR UNICHAR N T "
    "COUNTIFS COUNTBLANK SUMIF INDIRECT CHOOSE LOOKUP CONCATENATE VALUE ABS OFFSET REPT"
)
FUNCTIONS = frozenset(_KNOWN.split())


def problems(formula: str, sheets: Mapping[str, Area], own: str) -> Iterator[str]:
    """What is wrong with a formula on the sheet `own`; `sheets` are the used ranges by name."""
    if formula.startswith("="):
        yield "the formula begins with ="
    if units(formula) > LONGEST:
        yield f"the formula has {units(formula)} characters"
    for text in re.findall(r'"((?:[^"]|"")*)"', formula):
        if units(text.replace('""', '"')) > LONGEST_STRING:
            yield f"a text of the formula has {units(text)} characters"
    outside = re.sub(r'"(?:[^"]|"")*"', '""', formula)
    if outside.count('"') % 2 or outside.count("(") != outside.count(")"):
        yield "quotation marks or brackets of the formula do not close"
        return
    try:
        tokens = _tokens(formula)
    except Exception as error:  # the tokenizer raises errors of many kinds
        yield f"the formula cannot be taken apart: {error}"
        return
    yield from _shape(tokens)
    for token in tokens:
        if token.type == Token.OPERAND and token.subtype == Token.RANGE:
            yield from reference(token.value, sheets, own)
        elif token.type == Token.OPERAND and token.subtype == Token.ERROR:
            yield f"the formula holds {token.value}"


@cache
def _tokens(formula: str) -> list[Token]:
    return Tokenizer(f"={formula}").items


def _shape(tokens: list[Token]) -> Iterator[str]:
    depth, arguments = 0, [0]
    for token in tokens:
        if token.subtype == Token.OPEN:
            depth += 1
            arguments.append(1)
            name = token.value.rstrip("(").upper()
            if token.type == Token.FUNC and name not in FUNCTIONS:
                yield f"the function {name} is not one that every program knows"
        elif token.subtype == Token.CLOSE:
            depth -= 1
            if arguments.pop() > MOST_ARGUMENTS:
                yield "a function has too many arguments"
        elif token.type == Token.SEP and token.subtype == Token.ARG:
            arguments[-1] += 1
        if depth > DEEPEST:
            yield f"functions are nested {depth} deep"
            return


def reference(text: str, sheets: Mapping[str, Area], own: str) -> Iterator[str]:
    """What is wrong with a reference to cells."""
    name, _, cells = text.rpartition("!")
    if not name and text.upper() in {"TRUE", "FALSE"}:
        return
    if name and not name.startswith("'") and not re.fullmatch(r"[^\W\d][\w.]*", name):
        yield f"the sheet's name in {text} needs quotation marks"
    sheet = (name[1:-1].replace("''", "'") if name.startswith("'") else name) or own
    if sheet not in sheets:
        yield f"{text}: there is no sheet {sheet!r}"
        return
    found = area(cells)
    if found is None:
        yield f"{text}: there are no such cells"
    elif not found.within(sheets[sheet]):
        yield f"{text}: reaches beyond what the sheet {sheet!r} has"
