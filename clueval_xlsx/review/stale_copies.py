"""Judgements in one workbook whose case stands open in another: old ones, it may be, that somebody took back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clueval_xlsx.review.reading import JudgedWorkbook, only_in_copy


def without_stale_copies(books: Sequence[JudgedWorkbook], whole: Sequence[bool]) -> list[JudgedWorkbook]:
    """The workbooks of a run without judgements that stand only in a copy of a row; these are reported.

    `whole` says which workbooks came with a manifest of their own. One without it was cut off or copied from another
    one: where the case has a row on its own sheet that says nothing, or was moved to a new workbook and says nothing
    there, a judgement that was left in a copy does not count.
    """
    found = []
    for book, own in zip(books, whole, strict=True):
        stale: set[str] = set()
        for other, others_own in zip(books, whole, strict=True):
            if other is book:
                continue
            stale |= book.answers_alone & other.open_at_home
            if not (own and others_own):
                stale |= other.unjudged - {row.record.case_id for row in other.rows if row.record.code}
        stale -= book.at_home
        copies = [row for row in book.rows if row.record.code and row.record.case_id in stale]
        rows = tuple(row for row in book.rows if row not in copies)
        found.append(replace(book, rows=rows, problems=(*book.problems, *map(only_in_copy, copies))))
    return found
