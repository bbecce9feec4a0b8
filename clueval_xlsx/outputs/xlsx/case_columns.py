"""The columns of a case sheet: what is shown, what is for judging, what is folded away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from clueval_xlsx.review.vocabulary import LAYER_COLUMNS
from clueval_xlsx.words import Words

TITLE_ROW, PROGRESS_ROW, LEGEND_ROW, HEADER_ROW, FIRST_ROW = 0, 1, 2, 3, 4
ONE_LINE = ("case", "related", "case_again")  # never wrapped

# width in characters, style of the cells
_INFO = {
    "case": (14, "cell_small"),
    "class": (10, "cell"),
    "document": (14, "cell"),
    "span": (17.5, "cell"),
    "label": (10, "cell"),
    "other_span": (17.5, "cell"),
    "other_label": (10, "cell"),
    "context": (60, "cell_context"),
    "related": (14.5, "cell_link"),
    "earlier": (30, "cell"),
}
_INPUT = {
    "case_again": (14, "cell_small"),
    "judgement": (22, "input"),
    "correct_span": (20, "input"),
    "correct_label": (16, "input"),
    "severity": (16, "input"),
    "comment": (28, "input"),
}
FOLDED_WIDTH = 12
_FOLDED = (
    "start",
    "end",
    "start_id",
    "end_id",
    "other_start",
    "other_end",
    "other_start_id",
    "other_end_id",
    "document_start",
    "document_end",
    "char_start",
    "char_end",
    "sentence",
)


class ColumnKind(StrEnum):
    """What a column is for."""

    INFO = "info"
    INPUT = "input"
    FOLDED = "folded"


class CaseColumn(NamedTuple):
    """One column of a case sheet."""

    key: str
    layer: str | None
    header: str
    width: float
    style: str
    kind: ColumnKind


def case_columns(
    names: Iterable[str], label_widths: Mapping[str, float], words: Words, *, earlier: bool
) -> list[CaseColumn]:
    """The plan of a sheet's columns.

    `names` are the columns of its case table, `label_widths` how wide the labels of each layer are; `earlier` says
    whether a column shows what was decided before.
    """
    found = []
    for kind, table in ((ColumnKind.INFO, _INFO), (ColumnKind.INPUT, _INPUT)):
        for key, (width, style) in table.items():
            if key == "earlier" and not earlier:
                continue
            header = words[f"column.{key}"]
            if key not in LAYER_COLUMNS:
                found.append(CaseColumn(key, None, header, width, style, kind))
                continue
            for layer, room in label_widths.items():
                shown = header if len(label_widths) == 1 else f"{header}: {layer}"
                found.append(CaseColumn(key, layer, shown, max(width, room), style, kind))
    for name in names:
        if name in _FOLDED or name.startswith("meta_"):
            header = words[f"column.{name}"] if name in _FOLDED else name.removeprefix("meta_")
            found.append(CaseColumn(name, None, header, FOLDED_WIDTH, "cell_small", ColumnKind.FOLDED))
    return found
