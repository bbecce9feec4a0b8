"""Operations that move, copy and remove rows and columns, and sort or hide them."""

from __future__ import annotations

from random import Random

from tests.simulator.book import Book, NotPossible, Sheet
from tests.simulator.registry import operation, some_rows
from tests.simulator.roles import Layout, ids_of_row, is_annotation, layout
from tests.simulator.world import World

_NOTES = ("done until here", "TODO", "Anna", "???")

# -- order


@operation("sort: whole sheet by a column")
def sort_whole(world: World, rng: Random) -> None:
    """Sort all cases by any column."""
    book, sheet, found = world.review(rng, plain=True)
    first, last = found.table
    column = rng.randrange(sheet.width)
    book.sort(sheet, (first, 0, last, sheet.width - 1), column, ascending=rng.random() < 0.5)


@operation("sort: annotation block alone")
def sort_block(world: World, rng: Random) -> None:
    """Sort the block by one of its columns; the ID in it goes along and still says whose each line is."""
    book, sheet, found = world.review(rng, "judgement", "block", "case", plain=True)
    (first, last), (left, right) = found.table, found.block
    ids = [sheet.cell(row, found.columns["block"]).shown for row in found.rows]
    if len(set(ids)) < len(ids):  # a line that was copied does not know any more whose it is
        raise NotPossible
    filled = [role for role in found.columns if is_annotation(role)]
    column = found.columns[rng.choice([role for role in filled if left <= found.columns[role] <= right])]
    book.sort(sheet, (first, left, last, right), column, ascending=rng.random() < 0.5)


@operation("sort: one column alone")
def sort_column(world: World, rng: Random) -> None:
    """Sort the judgements by themselves: now the workbook says something else, and nobody can see it."""
    book, sheet, found = world.typed(rng, plain=True)
    (first, last), column = found.table, found.columns["judgement"]
    if last - first + 1 > len(found.rows):
        raise NotPossible
    book.sort(sheet, (first, column, last, column), column, ascending=rng.random() < 0.5)
    for row in found.rows:
        world.reread(sheet, row)


@operation("sort: header included")
def sort_with_header(world: World, rng: Random) -> None:
    """Sort by Judgement with the header in the range: cases come to stand above it."""
    book, sheet, found = world.review(rng, "judgement", plain=True, header=True)
    last = max(found.table[1], found.header or 0)
    first = min(found.table[0], found.header or 0)
    column = found.columns[rng.choice(["judgement", *found.columns])]
    book.sort(sheet, (first, 0, last, sheet.width - 1), column, ascending=rng.random() < 0.5)


@operation("filter")
def filter_rows(world: World, rng: Random) -> None:
    """Hide some rows."""
    book, sheet, found = world.review(rng)
    book.hide_rows(sheet, [row for row in found.rows if rng.random() < 0.5])


# -- rows


@operation("rows: insert")
def insert_rows(world: World, rng: Random) -> None:
    """Insert empty rows, or rows with a note, among the cases."""
    book, sheet, found = world.review(rng, plain=True)
    at = rng.choice(sorted(found.rows))
    book.insert_rows(sheet, at, rng.randint(1, 3))
    if rng.random() < 0.5:
        book.put(sheet, at, 0, rng.choice(_NOTES), "")


@operation("rows: delete")
def delete_rows(world: World, rng: Random) -> None:
    """Delete cases: they must be reported as missing."""
    book, sheet, found = world.review(rng, plain=True)
    first, last = some_rows(found, rng)
    cases = [case for row in range(first, last + 1) for case in ids_of_row(sheet, row)]
    book.delete_rows(sheet, first, last - first + 1)
    world.forget(cases)


def _relocate(
    book: Book, sheet: Sheet, rows: tuple[int, int], target: Sheet, row: int, *, cut: bool, close: bool = False
) -> None:
    """Copy or cut whole rows to another place of the workbook; `close` deletes the gap that a cut leaves."""
    area = (rows[0], 0, rows[1], max(sheet.width - 1, 0))
    (book.move_range if cut else book.copy_range)(sheet, area, target, row, 0)
    if cut and close:
        book.delete_rows(sheet, rows[0], rows[1] - rows[0] + 1)


@operation("rows: cut within the sheet")
def cut_rows_within(world: World, rng: Random) -> None:
    """Cut cases and paste them below the others."""
    book, sheet, found = world.review(rng, plain=True)
    rows = some_rows(found, rng)
    _relocate(book, sheet, rows, sheet, len(sheet.rows) + rng.randint(0, 3), cut=True, close=rng.random() < 0.5)


@operation("rows: copy within the sheet")
def copy_rows_within(world: World, rng: Random) -> None:
    """Copy cases to below the others."""
    book, sheet, found = world.review(rng, plain=True)
    _relocate(book, sheet, some_rows(found, rng), sheet, len(sheet.rows) + rng.randint(0, 2), cut=False)


@operation("rows: cut above the header")
def cut_rows_above(world: World, rng: Random) -> None:
    """Cut cases and insert them above the header."""
    book, sheet, found = world.review(rng, plain=True, header=True)
    first, last = some_rows(found, rng)
    count, header = last - first + 1, found.header or 0
    if first < header:
        raise NotPossible
    book.insert_rows(sheet, header, count)
    _relocate(book, sheet, (first + count, last + count), sheet, header, cut=True, close=rng.random() < 0.5)


def _other_sheet(book: Book, sheet: Sheet, found: Layout, rng: Random) -> Sheet:
    """A sheet to paste rows on; one with cases only if its columns are the same, or answers would change columns."""
    others = [
        each
        for each in book.sheets
        if each is not sheet and not each.hidden and not each.merges
        if (own := layout(each)) is None or own.columns == found.columns
    ]
    if not others:
        raise NotPossible
    return rng.choice(others)


@operation("rows: cut to another sheet")
def cut_rows_to_sheet(world: World, rng: Random) -> None:
    """Cut cases and paste them below what stands on another sheet."""
    book, sheet, found = world.review(rng, plain=True)
    target = _other_sheet(book, sheet, found, rng)
    rows = some_rows(found, rng)
    _relocate(book, sheet, rows, target, len(target.rows) + rng.randint(0, 2), cut=True, close=rng.random() < 0.5)


@operation("rows: copy to another sheet")
def copy_rows_to_sheet(world: World, rng: Random) -> None:
    """Copy cases to below what stands on another sheet."""
    book, sheet, found = world.review(rng, plain=True)
    target = _other_sheet(book, sheet, found, rng)
    _relocate(book, sheet, some_rows(found, rng), target, len(target.rows) + rng.randint(0, 2), cut=False)


def _with_header(book: Book, sheet: Sheet, found: Layout, target: Sheet, rng: Random) -> int:
    """Where the first row goes on a new sheet: at times a person takes the header along."""
    if found.header is None or rng.random() < 0.5:
        return rng.randint(0, 1)
    book.copy_range(sheet, (found.header, 0, found.header, sheet.width - 1), target, 0, 0)
    return 1


@operation("rows: cut to a new sheet")
def cut_rows_to_new_sheet(world: World, rng: Random) -> None:
    """Cut cases to a new sheet, with the header or without."""
    book, sheet, found = world.review(rng, plain=True)
    target = book.add_sheet("Sheet1")
    row = _with_header(book, sheet, found, target, rng)
    _relocate(book, sheet, some_rows(found, rng, 8), target, row, cut=True, close=rng.random() < 0.5)


def _to_new_book(world: World, rng: Random, *, cut: bool) -> None:
    book, sheet, found = world.review(rng, plain=True)
    first, last = some_rows(found, rng, 8)
    new = world.new_book()
    target = new.add_sheet("Sheet1")
    lines = [found.header] if found.header is not None and rng.random() < 0.7 else []
    for row, number in enumerate([*lines, *range(first, last + 1)]):
        for column, cell in enumerate(sheet.rows[number]):
            if cell.value is not None or cell.role:
                new.put(target, row, column, cell.value, cell.role)
    if cut:
        book.delete_rows(sheet, first, last - first + 1)


@operation("rows: cut to a new workbook", undoable=False)
def cut_rows_to_book(world: World, rng: Random) -> None:
    """Cut cases to a new workbook, which comes back beside the first."""
    _to_new_book(world, rng, cut=True)


@operation("rows: copy to a new workbook", undoable=False)
def copy_rows_to_book(world: World, rng: Random) -> None:
    """Copy cases to a new workbook, which comes back beside the first."""
    _to_new_book(world, rng, cut=False)


# -- columns


@operation("columns: insert")
def insert_columns(world: World, rng: Random) -> None:
    """Insert a column, empty or with notes of the person's own."""
    book, sheet, found = world.review(rng, plain=True)
    at = rng.randint(0, sheet.width)
    book.insert_columns(sheet, at)
    if rng.random() < 0.5:
        if found.header is not None:
            book.put(sheet, found.header, at, "My notes", "header:")
        for row in found.rows:
            if rng.random() < 0.3:
                book.put(sheet, row, at, rng.choice(_NOTES), "")


@operation("columns: delete one that nobody fills in")
def delete_column(world: World, rng: Random) -> None:
    """Delete a column that is not for judging; one of the two IDs may be among them."""
    book, sheet, found = world.review(rng, plain=True)
    needed = {column for role, column in found.columns.items() if is_annotation(role)}
    ids = [found.columns[role] for role in ("case", "block") if role in found.columns]
    needed |= set(ids) if len(ids) < 2 else set()
    others = [column for column in range(sheet.width) if column not in needed]
    if not others:
        raise NotPossible
    book.delete_columns(sheet, rng.choice(others))


@operation("columns: delete one of the answers")
def delete_answers(world: World, rng: Random) -> None:
    """Delete Severity, Comment …: what stood there is taken back."""
    book, sheet, found = world.review(rng, plain=True)
    roles = [role for role in found.columns if is_annotation(role) and role != "judgement"]
    if not roles:
        raise NotPossible
    role = rng.choice(sorted(roles))
    filled = [row for row in found.rows if sheet.cell(row, found.columns[role]).shown]
    book.delete_columns(sheet, found.columns[role])
    for row in filled:
        world.decide(found.rows[row], role, "")
        world.reread(sheet, row)  # a copy of the column may still be there


@operation("columns: cut within the sheet")
def cut_column(world: World, rng: Random) -> None:
    """Cut a column with its header and paste it at the right end; the gap stays or goes."""
    book, sheet, found = world.review(rng, "judgement", plain=True)
    column = found.columns[rng.choice(sorted(found.columns))]
    book.move_range(sheet, (0, column, len(sheet.rows) - 1, column), sheet, 0, sheet.width + rng.randint(0, 2))
    if rng.random() < 0.5:
        book.delete_columns(sheet, column)


@operation("columns: copy within the sheet")
def copy_column(world: World, rng: Random) -> None:
    """Copy a column with its header to the right end."""
    book, sheet, found = world.review(rng, "judgement", plain=True)
    column = found.columns[rng.choice(["judgement", *sorted(found.columns)])]
    book.copy_range(sheet, (0, column, len(sheet.rows) - 1, column), sheet, 0, sheet.width)


def _block_area(sheet: Sheet, found: Layout) -> tuple[int, int, int, int]:
    left, right = found.block
    return (0, left, len(sheet.rows) - 1, right)


@operation("columns: cut the block to a new sheet")
def cut_block(world: World, rng: Random) -> None:
    """Cut the annotation block, its ID included, to a new sheet."""
    book, sheet, found = world.review(rng, "judgement", "block", "case", plain=True)
    target = book.add_sheet("Judged")
    book.move_range(sheet, _block_area(sheet, found), target, 0, rng.randint(0, 2))


@operation("columns: copy the block to another sheet")
def copy_block(world: World, rng: Random) -> None:
    """Copy the annotation block, its ID included, to a new sheet."""
    book, sheet, found = world.review(rng, "judgement", "block", "case", plain=True)
    target = book.add_sheet("Judged")
    book.copy_range(sheet, _block_area(sheet, found), target, 0, rng.randint(0, 2))
