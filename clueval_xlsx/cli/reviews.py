"""Writes the review workbooks of one result: for one person or a team, encrypted or not, with and without text."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end

if TYPE_CHECKING:
    import pandas as pd

    from clueval_xlsx.cli.review_options import ReviewRequest
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.outputs.xlsx import Handout
    from clueval_xlsx.review.assignment import Selection

WITHOUT_TEXT = "-without-text"


def review_targets(path: Path, request: ReviewRequest) -> dict[str, Path]:
    """Where each person's workbook goes: `review-anna.xlsx`, …; without judges one path under the empty name."""
    if not request.judges:
        return {"": path}
    found = {name: with_end(path, f"-{file_name_part(name)}") for name in request.judges}
    taken = {without_text_path(path).name.casefold(): "the edition without text"} if request.without_text else {}
    for name, target in found.items():
        other = taken.setdefault(target.name.casefold(), name)
        if other != name:
            raise OptionError(f"--judges: {name} and {other} would share the file {target.name}. Change a name.")
    return found


def without_text_path(path: Path) -> Path:
    """Where the edition goes that can be shared."""
    return with_end(path, WITHOUT_TEXT)


def write_reviews(outputs: Outputs, result: Evaluation, path: Path, request: ReviewRequest, look: Handout) -> Selection:
    """Write the workbooks of one result, each with its part of the cases, and return what was chosen for them.

    `path` is what one workbook for all would have.
    """
    from clueval_xlsx.review.assignment import select

    selection = select(
        result,
        judges=request.judges,
        double=request.double,
        sample=request.sample,
        agreed=request.agreed,
        seed=result.options.seed,
    )
    look = replace(look, team=selection.team, sample=selection.sample)
    _write_selection(outputs, result, selection, review_targets(path, request), look, request.password)
    if request.without_text:
        _write_without_text(outputs, result, without_text_path(path), look, selection)
    return selection


def _write_selection(
    outputs: Outputs,
    result: Evaluation,
    selection: Selection,
    targets: Mapping[str, Path],
    look: Handout,
    password: str | None,
) -> None:
    """A workbook for everybody who judges, or one for all."""
    from clueval_xlsx.cli.console import progress
    from clueval_xlsx.outputs.xlsx import write_workbook

    hands = selection.hands or {"": selection.cases}
    total = sum(len(table) for tables in hands.values() for table in tables.values())
    with progress("Writing cases", total) as advance:
        for name, cases in hands.items():
            part = f"{selection.team.index(name) + 1}/{len(selection.team)}" if name else ""
            own = replace(look, judge=name, part=part)
            write = partial(write_workbook, result, options=own, cases=cases, advance=advance)
            save_workbook(outputs, targets[name], password, write)


def save_workbook(
    outputs: Outputs, target: Path, password: str | None, write: Callable[[Path | BinaryIO], None]
) -> None:
    """Write a workbook to its place; under a password in memory first, so that no clear text reaches the disk."""
    if password is None:
        write(outputs.path(target))
        return
    from clueval_xlsx.files.encryption import encrypt

    memory = io.BytesIO()
    write(memory)
    outputs.write_bytes(target, encrypt(memory.getvalue(), password), workbook=True)


def _write_without_text(
    outputs: Outputs, result: Evaluation, target: Path, look: Handout, selection: Selection
) -> None:
    """An edition for people who may see figures and positions, but no text."""
    from clueval_xlsx.cases.kinds import FN, FP, UM
    from clueval_xlsx.outputs.xlsx import write_workbook
    from clueval_xlsx.review.text_free import cases_without_text, without_text
    from clueval_xlsx.review.vocabulary import Role

    cases: dict[str, pd.DataFrame] = {
        name: cases_without_text(selection.cases[name], result) for name in (FN, FP, UM) if name in selection.cases
    }
    kept = replace(look, answers={}, earlier={}, role=Role.FIGURES)
    write_workbook(without_text(result), outputs.path(target), kept, cases=cases)
