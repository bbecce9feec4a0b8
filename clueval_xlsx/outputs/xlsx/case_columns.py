"""The columns of a case sheet as they look: headers, widths and styles; what a judge needs fits on a small screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clueval_xlsx.review.columns import METADATA, ColumnKind, sheet_columns
from clueval_xlsx.words import Words

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


class CaseColumn(NamedTuple):
    """One column of a case sheet; its width is in characters."""

    key: str
    layer: str | None
    header: str
    width: float
    style: str
    kind: ColumnKind

    @property
    def name(self) -> str:
        """As the manifest keeps it."""
        return self.key if self.layer is None else f"{self.key}:{self.layer}"


def _characters(pixels: float) -> float:
    """The width of a column that LibreOffice shows with so many pixels; Excel shows a sixteenth less."""
    return (pixels / 1.0625 - 5) / 7


FOLDED_WIDTH = _characters(_FOLDED)


def case_columns(
    names: Iterable[str], layers: Sequence[str], words: Words, *, absent: Iterable[str] = ()
) -> list[CaseColumn]:
    """The plan of a sheet's columns.

    `names` are the columns of its case table; `absent` the keys of columns that this workbook does without, such as
    `earlier` where nothing was decided before.
    """
    names = list(names)
    absent = {*absent, *(key for key in ("char_start", "char_end") if key not in names)}
    metadata = [name.removeprefix(METADATA) for name in names if name.startswith(METADATA)]
    widths = _flexible(len(layers), why="why" not in absent)
    found = []
    for key, layer, kind in sheet_columns(layers, metadata=metadata, absent=absent):
        look = METADATA if key.startswith(METADATA) else key
        pixels, style = _LOOKS.get(look, (_FOLDED, "cell_small"))
        header = key.removeprefix(METADATA) if look == METADATA else words[f"column.{key}"]
        shown = f"{header}: {layer}" if layer is not None and len(layers) > 1 else header
        style = "cell_context" if key == "context" else style
        found.append(CaseColumn(key, layer, shown, _characters(widths.get(key, pixels)), style, kind))
    return found


def _flexible(layers: int, *, why: bool) -> dict[str, int]:
    """The widths of context, reason and comment in pixels: they share what the others leave of the screen."""
    left = _SCREEN - sum(_LOOKS[key][0] for key in _BLOCK) - layers * _LOOKS["correct_label"][0]
    if why:
        reason = max(left // 3, _LEAST_WHY)
        return {"why": reason, "context": max(left - reason, _LEAST_BESIDE_WHY)}
    context = min(max(left, _NARROWEST_CONTEXT), _WIDEST_CONTEXT)
    return {"context": context, "comment": _LOOKS["comment"][0] + max(left - context, 0)}
