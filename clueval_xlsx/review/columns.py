"""The columns of a case sheet: their keys, in the order in which they are written, and what each is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from clueval_xlsx.review.vocabulary import LAYER_COLUMNS

METADATA = "meta_"  # the key of a column of metadata begins so; its header is the rest


class ColumnKind(StrEnum):
    """What a column is for."""

    SHOWN = "shown"  # in sight while somebody judges, frozen
    INPUT = "input"  # for judging
    BLOCK_ID = "block_id"  # the case ID, hidden among those for judging
    RARE = "rare"  # looked up rarely, right of those for judging
    FOLDED = "folded"  # technical, grouped and folded away


# The header of a column is the word `column.KEY`, that of metadata its name.
COLUMNS = {
    "number": ColumnKind.SHOWN,
    "state": ColumnKind.SHOWN,
    "context": ColumnKind.SHOWN,
    "why": ColumnKind.SHOWN,  # of a conflict workbook alone
    "judgement": ColumnKind.INPUT,
    "case_again": ColumnKind.BLOCK_ID,
    "correct_span": ColumnKind.INPUT,
    "correct_label": ColumnKind.INPUT,
    "applies_to": ColumnKind.INPUT,
    "severity": ColumnKind.INPUT,
    "comment": ColumnKind.INPUT,
    "related": ColumnKind.RARE,
    "document": ColumnKind.RARE,
    "span": ColumnKind.RARE,
    "label": ColumnKind.RARE,
    "other_span": ColumnKind.RARE,
    "other_label": ColumnKind.RARE,
    METADATA: ColumnKind.RARE,
    "earlier": ColumnKind.RARE,
    "class": ColumnKind.FOLDED,
    "start": ColumnKind.FOLDED,
    "end": ColumnKind.FOLDED,
    "start_id": ColumnKind.FOLDED,
    "end_id": ColumnKind.FOLDED,
    "other_start": ColumnKind.FOLDED,
    "other_end": ColumnKind.FOLDED,
    "other_start_id": ColumnKind.FOLDED,
    "other_end_id": ColumnKind.FOLDED,
    "document_start": ColumnKind.FOLDED,
    "document_end": ColumnKind.FOLDED,
    "char_start": ColumnKind.FOLDED,
    "char_end": ColumnKind.FOLDED,
    "sentence": ColumnKind.FOLDED,
    "twin_group": ColumnKind.FOLDED,
    "understood": ColumnKind.FOLDED,  # the number of the judgement that was typed, 0 if there is none
    "counted": ColumnKind.FOLDED,  # the same if the row is complete, else 0; -1 if the two case IDs have parted
    "claim": ColumnKind.FOLDED,  # the name of the group of twins that the judgement is to hold for
    "holding": ColumnKind.FOLDED,  # the number of the judgement that holds for the row: its own, or one of a twin
    "case": ColumnKind.FOLDED,
}


class SheetColumn(NamedTuple):
    """One column of a case sheet; those that stand once for each layer name theirs."""

    key: str
    layer: str | None
    kind: ColumnKind

    @property
    def name(self) -> str:
        """The key with its layer, such as `correct_label:risk`, as the manifest keeps it."""
        return self.key if self.layer is None else f"{self.key}:{self.layer}"


def sheet_columns(
    layers: Iterable[str], *, metadata: Iterable[str] = (), absent: Iterable[str] = ()
) -> list[SheetColumn]:
    """The columns of a sheet from left to right.

    >>> [column.name for column in sheet_columns(["risk"], metadata=["court"], absent=["why"])][:8]
    ['number', 'state', 'context', 'judgement', 'case_again', 'correct_span', 'correct_label:risk', 'applies_to']
    """
    left_out, layers, metadata = set(absent), list(layers), list(metadata)

    def columns() -> Iterator[SheetColumn]:
        for key, kind in COLUMNS.items():
            if key == METADATA:
                yield from (SheetColumn(f"{METADATA}{name}", None, kind) for name in metadata)
            elif key in LAYER_COLUMNS:
                yield from (SheetColumn(key, layer, kind) for layer in layers)
            elif key not in left_out:
                yield SheetColumn(key, None, kind)

    return list(columns())
