"""A case sheet: its columns, and the text that every cell of a row comes with.

Workbooks are written from this, and workbooks that come back are compared with it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from clueval_xlsx.cases.contexts import Segment, signed_pieces
from clueval_xlsx.review.case_words import class_name, happened_lines
from clueval_xlsx.review.judgements import LAYER_COLUMNS
from clueval_xlsx.text.cells import PLAIN_SIGN, SQUARES, fitting, fitting_pieces, normalise
from clueval_xlsx.words import Words

METADATA = "meta_"  # the key of a column of metadata begins so; its header is the rest
HAPPENED = "happened"  # the mark of what happened, which stands before a context


class ColumnKind(StrEnum):
    """What a column is for."""

    SHOWN = "shown"  # in sight while somebody judges, frozen
    INPUT = "input"  # for judging
    BLOCK_ID = "block_id"  # the case ID, hidden among those for judging
    ASIDE = "aside"  # folded away right beside those for judging
    RARE = "rare"  # looked up rarely, right of those for judging
    FOLDED = "folded"  # technical, grouped and folded away


# From left to right. The header of a column is the word `column.KEY`, that of metadata its name.
COLUMNS = {
    "number": ColumnKind.SHOWN,
    "state": ColumnKind.SHOWN,
    "context": ColumnKind.SHOWN,
    "why": ColumnKind.SHOWN,  # of a conflict workbook alone
    "judgement": ColumnKind.INPUT,
    "case_again": ColumnKind.BLOCK_ID,
    "applies_to": ColumnKind.INPUT,
    "correct_span": ColumnKind.INPUT,
    "correct_label": ColumnKind.INPUT,
    "severity": ColumnKind.INPUT,
    "comment": ColumnKind.INPUT,
    "around": ColumnKind.ASIDE,  # the sentences before and behind the context
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
    # What State is made from: what is typed is held against the first two, the others are formulas.
    "marks": ColumnKind.FOLDED,
    "searched": ColumnKind.FOLDED,
    "understood": ColumnKind.FOLDED,  # the number of the judgement that was typed, 0 if there is none
    "grade": ColumnKind.FOLDED,  # that of the severity
    "scope": ColumnKind.FOLDED,  # that of what the judgement applies to
    "words": ColumnKind.FOLDED,  # the correct span as it is looked for
    "in_text": ColumnKind.FOLDED,
    "span_entry": ColumnKind.FOLDED,
    "label_key": ColumnKind.FOLDED,
    "labels_good": ColumnKind.FOLDED,
    "label_entry": ColumnKind.FOLDED,
    "label_entries": ColumnKind.FOLDED,
    "counted": ColumnKind.FOLDED,  # the judgement's number if the row is complete, or minus the number of what is wrong
    "claim": ColumnKind.FOLDED,  # the name of the group of twins that the judgement is to hold for
    "said": ColumnKind.FOLDED,  # all of the answer, as claims are compared
    "holding": ColumnKind.FOLDED,  # the number of the judgement that holds for the row: its own, or one of a twin
    "others": ColumnKind.FOLDED,  # what other rows say about this one
    "done": ColumnKind.FOLDED,  # 1 if State says that the row is done, -1 if something is missing or not understood
    "case": ColumnKind.FOLDED,
}
_FIRST_HELPER, _LAST_HELPER = "marks", "done"
_KEYS = list(COLUMNS)
HELPERS = _KEYS[_KEYS.index(_FIRST_HELPER) : _KEYS.index(_LAST_HELPER) + 1]
CALCULATED = frozenset({"state", "related", "around", *HELPERS})  # filled by formulas, or for looking up alone
TOLD = frozenset({"why", "earlier"})  # what others said, which no evaluation knows
_SOURCES = {"case": "case_id", "case_again": "case_id", "span": "surface", "other_span": "other_surface"}


class SheetColumn(NamedTuple):
    """One column of a case sheet; those that stand once for each layer name theirs."""

    key: str
    layer: str | None
    kind: ColumnKind
    header: str

    @property
    def name(self) -> str:
        """The key with its layer, such as `correct_label:risk`, as the manifest keeps it."""
        return self.key if self.layer is None else f"{self.key}:{self.layer}"

    @property
    def static(self) -> bool:
        """Whether its cells hold what the case came with, and nobody fills them in or calculates them."""
        return self.kind is not ColumnKind.INPUT and self.key not in CALCULATED and self.key not in TOLD


def sheet_columns(
    names: Iterable[str], layers: Sequence[str], words: Words, *, absent: Iterable[str] = ()
) -> list[SheetColumn]:
    """The columns of a sheet from left to right.

    `names` are the columns of its case table; `absent` the keys of columns that this workbook does without, such as
    `earlier` where nothing was decided before.

    >>> [column.name for column in sheet_columns(["meta_court"], ["risk"], Words("en"), absent=["why"])][:8]
    ['number', 'state', 'context', 'judgement', 'case_again', 'applies_to', 'correct_span', 'correct_label:risk']
    """
    names = list(names)
    left_out = {*absent, *(key for key in ("char_start", "char_end") if key not in names)}
    columns = []
    for key, kind in COLUMNS.items():
        if key == METADATA:
            metadata = [name for name in names if name.startswith(METADATA)]
            columns += [SheetColumn(name, None, kind, name.removeprefix(METADATA)) for name in metadata]
        elif key in LAYER_COLUMNS:
            for layer in layers:
                header = words[f"column.{key}"]
                columns.append(SheetColumn(key, layer, kind, f"{header}: {layer}" if len(layers) > 1 else header))
        elif key not in left_out:
            columns.append(SheetColumn(key, None, kind, words[f"column.{key}"]))
    return columns


def context_pieces(
    cases: pd.DataFrame, layers: Sequence[str], words: Words, *, plain: bool = False
) -> list[list[Segment]]:
    """The contexts of cases as their cells show them: what happened in a line of its own, then the words."""
    return [
        [Segment(f"{line}\n" if segments else line, HAPPENED), *signed_pieces(segments, plain=plain)]
        for line, segments in zip(happened_lines(cases, layers, words), cases["segments"], strict=True)
    ]


def static_cells(
    cases: pd.DataFrame, column: SheetColumn, layers: Sequence[str], words: Words
) -> Sequence[str] | Sequence[str | int]:
    """What the cells of a static column come with, from the first case to the last; empty ones are empty texts."""
    if column.key == "context":
        shown = map(fitting_pieces, context_pieces(cases, layers, words))
        return ["".join(text for text, _ in pieces) for pieces in shown]
    if column.key == "class":
        return [class_name(name, words) for name in cases["class"]]
    source = _SOURCES.get(column.key, column.key)
    values = cases[source if column.layer is None else f"{source}_{column.layer}"].tolist()
    if values and not isinstance(values[0], str):
        return [int(value) if value >= 0 else "" for value in values]  # a position that does not exist is negative
    return values


@dataclass(frozen=True)
class WrittenCells:
    """What the static cells of a workbook came with: a fingerprint of each, so that nothing of the text is in it.

    `prints` has the fingerprints of each column by its name, in the order of `case_ids`.
    """

    case_ids: Sequence[str]
    prints: Mapping[str, bytes]

    @classmethod
    def of(cls, tables: Iterable[pd.DataFrame], layers: Sequence[str], words: Words) -> WrittenCells:
        """Those of cases with their contexts, sheet by sheet, as a workbook in this language has them."""
        case_ids: list[str] = []
        prints: dict[str, bytes] = {}
        for cases in tables:
            for column in sheet_columns(cases.columns, layers, words):
                if column.static:
                    before = prints.get(column.name, b"").ljust(len(case_ids) * _PRINT, b"\0")
                    cells = static_cells(cases, column, layers, words)
                    fitted = (fitting(value) if isinstance(value, str) else value for value in cells)
                    prints[column.name] = before + b"".join(map(cell_print, fitted))
            case_ids += cases["case_id"].tolist()
        whole = len(case_ids) * _PRINT
        return cls(case_ids, {name: own.ljust(whole, b"\0") for name, own in prints.items()})

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {case_id: row for row, case_id in enumerate(self.case_ids)}

    def knows(self, case_id: str) -> bool:
        """Whether it is known what the row of a case came with."""
        return bool(self.prints) and case_id in self._rows

    def as_written(self, case_id: str, name: str, text: str) -> bool:
        """Whether a cell of this column holds what its case came with; true also where nobody knows that."""
        if name not in self.prints or case_id not in self._rows:
            return True
        begin = self._rows[case_id] * _PRINT
        return self.prints[name][begin : begin + _PRINT] == cell_print(text)

    def columns_of(self, case_id: str, text: str) -> list[str]:
        """The columns whose cells came with this text in the row of a case."""
        if case_id not in self._rows:
            return []
        begin, sought = self._rows[case_id] * _PRINT, cell_print(text)
        return [name for name, prints in self.prints.items() if prints[begin : begin + _PRINT] == sought]


_SIGNS = str.maketrans(dict.fromkeys(SQUARES + PLAIN_SIGN))  # which of them it is, is a matter of looks
_PRINT = 3  # bytes: by chance, one changed cell of 17 million passes for the one that was written


def cell_print(value: str | int) -> bytes:
    """The fingerprint of a cell, compared as `normalise` does; that of an empty one is nothing but zeros.

    >>> cell_print(" Jay\u00a0B. ") == cell_print("jay b."), cell_print(7) == cell_print("7"), cell_print("")
    (True, True, b'\\x00\\x00\\x00')
    """
    text = str(value)
    text = (
        text.lower() if text.isascii() and text.isalnum() else normalise(text.translate(_SIGNS))
    )  # most are one plain word
    return zlib.crc32(text.encode("utf-8", "surrogatepass")).to_bytes(4, "big")[:_PRINT]
