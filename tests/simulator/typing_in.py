"""Operations on what stands in the cells: judging, clearing, filling, pasting, replacing, merging, formulas, errors."""

from __future__ import annotations

from random import Random

from tests.simulator.book import Book, Cell, ErrorValue, Formula, NotPossible, Sheet
from tests.simulator.person import COMMENTS, TYPOS, other_surface
from tests.simulator.registry import operation, some_rows
from tests.simulator.roles import Layout, is_annotation
from tests.simulator.world import World

_OWN_NAMES = ("Anna", "Ben Ritter", "Kanzlei Sommer", "12 C 34/05", "siehe Akte", "offen")


def _filled(sheet: Sheet, found: Layout, role: str, *, texts: bool = True) -> list[int]:
    """The rows with a plain text in a column."""
    if role not in found.columns:
        raise NotPossible
    column = found.columns[role]
    cells = {row: sheet.cell(row, column) for row in found.rows}
    rows = [row for row, cell in cells.items() if cell.shown and (not texts or isinstance(cell.value, str))]
    if not rows:
        raise NotPossible
    return rows


def _merged_rows(sheet: Sheet) -> set[int]:
    return {row for area in sheet.merges for row in range(area[0], area[2] + 1)}


@operation("type: judge more cases")
def judge_more(world: World, rng: Random) -> None:
    """Judge some cases, or judge them anew."""
    book, sheet, found = world.typed(rng, "case")
    rows = [row for row in found.rows if row not in _merged_rows(sheet)]
    for row in rng.sample(rows, min(len(rows), 3)):
        case = found.rows[row]
        decision = world.decision(case, rng)
        if not {role for role in decision if is_annotation(role)} <= set(found.columns):
            continue
        for role, column in found.columns.items():
            if is_annotation(role):
                text = world.words(role, decision[role]) if role in decision else ""
                if text or sheet.cell(row, column).shown:
                    book.put(sheet, row, column, text or None, role)
                world.decide(case, role, text)


@operation("type: clear judgements")
def clear(world: World, rng: Random) -> None:
    """Take everything back that was said about some cases. A copy that is emptied erases nothing on its own sheet."""
    book, sheet, found = world.typed(rng, "case")
    merged = _merged_rows(sheet)
    for row in rng.sample(sorted(found.rows), min(len(found.rows), 3)):
        case = found.rows[row]
        copied = sheet.name != world.facts[case].sheet and _stands_at_home(world, case)
        for role, column in found.columns.items():
            if is_annotation(role) and row not in merged and sheet.cell(row, column).shown:
                book.put(sheet, row, column, None)
                if not copied:
                    world.decide(case, role, "")


def _stands_at_home(world: World, case: str) -> bool:
    """Whether the sheet that a case came on still has its row."""
    home = world.facts[case].sheet
    return any(sheet.name == home and case in where.rows.values() for _, sheet, where in world.reviews())


@operation("type: the same in other words")
def retype(world: World, rng: Random) -> None:
    """Type judgements in another language, as codes, in capitals, with odd spaces, and as digits where allowed."""
    book, sheet, found = world.typed(rng, "case")
    for row in _filled(sheet, found, "judgement", texts=False):
        code = world.intent.get(found.rows[row], {}).get("judgement", "")
        if code in world.codes("judgement") and rng.random() < 0.4:
            text = other_surface("judgement", code, rng, digits=world.digits)
            if world.means("judgement", sheet.cell(row, found.columns["judgement"]).shown, found.rows[row]) == code:
                book.put(sheet, row, found.columns["judgement"], text)


@operation("type: something that is no judgement")
def typo(world: World, rng: Random) -> None:
    """Type what nobody understands over a judgement: it must be reported."""
    book, sheet, found = world.typed(rng, "case")
    row, text = rng.choice(_filled(sheet, found, "judgement", texts=False)), rng.choice(TYPOS)
    book.put(sheet, row, found.columns["judgement"], text)
    world.decide(found.rows[row], "judgement", text)


@operation("type: comments")
def comment(world: World, rng: Random) -> None:
    """Write comments, some of which look like numbers, dates or formulas."""
    book, sheet, found = world.typed(rng, "comment", "case", plain=True)
    for row in rng.sample(sorted(found.rows), min(len(found.rows), 3)):
        text = rng.choice(COMMENTS)
        book.put(sheet, row, found.columns["comment"], text)
        world.decide(found.rows[row], "comment", text)


@operation("type: holds for cases alike")
def apply_to_twins(world: World, rng: Random) -> None:
    """Let judgements hold for the cases alike, in all documents or in their own."""
    book, sheet, found = world.typed(rng, "applies_to", "case", plain=True)
    for row in rng.sample(rows := _filled(sheet, found, "judgement", texts=False), min(len(rows), 4)):
        text = other_surface("applies_to", rng.choice(["all", "document"]), rng, digits=world.digits)
        book.put(sheet, row, found.columns["applies_to"], text)
        world.decide(found.rows[row], "applies_to", Cell(text).shown)


@operation("type: over cells that are not for judging")
def type_over_static(world: World, rng: Random) -> None:
    """Correct a word of the context, overwrite a label, a place or one of the IDs, or write a remark over it."""
    book, sheet, found = world.typed(rng, "case", plain=True)
    answers = {column for role, column in found.columns.items() if is_annotation(role)}
    for row in rng.sample(sorted(found.rows), min(len(found.rows), 3)):
        filled = [c for c in range(sheet.width) if c not in answers and sheet.cell(row, c).shown]
        if filled:
            column = rng.choice(filled)
            text = sheet.cell(row, column).shown
            book.put(sheet, row, column, rng.choice([*_OWN_NAMES, "???", text + "x", text[:-1] or "x", "17"]))


@operation("type: cases alike taken back")
def clear_scope(world: World, rng: Random) -> None:
    """Clear the column in some rows."""
    book, sheet, found = world.typed(rng, "applies_to", "case", plain=True)
    for row in _filled(sheet, found, "applies_to", texts=False)[:2]:
        book.put(sheet, row, found.columns["applies_to"], None)
        world.decide(found.rows[row], "applies_to", "")


@operation("fill down: judgements")
def fill_down(world: World, rng: Random) -> None:
    """Fill a judgement down over the next rows."""
    book, sheet, found = world.typed(rng, plain=True)
    column = found.columns["judgement"]
    top = rng.choice(_filled(sheet, found, "judgement", texts=False))
    _copied_down(world, book, sheet, found, (top, column, top, column), rng)


@operation("fill down: whole block")
def fill_block_down(world: World, rng: Random) -> None:
    """Fill the block down, its hidden ID included: the row's own ID counts."""
    book, sheet, found = world.typed(rng, "block", "case", plain=True)
    left, right = found.block
    top = rng.choice(_filled(sheet, found, "judgement", texts=False))
    _copied_down(world, book, sheet, found, (top, left, top, right), rng)


def _copied_down(
    world: World, book: Book, sheet: Sheet, found: Layout, area: tuple[int, int, int, int], rng: Random
) -> None:
    for row in range(area[0] + 1, area[0] + 1 + rng.randint(1, 4)):
        if row not in found.rows:
            break
        book.copy_range(sheet, area, sheet, row, area[1])
        world.reread(sheet, row)


@operation("paste a block of answers")
def paste_block(world: World, rng: Random) -> None:
    """Copy the answers of some rows, the hidden ID among them, over those of others."""
    book, sheet, found = world.typed(rng, "block", "case", plain=True)
    first, last = some_rows(found, rng, 3)
    left, right = found.block
    row = rng.choice(sorted(found.rows))
    book.copy_range(sheet, (first, left, last, right), sheet, row, left)
    for target in range(row, row + last - first + 1):
        if target < len(sheet.rows):
            world.reread(sheet, target)


@operation("find and replace: judgements")
def replace_judgements(world: World, rng: Random) -> None:
    """Replace one judgement by another, everywhere on the sheet."""
    book, sheet, found = world.typed(rng, "case", plain=True)
    column = found.columns["judgement"]
    old = sheet.cell(rng.choice(_filled(sheet, found, "judgement")), column).value
    new = world.words("judgement", rng.choice(["acceptable", "unclear", "model_error"]))
    for row in found.rows:
        if sheet.cell(row, column).value == old:
            book.put(sheet, row, column, new)
            world.decide(found.rows[row], "judgement", new)


@operation("merge cells downwards")
def merge_down(world: World, rng: Random) -> None:
    """Merge a judgement with the cells below it: it counts for every row that it covers."""
    book, sheet, found = world.typed(rng, "case")
    column, merged = found.columns["judgement"], _merged_rows(sheet)
    top = rng.choice(_filled(sheet, found, "judgement"))
    last = top
    while last + 1 in found.rows and last + 1 not in merged and last - top < 3:
        last += 1
    if last == top or top in merged:
        raise NotPossible
    text = sheet.cell(top, column).shown
    book.merge(sheet, (top, column, last, column))
    for row in range(top, last + 1):
        world.decide(found.rows[row], "judgement", text)


@operation("split merged cells")
def split_merged(world: World, rng: Random) -> None:
    """Split them again: only the first row is judged."""
    found = [(book, sheet, area) for book, sheet, _ in world.reviews() for area in sheet.merges]
    if not found:
        raise NotPossible
    book, sheet, area = rng.choice(found)
    book.split(sheet, area)
    for row in range(area[0], area[2] + 1):
        world.reread(sheet, row)


@operation("error value over a judgement")
def error_value(world: World, rng: Random) -> None:
    """A lookup went wrong and its error was pasted as a value."""
    book, sheet, found = world.typed(rng, "case")
    for row in rng.sample(rows := _filled(sheet, found, "judgement"), min(len(rows), 2)):
        book.put(sheet, row, found.columns["judgement"], ErrorValue("#N/A"))


@operation("formula with its value")
def formula(world: World, rng: Random) -> None:
    """A judgement is a formula, and the program stored its value."""
    _formula(world, rng, stored=True)


@operation("formula without a value")
def formula_without_value(world: World, rng: Random) -> None:
    """A judgement is a formula whose value no program stored."""
    _formula(world, rng, stored=False)


def _formula(world: World, rng: Random, *, stored: bool) -> None:
    book, sheet, found = world.typed(rng, "case", plain=True)
    column = found.columns["judgement"]
    rows = [row for row in _filled(sheet, found, "judgement") if row + 1 in found.rows]
    if not rows:
        raise NotPossible
    row = rng.choice(rows)
    text = sheet.cell(row, column).shown
    literal = text.replace('"', '""')
    book.put(sheet, row + 1, column, Formula(f'="{literal}"', text if stored else None), "judgement")
    world.decide(found.rows[row + 1], "judgement", text)
