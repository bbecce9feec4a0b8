"""Operations on headers, sheets and whole workbooks, and on how they are saved."""

from __future__ import annotations

from random import Random

from tests.simulator.book import Book, NotPossible, Sheet
from tests.simulator.registry import OPERATIONS, operation
from tests.simulator.roles import Layout, ids_of_row, is_annotation, is_manifest, layout
from tests.simulator.world import World

# -- headers


def _header(world: World, rng: Random, *more: str) -> tuple[Book, Sheet, int, str]:
    """A sheet, the row of its header, and the role of a column whose header still stands."""
    book, sheet, found = world.review(rng, "judgement", header=True)
    roles = [role for role in found.columns if is_annotation(role) or role in more]
    marked = {cell.role for cell in sheet.rows[found.header or 0] if cell.value is not None}
    roles = [role for role in sorted(roles) if f"header:{role}" in marked]
    if not roles:
        raise NotPossible
    return book, sheet, found.header or 0, rng.choice([*roles, roles[-1]])


def _header_column(sheet: Sheet, row: int, role: str) -> int:
    return next(column for column, cell in enumerate(sheet.rows[row]) if cell.role == f"header:{role}")


@operation("header: misspelt")
def misspell(world: World, rng: Random) -> None:
    """Judgment, Corect span …: one letter is lost."""
    book, sheet, row, role = _header(world, rng)
    column = _header_column(sheet, row, role)
    text = sheet.cell(row, column).shown
    at = rng.randrange(1, len(text))
    book.put(sheet, row, column, "Judgment" if text == "Judgement" else text[:at] + text[at + 1 :])


@operation("header: with an addition")
def add_to_header(world: World, rng: Random) -> None:
    """Judgement (Anna), Judgement 2nd round …"""
    book, sheet, row, role = _header(world, rng)
    column = _header_column(sheet, row, role)
    addition = rng.choice([" (Anna)", " Anna", " - final", "*", " 12.3."])
    book.put(sheet, row, column, sheet.cell(row, column).shown + addition)


@operation("header: one cell deleted")
def delete_header_cell(world: World, rng: Random) -> None:
    """The header of one column is gone."""
    book, sheet, row, role = _header(world, rng, "case", "block")
    book.put(sheet, row, _header_column(sheet, row, role), None)


@operation("header: a cell inserted with a shift")
def insert_header_cell(world: World, rng: Random) -> None:
    """Insert a cell in the header and shift the others to the right: they no longer stand above their columns."""
    _shift_header(world, rng, 1)


@operation("header: a cell deleted with a shift")
def delete_header_cell_with_shift(world: World, rng: Random) -> None:
    """Delete a cell of the header and shift the others to the left."""
    _shift_header(world, rng, -1)


def _shift_header(world: World, rng: Random, by: int) -> None:
    book, sheet, found = world.review(rng, "judgement", plain=True, header=True)
    row, at = found.header or 0, rng.randrange(sheet.width)
    texts = [sheet.cell(row, column).value for column in range(sheet.width)]
    shifted = [*texts[:at], None, *texts[at:]] if by > 0 else [*texts[:at], *texts[at + 1 :], None]
    for column, text in enumerate(shifted):
        if sheet.cell(row, column).value != text:
            book.put(sheet, row, column, text, sheet.cell(row, column).role or "header:")


@operation("header: two swapped")
def swap_headers(world: World, rng: Random) -> None:
    """Two headers change places, the columns below them do not."""
    book, sheet, row, role = _header(world, rng)
    first = _header_column(sheet, row, role)
    others = [
        c for c, cell in enumerate(sheet.rows[row]) if cell.role.startswith("header:") and cell.value and c != first
    ]
    if not others:
        raise NotPossible
    second = rng.choice([*others, *(c for c in others if abs(c - first) < 3)])
    texts = sheet.cell(row, first).value, sheet.cell(row, second).value
    book.put(sheet, row, first, texts[1])
    book.put(sheet, row, second, texts[0])


@operation("header: whole row deleted")
def delete_header_row(world: World, rng: Random) -> None:
    """The header is gone."""
    book, sheet, found = world.review(rng, plain=True, header=True)
    book.delete_rows(sheet, found.header or 0)


@operation("header: below row 200")
def push_down(world: World, rng: Random) -> None:
    """Somebody inserted a great many rows at the top."""
    book, sheet, found = world.review(rng, plain=True)
    if len(sheet.rows) > 200:
        raise NotPossible
    book.insert_rows(sheet, rng.choice([0, found.header or 0]), rng.randint(200, 260))


# -- sheets


@operation("sheet: rename")
def rename(world: World, rng: Random) -> None:
    """Give a review sheet another name."""
    book, sheet, _ = world.review(rng)
    book.rename_sheet(sheet, rng.choice(["Anna", "Sheet7", "FN done", "Annas 'neue' Fälle", "FP", "1"]))


@operation("sheet: move")
def move(world: World, rng: Random) -> None:
    """Move a review sheet to another place."""
    book, sheet, _ = world.review(rng)
    book.move_sheet(sheet, rng.randrange(len(book.sheets)))


@operation("sheet: delete one with cases")
def delete(world: World, rng: Random) -> None:
    """Delete a review sheet: its cases must be reported as missing."""
    book, sheet, found = world.review(rng)
    if sum(layout(each) is not None for each in book.sheets) < 2:
        raise NotPossible
    cases = [case for row in found.rows for case in ids_of_row(sheet, row)]
    book.delete_sheet(sheet)
    world.forget(cases)


@operation("sheet: delete another")
def delete_other(world: World, rng: Random) -> None:
    """Delete the guide, the metrics, the lists: nothing that holds cases."""
    book = world.books[0]
    others = [sheet for sheet in book.sheets if layout(sheet) is None and not is_manifest(sheet)]
    if not others:
        raise NotPossible
    book.delete_sheet(rng.choice(others))


@operation("sheet: delete the hidden one")
def delete_manifest(world: World, rng: Random) -> None:
    """Delete what the workbook knows about its run: it is refused, or the prediction must be given."""
    book = world.books[0]
    found = [sheet for sheet in book.sheets if is_manifest(sheet)]
    if not found:
        raise NotPossible
    book.delete_sheet(found[0])


@operation("sheet: duplicate")
def duplicate(world: World, rng: Random) -> None:
    """Keep a copy of a review sheet in the workbook."""
    book, sheet, _ = world.review(rng)
    book.copy_sheet(sheet, rng.choice(["Backup", f"{sheet.name}_2", "Copy of sheet"]))


@operation("sheet: work on after a backup")
def stale_backup(world: World, rng: Random) -> None:
    """Keep a copy, then judge some cases anew and clear others: the copy is stale."""
    book, sheet, found = world.typed(rng, "case", plain=True)
    book.copy_sheet(sheet, "Backup")
    _go_on(world, book, sheet, found, rng)


@operation("sheet: work on in the copy")
def work_in_copy(world: World, rng: Random) -> None:
    """Duplicate a sheet and judge cases that were open in the copy; the first sheet stays as it was."""
    book, sheet, found = world.typed(rng, "case", plain=True)
    copy = book.copy_sheet(sheet, f"{sheet.name} new")
    open_cases = [row for row, case in found.rows.items() if not world.intent.get(case)]
    for row in rng.sample(open_cases, min(len(open_cases), 3)):
        _judge(world, book, copy, found, row, rng)


def _go_on(world: World, book: Book, sheet: Sheet, found: Layout, rng: Random) -> None:
    judged = [row for row, case in found.rows.items() if world.intent.get(case, {}).get("judgement")]
    for row in rng.sample(judged, min(len(judged), 3)):
        if rng.random() < 0.5:
            for role, column in found.columns.items():
                if is_annotation(role):
                    book.put(sheet, row, column, None)
                    world.decide(found.rows[row], role, "")
        else:
            _judge(world, book, sheet, found, row, rng)


def _judge(world: World, book: Book, sheet: Sheet, found: Layout, row: int, rng: Random) -> None:
    case = found.rows[row]
    decision = world.decision(case, rng)
    if not set(decision) <= set(found.columns):
        return
    for role, column in found.columns.items():
        if is_annotation(role):
            text = world.words(role, decision.get(role, "")) if role in decision else ""
            if text or sheet.cell(row, column).shown:
                book.put(sheet, row, column, text or None, role)
            world.decide(case, role, text)


# -- workbooks


@operation("workbooks: two in one", undoable=False)
def two_in_one(world: World, rng: Random) -> None:
    """A colleague judged other cases in a copy of the workbook; their sheet is put into this one."""
    book, sheet, found = world.typed(rng, "case", plain=True)
    copy = book.copy_sheet(sheet, f"{sheet.name} (Ben)")
    for row, case in found.rows.items():
        judged = bool(world.intent.get(case))
        if judged:
            for role, column in found.columns.items():
                if is_annotation(role) and copy.cell(row, column).value is not None:
                    book.put(copy, row, column, None)
        elif rng.random() < 0.3:
            _judge(world, book, copy, found, row, rng)


@operation("workbooks: one in two", undoable=False)
def one_in_two(world: World, rng: Random) -> None:
    """A review sheet moves to a workbook of its own; both come back."""
    book, sheet, _ = world.review(rng)
    if sum(layout(each) is not None for each in book.sheets) < 2:
        raise NotPossible
    new = world.new_book()
    new.import_sheet(book, sheet)
    book.delete_sheet(sheet)


@operation("workbooks: the same given twice", undoable=False)
def given_twice(world: World, rng: Random) -> None:
    """The workbook comes back in two mails and is given twice, under two names."""
    world.given_twice = True


@operation("save as .ods", undoable=False)
def save_as_ods(world: World, rng: Random) -> None:
    """The person's program saves .ods."""
    world.suffix = ".ods"


@operation("save as .csv", undoable=False, last=True)
def save_as_csv(world: World, rng: Random) -> None:
    """Only one sheet is left, and no hidden one: the file must be refused."""
    world.suffix = ".csv"


@operation("through .csv and back", undoable=False, last=True)
def through_csv(world: World, rng: Random) -> None:
    """A sheet saved as .csv, opened again and saved as .xlsx: the hidden sheet and the other cases are gone."""
    book, sheet, _ = world.review(rng)
    for other in [each for each in book.sheets if each is not sheet]:
        book.delete_sheet(other)


@operation("undo of another operation", undoable=False)
def undo(world: World, rng: Random) -> None:
    """Do something else and take it back."""
    candidates = sorted(name for name, each in OPERATIONS.items() if each.undoable)
    for name in rng.sample(candidates, len(candidates)):
        before = world.snapshot()
        try:
            OPERATIONS[name].act(world, rng)
        except NotPossible:
            continue
        finally:
            world.restore(before)
        return
    raise NotPossible
