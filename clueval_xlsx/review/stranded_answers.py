"""Answers parted from their cases: a column on another sheet, or judgements on a sheet that has no case IDs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.files.sheets import SheetTable, cell_name, cell_text
from clueval_xlsx.review.sheet_words import SheetWords
from clueval_xlsx.review.vocabulary import ANNOTATION_COLUMNS


@dataclass(frozen=True)
class AnswerColumns:
    """The columns for judging of one sheet of cases: those that are gone, and those that stand there twice.

    Both by key with the cells that they cover, or covered.
    """

    gone: Mapping[str, str]
    doubled: Mapping[str, str]


@dataclass(frozen=True)
class Stranded:
    """A filled column under one of our headers on a sheet without cases."""

    key: str
    where: str
    text: str


def parted_columns(sheets: Sequence[AnswerColumns], stranded: Sequence[Stranded], words: SheetWords) -> list[Problem]:
    """A column that one sheet lacks and another place has too much: it was moved there, away from its cases."""
    problems: list[Problem] = []
    for key in dict.fromkeys(key for sheet in sheets for key in sheet.gone):
        lacking = [sheet.gone[key] for sheet in sheets if key in sheet.gone]
        found = [sheet.doubled[key] for sheet in sheets if key in sheet.doubled]
        found += [column.where for column in stranded if column.key == key]
        if not found:
            continue
        name = words.shown(key)
        problems += [
            RowProblem(
                where,
                f"found no entries of {name!r} here, but a column of that name at {', '.join(found)}",
                "the column on the sheet that it came on",
                reason="unknown_column",
                value=name,
            )
            for where in lacking
        ]
        problems += [
            RowProblem(
                where,
                f"found a column {name!r} that may belong to the cases at {', '.join(lacking)}",
                "the column on the sheet that it came on",
                reason="unknown_column",
                value=name,
            )
            for where in found
        ]
    return problems


def stranded_columns(table: SheetTable, name: str, words: SheetWords) -> Iterator[Stranded]:
    """The filled columns of a sheet without cases that stand under a header of a column for judging."""
    for number, row in enumerate(table.rows):
        for place, cell in enumerate(row):
            key = words.column(cell) if cell and isinstance(cell, str) else None
            if key is None or key.partition(":")[0] not in ANNOTATION_COLUMNS:
                continue
            below = [line for line in range(number + 1, len(table.rows)) if _text(table, line, place)]
            if below:
                where = f"{name}!{table.name}!{cell_name(below[0], place)}:{cell_name(below[-1], place)}"
                yield Stranded(key, where, _text(table, below[0], place))


def stranded_judgements(
    tables: Iterable[SheetTable], name: str, words: SheetWords, unjudged: Collection[str]
) -> list[Problem]:
    """Judgements in words on sheets without a case ID, if there are cases that nobody judged.

    A summary has each judgement once; a column in which one stands twice was copied from its cases.
    """
    problems: list[Problem] = []
    for table in tables if unjudged else ():
        columns: dict[int, list[tuple[int, str]]] = {}
        for number, row in enumerate(table.rows):
            for place, cell in enumerate(row):
                text = cell.strip() if isinstance(cell, str) else ""
                if text and not text.isdigit() and words.is_whole_judgement(text):
                    columns.setdefault(place, []).append((number, text))
        for place, cells in columns.items():
            if max(Counter(text for _, text in cells).values()) > 1:
                problems += [_judged(f"{name}!{table.name}!{cell_name(number, place)}", text) for number, text in cells]
    return problems


def _judged(where: str, text: str) -> Problem:
    what = f"found {text!r} on a sheet without case IDs, which looks like a judgement of one of the cases"
    return RowProblem(where, what, "the ID that the workbook came with", reason="no_id", value=text)


def _text(table: SheetTable, number: int, place: int) -> str:
    row = table.rows[number]
    return cell_text(row[place]).strip() if place < len(row) else ""
