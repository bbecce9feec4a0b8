"""The columns of a case sheet as they look: headers, widths and styles; what a judge needs fits on a small screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clueval_xlsx.review.case_sheet import METADATA, SheetColumn

TITLE_ROW, LEGEND_ROW, HEADER_ROW, FIRST_ROW = 0, 1, 2, 3
ONE_LINE = ("number", "related", "state")  # never wrapped, or grown into while somebody judges

_SCREEN = 1300  # pixels from the number to the comment, at 100 %, beside the bars of LibreOffice at 1366
_WIDEST_CONTEXT, _NARROWEST_CONTEXT = 520, 460
_LEAST_WHY, _LEAST_BESIDE_WHY = 150, 300  # where a column says why a case is shown, the two share the room
_FOLDED = 90
# Width in pixels, style of the cells.
_LOOKS = {
    "number": (40, "cell_number"),
    "state": (85, "cell_state"),
    "context": (_NARROWEST_CONTEXT, "cell_context"),
    "why": (_LEAST_WHY, "cell_why"),
    "judgement": (140, "input"),
    "case_again": (_FOLDED, "cell_small"),
    "correct_span": (110, "input"),
    "correct_label": (85, "input"),
    "applies_to": (70, "input"),
    "severity": (80, "input"),
    "comment": (100, "input"),
    "related": (80, "cell_link"),
    "document": (120, "cell"),
    "span": (240, "cell"),
    "label": (90, "cell"),
    "other_span": (240, "cell"),
    "other_label": (90, "cell"),
    "earlier": (260, "cell"),
    METADATA: (100, "cell"),
}
_BLOCK = ("number", "state", "judgement", "correct_span", "applies_to", "severity", "comment")


class ColumnLook(NamedTuple):
    """How a column looks; its width is in characters."""

    width: float
    style: str


def _characters(pixels: float) -> float:
    """The width of a column that LibreOffice shows with so many pixels; Excel shows a sixteenth less."""
    return (pixels / 1.0625 - 5) / 7


FOLDED_WIDTH = _characters(_FOLDED)


def column_looks(columns: Sequence[SheetColumn]) -> list[ColumnLook]:
    """The width and the style of each column of a sheet."""
    keys = [column.key for column in columns]
    widths = _flexible(keys.count("correct_label"), why="why" in keys)
    found = []
    for key in keys:
        pixels, style = _LOOKS.get(METADATA if key.startswith(METADATA) else key, (_FOLDED, "cell_small"))
        found.append(ColumnLook(_characters(widths.get(key, pixels)), style))
    return found


def _flexible(layers: int, *, why: bool) -> dict[str, int]:
    """The widths of context, reason and comment in pixels: they share what the others leave of the screen."""
    left = _SCREEN - sum(_LOOKS[key][0] for key in _BLOCK) - layers * _LOOKS["correct_label"][0]
    if why:
        reason = max(left // 3, _LEAST_WHY)
        return {"why": reason, "context": max(left - reason, _LEAST_BESIDE_WHY)}
    context = min(max(left, _NARROWEST_CONTEXT), _WIDEST_CONTEXT)
    return {"context": context, "comment": _LOOKS["comment"][0] + max(left - context, 0)}
